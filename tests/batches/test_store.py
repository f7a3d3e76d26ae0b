"""The store: what is written is read back, and a store that is not whole is recognised."""

import json

import numpy as np
import pytest

from dragoman.batches import store as store_module
from dragoman.batches.store import DamagedStore, Store
from dragoman.batches.store_writer import StoreWriter, write_store
from dragoman.errors import DataError

PAIRS = [([5, 6, 7], [8]), ([], [9, 10]), ([11], [])]


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "store"
    write_store(path, PAIRS, vocab_size=16)
    return path


def test_every_pair_is_read_back(folder):
    store = Store.open(folder)
    read = [tuple(side.tolist() for side in store.pair(i)) for i in range(len(store))]
    assert read == PAIRS


def test_lengths_are_pieces_without_eos(folder):
    store = Store.open(folder)
    assert store.src_lengths.tolist() == [3, 0, 1]
    assert store.tgt_lengths.tolist() == [1, 2, 0]


def test_gathered_rows_come_in_the_order_asked_for(folder):
    src, tgt = Store.open(folder).gather(np.array([2, 0, 2]))
    assert (src.flat.tolist(), src.lengths.tolist()) == ([11, 5, 6, 7, 11], [1, 3, 1])
    assert (tgt.flat.tolist(), tgt.lengths.tolist()) == ([8], [0, 1, 0])


def test_appending_in_parts_equals_appending_at_once(tmp_path, folder):
    with StoreWriter(tmp_path / "parts", src_vocab_size=16, tgt_vocab_size=16) as writer:
        for src, tgt in PAIRS:
            writer.append([src], [tgt])
        writer.finish()
    for name in ("src.ids.bin", "src.offsets.bin", "tgt.ids.bin", "tgt.offsets.bin"):
        assert (tmp_path / "parts" / name).read_bytes() == (folder / name).read_bytes()


@pytest.mark.parametrize(("vocab_size", "width"), [(65_536, 2), (65_537, 4)])
def test_ids_take_two_bytes_where_the_vocabulary_fits(tmp_path, vocab_size, width):
    store = write_store(tmp_path / "s", [([vocab_size - 1], [4])], vocab_size=vocab_size)
    assert store.pair(0)[0].tolist() == [vocab_size - 1]
    assert (tmp_path / "s" / "src.ids.bin").stat().st_size == width


def test_an_id_beyond_the_vocabulary_is_refused_not_wrapped(tmp_path):
    with pytest.raises(OverflowError):
        write_store(tmp_path / "s", [([70_000], [4])], vocab_size=16)


def test_a_store_of_empty_sources_alone_can_be_read(tmp_path):
    store = write_store(tmp_path / "s", [([], [4]), ([], [5])], vocab_size=16)
    assert store.gather(np.array([1, 0]))[1].flat.tolist() == [5, 4]
    assert store.src_lengths.tolist() == [0, 0]


def test_texts_are_kept_where_asked_for(tmp_path):
    with StoreWriter(tmp_path / "s", src_vocab_size=9, tgt_vocab_size=9, has_text=True) as writer:
        writer.append([[5], [6]], [[7], [8]], texts=(["größer", ""], ["日本", "x y"]))
        writer.finish()
    store = Store.open(tmp_path / "s")
    assert store.texts(np.array([1, 0])) == (["", "größer"], ["x y", "日本"])


def test_a_store_without_text_says_how_to_get_one(folder):
    with pytest.raises(DataError, match="keeps no text.*\n.*data.sampling"):
        Store.open(folder).texts(np.array([0]))


def test_what_was_dropped_is_kept_in_the_record(tmp_path):
    with StoreWriter(tmp_path / "s", src_vocab_size=9, tgt_vocab_size=9) as writer:
        writer.append([[5]], [[6]])
        writer.finish(dropped={"too_long": 3}, files=[{"path": "a.de"}], tokenizer="abc")
    info = Store.open(tmp_path / "s").info
    assert (info.n_pairs, info.n_read, info.dropped) == (1, 4, {"too_long": 3})
    assert (info.files, info.tokenizer) == ([{"path": "a.de"}], "abc")


def test_large_stores_give_their_pages_back_and_read_on(folder, monkeypatch):
    monkeypatch.setattr(store_module, "_RELEASE_ABOVE_BYTES", 0)
    monkeypatch.setattr(store_module, "_RELEASE_EVERY_ROWS", 1)
    store = Store.open(folder)
    assert [store.pair(0)[0].tolist() for _ in range(3)] == [[5, 6, 7]] * 3


@pytest.mark.parametrize("name", ["src.ids.bin", "tgt.offsets.bin"])
@pytest.mark.parametrize("verify", [True, False])
def test_a_file_cut_short_is_damage(folder, name, verify):
    path = folder / name
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DamagedStore, match=name.replace(".", r"\.")):
        Store.open(folder, verify=verify)


def test_a_changed_byte_is_damage(folder):
    path = folder / "src.ids.bin"
    data = bytearray(path.read_bytes())
    data[0] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(DamagedStore, match="has changed"):
        Store.open(folder)


def test_a_missing_file_is_damage(folder):
    (folder / "tgt.ids.bin").unlink()
    with pytest.raises(DamagedStore, match="missing"):
        Store.open(folder)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"version": 1}', '{"version": 0}'])
def test_meta_that_makes_no_sense_is_damage(folder, content):
    (folder / "meta.json").write_text(content, encoding="utf-8")
    with pytest.raises(DamagedStore):
        Store.open(folder)


def test_meta_with_an_unknown_field_is_damage(folder):
    meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    meta["info"]["surprise"] = 1
    (folder / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
    with pytest.raises(DamagedStore, match="surprise"):
        Store.open(folder)
