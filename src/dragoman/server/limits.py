"""How much one client may ask for, so that there is something left for the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dragoman.errors import ConfigError
from dragoman.server.problems import Problem


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The limits of a server; each refusal names the one that it meets.

    >>> Limits(text_chars=5).check_texts(["Ein Hund"])
    Traceback (most recent call last):
    dragoman.server.problems.Problem: Invalid request: request (8) exceeds text limit (5)
    """

    body_bytes: int = 2**20  # of a request
    text_chars: int = 20_000  # of each text
    prefix_chars: int = 2000  # of what a translation must begin with
    texts: int = 1024  # of a request; lines and parts of a page count
    waiting: int = 4096  # texts accepted and not yet answered, of one model
    beam: int = 32
    seconds: float = 60.0  # from the end of a request to its answer

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not value > 0:
                raise ConfigError(f"the limit {name} = {value}: must be above 0")
        if self.waiting < self.texts:
            raise ConfigError(
                f"the limit waiting = {self.waiting:,} is below texts = {self.texts:,}: the largest"
                " request would never be accepted"
            )

    def check_texts(self, texts: Sequence[str]) -> None:
        """Refuse too many texts, or one that is too long."""
        self.check_count(len(texts))
        for text in texts:
            if len(text) > self.text_chars:
                raise Problem(
                    400,
                    # The words of LibreTranslate, which some clients look for.
                    f"Invalid request: request ({len(text)}) exceeds text limit"
                    f" ({self.text_chars})",
                )

    def check_count(self, n_texts: int) -> None:
        """Refuse too many texts, or lines of them."""
        if n_texts > self.texts:
            raise Problem(
                400,
                f"{n_texts:,} texts or lines in one request: at most {self.texts:,}."
                " Send them in several requests.",
            )
