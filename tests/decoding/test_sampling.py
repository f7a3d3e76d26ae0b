"""Draws: their distribution, their limits, and that a seed decides them."""

import pytest
import torch

from dragoman.batches.batch import pad_sources
from dragoman.decoding.greedy import greedy_search
from dragoman.decoding.sampling import Sampling, draw_tokens, sample
from dragoman.decoding.scoring import score_ids
from dragoman.errors import ConfigError

PROBS = torch.tensor([0.05, 0.5, 0.15, 0.3])


def shares(sampling, n=4000):
    """How often each of four tokens is drawn by evenly spread lots."""
    lots = (torch.arange(n, dtype=torch.float64) + 0.5) / n
    drawn = draw_tokens(PROBS.log().expand(n, 4), lots, sampling)
    return [round(x, 3) for x in (drawn.bincount(minlength=4) / n).tolist()]


def test_tokens_are_drawn_by_their_probabilities():
    assert shares(Sampling()) == pytest.approx([0.05, 0.5, 0.15, 0.3], abs=1e-3)


def test_temperature_is_the_power_of_the_probabilities():
    powers = PROBS**2 / (PROBS**2).sum()
    assert shares(Sampling(temperature=0.5)) == pytest.approx(powers.tolist(), abs=1e-3)


def test_top_k_leaves_the_likeliest_k():
    assert shares(Sampling(top_k=2)) == pytest.approx([0, 0.625, 0, 0.375], abs=1e-3)
    assert shares(Sampling(top_k=99)) == shares(Sampling())


def test_top_p_leaves_the_fewest_tokens_that_reach_p():
    assert shares(Sampling(top_p=0.7)) == pytest.approx([0, 0.625, 0, 0.375], abs=1e-3)
    assert shares(Sampling(top_p=0.01)) == [0, 1, 0, 0]  # one always stays
    assert shares(Sampling(top_p=1.0)) == shares(Sampling())


def test_an_impossible_token_is_never_drawn_even_by_the_last_lot():
    log_probs = torch.tensor([[-torch.inf, 0.0, -torch.inf]])
    almost_one = torch.tensor([1 - 2**-53], dtype=torch.float64)
    assert draw_tokens(log_probs, almost_one, Sampling()).tolist() == [1]


def draws(model, rows, keys, **more):
    settings = Sampling(**{"seed": 3, **more.pop("sampling", {})})
    found = sample(model, pad_sources(rows), settings, keys=keys, max_extra=8, **more)
    return [[h.ids for h in each] for each in found]


def test_the_same_seed_draws_the_same_and_another_another(make_model, sources):
    model, rows = make_model(scale=0.5), sources(8)
    keys = [(i,) for i in range(8)]
    first = draws(model, rows, keys)
    assert first == draws(model, rows, keys)
    assert first != draws(model, rows, keys, sampling={"seed": 4})


@pytest.mark.parametrize("double", [True, False])
def test_draws_do_not_depend_on_neighbours(make_model, sources, double):
    model, rows = make_model(scale=0.5, double=double), sources(16)
    keys = [(i,) for i in range(16)]
    together = draws(model, rows, keys, n_each=3)
    for row, key, found in zip(rows, keys, together, strict=True):
        assert draws(model, [row], [key], n_each=3)[0] == found


def test_several_draws_of_a_sentence_differ(make_model, sources):
    found = draws(make_model(scale=0.5), sources(3), [(1,), (2,), (3,)], n_each=6)
    assert all(len(set(each)) > 2 for each in found)


def test_equal_sentences_on_different_lines_are_drawn_anew(make_model):
    first, second = draws(make_model(scale=0.5), [[5, 6, 7]] * 2, [(1,), (2,)], n_each=4)
    assert first != second


def test_the_likeliest_token_alone_is_greedy_search(make_model, sources):
    model, rows = make_model(), sources(10)
    found = draws(model, rows, [(i,) for i in range(10)], sampling={"top_k": 1})
    best = greedy_search(model, pad_sources(rows), max_extra=8)
    assert found == [[h.ids] for h in best]


def test_log_probs_are_the_models_own_whatever_the_temperature(make_model, sources):
    model, rows = make_model(scale=0.5), sources(6)
    settings = Sampling(temperature=2.0, top_p=0.9)
    found = sample(model, pad_sources(rows), settings, keys=[(i,) for i in range(6)], max_extra=5)
    forced = score_ids([model], [(row, h.ids) for row, (h,) in zip(rows, found, strict=True)])
    assert [h.log_prob for (h,) in found] == pytest.approx([s.log_prob for s in forced])


def test_impossible_settings_are_all_refused_at_once():
    with pytest.raises(ConfigError, match=r"temperature = 0.*\n.*top_k = 0.*\n.*top_p = 1.5"):
        Sampling(temperature=0, top_k=0, top_p=1.5)
