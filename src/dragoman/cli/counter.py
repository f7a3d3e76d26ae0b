"""How far long work has come, on stderr: a line rewritten on a terminal, else one now and then."""

from __future__ import annotations

import sys
import time

from dragoman.cli.output import is_terminal, say


class Counter:
    """Told how much is done, says so a few times a second to a reader, rarely to a log."""

    def __init__(self, what: str, total: int | None = None) -> None:
        self.what, self.total = what, total
        self.every = 0.2 if is_terminal() else 10.0
        self.last = time.monotonic()
        self.is_shown = False

    def __call__(self, n_done: int, *_: object) -> None:
        now = time.monotonic()
        if now - self.last < self.every:
            return
        self.last, self.is_shown = now, True
        of = "" if self.total is None else f" of {self.total:,}"
        line = f"{n_done:,}{of} {self.what}"
        if is_terminal():
            print(f"\r{line}", end="", file=sys.stderr, flush=True)
        else:
            say(line)

    def __enter__(self) -> Counter:
        return self

    def __exit__(self, *error: object) -> None:
        self.clear()

    def clear(self) -> None:
        """Take the line away again."""
        if self.is_shown and is_terminal():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
