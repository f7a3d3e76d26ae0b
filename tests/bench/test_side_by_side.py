"""Turns in a fixed order, ratios round by round: all by clocks that are known."""

from itertools import cycle

import pytest

from dragoman.bench.side_by_side import Spread, significant, take_turns, times_faster


class Scripted:
    """Takes what its script says, and writes down when it had its turn."""

    def __init__(self, name, seconds, log):
        self.name, self.seconds, self.log = name, cycle(seconds), log

    def run(self):
        self.log.append(self.name)
        return next(self.seconds)


def test_in_each_round_everybody_has_one_turn_in_the_same_order():
    log = []
    runners = {name: Scripted(name, [1.0], log) for name in "abc"}
    take_turns(runners, repeats=2, warmup=1)
    assert log == ["a", "b", "c"] * 3


def test_warm_up_rounds_are_run_but_not_counted():
    slow_at_first = Scripted("a", [99.0, 98.0, 1.0, 2.0], log := [])
    assert take_turns({"a": slow_at_first}, repeats=2, warmup=2) == {"a": [1.0, 2.0]}
    assert len(log) == 4


def test_every_turn_is_told():
    told = []
    runners = {name: Scripted(name, [1.0], []) for name in "ab"}
    take_turns(runners, repeats=1, warmup=1, on_turn=told.append)
    assert told == [1, 2, 3, 4]


def test_a_ratio_is_theirs_over_ours_within_each_round():
    # The machine was twice as slow in the second round, for both: the ratio does not see it.
    assert times_faster([1.0, 2.0, 1.0], [3.0, 6.0, 4.0]) == Spread(3.0, 3.0, 4.0)


def test_the_median_of_ratios_is_not_the_ratio_of_medians():
    ours, theirs = [1.0, 4.0, 2.0], [2.0, 4.0, 8.0]
    assert times_faster(ours, theirs).median == 2.0
    assert Spread.of(theirs).median / Spread.of(ours).median == 2.0
    assert times_faster([1.0, 4.0, 2.0], [5.0, 4.0, 2.0]).median == 1.0
    assert Spread.of([5.0, 4.0, 2.0]).median / Spread.of(ours).median == 2.0  # control


def test_rounds_that_do_not_match_are_refused():
    with pytest.raises(ValueError):
        times_faster([1.0], [1.0, 2.0])


@pytest.mark.parametrize(
    ("value", "shown"), [(0.0, 0.0), (123456.0, 123500.0), (0.000123456, 0.0001235), (-2.0, -2.0)]
)
def test_numbers_keep_four_digits(value, shown):
    assert significant(value) == shown
