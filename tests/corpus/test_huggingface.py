"""Hugging Face data sets, from a local folder and without a network."""

import json
import sys
from pathlib import Path

import pytest

from dragoman.corpus.huggingface import parse_name, read_dataset
from dragoman.corpus.reading import CorpusSource
from dragoman.errors import DataError, MissingExtraError


@pytest.fixture
def dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data set folder with two splits; every cache of the package stays in tmp_path."""
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE"):
        monkeypatch.setenv(name, "1")
    for name in ("HF_HOME", "HF_DATASETS_CACHE"):
        monkeypatch.setenv(name, str(tmp_path / "cache"))
    pytest.importorskip("datasets", reason="the extra hf is not installed")
    folder = tmp_path / "pairs"
    folder.mkdir()
    for split, rows in {
        "train": [("ein Hund", "a dog"), ("zwei", "two")],
        "test": [("x", "y")],
    }.items():
        lines = [json.dumps({"translation": {"de": de, "en": en}}) for de, en in rows]
        (folder / f"{split}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("wmt14", ("wmt14", None, "train")),
        ("wmt14:de-en", ("wmt14", "de-en", "train")),
        ("Helsinki-NLP/opus:de-en@test", ("Helsinki-NLP/opus", "de-en", "test")),
        ("wmt14@train[:1%]", ("wmt14", None, "train[:1%]")),
    ],
)
def test_a_name_has_up_to_three_parts(text: str, parts: tuple[str, str | None, str]) -> None:
    assert parse_name(text) == parts


@pytest.mark.slow  # for the import of the package
def test_a_data_set_is_read_with_rows_as_places(dataset: Path) -> None:
    pairs = list(read_dataset(str(dataset), src_lang="de", tgt_lang="en"))
    assert [pair[:2] for pair in pairs] == [("ein Hund", "a dog"), ("zwei", "two")]
    assert pairs[1].place == f"hf:{dataset}:2"


@pytest.mark.slow  # for the import of the package
def test_a_split_is_chosen_and_a_corpus_option_leads_here(dataset: Path) -> None:
    source = CorpusSource(corpus=(f"hf:{dataset}@test",), src_lang="en", tgt_lang="de")
    assert [pair[:2] for pair in source.pairs()] == [("y", "x")]
    assert source.files() == []


@pytest.mark.slow  # for the import of the package
def test_a_missing_language_lists_the_keys(dataset: Path) -> None:
    with pytest.raises(DataError, match=r":1: no source and target among the keys 'de', 'en'"):
        list(read_dataset(str(dataset), src_lang="de", tgt_lang="fr"))


@pytest.mark.slow  # for the import of the package
def test_an_unknown_split_is_a_clear_error(dataset: Path) -> None:
    with pytest.raises(DataError, match="cannot be loaded"):
        list(read_dataset(f"{dataset}@nowhere", src_lang="de", tgt_lang="en"))


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'dragoman\[hf\]'"):
        list(read_dataset("wmt14"))
