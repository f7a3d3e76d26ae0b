"""A wall-clock budget: how many steps fit into the minutes given, decided once and recorded."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from dragoman.config import TrainConfig
from dragoman.training.state import TrainState

MEASURED_SHARE = 0.04  # of the time, and at least so many steps, before the speed is believed
MEASURED_STEPS = 12
FIRST_STEPS = 2  # not measured: they warm caches and allocators up
RESERVED_SHARE = 0.06  # for validations, checkpoints and the averaging at the end


class Budget:
    """Turns minutes into steps after a short stretch of real training.

    The clock starts when the budget is made. A run that is resumed keeps the steps decided first.
    """

    def __init__(self, minutes: float | None, state: TrainState) -> None:
        self.minutes = minutes
        self.said = ""
        self._began = time.monotonic()
        self._decided = minutes is None or state.step > 0
        self._warm: float | None = None

    def is_open(self, state: TrainState) -> bool:
        """Whether the steps are still to be decided, and enough has been seen to do it."""
        if self._decided or self.minutes is None:
            return False
        now = time.monotonic()
        if state.step <= FIRST_STEPS:
            self._warm = now
            return False
        return (
            state.step >= FIRST_STEPS + MEASURED_STEPS
            or now - self._began > self.minutes * 60 * MEASURED_SHARE
        )

    def decide(self, state: TrainState, train: TrainConfig, *, share: Callable[[Any], Any]) -> None:
        """Fix the number of steps and the warm-up in the state, the same in all processes."""
        assert self.minutes is not None
        now = time.monotonic()
        per_step = (now - (self._warm or self._began)) / max(1, state.step - FIRST_STEPS)
        left = self.minutes * 60 * (1 - RESERVED_SHARE) - (now - self._began)
        steps = min(train.steps, state.step + max(1, int(left / per_step)))
        state.total_steps = share(steps)
        state.warmup_steps = min(train.warmup_steps, max(state.step, state.total_steps // 8))
        self._decided = True
        self.said = (
            f"{per_step:.2f} s a step: {state.total_steps:,} steps fit into {self.minutes:g} "
            f"minutes; the learning rate rises for {state.warmup_steps:,} of them"
        )

    def seconds_left(self, state: TrainState) -> float:
        """An estimate from the mean speed so far."""
        if state.step == 0:
            return 0.0
        return (state.total_steps - state.step) * state.seconds / state.step
