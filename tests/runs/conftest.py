"""A corpus small enough to prepare in a blink, and a cache of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.corpus.pair import Pair
from dragoman.corpus.reading import CorpusSource


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DRAGOMAN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def corpus(tmp_path: Path) -> CorpusSource:
    """Two hundred sequences of symbols and their copies."""
    path = tmp_path / "corpus.tsv"
    rows = [f"{n % 7} {n % 11} {n} x" for n in range(200)]
    path.write_text("".join(f"{row}\t{row}\n" for row in rows), encoding="utf-8")
    return CorpusSource(corpus=(str(path),))


class Pairs:
    """A source of pairs in memory."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self.made = [Pair(src, tgt, "memory", n) for n, (src, tgt) in enumerate(pairs, start=1)]

    def __repr__(self) -> str:
        return f"Pairs({self.made})"

    def pairs(self) -> list[Pair]:
        return self.made

    def files(self) -> list[Path]:
        return []


@pytest.fixture
def make_source() -> type[Pairs]:
    return Pairs
