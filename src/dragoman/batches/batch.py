"""One batch as the model takes it: padded ids, the target shifted right, and where the padding is.

B sentences, S source length, T target length. A source row is its pieces and EOS; the decoder reads
BOS and the pieces (`tgt_in`) and is asked for the pieces and EOS (`tgt_out`), so that position t
predicts from what stands before it alone (section 3.1). The flat positions of the real tokens are
worked out here, on the CPU: a training step then never has to ask the device where padding is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from dragoman.batches.store import IntArray, Ragged
from dragoman.tokenize.vocabulary import BOS_ID, EOS_ID, PAD_ID


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Sentence pairs of one step, padded to the longest of each side.

    >>> batch = make_batch([([5, 6, 7], [8]), ([9], [10, 11])])
    >>> batch.src_ids.tolist()
    [[5, 6, 7, 2], [9, 2, 0, 0]]
    >>> batch.tgt_in.tolist(), batch.tgt_out.tolist()
    ([[1, 8, 0], [1, 10, 11]], [[8, 2, 0], [10, 11, 2]])
    >>> batch.n_tokens, batch.tgt_index.tolist()
    (5, [0, 1, 3, 4, 5])
    """

    src_ids: Tensor  # (B, S) pieces, EOS, PAD…
    tgt_in: Tensor  # (B, T) BOS, pieces, PAD…
    tgt_out: Tensor  # (B, T) pieces, EOS, PAD…
    n_tokens: int  # real positions of tgt_out, EOS counted: what the loss is divided by
    n_src_tokens: int
    indices: IntArray  # (B,) which samples of the store these are
    src_index: Tensor | None  # flat positions b·S + s of the real tokens; None: no padding at all
    tgt_index: Tensor | None  # flat positions b·T + t of the real tokens; None: no padding at all

    def __len__(self) -> int:
        return int(self.src_ids.shape[0])

    def to(self, device: torch.device | str) -> Batch:
        """The same batch on another device; from pinned memory the copy runs beside the step."""
        return self._with_each(lambda tensor: tensor.to(device, non_blocking=True))

    def pin(self) -> Batch:
        """The same batch in pinned memory, where there is a GPU to copy it to."""
        if not torch.cuda.is_available():
            return self
        return self._with_each(Tensor.pin_memory)

    def halves(self) -> list[Batch]:
        """The pairs in two batches, every other one in each; a batch of one pair stays whole.

        >>> one, two = make_batch([([5], [6, 7]), ([8, 9], [4]), ([5], [4])]).halves()
        >>> one.src_ids.tolist(), one.n_tokens, two.tgt_index
        ([[5, 2], [5, 2]], 5, None)
        """
        if len(self) < 2:
            return [self]
        return [self._every_other(first) for first in (0, 1)]

    def twice(self) -> Batch:
        """The pairs, and all of them once more.

        >>> make_batch([([5], [6, 7]), ([8, 9], [4])]).twice().tgt_index.tolist()
        [0, 1, 2, 3, 4, 6, 7, 8, 9, 10]
        """
        src_ids, tgt_in, tgt_out = (
            torch.cat([ids, ids]) for ids in (self.src_ids, self.tgt_in, self.tgt_out)
        )
        return Batch(
            src_ids=src_ids,
            tgt_in=tgt_in,
            tgt_out=tgt_out,
            n_tokens=2 * self.n_tokens,
            n_src_tokens=2 * self.n_src_tokens,
            indices=np.concatenate([self.indices, self.indices]),
            src_index=_index_of_twice(self.src_index, self.src_ids),
            tgt_index=_index_of_twice(self.tgt_index, self.tgt_out),
        )

    def _every_other(self, first: int) -> Batch:
        src_ids, src_index = _without_empty_columns(self.src_ids[first::2])
        tgt_out, tgt_index = _without_empty_columns(self.tgt_out[first::2])
        return Batch(
            src_ids=src_ids,
            tgt_in=self.tgt_in[first::2, : tgt_out.size(1)].contiguous(),
            tgt_out=tgt_out,
            n_tokens=tgt_out.numel() if tgt_index is None else tgt_index.numel(),
            n_src_tokens=src_ids.numel() if src_index is None else src_index.numel(),
            indices=self.indices[first::2],
            src_index=src_index,
            tgt_index=tgt_index,
        )

    def _with_each(self, change: Callable[[Tensor], Tensor]) -> Batch:
        names = ("src_ids", "tgt_in", "tgt_out", "src_index", "tgt_index")
        tensors = {name: getattr(self, name) for name in names}
        changed: dict[str, Any] = {name: change(t) for name, t in tensors.items() if t is not None}
        return replace(self, **changed)


def make_batch(pairs: Iterable[tuple[ArrayLike, ArrayLike]]) -> Batch:
    """One batch of the given pairs of piece ids (without BOS and EOS), in their order.

    >>> make_batch([([], [4])]).src_ids.tolist()
    [[2]]
    """
    pairs = list(pairs)
    src = Ragged.of([np.asarray(src, dtype=np.int64) for src, _ in pairs])
    tgt = Ragged.of([np.asarray(tgt, dtype=np.int64) for _, tgt in pairs])
    return collate(src, tgt, indices=np.arange(len(pairs)))


def pad_sources(rows: Sequence[ArrayLike]) -> Tensor:
    """Source ids of several sentences as the model takes them, (B, S): pieces, EOS, PAD….

    >>> pad_sources([[5, 6], [7]]).tolist()
    [[5, 6, 2], [7, 2, 0]]
    """
    ragged = Ragged.of([np.asarray(row, dtype=np.int64) for row in rows])
    return torch.from_numpy(_grid(ragged, close=True))


def collate(src: Ragged, tgt: Ragged, *, indices: IntArray) -> Batch:
    """One batch of rows as the store gives them (:meth:`Store.gather`).

    >>> rows = Ragged(flat=np.array([7, 8, 9]), lengths=np.array([1, 2]))
    >>> collate(rows, rows, indices=np.array([4, 0])).src_ids.tolist()
    [[7, 2, 0], [8, 9, 2]]
    """
    tensors = {
        "src_ids": _grid(src, close=True),
        "tgt_in": _grid(tgt, close=False),
        "tgt_out": _grid(tgt, close=True),
    }
    return Batch(
        **{name: torch.from_numpy(grid) for name, grid in tensors.items()},
        n_tokens=int(tgt.lengths.sum()) + len(tgt.lengths),
        n_src_tokens=int(src.lengths.sum()) + len(src.lengths),
        indices=indices,
        src_index=_real_positions(src.lengths),
        tgt_index=_real_positions(tgt.lengths),
    )


def _without_empty_columns(ids: Tensor) -> tuple[Tensor, Tensor | None]:
    """Ids cut to their longest row, and the flat positions of what is real; None: everything."""
    is_real = ids != PAD_ID
    width = int(is_real.sum(1).max())
    cut = ids[:, :width].contiguous()
    index = is_real[:, :width].flatten().nonzero().squeeze(1)
    return cut, None if index.numel() == cut.numel() else index


def _grid(rows: Ragged, *, close: bool) -> IntArray:
    """Rows padded to one width: each closed by EOS, or opened by BOS (shifted right)."""
    n_rows, width = len(rows.lengths), int(rows.lengths.max()) + 1
    grid = np.full((n_rows, width), PAD_ID, dtype=np.int64)
    # Cell of each id: it stands `width - length` further than in the flat array for each row above.
    row_starts = np.arange(n_rows) * width + (0 if close else 1)
    flat_starts = np.cumsum(rows.lengths) - rows.lengths
    cells = np.arange(len(rows.flat)) + np.repeat(row_starts - flat_starts, rows.lengths)
    grid.reshape(-1)[cells] = rows.flat
    if close:
        grid[np.arange(n_rows), rows.lengths] = EOS_ID
    else:
        grid[:, 0] = BOS_ID
    return grid


def _real_positions(lengths: IntArray) -> Tensor | None:
    """Flat positions of what is not padding, one position a row more than its pieces."""
    width = int(lengths.max()) + 1
    if int(lengths.min()) + 1 == width:
        return None
    is_real = np.arange(width) <= lengths[:, None]  # (B, width)
    return torch.from_numpy(np.flatnonzero(is_real))


def _index_of_twice(index: Tensor | None, ids: Tensor) -> Tensor | None:
    return None if index is None else torch.cat([index, index + ids.numel()])
