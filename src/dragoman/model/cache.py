"""What decoding step by step keeps: keys and values of all that was already read.

Self-attention keys and values are written once and never moved. All N beams of a sentence write
into one buffer, position after position, and each beam looks at those entries that are its
ancestors: when beams change places, only this small mask does. Cross-attention keys and values are
made once a sentence; its beams look at them as N queries.

Letters: B sentences, N beams, R = B * N rows, H heads, S source length, T longest target, K d_k
(or d_v), t positions so far.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from dragoman.model.attention import View


@dataclass
class LayerCache:
    """Keys and values of one decoder layer."""

    keys: Tensor  # (B, H, T * N, d_k), of which t * N entries are written
    values: Tensor  # (B, H, T * N, d_v)
    memory_keys: Tensor | None  # (B, H, S, d_k); None in a model without cross-attention
    memory_values: Tensor | None

    def append(self, keys: Tensor, values: Tensor, length: int) -> tuple[Tensor, Tensor]:
        """Write (B, H, N, K) at position ``length``; all up to it: (B, H, (length + 1) * N, K)."""
        n_beams = keys.size(2)
        start, end = length * n_beams, (length + 1) * n_beams
        if end > self.keys.size(2):
            raise IndexError(f"the cache is full: it has room for {length} positions")
        self.keys.narrow(2, start, n_beams).copy_(keys)
        self.values.narrow(2, start, n_beams).copy_(values)
        return self.keys.narrow(2, 0, end), self.values.narrow(2, 0, end)

    def keep(self, sentences: Tensor, n_written: int) -> None:
        """Leave only these sentences, with what was written of them."""
        self.keys = _keep_written(self.keys, sentences, n_written)
        self.values = _keep_written(self.values, sentences, n_written)
        if self.memory_keys is not None and self.memory_values is not None:
            self.memory_keys = self.memory_keys.index_select(0, sentences)
            self.memory_values = self.memory_values.index_select(0, sentences)


def _keep_written(buffer: Tensor, sentences: Tensor, n_written: int) -> Tensor:
    """The front of the same buffer, with these sentences in it."""
    kept = buffer[:, :, :n_written].index_select(0, sentences)
    buffer = buffer[: sentences.numel()]
    buffer[:, :, :n_written] = kept
    return buffer


@dataclass
class DecoderCache:
    """Keys and values of the whole decoder for R hypotheses of the same length."""

    layers: list[LayerCache]
    memory_view: View  # where the memory has real tokens, by a mask (B, 1, 1, S); none: everywhere
    n_beams: int
    length: int = 0
    # (B, 1, N, t * N): 0 where an entry is an ancestor of a beam, -inf elsewhere; None where N = 1
    ancestors: Tensor | None = None
    _newest: Tensor | None = None  # (N, N), the same at every position
    # A faster way to do a step with this cache, where there is one (``whole_step.py``).
    whole_step: Callable[[Tensor, DecoderCache], Tensor] | None = None

    @property
    def capacity(self) -> int:
        """How many target positions fit in."""
        return self.layers[0].keys.size(2) // self.n_beams

    def open_position(self) -> None:
        """Let each beam see, of the N entries that are written next, its own."""
        if self.n_beams == 1:
            return
        keys = self.layers[0].keys
        if self._newest is None:
            only_own = keys.new_full((self.n_beams, self.n_beams), -torch.inf).fill_diagonal_(0.0)
            self._newest = only_own
        newest = self._newest.expand(keys.size(0), 1, -1, -1)
        before = self.ancestors
        self.ancestors = newest if before is None else torch.cat([before, newest], dim=3)

    def reorder(self, rows: Tensor) -> None:
        """Let row i go on from what was row ``rows[i]``, a row of the same sentence."""
        if self.ancestors is None:
            return
        n_entries = self.ancestors.size(3)
        by_row = self.ancestors.reshape(-1, n_entries).index_select(0, rows)
        self.ancestors = by_row.view(-1, 1, self.n_beams, n_entries)

    def keep(self, sentences: Tensor) -> None:
        """Leave only these sentences (indices into B), in this order."""
        for layer in self.layers:
            layer.keep(sentences, n_written=self.length * self.n_beams)
        mask = self.memory_view.mask
        if mask is not None:
            self.memory_view = View(mask=mask.index_select(0, sentences))
        if self.ancestors is not None:
            self.ancestors = self.ancestors.index_select(0, sentences)
