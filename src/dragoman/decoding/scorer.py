"""What a search asks of a model: to read the sources, then one token of each hypothesis at a time.

``Transformer`` is a scorer as it is, ``Ensemble`` is one over several models, and a test may bring
a table of numbers.

Letters: B sentences, S source length, N hypotheses of a sentence, R = B * N rows, V vocabulary.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

from torch import Tensor


class Cache(Protocol):
    """What a scorer remembers of R hypotheses, sentence by sentence, N rows each."""

    def reorder(self, rows: Tensor) -> None:
        """Let row i go on from what was row ``rows[i]``; sentences keep their places."""

    def keep(self, sentences: Tensor) -> None:
        """Leave only these sentences, in this order."""


C = TypeVar("C", bound=Cache)


class Scorer(Protocol[C]):
    """Gives the logits of the next token of each hypothesis."""

    def start(self, src_ids: Tensor, *, n_beams: int, capacity: int) -> C:
        """Read the sources (B, S), and make room for ``capacity`` target tokens."""

    def step(self, ids: Tensor, cache: C) -> Tensor:
        """The logits after one more token of each hypothesis, for the search to change: (R, V)."""
