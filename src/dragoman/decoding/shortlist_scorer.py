"""A search among the candidates of a shortlist alone.

The candidates of all sentences of a batch are numbered anew, 0 … C - 1, the four special ids as
they were; the search knows no others. What a sentence has not among its own candidates is as
impossible for it as if it stood alone.

Letters: B sentences, N beams, R = B * N rows, D d_model, C candidates, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.shortlist import Shortlist
from dragoman.model.cache import DecoderCache
from dragoman.model.transformer import Transformer


@dataclass(frozen=True)
class Candidates:
    """The candidates of a batch, and which sentence may have which."""

    tokens: Tensor  # (C,) rising
    bans: Tensor  # (B, C), 0 or -inf

    @classmethod
    def of(
        cls,
        shortlist: Shortlist,
        sources: Sequence[Sequence[int]],
        prefixes: Sequence[Sequence[int]] | None,
        device: torch.device,
    ) -> Candidates:
        """Those of each source, and what it has been told to begin with."""
        forced = prefixes or [()] * len(sources)
        each = [
            np.union1d(shortlist.candidates(source), np.asarray(prefix, dtype=np.int64))
            for source, prefix in zip(sources, forced, strict=True)
        ]
        tokens = np.unique(np.concatenate(each))
        bans = np.full((len(each), len(tokens)), -np.inf, dtype=np.float32)
        for row, own in enumerate(each):
            bans[row, np.searchsorted(tokens, own)] = 0.0
        return cls(torch.from_numpy(tokens).to(device), torch.from_numpy(bans).to(device))

    def numbers(self, ids: Sequence[int]) -> list[int]:
        """The numbers of these token ids among the candidates."""
        found = torch.searchsorted(self.tokens, torch.tensor(list(ids), device=self.tokens.device))
        return [int(number) for number in found]

    def named(self, hypothesis: Hypothesis) -> Hypothesis:
        """The hypothesis with token ids in place of numbers."""
        ids = self.tokens[torch.tensor(hypothesis.ids, dtype=torch.long)]
        return replace(hypothesis, ids=tuple(ids.tolist()))


@dataclass
class NarrowCache:
    """What the model remembers, and what each sentence that is left may not say."""

    inner: DecoderCache
    bans: Tensor  # (B, C)

    def reorder(self, rows: Tensor) -> None:
        """Let row i go on from what was row ``rows[i]``."""
        self.inner.reorder(rows)

    def keep(self, sentences: Tensor) -> None:
        """Leave only these sentences, in this order."""
        self.inner.keep(sentences)
        self.bans = self.bans.index_select(0, sentences)


class Narrow:
    """A scorer of candidates by one model."""

    def __init__(self, model: Transformer, candidates: Candidates) -> None:
        self.model, self.candidates = model, candidates
        self.matrix = model.output_weight.index_select(0, candidates.tokens).t()  # (D, C)

    def start(self, src_ids: Tensor, *, n_beams: int, capacity: int) -> NarrowCache:
        """Read the sources (B, S)."""
        inner = self.model.start(src_ids, n_beams=n_beams, capacity=capacity)
        return NarrowCache(inner, self.candidates.bans)

    def step(self, ids: Tensor, cache: NarrowCache) -> Tensor:
        """The logits of the candidates after one more in each hypothesis: (R,) -> (R, C)."""
        hidden = self.model.step_hidden(self.candidates.tokens[ids], cache.inner)  # (R, D)
        logits = hidden @ self.matrix
        logits.view(len(cache.bans), -1, logits.size(1)).add_(cache.bans[:, None])
        return logits
