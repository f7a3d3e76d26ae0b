"""What decoding step by step keeps: keys and values of all that was already read.

Self-attention keys and values are written once and never moved. All N beams of a sentence write
into one buffer, position after position, and each beam looks at those entries that are its
ancestors: when beams change places, only this small mask does. Cross-attention keys and values are
made once a sentence; its beams look at them as N queries.

Letters: B sentences, N beams, R = B * N rows, H heads, S source length, T longest target, K d_k,
E = H * (d_k + d_v), t positions so far.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass
class LayerCache:
    """Keys and values of one decoder layer."""

    own: Tensor  # (B, T * N, E), of which t * N entries are written: keys, then values
    memory_keys: Tensor | None  # (B, H, S, K); None in a model without cross-attention
    memory_values: Tensor | None

    def append(self, new: Tensor, length: int) -> Tensor:
        """Write (B, N, E) at position ``length``; give all up to it, (B, (length + 1) * N, E)."""
        n_beams = new.size(1)
        end = (length + 1) * n_beams
        if end > self.own.size(1):
            raise IndexError(f"the cache is full: it has room for {length} positions")
        self.own[:, end - n_beams : end] = new
        return self.own[:, :end]


@dataclass
class DecoderCache:
    """Keys and values of the whole decoder for R hypotheses of the same length."""

    layers: list[LayerCache]
    memory_mask: Tensor | None  # (B, 1, 1, S), True = real token; None where there is no padding
    n_beams: int
    length: int = 0
    # (B, 1, N, t * N): 0 where an entry is an ancestor of a beam, -inf elsewhere; None where N = 1
    ancestors: Tensor | None = None

    @property
    def capacity(self) -> int:
        """How many target positions fit in."""
        return self.layers[0].own.size(1) // self.n_beams

    def open_position(self) -> None:
        """Let each beam see, of the N entries that are written next, its own."""
        if self.n_beams == 1:
            return
        own = self.layers[0].own
        newest = own.new_full((self.n_beams, self.n_beams), -torch.inf).fill_diagonal_(0.0)
        newest = newest.expand(own.size(0), 1, -1, -1)
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
        n_written = self.length * self.n_beams
        for layer in self.layers:
            kept = layer.own[:, :n_written].index_select(0, sentences)
            layer.own = layer.own[: sentences.numel()]
            layer.own[:, :n_written] = kept
            if layer.memory_keys is not None and layer.memory_values is not None:
                layer.memory_keys = layer.memory_keys.index_select(0, sentences)
                layer.memory_values = layer.memory_values.index_select(0, sentences)
        if self.memory_mask is not None:
            self.memory_mask = self.memory_mask.index_select(0, sentences)
        if self.ancestors is not None:
            self.ancestors = self.ancestors.index_select(0, sentences)
