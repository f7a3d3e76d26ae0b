"""Contestants side by side on their work: time, ratio, memory, or why there is none.

``hold`` starts a worker for each, lets them take turns, and gives what came of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from dragoman.bench.peer import Peer
from dragoman.bench.side_by_side import Spread, significant, take_turns, times_faster
from dragoman.bench.work import Work
from dragoman.bench.worker import Memory, Worker, WorkerError

NOT_INSTALLED = "not installed"
CANNOT = "cannot do this"
OURS = "dragoman"
# While others work, what a contestant needs leaves the caches and, on some machines, the memory. A
# run of fewer seconds than this is over before it is back, and is done once more.
BRIEF = 2.0

OnTurn = Callable[[int], None]


@dataclass(frozen=True)
class Outcome:
    """What one contestant achieved; ``note`` says why, where it is nothing."""

    seconds: tuple[float, ...] = ()  # of each round
    memory: Memory | None = None
    n_tokens: int | None = None  # that decoding gave
    found: tuple[tuple[int | str, ...], ...] = ()  # what it decoded, where that was asked for
    note: str | None = None

    @property
    def has_run(self) -> bool:
        return bool(self.seconds)


def hold(
    entries: Mapping[str, tuple[Peer, Work]],
    *,
    repeats: int,
    threads: int,
    warmup: int = 1,
    want_found: bool = False,
    on_turn: OnTurn = lambda n_done: None,
) -> dict[str, Outcome]:
    """The outcome of each entry; all workers are started at once and take turns."""
    outcomes: dict[str, Outcome] = {}
    with ExitStack() as stack:
        started: dict[str, Worker] = {}
        for name, (peer, work) in entries.items():
            if peer.is_installed():
                worker = Worker(peer.name, work, threads=threads)
                started[name] = stack.enter_context(worker)
            else:
                outcomes[name] = Outcome(note=NOT_INSTALLED)
        runners = {}
        for name, worker in started.items():
            note = _why_not(worker)
            if note is None:
                runners[name] = Guarded(worker)
            else:
                outcomes[name] = Outcome(note=note)
        seconds = take_turns(runners, repeats=repeats, warmup=warmup, on_turn=on_turn)
        for name, runner in runners.items():
            outcomes[name] = _close(runner, seconds[name], want_found=want_found)
    return {name: outcomes[name] for name in entries}


class Guarded:
    """A worker whose failure is remembered in place of ending the whole contest."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.failure: str | None = None

    def run(self) -> float:
        """The seconds of one run, of a brief one those of a second; 0 after a failure."""
        if self.failure is not None:
            return 0.0
        try:
            seconds = self.worker.run()
            return self.worker.run() if seconds < BRIEF else seconds
        except WorkerError as error:
            self.failure = str(error)
            return 0.0


def _why_not(worker: Worker) -> str | None:
    """Why a worker cannot take part; None: it can."""
    try:
        return None if worker.is_ready() else CANNOT
    except WorkerError as error:
        return f"failed: {error}"


def _close(runner: Guarded, seconds: Sequence[float], *, want_found: bool) -> Outcome:
    if runner.failure is not None:
        return Outcome(note=f"failed: {runner.failure}")
    worker = runner.worker
    found = tuple(map(tuple, worker.found())) if want_found else ()
    n_tokens = worker.n_tokens
    return Outcome(tuple(seconds), worker.finish(), n_tokens, found)


def describe(
    name: str, outcome: Outcome, ours: Outcome | None, *, n_tokens: int, n_sentences: int
) -> dict[str, Any]:
    """An outcome by its JSON keys; speeds from so many tokens and sentences a round.

    ``ratio`` is how many times faster we were: ours / theirs in tokens a second.
    """
    found: dict[str, Any] = {"peer": name}
    if not outcome.has_run:
        return {**found, "note": outcome.note}
    spread = Spread.of(outcome.seconds)
    found["seconds"] = spread.to_dict()
    found["tokens_per_second"] = significant(n_tokens / spread.median)
    found["ms_per_sentence"] = significant(1000 * spread.median / n_sentences)
    if ours is not None and ours.has_run and name != OURS:
        found["ratio"] = times_faster(ours.seconds, outcome.seconds).to_dict()
    if outcome.memory is not None:
        found["memory_mb"] = {
            "growth": round(outcome.memory.growth_mb, 1),
            "peak": round(outcome.memory.peak_mb, 1),
        }
    return found
