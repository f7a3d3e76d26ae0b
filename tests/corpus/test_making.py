"""Built-in corpora on disk: names, contents, and nothing half written."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from dragoman.corpus.making import write_task
from dragoman.errors import DataError


@dataclass
class FakeExample:
    src: str
    tgt: str
    alignment: tuple[tuple[int, int], ...] | None = None
    src_tree: str | None = None
    tgt_tree: str | None = None


@pytest.fixture
def fake_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two small tasks in place of the real ones: one with gold structure, one that breaks."""

    def generate(
        name: str, n: int, *, split: str, seed: int, word: str = "w"
    ) -> Iterator[FakeExample]:
        for i in range(n):
            if name == "broken" and i == 1:
                raise RuntimeError("no space left")
            text = f"{word} {split} {seed} {i}"
            if name == "trees":
                yield FakeExample(text, text.upper(), ((0, 0), (1, 2)), "(S x)", "(S y)")
            else:
                yield FakeExample(text, text.upper())

    infos = {
        name: SimpleNamespace(name=name, description="", src_suffix="de", tgt_suffix="en")
        for name in ("trees", "plain", "broken")
    }
    module = SimpleNamespace(TASKS=infos, generate=generate)
    monkeypatch.setitem(sys.modules, "dragoman.corpus.tasks", module)


@pytest.mark.usefixtures("fake_tasks")
class TestWriting:
    def test_texts_alignments_and_trees_get_a_file_each(self, tmp_path: Path) -> None:
        files = write_task("trees", tmp_path / "new", sizes={"train": 2, "test": 1}, seed=7)
        names = ["align", "de", "de.trees", "en", "en.trees"]
        assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [
            *(f"test.{name}" for name in names),
            *(f"train.{name}" for name in names),
        ]
        assert files[tmp_path / "new" / "train.de"] == 2
        folder = tmp_path / "new"
        assert (folder / "train.de").read_bytes() == b"w train 7 0\nw train 7 1\n"
        assert (folder / "train.en").read_bytes() == b"W TRAIN 7 0\nW TRAIN 7 1\n"
        assert (folder / "test.align").read_bytes() == b"0-0 1-2\n"
        assert (folder / "test.en.trees").read_bytes() == b"(S y)\n"

    def test_a_plain_task_writes_texts_alone(self, tmp_path: Path) -> None:
        files = write_task("plain", tmp_path, sizes={"train": 2, "valid": 0}, options={"word": "x"})
        assert {path.name: n for path, n in files.items()} == {"train.de": 2, "train.en": 2}
        assert (tmp_path / "train.de").read_text(encoding="utf-8").startswith("x train")

    def test_files_that_are_there_are_replaced_only_on_request(self, tmp_path: Path) -> None:
        (tmp_path / "train.de").write_text("mine", encoding="utf-8")
        with pytest.raises(DataError, match=r"already there: .*train\.de\n.*--force"):
            write_task("plain", tmp_path, sizes={"train": 1})
        assert (tmp_path / "train.de").read_text(encoding="utf-8") == "mine"
        write_task("plain", tmp_path, sizes={"train": 1}, replace=True)
        assert (tmp_path / "train.de").read_text(encoding="utf-8") == "w train 1 0\n"

    def test_a_failure_leaves_nothing_behind(self, tmp_path: Path) -> None:
        with pytest.raises(RuntimeError):
            write_task("broken", tmp_path, sizes={"train": 1, "test": 2})
        assert list(tmp_path.iterdir()) == []

    def test_an_unknown_task_lists_the_known_ones(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match=r"Did you mean 'trees'\?\n.*trees, plain, broken"):
            write_task("treees", tmp_path, sizes={"train": 1})
