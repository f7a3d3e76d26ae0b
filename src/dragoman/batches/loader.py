"""The batches of a training run without end, from any position on, made in the background.

A batch is a pure function of store, seed, epoch, number and rank. So a position is two numbers, and
a run that goes on from a saved one sees exactly the batches that it would have seen.
"""

from __future__ import annotations

import itertools
import queue
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal, Protocol

import numpy as np

from dragoman.batches.batch import Batch, collate
from dragoman.batches.bucketing import Indices, plan_epoch, plan_in_order
from dragoman.batches.store import Ragged, Store
from dragoman.errors import DataError


@dataclass(frozen=True)
class Position:
    """A place in the stream of batches: the number of a batch within its epoch, both from 0.

    >>> Position.from_json(Position(epoch=2, batch=7).to_json())
    Position(epoch=2, batch=7)
    """

    epoch: int = 0
    batch: int = 0

    def to_json(self) -> dict[str, int]:
        """The position as JSON can hold it."""
        return asdict(self)

    @classmethod
    def from_json(cls, saved: Mapping[str, int]) -> Position:
        """The position that :meth:`to_json` gave."""
        return cls(epoch=int(saved["epoch"]), batch=int(saved["batch"]))


class Sampler(Protocol):
    """What sampling asks of a tokenizer: texts cut in pieces at random, the same for a seed."""

    def sample_batch(
        self, texts: Sequence[str], side: Literal["src", "tgt"], *, alpha: float, seed: int
    ) -> list[list[int]]: ...


@dataclass(frozen=True, kw_only=True)
class BatchSettings:
    """What decides the batches of a run, besides the corpus itself.

    `sampling` above 0 cuts the text anew each time it is seen (BPE-dropout, unigram sampling), with
    `tokenizer`. Budget and buckets go by the lengths without sampling, so that a sampled batch may
    be somewhat longer than the budget.

    >>> BatchSettings(batch_tokens=4096, seed=1).accumulate
    1
    """

    batch_tokens: int
    seed: int
    accumulate: int = 1
    world_size: int = 1
    rank: int = 0
    sampling: float = 0.0
    tokenizer: Sampler | None = None


class Batches(Iterator[Batch]):
    """Batches epoch after epoch, without end; `position` is that of the next one to come.

    Use it as a context manager, or call :meth:`close`, to end the thread that prepares batches.
    `prefetch` is how many it keeps ready; with 0 there is no thread.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from dragoman.batches.store_writer import write_store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = write_store(Path(folder, "s"), [([5], [6])] * 9, vocab_size=8)
    ...     with Batches(store, BatchSettings(batch_tokens=6, seed=1)) as batches:
    ...         len(next(batches)), batches.n_batches, batches.position
    (3, 3, Position(epoch=0, batch=1))
    """

    def __init__(
        self,
        store: Store,
        settings: BatchSettings,
        *,
        position: Position | None = None,
        prefetch: int = 2,
    ) -> None:
        if settings.sampling > 0 and settings.tokenizer is None:
            raise DataError("sampling above 0 needs the tokenizer that is to sample")
        self.position = position or Position()
        self.n_batches = 0  # of the epoch that the last batch came from; 0 before the first
        stream = _stream(store, settings, self.position)
        self._ahead = _Ahead(stream, prefetch) if prefetch > 0 else None
        self._stream: Iterator[_Made] = stream if self._ahead is None else iter(self._ahead)

    def __next__(self) -> Batch:
        batch, self.position, self.n_batches = next(self._stream)
        return batch

    def close(self) -> None:
        """End the background thread; no batch comes after this."""
        self._stream = iter(())
        if self._ahead is not None:
            self._ahead.close()

    def __enter__(self) -> Batches:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def validation_batches(
    store: Store, *, batch_tokens: int, world_size: int = 1, rank: int = 0
) -> Iterator[Batch]:
    """Every pair once, in batches of similar length that are the same each time.

    With several ranks each gets its share of the batches, in turn; shares may differ by one.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from dragoman.batches.store_writer import write_store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = write_store(Path(folder, "s"), [([5], [6])] * 9, vocab_size=8)
    ...     [len(batch) for batch in validation_batches(store, batch_tokens=8)]
    [4, 4, 1]
    """
    plan = plan_in_order(store.src_lengths, store.tgt_lengths, batch_tokens=batch_tokens)
    for indices in plan[rank::world_size]:
        yield collate(*store.gather(indices), indices=indices)


_Made = tuple[Batch, Position, int]  # a batch, the position after it, batches of its epoch


def _stream(store: Store, settings: BatchSettings, position: Position) -> Iterator[_Made]:
    """Batches from a position on, made when they are asked for."""
    start = position.batch
    for epoch in itertools.count(position.epoch):
        plan = plan_epoch(
            store.src_lengths,
            store.tgt_lengths,
            batch_tokens=settings.batch_tokens,
            seed=settings.seed,
            epoch=epoch,
            world_size=settings.world_size,
            rank=settings.rank,
            accumulate=settings.accumulate,
        )
        if start > len(plan):
            raise DataError(
                f"batch {start:,} is asked for, but epoch {epoch} has only {len(plan):,}.\n"
                "  The corpus or train.batch_tokens has changed since the position was saved."
            )
        for number in range(start, len(plan)):
            is_last = number + 1 == len(plan)
            after = Position(epoch + 1, 0) if is_last else Position(epoch, number + 1)
            yield _make(store, settings, plan[number], Position(epoch, number)), after, len(plan)
        start = 0


def _make(store: Store, settings: BatchSettings, indices: Indices, position: Position) -> Batch:
    """The batch of these pairs; sampled with seeds of its own where that is asked for."""
    if settings.sampling <= 0 or settings.tokenizer is None:
        return collate(*store.gather(indices), indices=indices).pin()
    seeds = np.random.SeedSequence(
        [settings.seed, position.epoch, position.batch, settings.rank]
    ).generate_state(2)
    sample = settings.tokenizer.sample_batch
    src_texts, tgt_texts = store.texts(indices)
    src = sample(src_texts, "src", alpha=settings.sampling, seed=int(seeds[0]))
    tgt = sample(tgt_texts, "tgt", alpha=settings.sampling, seed=int(seeds[1]))
    return collate(_ragged(src), _ragged(tgt), indices=indices).pin()


def _ragged(rows: list[list[int]]) -> Ragged:
    return Ragged.of([np.array(row, dtype=np.int64) for row in rows])


class _Ahead:
    """Items of an iterator, taken by a thread before they are asked for.

    The thread never refers to this object, so that it ends when nobody holds the object any more.
    """

    def __init__(self, items: Iterator[_Made], n_ahead: int) -> None:
        self._ready: queue.Queue[_Made | BaseException] = queue.Queue(maxsize=n_ahead)
        stop = threading.Event()
        thread = threading.Thread(
            target=_fill, args=(items, self._ready, stop), name="dragoman-batches", daemon=True
        )
        thread.start()
        # Called by close(), by garbage collection or when the interpreter exits, once.
        self.close = weakref.finalize(self, _end, thread, stop)

    def __iter__(self) -> Iterator[_Made]:
        while True:
            item = self._ready.get()
            if isinstance(item, BaseException):
                raise item
            yield item


def _fill(
    items: Iterator[_Made], ready: queue.Queue[_Made | BaseException], stop: threading.Event
) -> None:
    """Put items into the queue until told to stop; an error is put there for the consumer."""
    try:
        for item in items:
            if not _put(item, ready, stop):
                return
    except BaseException as error:  # the consumer's to see, whatever it is
        _put(error, ready, stop)


def _put(
    item: _Made | BaseException, ready: queue.Queue[_Made | BaseException], stop: threading.Event
) -> bool:
    """Whether the item found its place before the thread was told to stop."""
    while not stop.is_set():
        try:
            ready.put(item, timeout=0.1)
        except queue.Full:
            continue
        return True
    return False


def _end(thread: threading.Thread, stop: threading.Event) -> None:
    stop.set()
    if thread is not threading.current_thread():  # the collector may run in the thread itself
        thread.join()
