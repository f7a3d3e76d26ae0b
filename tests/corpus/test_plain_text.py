"""Two aligned files: pairs, places, and the message when one side is longer."""

import gzip
from pathlib import Path

import pytest

from dragoman.corpus.plain_text import LineCountError, read_pairs
from dragoman.errors import DataError


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def test_pairs_carry_texts_and_the_place_of_the_source(tmp_path: Path) -> None:
    de, en = write(tmp_path / "t.de", "ein Hund", "zwei"), write(tmp_path / "t.en", "a dog", "two")
    pairs = list(read_pairs(de, en))
    assert [(pair.src, pair.tgt) for pair in pairs] == [("ein Hund", "a dog"), ("zwei", "two")]
    assert [pair.place for pair in pairs] == [f"{de}:1", f"{de}:2"]


def test_several_files_a_side_are_read_one_after_the_other(tmp_path: Path) -> None:
    de = [write(tmp_path / "1.de", "a", "b"), write(tmp_path / "2.de", "c")]
    en = [write(tmp_path / "1.en", "A", "B"), tmp_path / "2.en.gz"]
    en[1].write_bytes(gzip.compress(b"C\n"))
    pairs = list(read_pairs(de, en))
    assert [(pair.src, pair.tgt, pair.line) for pair in pairs] == [
        ("a", "A", 1),
        ("b", "B", 2),
        ("c", "C", 1),
    ]
    assert pairs[2].file == str(de[1])


def test_a_missing_line_is_named_with_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "t.de").write_text("ein Hund\nzwei Katzen\n", encoding="utf-8")
    (tmp_path / "t.en").write_text("a dog\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"t\.en ends at line 1 but t\.de goes on to line 2"):
        list(read_pairs(tmp_path / "t.de", tmp_path / "t.en"))


def test_the_message_shows_the_first_line_without_partner_and_the_last(tmp_path: Path) -> None:
    de = write(tmp_path / "t.de", *["Satz"] * 1000)
    en = write(tmp_path / "t.en", *["sentence"] * 1000, "A dog runs.", "more", "more")
    with pytest.raises(LineCountError) as error:
        list(read_pairs(de, en))
    first, second, *advice = str(error.value).split("\n")
    assert first == "t.de ends at line 1,000 but t.en goes on to line 1,003"
    assert second == f'  {en}:1001: "A dog runs."'
    assert "dragoman corpus check" in " ".join(advice)


def test_an_empty_line_is_a_line(tmp_path: Path) -> None:
    de, en = write(tmp_path / "t.de", "", "b"), write(tmp_path / "t.en", "A", "")
    assert [pair[:2] for pair in read_pairs(de, en)] == [("", "A"), ("b", "")]


def test_different_numbers_of_files_are_refused(tmp_path: Path) -> None:
    de, en = write(tmp_path / "t.de", "a"), write(tmp_path / "t.en", "A")
    with pytest.raises(DataError, match="2 source and 1 target files"):
        list(read_pairs([de, de], [en]))
