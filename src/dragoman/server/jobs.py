"""What waits for a model: texts to translate, or a task that wants the model for itself."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from dragoman.decoding.translation import Translation

T = TypeVar("T")
LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True)
class Options:
    """How to search; only requests with equal options share a batch. None: as the bundle says."""

    beam: int | None = None
    n_best: int | None = None
    length_penalty: float | None = None
    alignments: bool = False


class Full(Exception):
    """There is no more room in the queue; ``seconds`` is when there may be again."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"the queue is full; try again in {seconds} s")
        self.seconds = seconds


class Closed(Exception):
    """The server is stopping."""


@dataclass(eq=False)
class Alone(Generic[T]):
    """Work that is done by itself on the model's thread."""

    task: Callable[[], T]
    future: Future[T] = field(default_factory=Future)
    n_texts: int = 1


@dataclass(eq=False)
class TextRequest:
    """Texts to translate, and those of them that are translated already."""

    texts: Sequence[str]
    prefix: str | None
    options: Options
    arrived: float = field(default_factory=time.monotonic)
    future: Future[list[Translation]] = field(default_factory=Future)
    found: list[Translation] = field(default_factory=list)

    @property
    def n_texts(self) -> int:
        return len(self.texts)


WaitingJob = Alone[Any] | TextRequest


def do_alone(job: Alone[T]) -> None:
    """Do the work, and hand over what comes of it."""
    try:
        found = job.task()
    except Exception as error:
        fail(job.future, error)
    else:
        give(job.future, found)


def give(future: Future[T], value: T) -> None:
    """Hand a result over, unless nobody wants it any more."""
    try:
        future.set_result(value)
    except InvalidStateError:
        LOGGER.debug("a request was given up before it was answered")


def fail(future: Future[Any], error: Exception) -> None:
    """Hand an error over, unless nobody wants to know any more."""
    try:
        future.set_exception(error)
    except InvalidStateError:
        LOGGER.debug("a request was given up before it failed")
