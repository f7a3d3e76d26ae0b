"""Waiting for the model's thread: until it answers, the client leaves, or time is up."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

from starlette.requests import Request

from dragoman.server.problems import ClientLeft, Problem

T = TypeVar("T")


async def answers(request: Request, futures: Sequence[Future[T]], *, seconds: float) -> list[T]:
    """The results, in order; all are given up if one fails, the client leaves, or time is up."""
    waiting = asyncio.gather(*(asyncio.wrap_future(future) for future in futures))
    leaving = asyncio.ensure_future(_leaves(request))
    try:
        both: set[asyncio.Future[Any]] = {waiting, leaving}
        await asyncio.wait(both, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if waiting.done():
            return list(waiting.result())
        if leaving.done():
            raise ClientLeft
        raise Problem(
            504,
            f"no answer within {seconds:g} s, and the request was given up."
            " Send less at once, or try again later.",
        )
    finally:
        leaving.cancel()
        for future in futures:
            future.cancel()
        waiting.cancel()


async def _leaves(request: Request) -> None:
    """Return when the client has closed the connection. The body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
