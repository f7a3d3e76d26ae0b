"""Which pairs make up each batch: token budget, similar lengths, seeded, shared out over ranks.

The paper batches "by approximate sequence length", so many source and target tokens each (5.1).
Here a batch holds at most `batch_tokens` target positions, padding and EOS counted, and at most
twice as many source positions. How it is cut:

1. Pairs are put in groups of equal source length; rare lengths share a group with their
   neighbours until it is worth a batch. Within a group they are sorted by target length, equals in
   random order, rising in one group and falling in the next, so that neighbours stay alike where
   one group ends and another begins.
2. That row of pairs is cut from left to right. Of all ends that the budget allows, the one with
   most real tokens for its cost is taken, where cost is positions, padding counted, and a fixed
   price for a batch. So most batches have one source length (no source padding at all), short ends
   are merged with their neighbours, and a pair longer than the budget is a batch of its own.
3. The batches are shuffled. With several ranks, batches of like cost are dealt out together, so
   that no rank waits for another.

An epoch's plan is a pure function of lengths, seed and epoch: each rank works out the same one.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dragoman.batches.store import IntArray
from dragoman.errors import DataError

SOURCE_BUDGET = 2  # source positions allowed for each target position of the budget
# Price of a batch in positions, as a share of the budget: measured on Multi30k, 0.2 leaves the
# typical batch full and takes a fifth off the padding of batches that are always filled up.
_BATCH_PRICE = 0.2

Indices = NDArray[np.int64]


def plan_epoch(
    src_lengths: IntArray,
    tgt_lengths: IntArray,
    *,
    batch_tokens: int,
    seed: int,
    epoch: int,
    world_size: int = 1,
    rank: int = 0,
    accumulate: int = 1,
) -> list[Indices]:
    """This rank's batches of one epoch, each an array of pair numbers.

    Lengths are in pieces, EOS not counted. Over all ranks every pair appears once. Every rank has
    the same number of batches, a multiple of `accumulate` too where there are pairs enough; large
    batches are halved to make up the number. The budget is exceeded only by a single pair that is
    longer, and where there are too few pairs to give each rank its own.

    >>> lengths = np.array([3, 9, 3, 9, 4, 9])
    >>> plans = [
    ...     plan_epoch(lengths, lengths, batch_tokens=20, seed=1, epoch=0, world_size=2, rank=rank)
    ...     for rank in (0, 1)
    ... ]
    >>> [len(plan) for plan in plans], sorted(np.concatenate(sum(plans, [])).tolist())
    ([2, 2], [0, 1, 2, 3, 4, 5])
    """
    _check_shares(len(src_lengths), world_size, rank)
    rng = np.random.default_rng([seed, epoch])
    order, ends = _cut_in_order(src_lengths, tgt_lengths, batch_tokens=batch_tokens, rng=rng)
    batches = np.split(order, ends[:-1])
    batches = _make_up_the_number(batches, len(order), world_size, accumulate)
    # Groups of `world_size` batches of like cost; the k-th batches of all ranks are one group.
    cost = [_cost(batch, src_lengths, tgt_lengths) for batch in batches]
    groups = np.argsort(cost, kind="stable").reshape(-1, world_size)
    groups = rng.permuted(rng.permutation(groups), axis=1)
    return [batches[number] for number in groups[:, rank]]


def plan_in_order(
    src_lengths: IntArray, tgt_lengths: IntArray, *, batch_tokens: int
) -> list[Indices]:
    """All pairs once in batches of similar length, the same ones each time: for validation.

    >>> plan_in_order(np.array([2, 5, 2]), np.array([2, 5, 2]), batch_tokens=8)
    [array([0, 2]), array([1])]
    """
    if len(src_lengths) == 0:
        return []
    order, ends = _cut_in_order(src_lengths, tgt_lengths, batch_tokens=batch_tokens, rng=None)
    return np.split(order, ends[:-1])


def plan_by_length(lengths: IntArray, batch_tokens: int) -> list[Indices]:
    """Batches of sentences of similar length, longest first: for decoding, where order is free.

    A batch has at most `batch_tokens` positions, padding counted; a longer sentence is alone.

    >>> plan_by_length(np.array([1, 9, 2, 8]), 16)
    [array([1]), array([3, 2]), array([0])]
    """
    width = np.maximum(np.asarray(lengths, np.int64), 1)
    order = np.argsort(-width, kind="stable")
    batches, start = [], 0
    while start < len(order):
        n_rows = max(1, batch_tokens // int(width[order[start]]))
        batches.append(order[start : start + n_rows])
        start += n_rows
    return batches


def padding_share(
    batches: Sequence[Indices], src_lengths: IntArray, tgt_lengths: IntArray
) -> float:
    """Share of padding among all positions of the batches, source and target together.

    >>> padding_share([np.array([0, 1])], np.array([3, 3]), np.array([1, 3]))  # 2 of 16
    0.125
    """
    if not batches:
        return 0.0
    positions = sum(_cost(batch, src_lengths, tgt_lengths) for batch in batches)
    rows = np.concatenate(batches)
    real = int(src_lengths[rows].sum()) + int(tgt_lengths[rows].sum()) + 2 * len(rows)
    return 1 - real / positions


def _check_shares(n_pairs: int, world_size: int, rank: int) -> None:
    if not 0 <= rank < world_size:
        raise DataError(f"rank {rank} is not one of the {world_size} that share the corpus")
    if n_pairs < world_size:
        raise DataError(
            f"the corpus has {n_pairs:,} pairs, which {world_size} processes cannot share.\n"
            "  Train on more pairs, or on fewer processes."
        )


def _cut_in_order(
    src_lengths: IntArray,
    tgt_lengths: IntArray,
    *,
    batch_tokens: int,
    rng: np.random.Generator | None,
) -> tuple[Indices, Indices]:
    """All pairs in an order that puts like beside like, and where each batch ends in it."""
    n_pairs = len(src_lengths)
    src = _small(src_lengths)
    tgt = _small(tgt_lengths)
    group = _group_of_length(src, tgt, batch_tokens)[src - 1]
    first_falls = rng is not None and rng.random() < 0.5
    falls = (group % 2 == 0) == first_falls
    key = np.where(falls, tgt.max() - tgt, tgt)
    if rng is None:
        order = np.lexsort((key, group))
    else:
        # Shuffled, then sorted stably: equals stay in random order, the same on every machine.
        shuffled = rng.permutation(n_pairs)
        order = shuffled[np.lexsort((key[shuffled], group[shuffled]))]
    return order, _cut(src[order], tgt[order], batch_tokens)


def _small(lengths: IntArray) -> NDArray[Any]:
    """Lengths with EOS, as 16-bit numbers where they fit: these sort fastest, in least memory."""
    fits = int(lengths.max()) + 1 < 1 << 15
    return np.asarray(lengths).astype(np.int16 if fits else np.int32) + 1


def _group_of_length(src: IntArray, tgt: IntArray, batch_tokens: int) -> NDArray[Any]:
    """Group of each source length from 1 up: lengths share one until it is worth a batch."""
    tokens = np.bincount(src - 1, weights=tgt)
    groups = np.empty(len(tokens), np.int16 if len(tokens) < 1 << 15 else np.int32)
    group, gathered = 0, 0.0
    for length, count in enumerate(tokens):
        groups[length] = group
        gathered += count
        if gathered >= batch_tokens:
            group, gathered = group + 1, 0.0
    return groups


def _cut(src: IntArray, tgt: IntArray, batch_tokens: int) -> Indices:
    """Where each batch ends, when the pairs are cut from left to right."""
    ends, start = [], 0
    while start < len(src):
        # No batch from here has more rows than its first target allows.
        last = start + max(1, batch_tokens // int(tgt[start]))
        start += _best_end(src[start:last], tgt[start:last], batch_tokens)
        ends.append(start)
    return np.array(ends, np.int64)


def _best_end(src: IntArray, tgt: IntArray, batch_tokens: int) -> int:
    """How many of these rows make the best batch: most real tokens for the cost, within budget."""
    rows = np.arange(1, len(src) + 1)
    src_cost = np.maximum.accumulate(src) * rows
    tgt_cost = np.maximum.accumulate(tgt) * rows
    within = (tgt_cost <= batch_tokens) & (src_cost <= SOURCE_BUDGET * batch_tokens)
    real = np.cumsum(src, dtype=np.int64) + np.cumsum(tgt, dtype=np.int64)
    worth = real / (src_cost + tgt_cost + _BATCH_PRICE * batch_tokens)
    return int(np.argmax(np.where(within, worth, 0.0))) + 1


def _cost(batch: Indices, src_lengths: IntArray, tgt_lengths: IntArray) -> int:
    """Positions of a batch, source and target, padding and EOS counted."""
    return len(batch) * (int(src_lengths[batch].max()) + int(tgt_lengths[batch].max()) + 2)


def _make_up_the_number(
    batches: list[Indices], n_pairs: int, world_size: int, accumulate: int
) -> list[Indices]:
    """The batches, the largest of them halved until their number can be shared out evenly."""
    for multiple in (world_size * accumulate, world_size):
        wanted = -(-len(batches) // multiple) * multiple
        if wanted <= n_pairs:
            return _halve_largest(batches, wanted)
    # Hardly more pairs than ranks: fewer, larger batches are all that can be even.
    return np.array_split(np.concatenate(batches), n_pairs // world_size * world_size)


def _halve_largest(batches: list[Indices], wanted: int) -> list[Indices]:
    """As many batches as wanted, made by halving those with most rows."""
    heap = [(-len(batch), number) for number, batch in enumerate(batches)]
    heapq.heapify(heap)
    batches = list(batches)
    while len(batches) < wanted:
        _, number = heapq.heappop(heap)
        left, right = np.array_split(batches[number], 2)
        batches[number] = left
        batches.append(right)
        heapq.heappush(heap, (-len(left), number))
        heapq.heappush(heap, (-len(right), len(batches) - 1))
    return batches
