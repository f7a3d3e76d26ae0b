"""Counts and lengths of a corpus, side by side."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np

from dragoman.corpus.hashes import CHUNK, HashSet, hash_pairs
from dragoman.corpus.pair import Pair
from dragoman.corpus.reading import CorpusSource

QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)


@dataclass(frozen=True, slots=True)
class SideStats:
    """One side of a corpus: characters, words (between spaces) and how long its sentences are."""

    characters: int
    words: int
    distinct_words: int
    distinct_characters: int
    words_per_sentence: dict[str, float]


@dataclass(frozen=True, slots=True)
class CorpusStats:
    """A corpus in numbers; ``length_ratio`` is target over source characters."""

    pairs: int
    duplicates: int
    src: SideStats
    tgt: SideStats
    length_ratio: float

    def to_dict(self) -> dict[str, object]:
        """The numbers for ``--json``."""
        return asdict(self)


def corpus_stats(
    source: CorpusSource, *, on_progress: Callable[[int], None] | None = None
) -> CorpusStats:
    r"""The numbers of a corpus, from one pass over it.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "t.tsv")
    ...     _ = path.write_text("ein Hund\ta dog\nein Hund\ta dog\n")
    ...     stats = corpus_stats(CorpusSource(corpus=(str(path),)))
    >>> stats.pairs, stats.duplicates, stats.src.words, stats.src.distinct_words
    (2, 1, 4, 2)
    """
    src, tgt, seen = _SideCounter(), _SideCounter(), HashSet()
    n_pairs = 0
    chunk: list[Pair] = []
    for pair in source.pairs():
        src.add(pair.src)
        tgt.add(pair.tgt)
        n_pairs += 1
        chunk.append(pair)
        if len(chunk) == CHUNK:
            seen.add(hash_pairs(chunk))
            chunk.clear()
            if on_progress:
                on_progress(n_pairs)
    seen.add(hash_pairs(chunk))
    ratio = tgt.n_characters / src.n_characters if src.n_characters else 0.0
    return CorpusStats(n_pairs, n_pairs - len(seen), src.finished(), tgt.finished(), ratio)


class _SideCounter:
    """Counts of one side as they grow."""

    def __init__(self) -> None:
        self.n_characters = 0
        self.words: set[str] = set()
        self.characters: set[str] = set()
        self.lengths = array("I")

    def add(self, text: str) -> None:
        words = text.split()
        self.n_characters += len(text)
        self.words.update(words)
        self.characters.update(text)
        self.lengths.append(len(words))

    def finished(self) -> SideStats:
        lengths = np.frombuffer(self.lengths, np.uint32) if self.lengths else np.zeros(1)
        values = np.quantile(lengths, QUANTILES).tolist()
        quantiles = {f"{q:.0%}": float(v) for q, v in zip(QUANTILES, values, strict=True)}
        return SideStats(
            characters=self.n_characters,
            words=sum(self.lengths),
            distinct_words=len(self.words),
            distinct_characters=len(self.characters),
            words_per_sentence={"mean": float(lengths.mean()), **quantiles},
        )
