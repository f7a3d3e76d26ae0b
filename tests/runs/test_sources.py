from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.corpus.pair import Pair
from dragoman.errors import DataError
from dragoman.runs.sources import TaskSource, hold_out


class Numbers:
    """``n`` different pairs, each of them ``times`` times."""

    def __init__(self, n: int, times: int = 1) -> None:
        self.n, self.times = n, times

    def pairs(self):
        return (
            Pair(f"s {i % self.n}", f"t {i % self.n}", "m", i) for i in range(self.n * self.times)
        )

    def files(self):
        return []


def texts(source) -> list[tuple[str, str]]:
    return [pair[:2] for pair in source.pairs()]


@settings(deadline=None, max_examples=25)
@given(n=st.integers(20, 300), held=st.integers(1, 19), seed=st.integers(0, 2**40))
def test_a_held_out_slice_has_the_size_asked_for_and_shares_nothing(n, held, seed):
    train, valid, count = hold_out(Numbers(n), held, seed=seed)
    assert count == len(texts(valid)) == held
    assert sorted(texts(train) + texts(valid)) == sorted(texts(Numbers(n)))


def test_equal_pairs_stay_on_one_side():
    train, valid, _ = hold_out(Numbers(50, times=3), 10, seed=1)
    assert len(texts(valid)) == 30
    assert not set(texts(train)) & set(texts(valid))


def test_another_seed_holds_out_other_pairs():
    first, second = (texts(hold_out(Numbers(500), 50, seed=s)[1]) for s in (1, 2))
    assert first == texts(hold_out(Numbers(500), 50, seed=1)[1])
    assert len(set(first) & set(second)) < 20


@pytest.mark.parametrize(("n", "expected"), [(100, 10), (5000, 100), (200_000, 1000)])
def test_without_a_wish_one_in_fifty_is_held_out_within_bounds(n, expected):
    assert hold_out(Numbers(n), None, seed=1)[2] == expected


def test_too_few_pairs_to_hold_out_are_refused_with_advice():
    with pytest.raises(DataError, match="--valid-src"):
        hold_out(Numbers(8), None, seed=1)


def test_a_task_gives_the_same_pairs_each_time_and_other_ones_to_validate():
    train = TaskSource("reverse", 20, "train", 4)
    assert texts(train) == texts(train)
    assert not set(texts(train)) & set(texts(TaskSource("reverse", 20, "valid", 4)))
