"""A wall-clock budget: how many steps fit into the minutes given, decided once and recorded."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from dragoman.config import TrainConfig
from dragoman.training.state import TrainState

MEASURED_SHARE = 0.04  # of the time, or at least so many steps, before the speed is believed
MEASURED_STEPS = 40
FIRST_STEPS = 2  # not measured: they warm caches and allocators up
RESERVED_SHARE = 0.06  # for validations, checkpoints and the averaging at the end


class Budget:
    """Turns minutes into steps after a short stretch of real training.

    The clock starts when the budget is made, less what a resumed run has trained before. A run that
    is resumed keeps the steps decided first; one that was stopped before that decides them now.
    """

    def __init__(self, minutes: float | None, state: TrainState) -> None:
        self.minutes = minutes
        self.said = ""
        now = time.monotonic()
        self._began = now - state.seconds
        self._warm_step = state.step + FIRST_STEPS
        self._warm_time = now

    def is_open(self, state: TrainState) -> bool:
        """Whether the steps are still to be decided; the same in all processes."""
        return self.minutes is not None and not state.is_budgeted

    def decide(self, state: TrainState, train: TrainConfig, *, share: Callable[[Any], Any]) -> None:
        """Fix steps and warm-up in the state, as soon as the first process has seen enough.

        To be called after each step while ``is_open``, in all processes: their clocks differ, so
        that only one of them may judge what is enough.
        """
        assert self.minutes is not None
        now = time.monotonic()
        if state.step <= self._warm_step:
            self._warm_time = now
        per_step = share(self._seconds_a_step(state, now))
        if per_step is None:
            return
        left = self.minutes * 60 * (1 - RESERVED_SHARE) - (now - self._began)
        steps = min(train.steps, state.step + max(0, int(left / per_step)))
        state.total_steps = share(steps)
        state.warmup_steps = min(train.warmup_steps, max(state.step, state.total_steps // 8))
        state.is_budgeted = True
        self.said = (
            f"{per_step:.2f} s a step: {state.total_steps:,} steps fit into {self.minutes:g} "
            f"minutes; the learning rate rises for {state.warmup_steps:,} of them"
        )

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
