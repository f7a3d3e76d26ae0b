"""What all routes share: the models, the limits, the key, and the way to the models' threads."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar

from starlette.requests import Request

from dragoman.decoding.translation import Translation
from dragoman.errors import DragomanError
from dragoman.server.detection import Detector
from dragoman.server.jobs import Closed, Full, Options
from dragoman.server.limits import Limits
from dragoman.server.metrics import Metrics
from dragoman.server.models import Model, Models
from dragoman.server.problems import Problem
from dragoman.server.reading import read_query
from dragoman.server.waiting import answers

T = TypeVar("T")
P = ParamSpec("P")


@dataclass(frozen=True, kw_only=True)
class Job:
    """Texts for one model."""

    model: Model
    texts: Sequence[str]
    options: Options
    prefix: str | None = None


@dataclass(frozen=True, kw_only=True)
class Service:
    """One server, as its routes see it."""

    models: Models
    limits: Limits
    detector: Detector
    metrics: Metrics = field(default_factory=Metrics)
    api_key: str | None = None

    async def translate(self, request: Request, jobs: Sequence[Job]) -> list[list[Translation]]:
        """The translations of each job, once the models' threads have made them."""
        self.limits.check_count(sum(len(job.texts) for job in jobs))
        for job in jobs:
            self.check_options(job.options)
        started: list[Future[list[Translation]]] = []
        try:
            for job in jobs:
                submit = job.model.batcher.submit
                started.append(self.enter(submit, job.texts, job.options, prefix=job.prefix))
            return await self.wait(request, started)
        finally:
            for future in started:  # of no use to anybody if one of them was refused
                future.cancel()

    def enter(
        self, into_queue: Callable[P, Future[T]], *args: P.args, **options: P.kwargs
    ) -> Future[T]:
        """What a queue gives for a new job; a full one is a 503 that says when to come again."""
        try:
            return into_queue(*args, **options)
        except Full as full:
            self.metrics.dropped("full")
            message = "the server is busy: too many texts are waiting. Try again soon."
            raise Problem(503, message, {"Retry-After": str(full.seconds)}) from None
        except Closed:
            raise Problem(503, "the server is stopping", {"Retry-After": "5"}) from None

    async def wait(self, request: Request, futures: Sequence[Future[T]]) -> list[T]:
        """The results; errors of the library become problems."""
        try:
            return await answers(request, futures, seconds=self.limits.seconds)
        except DragomanError as error:
            raise Problem.of(error) from error
        except Problem as problem:
            if problem.status == 504:
                self.metrics.dropped("late")
            raise

    def check_options(self, options: Options) -> None:
        """Refuse a search that takes too much."""
        for name in ("beam", "n_best"):
            value = getattr(options, name)
            if value is not None and value > self.limits.beam:
                raise Problem(400, f"{name} = {value}: at most {self.limits.beam}")

    def check_key(
        self, request: Request, data: Mapping[str, Any], *, status_without: int = 401
    ) -> None:
        """Refuse a client without the key, if there is one.

        It comes as ``Authorization: Bearer …``, or as ``api_key`` in the body or the query.
        """
        if self.api_key is None:
            return
        scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
        given = bearer if scheme.lower() == "bearer" else data.get("api_key")
        given = given or read_query(request).get("api_key")
        if not isinstance(given, str) or not given:
            message = "Please contact the server operator to get an API key"
            raise Problem(status_without, message, {"WWW-Authenticate": "Bearer"})
        if not hmac.compare_digest(given.strip().encode(), self.api_key.encode()):
            raise Problem(403, "Invalid API key")
