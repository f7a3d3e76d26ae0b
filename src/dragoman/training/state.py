"""Where a run stands: everything besides weights and optimizer that the next step depends on."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from dragoman.batches.loader import Position


@dataclass(frozen=True)
class Validated:
    """What one validation found."""

    step: int
    val_loss: float  # per token
    val_bleu: float | None = None

    @property
    def goodness(self) -> tuple[float, float]:
        """Higher is better: by BLEU where it was measured, by loss where not or where equal."""
        return (0.0 if self.val_bleu is None else self.val_bleu, -self.val_loss)


@dataclass
class TrainState:
    """Counters, data position, early stopping; a checkpoint keeps it as JSON.

    Random numbers need no state: each step seeds them from the run's seed and its own number.

    >>> state = TrainState(step=3, position=Position(epoch=1, batch=2))
    >>> TrainState.from_dict(state.to_dict()) == state
    True
    """

    step: int = 0  # updates done
    samples: int = 0  # sentence pairs seen, over all processes
    tokens: int = 0  # target tokens seen, over all processes
    seconds: float = 0.0  # spent training, over all parts of a run that was resumed
    total_steps: int = 0  # where the schedule ends, as far as a time budget can tell
    warmup_steps: int = 0  # where its rise ends
    review_step: int = 0  # when a time budget looks at them again; 0: it has not decided yet
    position: Position = field(default_factory=lambda: Position(epoch=0, batch=0))
    validations: list[Validated] = field(default_factory=list)
    metrics_bytes: int = 0  # length of metrics.jsonl; what comes after it is written again
    scaler: dict[str, Any] | None = None  # of fp16

    @property
    def best(self) -> Validated | None:
        """The best validation so far, the earliest of equals."""
        return max(self.validations, key=lambda v: v.goodness, default=None)

    def best_steps(self, k: int) -> list[int]:
        """The steps of the best k validations."""
        ranked = sorted(self.validations, key=lambda v: v.goodness, reverse=True)
        return [validated.step for validated in ranked[:k]]

    @property
    def validations_without_progress(self) -> int:
        """How many validations have come after the best one."""
        best = self.best
        return 0 if best is None else len(self.validations) - 1 - self.validations.index(best)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, saved: dict[str, Any]) -> TrainState:
        saved = dict(saved)
        saved["position"] = Position(**saved["position"])
        saved["validations"] = [Validated(**found) for found in saved["validations"]]
        return cls(**saved)
