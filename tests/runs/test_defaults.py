from __future__ import annotations

import pytest

from dragoman.config_loading import load_config, with_defaults
from dragoman.errors import ConfigError
from dragoman.runs.defaults import choose_defaults, that_fit


@pytest.mark.parametrize("n_pairs", [100, 29_000, 1_000_000, 10_000_000])
@pytest.mark.parametrize("tokenizer", [None, "symbols"])
def test_what_is_chosen_makes_a_valid_configuration(n_pairs, tokenizer):
    chosen = choose_defaults(n_pairs, task=None, tokenizer=tokenizer)
    config = with_defaults(load_config(), chosen.values)
    assert config.model.d_model == chosen.values["model.d_model"]
    assert chosen.why


def test_a_larger_corpus_gets_a_larger_model():
    widths = [
        choose_defaults(n, task=None, tokenizer=None).values["model.d_model"]
        for n in (29_000, 1_000_000, 10_000_000)
    ]
    assert widths == sorted(set(widths))


@pytest.mark.parametrize(("n_pairs", "positions"), [(29_000, "rotary"), (1_000_000, "sinusoidal")])
def test_positions_of_a_small_corpus_are_rotary(n_pairs, positions):
    chosen = choose_defaults(n_pairs, task=None, tokenizer=None)
    assert with_defaults(load_config(), chosen.values).model.positions == positions


@pytest.mark.parametrize("options", [["model.d_model=12", "model.n_heads=4"], ["model.d_k=5"]])
def test_heads_of_an_odd_width_keep_positions_that_they_can_have(options):
    chosen = choose_defaults(29_000, task=None, tokenizer=None).values
    loaded = load_config(overrides=options)
    assert with_defaults(loaded, that_fit(chosen, loaded)).model.positions == "sinusoidal"
    with pytest.raises(ConfigError, match="even for rotary positions"):
        with_defaults(loaded, chosen)


def test_what_fits_is_all_of_a_bundle_without_rotary_positions():
    settings = {"model.positions": "learned", "model.d_model": 12, "model.n_heads": 4}
    assert that_fit(settings, load_config()) == settings


def test_what_somebody_chose_stays():
    chosen = choose_defaults(29_000, task=None, tokenizer=None)
    loaded = load_config(overrides=["train.batch_tokens=777", "model.norm=post"])
    config = with_defaults(loaded, chosen.values)
    assert (config.train.batch_tokens, config.model.norm) == (777, "post")


def test_it_tells_the_choice_in_short_or_what_a_recipe_left_open():
    chosen = choose_defaults(29_000, task=None, tokenizer=None)
    few_given, all_given = frozenset(["train.steps"]), frozenset(chosen.values)
    assert chosen.said(few_given).startswith("settings for 29,000 pairs: tiny")
    assert chosen.said(all_given) == "settings: all as they were given"
    left = all_given - {"train.clip_norm", "train.warmup_steps"}
    said = chosen.said(left)
    assert "nobody gave them" in said
    assert "train.clip_norm = 1.0" in said
    assert "Muon" not in said  # it may not be what the recipe has
