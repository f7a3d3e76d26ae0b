"""Writing a store: whole or not at all, however many write at once."""

import pytest

from dragoman.batches.store import Store
from dragoman.batches.store_writer import StoreWriter
from dragoman.errors import DataError


def _writer(folder):
    return StoreWriter(folder, src_vocab_size=16, tgt_vocab_size=16)


def test_nothing_stands_under_the_name_before_the_end(tmp_path):
    with _writer(tmp_path / "s") as writer:
        writer.append([[5]], [[6]])
        assert not (tmp_path / "s").exists()
        assert writer.finish()
        assert (tmp_path / "s").exists()


def test_a_writer_that_fails_leaves_nothing_behind(tmp_path):
    def fail():
        with _writer(tmp_path / "s") as writer:
            writer.append([[5]], [[6]])
            raise KeyError("stop")

    with pytest.raises(KeyError):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_of_two_writers_the_first_to_finish_wins(tmp_path):
    with _writer(tmp_path / "s") as slow:
        slow.append([[5]], [[6]])
        with _writer(tmp_path / "s") as fast:
            fast.append([[7]], [[8]])
            assert fast.finish()
        assert not slow.finish()
    assert Store.open(tmp_path / "s").pair(0)[0].tolist() == [7]
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(DataError, match=r"cannot write the prepared corpus to .*file"):
        _writer(tmp_path / "file" / "s")


def test_a_full_disk_is_told_with_what_to_do(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    with _writer(tmp_path / "s") as writer:
        monkeypatch.setattr("dragoman.batches.store_writer._CheckedFile.write", full)
        with pytest.raises(DataError, match="No space left on device\n.*Free some space"):
            writer.append([[5]], [[6]])
    assert list(tmp_path.iterdir()) == []
