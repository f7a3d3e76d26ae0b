"""Which languages a bundle speaks, and how it is told."""

import pytest

from dragoman.config import Config, DataConfig
from dragoman.errors import ConfigError
from dragoman.server.languages import bundle_languages, language_name, parse_codes


def files(*paths):
    return {"data": {"files": [{"path": path, "sha256": ""} for path in paths]}}


def codes(config, record):
    found = bundle_languages(config, record)
    return found.source, found.target, bool(found.note)


def test_the_configuration_is_believed_first():
    config = Config(data=DataConfig(src_lang="fr", tgt_lang="en"))
    assert codes(config, files("train.de", "train.en")) == ("fr", "en", False)


@pytest.mark.parametrize(
    "paths",
    [("train.de", "train.en"), ("a/b.lc.norm.tok.de.gz", "a/b.lc.norm.tok.en.gz"),
     ("one.de", "two.de.xz", "one.en", "two.en.zst")],
)  # fmt: skip
def test_the_suffixes_of_the_corpus_tell(paths):
    assert codes(Config(), files(*paths)) == ("de", "en", False)


@pytest.mark.parametrize(
    ("task", "expected"),
    [("grammar", ("de", "en")), ("grammar_en_de", ("en", "de")), ("copy", ("src", "tgt"))],
)
def test_the_built_in_tasks_are_known(task, expected):
    assert codes(Config(), {"task": task, "data": {"files": []}}) == (*expected, False)


def test_a_record_without_files_and_task_is_guessed_and_said_so():
    subwords = Config(data=DataConfig(tokenizer="unigram"))
    assert codes(subwords, {"data": {"files": []}}) == ("de", "en", True)
    symbols = Config(data=DataConfig(tokenizer="symbols"))
    assert codes(symbols, {"data": {"files": []}}) == ("src", "tgt", True)


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"data": None},
        {"data": {"files": "x"}},
        {"data": {"files": [1]}},
        files("a.tmx"),
        files("a.de", "a.en", "a.fr"),
    ],
)
def test_what_is_not_known_is_served_under_codes_of_no_language(record):
    assert codes(Config(), record) == ("src", "tgt", True)


@pytest.mark.parametrize("text", ["", "en", "en-", "-de", "en-de-fr", "en/de", "a:b:c", "e n-de"])
def test_languages_that_cannot_be_read_are_refused_with_an_example(text):
    with pytest.raises(ConfigError, match="RUN=en-de"):
        parse_codes(text)


def test_names_are_english():
    assert [language_name(code) for code in ("de", "zh-Hans", "und")] == [
        "German", "Chinese (Hans)", "und"
    ]  # fmt: skip
