"""TSV and JSONL: which columns are taken, and what a bad row says."""

import json
from pathlib import Path

import pytest

from dragoman.corpus.tables import read_jsonl, read_tsv
from dragoman.errors import DataError


def texts(pairs) -> list[tuple[str, str]]:
    return [(pair.src, pair.tgt) for pair in pairs]


def tsv(tmp_path: Path, content: str) -> Path:
    path = tmp_path / "t.tsv"
    path.write_text(content, encoding="utf-8")
    return path


def jsonl(tmp_path: Path, *rows: object) -> Path:
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_two_columns_need_no_header(tmp_path: Path) -> None:
    pairs = list(read_tsv(tsv(tmp_path, 'ein "Hund"\ta dog\nzwei\ttwo\n')))
    assert texts(pairs) == [('ein "Hund"', "a dog"), ("zwei", "two")]
    assert [pair.line for pair in pairs] == [1, 2]


@pytest.mark.parametrize("header", ["src\ttgt\tid", "SOURCE\tTarget\tid", "de-AT\ten\tid"])
def test_a_header_names_the_columns(tmp_path: Path, header: str) -> None:
    path = tsv(tmp_path, f"{header}\nein Hund\ta dog\t7\n")
    pairs = list(read_tsv(path, src_lang="de", tgt_lang="en"))
    assert texts(pairs) == [("ein Hund", "a dog")]
    assert pairs[0].line == 2


def test_languages_in_the_header_decide_the_direction(tmp_path: Path) -> None:
    path = tsv(tmp_path, "de\ten\nein Hund\ta dog\n")
    assert texts(read_tsv(path, src_lang="en", tgt_lang="de")) == [("a dog", "ein Hund")]


@pytest.mark.parametrize(
    ("content", "place"),
    [("a\tb\nc\n", 2), ("a\tb\tc\n", 1), ("src\ttgt\tid\na\tb\n", 2), ("a\tb\n\n", 2)],
)
def test_a_wrong_number_of_columns_is_named(tmp_path: Path, content: str, place: int) -> None:
    path = tsv(tmp_path, content)
    with pytest.raises(DataError, match=rf"t\.tsv:{place}: \d columns where there should be \d"):
        list(read_tsv(path))


@pytest.mark.parametrize(
    "row",
    [
        {"src": "ein Hund", "tgt": "a dog"},
        {"id": 3, "target": "a dog", "source": "ein Hund"},
        {"en": "a dog", "de": "ein Hund"},
        {"translation": {"en": "a dog", "de": "ein Hund"}},
    ],
)
def test_every_shape_of_json_row_is_understood(tmp_path: Path, row: dict[str, object]) -> None:
    path = jsonl(tmp_path, row, row)
    pairs = list(read_jsonl(path, src_lang="de", tgt_lang="en"))
    assert texts(pairs) == [("ein Hund", "a dog")] * 2
    assert pairs[1].place == f"{path}:2"


def test_a_line_break_in_json_becomes_a_space(tmp_path: Path) -> None:
    path = jsonl(tmp_path, {"src": "ein\n  Hund\n", "tgt": "a\r\ndog"})
    assert texts(read_jsonl(path)) == [("ein Hund", "a dog")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"src": "a", "tgt": ', "not JSON"),
        ('["a", "b"]', "not a JSON object"),
        ('{"src": "a"}', "has no 'src' and 'tgt'"),
        ('{"src": "a", "tgt": 7}', "must both be text"),
        ('{"src": "a", "tgt": null}', "must both be text"),
        ('{"src": "a", "tgt": "\\ud83d"}', "surrogate"),
    ],
)
def test_a_bad_json_row_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"src": "a", "tgt": "b"}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=rf"t\.jsonl:2: .*{message}"):
        list(read_jsonl(path))


def test_a_whole_surrogate_pair_is_a_character(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"src": "\\ud83d\\udc15", "tgt": "dog"}\n', encoding="utf-8")
    assert texts(read_jsonl(path)) == [("🐕", "dog")]


def test_without_known_keys_the_keys_are_listed(tmp_path: Path) -> None:
    path = jsonl(tmp_path, {"translation": {"en": "a dog", "de": "ein Hund"}})
    with pytest.raises(DataError, match=r"t\.jsonl:1: .*'en', 'de'\n.*--src-lang"):
        list(read_jsonl(path))
