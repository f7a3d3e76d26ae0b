"""What stands around every route: the size of a body, headers of safety, counting, last resort."""

from __future__ import annotations

import asyncio
import logging
import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dragoman.server.limits import Limits
from dragoman.server.metrics import Metrics
from dragoman.server.problems import ClientLeft, Problem

LOGGER = logging.getLogger(__name__)
DRAINED_BYTES = 2**26  # of a refused body: a client that is still sending cannot hear the refusal
DRAIN_SECONDS = 10.0
CLIENT_LEFT = 499  # in the metrics; nobody receives it
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:;"
    " font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'"
)
SAFETY = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """An ASGI application around another one."""

    def __init__(self, app: ASGIApp, *, limits: Limits, metrics: Metrics) -> None:
        self.app, self.limits, self.metrics = app, limits, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = time.perf_counter()
        body = _Body(scope, receive, self.limits)
        answer = _Answer(send, body)
        try:
            await self._answer(scope, body, answer)
        finally:
            method = scope["method"] if scope["method"] in METHODS else "other"
            seconds = time.perf_counter() - started
            self.metrics.answered(_route(scope), method, answer.status, seconds=seconds)

    async def _answer(self, scope: Scope, body: _Body, answer: _Answer) -> None:
        try:
            body.check_declared()
            await self.app(scope, body.receive, answer.send)
            return
        except (ClientDisconnect, ClientLeft):
            self.metrics.dropped("left")
            return
        except Problem as error:
            problem = error
        except Exception as error:
            LOGGER.error("%s %s failed", scope["method"], _route(scope), exc_info=error)
            problem = Problem(500, "internal error; the server's log says more")
        if answer.status == CLIENT_LEFT:  # nothing was sent yet
            await problem.response()(scope, body.receive, answer.send)


class _Body:
    """The body of a request on its way in, counted."""

    def __init__(self, scope: Scope, receive: Receive, limits: Limits) -> None:
        headers = Headers(scope=scope)
        declared = headers.get("content-length", "")
        self._receive, self._limits = receive, limits
        self._declared = int(declared) if declared.isdecimal() and len(declared) < 20 else 0
        self._has_more = bool(declared) or "transfer-encoding" in headers
        self._is_held_back = "expect" in headers  # the client sends nothing until we read
        self._n_bytes = 0
        self._deadline: float | None = None  # of the whole body

    def check_declared(self) -> None:
        """Refuse a body that says itself that it is too large."""
        if self._declared > self._limits.body_bytes:
            raise self._too_large()

    async def receive(self) -> Message:
        """The next part, as long as the whole is not too large and comes in time."""
        if not self._has_more:
            return await self._receive()
        if self._deadline is None:
            self._deadline = asyncio.get_running_loop().time() + self._limits.seconds
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._next()
        except TimeoutError:
            self._has_more = False  # as far as we care
            raise Problem(408, "the body of the request did not come in time") from None
        if self._n_bytes > self._limits.body_bytes:
            raise self._too_large()
        return message

    async def drain(self) -> None:
        """Read on to the end, or to where it is too much, and forget what comes."""
        if self._is_held_back or self._declared > DRAINED_BYTES:
            return
        try:
            async with asyncio.timeout(DRAIN_SECONDS):
                while self._has_more and self._n_bytes < DRAINED_BYTES:
                    await self._next()
        except TimeoutError:
            self._has_more = False

    async def _next(self) -> Message:
        self._is_held_back = False
        message = await self._receive()
        self._n_bytes += len(message.get("body", b""))
        self._has_more = bool(message.get("more_body", False))
        return message

    def _too_large(self) -> Problem:
        return Problem(
            413,
            f"the body of the request is larger than {self._limits.body_bytes:,} bytes."
            " Send it in several requests.",
        )


class _Answer:
    """The answer on its way out, with the headers that every answer has."""

    def __init__(self, send: Send, body: _Body) -> None:
        self._send, self._body = send, body
        self.status = CLIENT_LEFT

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            await self._body.drain()
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in SAFETY.items():
                headers.setdefault(name, value)
        await self._send(message)


def _route(scope: Scope) -> str:
    """The route that took the request, by which answers are counted; never what a client wrote."""
    return getattr(scope.get("route"), "path", "none")
