"""What the server cannot do for a client, and how it says so: a status and ``{"error": …}``."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import JSONResponse

from dragoman.errors import DragomanError


class Problem(Exception):
    """An answer that is no translation; the client is told the message and nothing else.

    >>> problem = Problem(503, "the server is busy", {"Retry-After": "2"})
    >>> problem.response().status_code, problem.response().body
    (503, b'{"error":"the server is busy"}')
    """

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.headers = status, message, dict(headers or {})

    @classmethod
    def of(cls, error: DragomanError) -> Problem:
        """The problem that an error of the library is: the client's, unless the model is broken.

        >>> from dragoman.errors import ConfigError
        >>> Problem.of(ConfigError("beam = 0: must be above 0")).status
        400
        """
        # The errors that a caller can mend have classes of their own.
        return cls(500 if type(error) is DragomanError else 400, str(error))

    def response(self) -> JSONResponse:
        """The answer to send."""
        return JSONResponse({"error": self.message}, self.status, self.headers)


class ClientLeft(Exception):
    """Nobody waits for the answer any more."""
