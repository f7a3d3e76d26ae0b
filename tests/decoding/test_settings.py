"""Which values a search gets: those given, else the bundle's."""

import pytest

from dragoman.config import DecodeConfig
from dragoman.decoding.sampling import Sampling
from dragoman.decoding.settings import SearchSettings
from dragoman.errors import ConfigError

DEFAULTS = DecodeConfig(beam=5, length_penalty=1.1, max_extra=7, n_best=3)


def test_what_is_not_given_comes_from_the_bundle():
    found = SearchSettings.resolve(DEFAULTS)
    assert (found.beam, found.n_best, found.length_penalty, found.max_extra) == (5, 3, 1.1, 7)


def test_what_is_given_wins_even_if_it_is_zero():
    found = SearchSettings.resolve(DEFAULTS, beam=6, n_best=2, length_penalty=0.0, max_extra=0)
    assert (found.beam, found.n_best, found.length_penalty, found.max_extra) == (6, 2, 0.0, 0)


def test_the_beam_is_as_wide_as_the_n_best_need():
    assert SearchSettings.resolve(DEFAULTS, n_best=9).beam == 9
    assert SearchSettings.resolve(DEFAULTS, beam=2).n_best == 2


def test_more_translations_than_the_beam_are_refused():
    with pytest.raises(ConfigError, match=r"^n_best = 4: must be at most the beam \(2\)"):
        SearchSettings.resolve(DEFAULTS, beam=2, n_best=4)


def test_a_beam_of_none_is_the_only_thing_complained_about():
    with pytest.raises(ConfigError) as told:
        SearchSettings.resolve(DEFAULTS, beam=0)
    assert "beam = 0" in str(told.value)
    assert "n_best" not in str(told.value)


@pytest.mark.parametrize("wrong", [{"beam": 0}, {"length_penalty": -0.1}, {"max_extra": -1}])
def test_impossible_values_are_refused(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        SearchSettings.resolve(DEFAULTS, **wrong)


def test_samples_need_no_beam():
    found = SearchSettings.resolve(DEFAULTS, beam=1, n_best=8, sampling=Sampling())
    assert found.rows == 8
