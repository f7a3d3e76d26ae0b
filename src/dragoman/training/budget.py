"""A wall-clock budget: how many steps fit into the minutes given, and whether that still holds.

The steps are decided after a short stretch of real training. A machine that others share does not
keep its speed, so the decision is looked at again after each quarter of the steps that are left.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from dragoman.config import TrainConfig
from dragoman.training.state import TrainState

MEASURED_SHARE = 0.04  # of the time, or at least so many steps, before the speed is believed
MEASURED_STEPS = 40
FIRST_STEPS = 2  # not measured: they warm caches and allocators up
RESERVED_SHARE = 0.06  # of the time, for the validation, the averaging and the files at the end
REVIEWED_SHARE = 4  # the steps are looked at again after a fourth of those that are left
FEWEST_STEPS = 10  # between two looks
TOLD_SHARE = 0.05  # a change that is worth a line


class Budget:
    """Turns minutes into steps, at first and again where the speed has changed.

    The clock starts when the budget is made, less what a resumed run has trained before. What was
    decided is in the state, so that a resumed run keeps it until the next look.
    """

    def __init__(self, minutes: float | None, state: TrainState) -> None:
        self.minutes = minutes
        now = time.monotonic()
        self._began = now - state.seconds
        self._warm_step = state.step + FIRST_STEPS
        self._warm_time = now

    def is_due(self, state: TrainState) -> bool:
        """Whether the steps are to be decided, or looked at again; the same in all processes."""
        return self.minutes is not None and state.step >= state.review_step

    def decide(self, state: TrainState, train: TrainConfig, *, share: Callable[[Any], Any]) -> str:
        """Fix the steps in the state, as soon as the first process has seen enough; what to tell.

        To be called after each step while ``is_due``, in all processes: their clocks differ, so
        that only one of them may judge what is enough.
        """
        assert self.minutes is not None
        now = time.monotonic()
        if state.step <= self._warm_step:
            self._warm_time = now
        per_step = share(self._seconds_a_step(state, now))
        if per_step is None:
            return ""
        left = self.minutes * 60 * (1 - RESERVED_SHARE) - (now - self._began)
        is_first, before = state.review_step == 0, state.total_steps
        steps = min(train.steps, state.step + max(0, int(left / per_step)))
        state.total_steps = share(steps)
        state.review_step = state.step + max(
            FEWEST_STEPS, (state.total_steps - state.step) // REVIEWED_SHARE
        )
        # From here on validations and checkpoints are in the speed that is measured.
        self._warm_step, self._warm_time = state.step, now
        fit = f"{per_step:.2f} s a step: {state.total_steps:,} steps fit into {self.minutes:g}"
        if is_first:
            state.warmup_steps = min(train.warmup_steps, max(state.step, state.total_steps // 8))
            return f"{fit} minutes; the learning rate rises for {state.warmup_steps:,} of them"
        is_news = abs(state.total_steps - before) > TOLD_SHARE * before
        return f"{fit} minutes, where {before:,} had been planned" if is_news else ""

    def _seconds_a_step(self, state: TrainState, now: float) -> float | None:
        """The speed of the steps measured; None while they are too few to believe it."""
        assert self.minutes is not None
        n_measured = state.step - self._warm_step
        is_late = now - self._began > self.minutes * 60 * MEASURED_SHARE
        if n_measured < 1 or (n_measured < MEASURED_STEPS and not is_late):
            return None
        return max(1e-9, now - self._warm_time) / n_measured

    def seconds_left(self, state: TrainState) -> float:
        """An estimate from the mean speed so far."""
        if state.step == 0:
            return 0.0
        return (state.total_steps - state.step) * state.seconds / state.step
