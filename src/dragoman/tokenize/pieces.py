"""What every way of cutting text has in common: text <-> ids of one side.

A ``PieceModel`` knows one side of the corpus. ``Subwords`` brings SentencePiece's own numbering;
words, characters and symbols differ only in how they cut and join, and share ``VocabularyModel``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

from dragoman.tokenize.vocabulary import UNK_ID, Vocabulary

UNKNOWN_SURFACE = "⁇"
"""What a decoded text shows where the ids say UNK."""


class PieceModel(ABC):
    """Text <-> ids of one side of a corpus; text arrives prepared, ids without PAD, BOS, EOS."""

    suffix: str
    """How the name of its file ends."""

    @abstractmethod
    def __len__(self) -> int:
        """The size of the vocabulary, special pieces included."""

    @abstractmethod
    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text."""

    @abstractmethod
    def sample_batch(self, texts: Sequence[str], *, alpha: float, seed: int) -> list[list[int]]:
        """The ids of one random way to cut each text, where there is more than one way."""

    @abstractmethod
    def decode_batch(self, rows: Sequence[list[int]]) -> list[str]:
        """The text of each row of ids."""

    @abstractmethod
    def piece(self, number: int) -> str:
        """The piece with this id."""

    @abstractmethod
    def surface(self, number: int) -> str:
        """What the piece adds to a text, a space before it included."""

    @abstractmethod
    def to_bytes(self) -> bytes:
        """The content of the file that holds this model."""


class VocabularyModel(PieceModel):
    """Pieces numbered by a ``Vocabulary``; a subclass says how text is cut and joined."""

    suffix = ".json"
    always: tuple[str, ...] = ()
    """Pieces that are in the vocabulary whether they were seen or not."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary

    @abstractmethod
    def cut(self, text: str) -> list[str]:
        """The pieces of a text."""

    @abstractmethod
    def join(self, pieces: Sequence[str]) -> str:
        """The text of pieces."""

    def __len__(self) -> int:
        return len(self.vocabulary)

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        return [self.vocabulary.ids(self.cut(text)) for text in texts]

    def sample_batch(self, texts: Sequence[str], *, alpha: float, seed: int) -> list[list[int]]:
        return self.encode_batch(texts)  # there is one way to cut, so nothing to draw

    def decode_batch(self, rows: Sequence[list[int]]) -> list[str]:
        return [self.join([self._shown(number) for number in row]) for row in rows]

    def piece(self, number: int) -> str:
        return self.vocabulary.piece(number)

    def to_bytes(self) -> bytes:
        return self.vocabulary.to_bytes()

    def _shown(self, number: int) -> str:
        return UNKNOWN_SURFACE if number == UNK_ID else self.vocabulary.piece(number)


def word_of_each(surfaces: Iterable[str]) -> list[int]:
    """The index of the space-separated word that each surface belongs to.

    A surface of spaces alone belongs to the word that follows, or to the last one at the end;
    -1 where the text has no word at all.

    >>> word_of_each([" the", " dog", "s", " ", "bark", "ed", "."])
    [0, 1, 1, 2, 2, 2, 2]
    """
    found: list[int] = []
    word, at_boundary = -1, True
    for surface in surfaces:
        at_boundary = at_boundary or surface.startswith(" ")
        n_words = sum(map(bool, surface.split(" ")))
        found.append(word + at_boundary)  # a piece of several words belongs to the first
        if n_words:
            word += at_boundary + n_words - 1
            at_boundary = surface.endswith(" ")
    return [min(index, word) for index in found]
