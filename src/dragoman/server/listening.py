"""A server on a port: told when it listens, and stopped without breaking off what it does."""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import json
import signal
import socket
from collections.abc import Callable, Iterator

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from dragoman.errors import ConfigError

MAX_HEAD_BYTES = 2**18  # of a request line and headers: a text of /api/stream is in the first


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens at the address; port 0 takes one that is free."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (socket.gaierror, UnicodeError):
        raise ConfigError(f"--host {host}: there is no such address") from None
    listener = socket.socket(family, kind)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        return listener
    except OSError as error:
        listener.close()
        reasons = {
            errno.EADDRINUSE: f"port {port} is in use; choose another, or --port 0 for a free one",
            errno.EADDRNOTAVAIL: f"{host} is no address of this machine",
            errno.EACCES: f"port {port} is reserved; choose one above 1023",
        }
        reason = reasons.get(error.errno or 0, error.strerror or str(error))
        raise ConfigError(f"cannot listen on {host}: {reason}") from None


def url_of(listener: socket.socket) -> str:
    """The address of a socket, as a browser takes it."""
    host, port = listener.getsockname()[:2]
    if is_any(host):
        host = "127.0.0.1" if listener.family == socket.AF_INET else "::1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_any(host: str) -> bool:
    """Whether the address stands for all of the machine."""
    return ipaddress.ip_address(host).is_unspecified


def is_loopback(listener: socket.socket) -> bool:
    """Whether only this machine can reach the socket."""
    return ipaddress.ip_address(listener.getsockname()[0]).is_loopback


def serve(
    app: FastAPI, listener: socket.socket, *, on_ready: Callable[[], None], grace: float
) -> None:
    """Serve until a signal to stop; then finish within ``grace`` seconds what has begun."""
    config = uvicorn.Config(
        app,
        http=JsonProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="error",  # a client's nonsense is the client's to hear of
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=max(1, round(grace)),
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
    )
    with stops_quietly():
        _Server(config, on_ready).run(sockets=[listener])


@contextlib.contextmanager
def stops_quietly() -> Iterator[None]:
    """Let a server that has stopped in good order be a success, whichever signal asked for it."""
    # The server takes the signals itself, and when it has stopped it raises them again for us.
    signals = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, lambda *_: None) for number in signals}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Server(uvicorn.Server):
    """A server that says when it is ready."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_ready()


class JsonProtocol(H11Protocol):
    """HTTP whose own complaints are JSON like all others."""

    def send_400_response(self, msg: str) -> None:
        body = json.dumps({"error": msg}).encode()
        headers = [("content-type", "application/json"), ("connection", "close")]
        start = h11.Response(status_code=400, headers=headers, reason=b"Bad Request")
        for event in (start, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
