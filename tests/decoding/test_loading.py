"""From a bundle on disk to a translator."""

import dataclasses

import numpy as np
import pytest
import torch

import dragoman
from dragoman.bundle import read_bundle, write_bundle
from dragoman.config import DataConfig
from dragoman.decoding.alignment import AlignmentChoice
from dragoman.errors import BundleError, ConfigError
from dragoman.tokenize.tokenizer import Tokenizer

TEXTS = ["Ein Hund rennt.", "Die Katze"]


def test_a_loaded_bundle_translates_as_what_was_saved(translator, save_bundle):
    loaded = dragoman.load(save_bundle(translator))
    assert loaded.translate(TEXTS) == translator.translate(TEXTS)
    assert loaded.config == translator.config
    assert loaded.path.name == "bundle"
    assert not loaded.model.training


def test_the_choice_of_heads_comes_from_the_record(translator, save_bundle):
    stored = {"heads": [[0, 1]], "shift": False}
    loaded = dragoman.load(save_bundle(translator, alignment=stored))
    assert loaded.alignment == AlignmentChoice(((0, 1),), False)


def test_several_bundles_are_an_ensemble(translator, save_bundle):
    folder = save_bundle(translator)
    twice = dragoman.load(folder, str(folder))
    assert len(twice.models) == 2
    assert [t.text for t in twice.translate(TEXTS)] == [t.text for t in translator.translate(TEXTS)]


def test_models_with_other_tokenizers_cannot_vote(translator, save_bundle):
    other = Tokenizer.train([("a b", "b a")], DataConfig(tokenizer="symbols"), seed=1)
    changed = dataclasses.replace(translator, tokenizer=other)
    with pytest.raises(BundleError, match="different tokenizers"):
        dragoman.load(save_bundle(translator), save_bundle(changed, "other"))


def test_weights_of_another_shape_are_refused(translator, save_bundle):
    folder = save_bundle(translator)
    bundle = read_bundle(folder)
    weights = {**bundle.weights, "output.weight": np.zeros((3, 16), np.float32)}
    write_bundle(
        folder,
        config=bundle.config,
        weights=weights,
        save_tokenizer=translator.tokenizer.save,
        record={},
    )
    with pytest.raises(BundleError, match=r"disagree[^\n]*(\n.*)*output\.weight"):
        dragoman.load(folder)


def test_a_device_that_is_not_there_is_refused(translator, save_bundle):
    name = f"cuda:{torch.cuda.device_count()}"
    with pytest.raises(ConfigError, match=f"device '{name}' cannot be used"):
        dragoman.load(save_bundle(translator), device=name)


def test_a_folder_that_is_no_bundle_is_named(tmp_path):
    with pytest.raises(BundleError, match="no such bundle"):
        dragoman.load(tmp_path / "nothing")
