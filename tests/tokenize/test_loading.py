import json
import logging

import pytest

from dragoman.errors import TokenizerError
from dragoman.tokenize.tokenizer import Tokenizer


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(TokenizerError, match=r"nowhere.tokenizer\.json: cannot be read"):
        Tokenizer.load(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("settings", "missing"),
    [
        ({"tokenizer": "bpe"}, "joint.model"),
        ({"tokenizer": "bpe", "joint_vocab": False}, "source.model"),
        ({"tokenizer": "unigram", "joint_vocab": False}, "target.model"),
        ({"tokenizer": "characters"}, "joint.json"),
        ({"tokenizer": "symbols", "joint_vocab": False}, "target.json"),
    ],
)
def test_each_missing_file_is_named(trained, tmp_path, settings, missing):
    trained(**settings).save(tmp_path)
    (tmp_path / missing).unlink()
    with pytest.raises(TokenizerError, match=f"{missing}: cannot be read"):
        Tokenizer.load(tmp_path)


@pytest.mark.parametrize("name", ["joint.model", "tokenizer.json"])
def test_a_damaged_file_is_named(trained, tmp_path, name):
    trained(tokenizer="bpe").save(tmp_path)
    (tmp_path / name).write_bytes(b"\x93 not this")
    with pytest.raises(TokenizerError, match=f"{name}: .*damaged"):
        Tokenizer.load(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tokenizer": "magic"}, r"tokenizer = 'magic': must be one of bpe, unigram"),
        ({"format": 2}, r"not a tokenizer of format 1"),
        ({"lowercase": "yes"}, r"lowercase = 'yes' is not a setting"),
        ({"lower_case": True}, r"lower_case = True is not a setting"),
    ],
)
def test_wrong_settings_are_named(trained, tmp_path, change, message):
    trained(tokenizer="characters").save(tmp_path)
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(TokenizerError, match=rf"tokenizer\.json: {message}"):
        Tokenizer.load(tmp_path)


def test_rules_of_another_spacy_are_warned_of(trained, tmp_path, caplog):
    trained(tokenizer="words").save(tmp_path)
    with caplog.at_level(logging.WARNING, logger="dragoman"):
        Tokenizer.load(tmp_path)
        assert caplog.text == ""  # control: the same version says nothing
        path = tmp_path / "tokenizer.json"
        settings = json.loads(path.read_text())
        path.write_text(json.dumps({**settings, "trained_with": "spacy 1.0"}))
        Tokenizer.load(tmp_path)
    assert "trained with spacy 1.0" in caplog.text
