"""Concurrent requests grouped into one batch.

One thread owns each model. Requests wait for it in a queue; the thread takes as many texts as a
token budget allows, in turn from every request that asks for the same kind of search, translates
them together, and hands the translations back. A large request cannot hold up a small one: they
take turns. While the model is busy the next batch gathers by itself; when it is idle, a request
waits a few milliseconds for others. No translation depends on the batch it was made in.

A request that is cancelled (its client left, or ran out of time) gives up what it has not been
served, at once. A queue that is full refuses.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import asdict
from queue import Empty, SimpleQueue
from typing import Any, Protocol, TypeVar

from dragoman.decoding.settings import SearchSettings
from dragoman.decoding.translation import Translation
from dragoman.decoding.translator import LEAST_LENGTH, Translator
from dragoman.server.jobs import (
    Alone,
    Closed,
    Full,
    Options,
    TextRequest,
    WaitingJob,
    do_alone,
    fail,
    give,
)

T = TypeVar("T")
LOGGER = logging.getLogger(__name__)
CHARS_PER_TOKEN = 4  # about; only to guess whether a batch is full before its texts are cut


class OnBatch(Protocol):
    """Told of every batch."""

    def __call__(self, *, n_texts: int, n_tokens: int, seconds: float) -> None: ...


class Batcher:
    """The queue of one model and the thread that serves it.

    >>> from dragoman.config import Config, DataConfig, ModelConfig
    >>> from dragoman.model.transformer import Transformer
    >>> from dragoman.tokenize.tokenizer import Tokenizer
    >>> tokenizer = Tokenizer.train([("1 2", "2 1")], DataConfig(tokenizer="symbols"), seed=1)
    >>> shape = ModelConfig(d_model=8, n_heads=2, n_layers=1, d_ff=16, vocab_size=6)
    >>> translator = Translator((Transformer(shape).eval(),), tokenizer, Config(model=shape))
    >>> batcher = Batcher(translator)
    >>> batcher.start()
    >>> [translation.text for translation in batcher.submit([""], Options()).result()]
    ['']
    >>> batcher.close()
    """

    def __init__(
        self,
        translator: Translator,
        *,
        batch_tokens: int = 4096,
        wait: float = 0.004,
        max_waiting: int = 4096,
    ) -> None:
        self.translator = translator
        self.batch_tokens, self.wait, self.max_waiting = batch_tokens, wait, max_waiting
        self._on_batch: OnBatch | None = None
        self._inbox: SimpleQueue[WaitingJob | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._n_waiting = 0
        self._is_closed = False
        self._seconds_per_text = 0.01
        self._thread = threading.Thread(target=self._work, name="dragoman-batcher", daemon=True)

    @property
    def n_waiting(self) -> int:
        """Texts that were accepted and are not answered yet."""
        return self._n_waiting

    def start(self, on_batch: OnBatch | None = None) -> None:
        """Begin to serve; ``on_batch`` is told of every batch."""
        self._on_batch = on_batch
        self._thread.start()

    def close(self) -> None:
        """Refuse what comes, finish what is waiting, and return when it is done."""
        with self._lock:
            self._is_closed = True
            self._inbox.put(None)
        if self._thread.is_alive():
            self._thread.join()

    def submit(
        self, texts: Sequence[str], options: Options, *, prefix: str | None = None
    ) -> Future[list[Translation]]:
        """The translations to come, in order; cancelling gives up what is not translated yet.

        Raises ``Full`` or ``Closed``; ``ConfigError`` for options that cannot work.
        """
        self._settings(options)
        if not texts:
            return _nothing()
        return self._enter(TextRequest(tuple(texts), prefix, options)).future

    def run(self, task: Callable[[], T]) -> Future[T]:
        """The result of a task that has the model for itself, in its turn."""
        return self._enter(Alone(task)).future

    def _enter(self, job: WaitingJob) -> Any:
        with self._lock:
            if self._is_closed:
                raise Closed("the server is stopping")
            if self._n_waiting + job.n_texts > self.max_waiting:
                raise Full(self._seconds_until_room())
            self._n_waiting += job.n_texts
            self._inbox.put(job)  # inside the lock: nothing comes after the end of the queue
        # Finished, failed or cancelled: whichever way it ends, its places are free again.
        job.future.add_done_callback(lambda _: self._leave(job.n_texts))
        return job

    def _leave(self, n_texts: int) -> None:
        with self._lock:
            self._n_waiting -= n_texts

    def _seconds_until_room(self) -> int:
        return min(60, max(1, math.ceil(self._n_waiting * self._seconds_per_text / 2)))

    def _settings(self, options: Options) -> SearchSettings:
        return SearchSettings.resolve(
            self.translator.config.decode,
            beam=options.beam,
            n_best=options.n_best,
            length_penalty=options.length_penalty,
        )

    # --- on the model's thread -------------------------------------------------------------------

    def _work(self) -> None:
        jobs: deque[WaitingJob] = deque()
        is_open = True
        while is_open or jobs:
            is_open = self._receive(jobs) and is_open
            while jobs and jobs[0].future.cancelled():
                jobs.popleft()
            if not jobs:
                continue
            first = jobs[0]
            if isinstance(first, Alone):
                jobs.popleft()
                do_alone(first)
                continue
            try:
                self._serve(first, jobs)
            except Exception as error:  # a bug costs one request, never the thread
                LOGGER.exception("a batch could not be made")
                jobs.remove(first)
                fail(first.future, error)

    def _receive(self, jobs: deque[WaitingJob]) -> bool:
        """Take in what has come, after a small wait if all of it is new; False: no more will."""
        try:
            while True:
                job = self._inbox.get(timeout=self._patience(jobs))
                if job is None:
                    return False
                jobs.append(job)
        except Empty:
            return True

    def _patience(self, jobs: deque[WaitingJob]) -> float | None:
        """Seconds to wait for another job before working; None: until there is one."""
        if not jobs:
            return None if not self._is_closed else 0.0
        first = jobs[0]
        if isinstance(first, Alone) or self._is_closed or self._looks_full(jobs):
            return 0.0
        return max(0.0, first.arrived + self.wait - time.monotonic())

    def _looks_full(self, jobs: deque[WaitingJob]) -> bool:
        n_chars = sum(len(t) for job in jobs if isinstance(job, TextRequest) for t in job.texts)
        return n_chars >= CHARS_PER_TOKEN * self.batch_tokens

    def _serve(self, first: TextRequest, jobs: deque[WaitingJob]) -> None:
        """Translate one batch for the first request and for those that can share it."""
        sharing = [
            job
            for job in jobs
            if isinstance(job, TextRequest)
            and job.options == first.options
            and not job.future.cancelled()
        ]
        shares = self._share_out(sharing)
        started = time.monotonic()
        found = self._translate(shares, first.options)
        self._observe(found, time.monotonic() - started)
        for request, _ in shares:
            if len(request.found) == request.n_texts:
                give(request.future, request.found)
        for request in sharing:  # those served go behind those that still wait for their turn
            jobs.remove(request)
        jobs.extend(request for request in sharing if not request.future.done())

    def _share_out(self, sharing: Sequence[TextRequest]) -> list[tuple[TextRequest, list[str]]]:
        """The texts of the next batch: one of each request in turn, until the budget is spent."""
        taken: dict[int, list[str]] = {}
        room = float(self.batch_tokens)
        n_rows = self._settings(sharing[0].options).rows
        waiting = deque(sharing)
        while waiting:
            request = waiting.popleft()
            mine = taken.setdefault(id(request), [])
            if len(request.found) + len(mine) == request.n_texts:
                continue
            text = request.texts[len(request.found) + len(mine)]
            n_tokens = len(self.translator.tokenizer.encode(text, "src")) + 1
            room -= max(n_tokens, LEAST_LENGTH) * n_rows
            if room < 0 and any(taken.values()):
                break
            mine.append(text)
            waiting.append(request)
        return [(request, taken[id(request)]) for request in sharing if id(request) in taken]

    def _translate(
        self, shares: Sequence[tuple[TextRequest, list[str]]], options: Options
    ) -> list[Translation]:
        """Translate the shares together; if that fails, one by one, so that one fails alone."""
        try:
            found = self._call(shares, options)
        except Exception as error:
            if len(shares) > 1:
                return [t for share in shares for t in self._translate([share], options)]
            fail(shares[0][0].future, error)
            return []
        rest = iter(found)
        for request, texts in shares:
            request.found += [next(rest) for _ in texts]
        return found

    def _call(
        self, shares: Sequence[tuple[TextRequest, list[str]]], options: Options
    ) -> list[Translation]:
        texts = [text for _, share in shares for text in share]
        prefixes = [request.prefix for request, share in shares for _ in share]
        return self.translator.translate(
            texts,
            batch_tokens=self.batch_tokens,
            prefixes=prefixes if any(prefixes) else None,
            **asdict(options),
        )

    def _observe(self, found: Sequence[Translation], seconds: float) -> None:
        if not found:
            return
        self._seconds_per_text += 0.2 * (seconds / len(found) - self._seconds_per_text)
        if self._on_batch is not None:
            n_tokens = sum(len(translation.tokens) for translation in found)
            self._on_batch(n_texts=len(found), n_tokens=n_tokens, seconds=seconds)


def _nothing() -> Future[list[Translation]]:
    future: Future[list[Translation]] = Future()
    future.set_result([])
    return future
