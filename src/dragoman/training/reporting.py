"""What a training run tells whoever watches it. The library itself never prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class Progress:
    """The numbers of one log step, averaged since the last."""

    step: int
    total_steps: int
    loss: float  # per target token, smoothing included
    nll: float  # per target token; exp of it is the training perplexity
    learning_rate: float
    grad_norm: float
    tokens_per_second: float
    seconds: float  # since the run began
    seconds_left: float


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One validation sentence as the model translates it now."""

    source: str
    translation: str
    reference: str


@dataclass(frozen=True, kw_only=True)
class Validation:
    """What the validation set says of the model at one step."""

    val_loss: float  # -log p of a gold token, without smoothing
    val_ppl: float
    val_bleu: float | None
    samples: Sequence[Sample] = ()
    seconds: float = 0.0


class Reporter(Protocol):
    """Someone to tell; every method may do nothing."""

    def message(self, text: str) -> None: ...
    def prepared(self, n_done: int, n_pairs: int) -> None: ...
    def progress(self, progress: Progress) -> None: ...
    def validated(self, step: int, validation: Validation, *, is_best: bool) -> None: ...


class Silence:
    """A reporter that tells nobody."""

    def message(self, text: str) -> None: ...
    def prepared(self, n_done: int, n_pairs: int) -> None: ...
    def progress(self, progress: Progress) -> None: ...
    def validated(self, step: int, validation: Validation, *, is_best: bool) -> None: ...
