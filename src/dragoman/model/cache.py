"""What decoding step by step keeps: keys and values of all that was already read.

Self-attention keys and values belong to a hypothesis (R rows = B sentences × N beams) and grow by
one position a step, in buffers made once. Cross-attention keys and values belong to a sentence:
they are made once and shared by its beams, which look at them as N queries of one sentence.

Letters: B sentences, N beams, R = B * N rows, H heads, S source length, T longest target, K d_k.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass
class LayerCache:
    """Keys and values of one decoder layer."""

    keys: Tensor  # (R, H, T, K), filled up to the cache's length
    values: Tensor  # (R, H, T, K)
    memory_keys: Tensor | None  # (B, H, S, K); None in a model without cross-attention
    memory_values: Tensor | None

    def append(self, keys: Tensor, values: Tensor, length: int) -> tuple[Tensor, Tensor]:
        """Write (R, H, 1, K) at position ``length``; give all up to it, (R, H, length + 1, K)."""
        self.keys[:, :, length] = keys.squeeze(2)
        self.values[:, :, length] = values.squeeze(2)
        return self.keys[:, :, : length + 1], self.values[:, :, : length + 1]


@dataclass
class DecoderCache:
    """Keys and values of the whole decoder for R hypotheses of the same length."""

    layers: list[LayerCache]
    memory_mask: Tensor | None  # (B, 1, 1, S), True = real token; None where there is no padding
    n_beams: int
    length: int = 0

    @property
    def capacity(self) -> int:
        """How many target positions fit in."""
        return self.layers[0].keys.size(2)

    def reorder(self, rows: Tensor) -> None:
        """Let row i go on from what was row ``rows[i]``; sentences keep their places."""
        for layer in self.layers:
            for buffer in (layer.keys, layer.values):
                used = buffer[:, :, : self.length]
                buffer[:, :, : self.length] = used.index_select(0, rows)

    def keep(self, sentences: Tensor) -> None:
        """Leave only these sentences (indices into B), in this order."""
        rows = (sentences[:, None] * self.n_beams + _arange_like(sentences, self.n_beams)).flatten()
        for layer in self.layers:
            layer.keys = layer.keys.index_select(0, rows)
            layer.values = layer.values.index_select(0, rows)
            if layer.memory_keys is not None and layer.memory_values is not None:
                layer.memory_keys = layer.memory_keys.index_select(0, sentences)
                layer.memory_values = layer.memory_values.index_select(0, sentences)
        if self.memory_mask is not None:
            self.memory_mask = self.memory_mask.index_select(0, sentences)


def _arange_like(x: Tensor, n: int) -> Tensor:
    return x.new_ones(n).cumsum(0) - 1
