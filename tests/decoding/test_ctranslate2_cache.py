"""The conversion that is kept in a bundle's folder: made once, and again when that changes."""

import dataclasses
import errno
import logging

import pytest
import torch

from dragoman.decoding import ctranslate2_cache
from dragoman.decoding.ctranslate2_cache import converted, replacing_folder
from dragoman.decoding.loading import load

pytest.importorskip("ctranslate2")

TEXTS = ["Ein Hund rennt.", "Die Katze schläft nicht."]


def test_a_bundle_is_converted_once(translator, save_bundle, monkeypatch):
    folder = save_bundle(translator)
    first = converted(folder, "float32")
    assert first == folder / "ctranslate2-float32"
    monkeypatch.setattr(ctranslate2_cache, "write_model", pytest.fail)
    assert converted(folder, "float32") == first


def test_changed_weights_are_converted_again(translator, save_bundle):
    folder = save_bundle(translator)
    before = load(folder, engine="ctranslate2").translate(TEXTS, beam=1)
    torch.manual_seed(7)
    other = type(translator.model)(translator.model.config).eval().requires_grad_(False)
    assert save_bundle(dataclasses.replace(translator, models=(other,))) == folder
    after = load(folder, engine="ctranslate2").translate(TEXTS, beam=1)
    assert [t.ids for t in after] == [t.ids for t in load(folder).translate(TEXTS, beam=1)]
    assert [t.ids for t in after] != [t.ids for t in before]  # control


def test_a_conversion_of_an_earlier_converter_is_made_again(translator, save_bundle, monkeypatch):
    folder = save_bundle(translator)
    note = converted(folder, "float32") / "export.json"
    before = note.read_text()
    monkeypatch.setattr(ctranslate2_cache, "REVISION", -1)
    converted(folder, "float32")
    assert note.read_text() != before


def test_each_quantization_has_a_place_of_its_own(translator, save_bundle):
    folder = save_bundle(translator)
    load(folder, engine="ctranslate2")
    engine = load(folder, engine="ctranslate2", int8=True).engine
    assert engine.translator.compute_type.startswith("int8")
    names = {path.name for path in folder.iterdir() if path.is_dir()}
    assert {"ctranslate2-float32", "ctranslate2-int8"} <= names


def test_a_folder_that_cannot_be_written_to_does_not_stop_it(
    translator, save_bundle, monkeypatch, caplog
):
    folder = save_bundle(translator)

    def refuse(path):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(ctranslate2_cache, "replacing_folder", refuse)
    with caplog.at_level(logging.INFO):
        found = load(folder, engine="ctranslate2").translate(TEXTS, beam=1)
    assert [t.ids for t in found] == [t.ids for t in load(folder).translate(TEXTS, beam=1)]
    assert not (folder / "ctranslate2-float32").exists()
    assert "Permission denied" in caplog.text


def test_the_model_of_ours_is_loaded_only_when_it_is_needed(translator, save_bundle, monkeypatch):
    folder = save_bundle(translator)
    loaded = load(folder, engine="ctranslate2")
    made = []

    def make(bundle, device):
        made.append(bundle)
        return translator.model

    monkeypatch.setattr("dragoman.decoding.loading.model_of", make)
    loaded.translate(TEXTS)
    assert not made
    loaded.translate(TEXTS, alignments=True)
    loaded.translate(TEXTS, alignments=True)
    assert len(made) == 1


def test_what_fails_while_it_is_made_leaves_what_was_there(tmp_path):
    target = tmp_path / "model"
    with replacing_folder(target) as new:
        (new / "first").write_text("1")

    def fail():
        with replacing_folder(target) as new:
            (new / "second").write_text("2")
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fail()
    assert [path.name for path in tmp_path.rglob("*")] == ["model", "first"]
