"""Exponents that are known come out again."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.bench.fit import fit_growth

SIZES = [8, 16, 32, 64, 128, 256]


@settings(deadline=None, max_examples=50)
@given(factor=st.floats(1e-6, 1e6), exponent=st.floats(-3, 3))
def test_a_power_is_found_exactly(factor, exponent):
    growth = fit_growth(SIZES, [factor * x**exponent for x in SIZES])
    assert growth.exponent == pytest.approx(exponent, abs=1e-9)
    assert growth.factor == pytest.approx(factor, rel=1e-6)
    assert growth.at(100) == pytest.approx(factor * 100**exponent, rel=1e-6)


def test_noise_of_a_tenth_moves_the_exponent_little():
    noise = np.random.default_rng(1).normal(1, 0.1, len(SIZES))
    growth = fit_growth(SIZES, [3 * x**1.5 * n for x, n in zip(SIZES, noise, strict=True)])
    assert growth.exponent == pytest.approx(1.5, abs=0.1)
    assert 0.98 < growth.explained < 1


def test_the_fit_is_that_of_numpy():
    ys = [1.0, 2.5, 3.0, 9.0, 14.0, 40.0]
    slope, start = np.polyfit(np.log(SIZES), np.log(ys), 1)
    growth = fit_growth(SIZES, ys)
    assert growth.exponent == pytest.approx(slope)
    assert growth.factor == pytest.approx(math.exp(start))


def test_a_fixed_cost_hides_the_exponent_at_the_small_end():
    ys = [1000 + x**2 for x in SIZES]
    assert fit_growth(SIZES, ys).exponent < 1.3
    assert fit_growth(SIZES[-2:], ys[-2:]).exponent > 1.8


def test_the_range_is_that_of_the_points_used():
    growth = fit_growth([1, 2, 4, 8], [0, 2, 4, 8])  # the first could not be measured
    assert (growth.low, growth.high) == (2, 8)


def test_what_does_not_grow_has_exponent_zero():
    growth = fit_growth([1, 2, 4], [5, 5, 5])
    assert growth.exponent == pytest.approx(0)
    assert growth.explained == 1


@pytest.mark.parametrize(("xs", "ys"), [([], []), ([4], [1]), ([4, 4], [1, 2]), ([1, 2], [0, 3])])
def test_too_few_points_give_no_fit(xs, ys):
    assert fit_growth(xs, ys) is None
