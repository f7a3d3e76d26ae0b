"""The pieces a model knows and their numbers: piece <-> id, with four reserved ids.

PAD fills the short rows of a batch, BOS opens the decoder's input (shift right), EOS closes a
sentence, UNK stands for what the vocabulary lacks. They are defined here and nowhere else.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from dragoman.errors import TokenizerError

PAD_ID = 0
BOS_ID = 1
EOS_ID = 2
UNK_ID = 3
SPECIAL_PIECES = ("<pad>", "<s>", "</s>", "<unk>")


class Vocabulary:
    """A numbered list of pieces: the four special ones, then the ordinary ones.

    A word of the text that is spelled like a special piece is an ordinary piece with a number of
    its own, so no text can ever smuggle in a BOS or an EOS.

    >>> vocabulary = Vocabulary(["dog", "cat"])
    >>> len(vocabulary), vocabulary.id("cat"), vocabulary.piece(5)
    (6, 5, 'cat')
    >>> vocabulary.id("horse") == vocabulary.id("<s>") == UNK_ID
    True
    """

    def __init__(self, ordinary: Sequence[str]) -> None:
        first = len(SPECIAL_PIECES)
        self._pieces = [*SPECIAL_PIECES, *ordinary]
        self._ids = {piece: number for number, piece in enumerate(ordinary, start=first)}
        if len(self._ids) != len(ordinary):
            raise TokenizerError("a vocabulary holds the same piece twice")

    @classmethod
    def from_counts(
        cls,
        counts: Mapping[str, int],
        *,
        min_frequency: int = 1,
        max_size: int | None = None,
        always: Iterable[str] = (),
    ) -> Vocabulary:
        """The vocabulary of the pieces seen often enough, most frequent first, ties by spelling.

        ``always`` come first whatever their counts; ``max_size`` counts all pieces.

        >>> counts = {"b": 2, "a": 2, "c": 5, "d": 1}
        >>> Vocabulary.from_counts(counts, min_frequency=2).ordinary
        ['c', 'a', 'b']
        >>> Vocabulary.from_counts(counts, max_size=6, always=["x"]).ordinary
        ['x', 'c']
        """
        kept = list(dict.fromkeys(always))
        taken = set(kept)
        frequent = [p for p, n in counts.items() if n >= min_frequency and p not in taken]
        frequent.sort(key=lambda piece: (-counts[piece], piece))
        if max_size is not None:
            frequent = frequent[: max(0, max_size - len(SPECIAL_PIECES) - len(kept))]
        return cls(kept + frequent)

    def __len__(self) -> int:
        return len(self._pieces)

    def __contains__(self, piece: str) -> bool:
        return piece in self._ids

    @property
    def ordinary(self) -> list[str]:
        """The pieces without the special ones, in the order of their ids."""
        return self._pieces[len(SPECIAL_PIECES) :]

    def id(self, piece: str) -> int:
        """The number of a piece; UNK for one that is not in the vocabulary."""
        return self._ids.get(piece, UNK_ID)

    def ids(self, pieces: Iterable[str]) -> list[int]:
        """The numbers of many pieces.

        >>> Vocabulary(["a", "b"]).ids(["b", "z", "a"])
        [5, 3, 4]
        """
        find = self._ids.get
        return [find(piece, UNK_ID) for piece in pieces]

    def piece(self, number: int) -> str:
        """The piece with this number.

        >>> Vocabulary(["a"]).piece(7)
        Traceback (most recent call last):
        dragoman.errors.TokenizerError: there is no piece 7 in a vocabulary of 5 pieces
        """
        if not 0 <= number < len(self._pieces):
            raise TokenizerError(
                f"there is no piece {number} in a vocabulary of {len(self._pieces)} pieces"
            )
        return self._pieces[number]

    def to_bytes(self) -> bytes:
        """The file of this vocabulary: a JSON list with one piece on each line.

        >>> Vocabulary.from_bytes(Vocabulary(["a", "ü"]).to_bytes(), "v.json").ordinary
        ['a', 'ü']
        """
        return (json.dumps(self._pieces, ensure_ascii=False, indent=0) + "\n").encode("utf-8")

    @classmethod
    def from_bytes(cls, content: bytes, name: str) -> Vocabulary:
        """The vocabulary in a file's content; ``name`` is what an error calls the file."""
        try:
            pieces = json.loads(content.decode("utf-8"))
        except ValueError as error:
            raise TokenizerError(f"{name}: this vocabulary is damaged ({error})") from None
        first = len(SPECIAL_PIECES)
        is_list = isinstance(pieces, list) and all(isinstance(p, str) for p in pieces)
        if not is_list or tuple(pieces[:first]) != SPECIAL_PIECES:
            raise TokenizerError(
                f"{name}: not a vocabulary; it must be a JSON list of strings that begins with"
                f" {', '.join(SPECIAL_PIECES)}"
            )
        if len(set(pieces[first:])) != len(pieces) - first:
            raise TokenizerError(f"{name}: this vocabulary holds the same piece twice")
        return cls(pieces[first:])
