"""Random ways to cut a word: BPE-dropout and unigram sampling, the same draw for the same seed.

SentencePiece can sample too, but its generator starts differently in every process, and a run that
is resumed must see the pieces that it would have seen. So the two short algorithms stand here, on
the pieces and scores of the SentencePiece model.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect
from collections.abc import Mapping, Sequence
from itertools import accumulate, groupby
from random import Random

from dragoman.tokenize.vocabulary import UNK_ID

REMEMBERED_WORDS = 50_000
# Time grows with the square of a word's length; merges do not cross the end of such a stretch.
LONGEST_STRETCH = 100


class WordSampler(ABC):
    """Draws the pieces of a word; ``alpha`` says how far they may stray from the usual ones.

    ``ids`` numbers the ordinary pieces, ``byte_ids`` the 256 bytes, or nothing without fallback.
    """

    def __init__(
        self,
        ids: Mapping[str, int],
        scores: Mapping[str, float],
        *,
        byte_ids: Sequence[int],
        alpha: float,
    ) -> None:
        self._ids = ids
        self._scores = scores
        self._byte_ids = byte_ids
        self._alpha = alpha

    @abstractmethod
    def draw_pieces(self, word: str, generator: Random) -> list[str]:
        """The pieces of a word as strings; a character without a piece stands for itself."""

    def draw(self, word: str, generator: Random) -> list[int]:
        """The ids of one random way to cut a word."""
        ids: list[int] = []
        for start in range(0, len(word), LONGEST_STRETCH):
            for piece in self.draw_pieces(word[start : start + LONGEST_STRETCH], generator):
                number = self._ids.get(piece)
                ids.extend([number] if number is not None else self._spell(piece))
        if UNK_ID not in ids:
            return ids
        # Like SentencePiece: unknown characters in a row are one unknown piece.
        runs = [(number, list(run)) for number, run in groupby(ids)]
        return [n for number, run in runs for n in (run[:1] if number == UNK_ID else run)]

    def _spell(self, character: str) -> list[int]:
        if not self._byte_ids:
            return [UNK_ID]
        return [self._byte_ids[byte] for byte in character.encode("utf-8")]


class BpeDropout(WordSampler):
    """Each merge is left out with probability ``alpha`` at each step (Provilkov et al., 2020).

    >>> pieces = {"a": 4, "b": 5, "ab": 6}
    >>> scores = {"a": -2.0, "b": -3.0, "ab": 0.0}
    >>> [BpeDropout(pieces, scores, byte_ids=(), alpha=p).draw("ab", Random(1)) for p in (0, 1)]
    [[6], [4, 5]]
    """

    def draw_pieces(self, word: str, generator: Random) -> list[str]:
        symbols = list(word)
        score_of, alpha, uniform = self._scores.get, self._alpha, generator.random
        while len(symbols) > 1:
            place, best = -1, -math.inf
            for left in range(len(symbols) - 1):
                score = score_of(symbols[left] + symbols[left + 1])
                # Only a better merge than the one in hand needs its die thrown.
                if score is not None and score > best and uniform() >= alpha:
                    place, best = left, score
            if place < 0:
                break
            symbols[place : place + 2] = [symbols[place] + symbols[place + 1]]
        return symbols


class UnigramSampling(WordSampler):
    """Each way to cut is drawn with probability ~ exp(alpha · score) (Kudo, 2018, all ways).

    Weights are summed over the ways to reach each place of the word, then a way is drawn from the
    end to the beginning.

    >>> pieces = {"a": 4, "b": 5, "ab": 6}
    >>> scores = {"a": -9.0, "b": -9.0, "ab": -1.0}
    >>> UnigramSampling(pieces, scores, byte_ids=(), alpha=5.0).draw("abab", Random(1))
    [6, 6]
    """

    def __init__(
        self,
        ids: Mapping[str, int],
        scores: Mapping[str, float],
        *,
        byte_ids: Sequence[int],
        alpha: float,
    ) -> None:
        super().__init__(ids, scores, byte_ids=byte_ids, alpha=alpha)
        self._longest = max(map(len, scores), default=1)
        self._unknown_score = min(scores.values(), default=0.0) - 10  # as SentencePiece has it
        self._tables: dict[str, list[tuple[list[int], list[float]]]] = {}

    def draw_pieces(self, word: str, generator: Random) -> list[str]:
        table = self._tables.get(word)
        if table is None:
            if len(self._tables) >= REMEMBERED_WORDS:
                self._tables = {}
            table = self._tables[word] = self._ways(word)
        pieces: list[str] = []
        end = len(word)
        while end > 0:
            starts, cumulative = table[end]
            drawn = bisect(cumulative, generator.random() * cumulative[-1])
            start = starts[min(drawn, len(starts) - 1)]
            pieces.append(word[start:end])
            end = start
        return pieces[::-1]

    def _ways(self, word: str) -> list[tuple[list[int], list[float]]]:
        """For each place: where a piece that ends there may start, with cumulative weights."""
        log_sums = [0.0]
        table: list[tuple[list[int], list[float]]] = [([], [])]
        for end in range(1, len(word) + 1):
            starts, logs = [], []
            for start in range(max(0, end - self._longest), end):
                score = self._scores.get(word[start:end])
                if score is None and start == end - 1:
                    score = self._unknown_score
                if score is not None:
                    starts.append(start)
                    logs.append(log_sums[start] + self._alpha * score)
            highest = max(logs)
            cumulative = list(accumulate(math.exp(log - highest) for log in logs))
            log_sums.append(highest + math.log(cumulative[-1]))
            table.append((starts, cumulative))
        return table
