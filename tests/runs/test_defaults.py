from __future__ import annotations

import pytest

from dragoman.config_loading import load_config, with_defaults
from dragoman.runs.defaults import choose_defaults


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


def test_what_somebody_chose_stays():
    chosen = choose_defaults(29_000, task=None, tokenizer=None)
    loaded = load_config(overrides=["train.batch_tokens=777", "model.norm=post"])
    config = with_defaults(loaded, chosen.values)
    assert (config.train.batch_tokens, config.model.norm) == (777, "post")
