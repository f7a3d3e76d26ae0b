"""Minutes into steps, on a clock that the tests turn by hand."""

import time
from dataclasses import replace

import pytest

from dragoman.config import TrainConfig
from dragoman.training.budget import (
    FEWEST_STEPS,
    FIRST_STEPS,
    MEASURED_STEPS,
    RESERVED_SHARE,
    Budget,
)
from dragoman.training.state import TrainState

DECIDED_AT = FIRST_STEPS + MEASURED_STEPS


class Clock:
    def __init__(self):
        self.now = 1000.0


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", lambda: clock.now)
    return clock


def same(value):
    return value


def start(train, state=None):
    state = state or TrainState(total_steps=train.steps, warmup_steps=train.warmup_steps)
    return state, Budget(train.minutes, state)


def run(clock, train, state, budget, *, seconds, until=10**6, share=same):
    """Steps of these seconds each until the budget is decided, or until a step; what is told."""
    began = clock.now - state.seconds
    told = ""
    while not told and state.step < until:
        told = one_step(clock, train, state, budget, began, seconds=seconds, share=share)
    return told


def one_step(clock, train, state, budget, began, *, seconds, share=same):
    state.step += 1
    clock.now += seconds(state.step) if callable(seconds) else seconds
    state.seconds = clock.now - began
    return budget.decide(state, train, share=share) if budget.is_due(state) else ""


def run_to_the_end(clock, train, state, budget, *, seconds):
    """What is told on the way, and the seconds that it all took."""
    began, told = clock.now - state.seconds, []
    while state.step < state.total_steps:
        told.append(one_step(clock, train, state, budget, began, seconds=seconds))
    return [text for text in told if text], clock.now - began


def test_the_steps_fill_the_minutes_but_for_the_reserve(clock):
    train = TrainConfig(minutes=10)
    state, budget = start(train)
    told = run(clock, train, state, budget, seconds=0.5)
    assert state.step == DECIDED_AT
    in_time = 600 * (1 - RESERVED_SHARE) / 0.5
    assert state.total_steps == pytest.approx(in_time, abs=1)
    assert f"{state.total_steps:,} steps fit into 10 minutes" in told
    assert "0.50 s a step" in told


def test_the_first_steps_do_not_count_for_the_speed(clock):
    train = TrainConfig(minutes=60)
    state, budget = start(train)
    run(clock, train, state, budget, seconds=lambda step: 9 if step <= FIRST_STEPS else 0.5)
    left = 3600 * (1 - RESERVED_SHARE) - 2 * 9 - MEASURED_STEPS * 0.5
    assert state.total_steps == pytest.approx(DECIDED_AT + left / 0.5, abs=1)


def test_slow_steps_are_measured_for_a_share_of_the_time_only(clock):
    train = TrainConfig(minutes=10)
    state, budget = start(train)
    run(clock, train, state, budget, seconds=7.0)
    assert state.step == 4  # 28 s are more than 4 % of 600 s
    assert state.total_steps == int(600 * (1 - RESERVED_SHARE) / 7)


@pytest.mark.parametrize("seconds", [40.0, 1000.0])
def test_a_budget_that_is_spent_already_asks_for_no_more_steps(clock, seconds):
    train = TrainConfig(minutes=1)
    state, budget = start(train)
    run(clock, train, state, budget, seconds=seconds)
    assert state.step == state.total_steps == FIRST_STEPS + 1


def test_the_steps_of_the_config_are_the_most_there_are(clock):
    train = TrainConfig(minutes=10, steps=50)
    state, budget = start(train)
    run(clock, train, state, budget, seconds=0.01)
    assert state.total_steps == 50


def test_a_clock_that_stands_still_gives_all_the_steps_of_the_config(clock):
    train = TrainConfig(minutes=10, steps=5000)
    state, budget = start(train)
    run(clock, train, state, budget, seconds=0.0)
    assert state.total_steps == 5000


@pytest.mark.parametrize("seconds", [0.001, 0.5, 3.0, 70.0])
@pytest.mark.parametrize("warmup_steps", [0, 5, 400, 4000])
def test_the_warm_up_is_no_longer_than_asked_and_than_the_run(clock, seconds, warmup_steps):
    train = TrainConfig(minutes=10, warmup_steps=warmup_steps)
    state, budget = start(train)
    run(clock, train, state, budget, seconds=seconds)
    assert state.warmup_steps <= warmup_steps
    assert state.warmup_steps <= max(state.step, state.total_steps // 8) <= state.total_steps


def test_a_steady_speed_changes_nothing_that_was_decided(clock):
    train = TrainConfig(minutes=10)
    state, budget = start(train)
    run(clock, train, state, budget, seconds=0.5)
    decided, warmup = state.total_steps, state.warmup_steps
    told, seconds = run_to_the_end(clock, train, state, budget, seconds=0.5)
    assert not told
    assert state.total_steps == pytest.approx(decided, abs=2)
    assert state.warmup_steps == warmup
    assert seconds == pytest.approx(600 * (1 - RESERVED_SHARE), abs=1)


@pytest.mark.parametrize(("early", "late"), [(0.5, 0.2), (0.5, 1.2), (0.2, 0.21)])
@pytest.mark.parametrize("changes_at", [50, 300])
def test_the_minutes_are_kept_when_the_machine_changes_its_speed(clock, early, late, changes_at):
    train = TrainConfig(minutes=10)
    state, budget = start(train)
    run(clock, train, state, budget, seconds=early)
    decided, warmup = state.total_steps, state.warmup_steps
    told, seconds = run_to_the_end(
        clock, train, state, budget, seconds=lambda step: early if step < changes_at else late
    )
    assert seconds == pytest.approx(600 * (1 - RESERVED_SHARE), rel=0.03)
    assert (state.total_steps > decided) == (late < early)
    assert state.warmup_steps == warmup  # it may be over already
    assert bool(told) == (max(early, late) > 1.1 * min(early, late))
    assert all("had been planned" in text for text in told)


def test_a_machine_that_comes_to_a_stand_ends_the_run_and_not_later(clock):
    train = TrainConfig(minutes=10)
    state, budget = start(train)
    run(clock, train, state, budget, seconds=0.5)
    review = state.review_step
    assert review - state.step > FEWEST_STEPS  # control: there is something to wait for
    run_to_the_end(clock, train, state, budget, seconds=lambda s: 9000 if s == review else 0.5)
    assert state.step == state.total_steps == review


def test_without_minutes_there_is_nothing_to_decide(clock):
    state, budget = start(TrainConfig())
    assert not budget.is_due(state)


def test_a_resumed_run_keeps_what_was_decided(clock):
    train = TrainConfig(minutes=10)
    state, budget = start(train)
    run(clock, train, state, budget, seconds=0.5)
    saved = TrainState.from_dict(state.to_dict())
    _, again = start(train, saved)
    assert not again.is_due(saved)
    assert (saved.total_steps, saved.warmup_steps) == (state.total_steps, state.warmup_steps)
    assert saved.review_step == state.review_step


@pytest.mark.parametrize("killed_at", [1, FIRST_STEPS, DECIDED_AT - 1])
def test_a_run_killed_before_the_decision_decides_when_it_is_resumed(clock, killed_at):
    train = TrainConfig(minutes=60)
    state, budget = start(train)
    run(clock, train, state, budget, seconds=0.5, until=killed_at)
    saved = TrainState.from_dict(state.to_dict())
    clock.now += 86_400  # a night between them is not training
    _, again = start(train, saved)
    assert again.is_due(saved)
    run(clock, train, saved, again, seconds=0.5)
    assert saved.step == killed_at + DECIDED_AT
    assert saved.total_steps == pytest.approx(3600 * (1 - RESERVED_SHARE) / 0.5, abs=1)


def test_all_processes_take_the_first_ones_decision(clock):
    train = TrainConfig(minutes=10)
    first, theirs = start(train), start(train)
    shared = []  # what the first process sends along, in order

    def send(value):
        shared.append(value)
        return value

    run(clock, train, *first, seconds=0.5, share=send)
    clock.now = 1000.0
    # Its own clock would have decided earlier, or later, and otherwise.
    run(clock, train, *theirs, seconds=7.0, share=lambda value: shared.pop(0))
    assert not shared  # control: each has taken part in every exchange
    assert theirs[0].step == first[0].step
    ours = replace(first[0], seconds=0.0)
    assert replace(theirs[0], seconds=0.0) == ours


def test_the_time_left_follows_the_mean_speed():
    state = TrainState(step=20, total_steps=100, seconds=10.0)
    budget = Budget(None, state)
    assert budget.seconds_left(state) == pytest.approx(40)
    assert budget.seconds_left(TrainState(total_steps=100)) == 0
