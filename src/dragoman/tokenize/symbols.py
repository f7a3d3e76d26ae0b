"""Whitespace-separated symbols: the vocabulary of the algorithmic tasks (copy, reverse, sort)."""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.tokenize.pieces import VocabularyModel
from dragoman.tokenize.vocabulary import Vocabulary


class Symbols(VocabularyModel):
    """Each run of characters between whitespace is one piece.

    >>> symbols = Symbols(Vocabulary(["1", "2", "3"]))
    >>> symbols.encode_batch(["3 1 2", "1 4"])
    [[6, 4, 5], [4, 3]]
    >>> symbols.decode_batch([[6, 4, 5], [4, 3]])
    ['3 1 2', '1 ⁇']
    """

    def __init__(self, vocabulary: Vocabulary, placeholders: Sequence[str] = ()) -> None:
        super().__init__(vocabulary)
        self.always = tuple(placeholders)

    def cut(self, text: str) -> list[str]:
        return text.split()

    def join(self, pieces: Sequence[str]) -> str:
        return " ".join(pieces)

    def surface(self, number: int) -> str:
        return " " + self._shown(number)
