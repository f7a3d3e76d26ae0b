"""Characters as pieces: the smallest vocabulary and the longest sentences."""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.tokenize.pieces import VocabularyModel
from dragoman.tokenize.preparation import Placeholders
from dragoman.tokenize.vocabulary import UNK_ID, Vocabulary

SPACE = "▁"
LITERAL_SPACE_MARK = SPACE * 2
_TO_PIECE = {" ": SPACE, SPACE: LITERAL_SPACE_MARK}
_FROM_PIECE = {piece: character for character, piece in _TO_PIECE.items()}


class Characters(VocabularyModel):
    """Each Unicode character is one piece, a space is shown as ``▁``, a literal ``▁`` as ``▁▁``.

    >>> characters = Characters(Vocabulary(["a", "b", "▁"]))
    >>> characters.cut("ab a")
    ['a', 'b', '▁', 'a']
    >>> characters.decode_batch(characters.encode_batch(["ab  a", "a?"]))
    ['ab  a', 'a⁇']
    """

    def __init__(self, vocabulary: Vocabulary, placeholders: Sequence[str] = ()) -> None:
        super().__init__(vocabulary)
        self.always = (SPACE, *placeholders)
        self._placeholders = Placeholders(placeholders)

    def cut(self, text: str) -> list[str]:
        pieces: list[str] = []
        for part, is_placeholder in self._placeholders.split(text):
            if is_placeholder:
                pieces.append(part)
            else:
                pieces.extend(_TO_PIECE.get(character, character) for character in part)
        return pieces

    def join(self, pieces: Sequence[str]) -> str:
        return "".join(_FROM_PIECE.get(piece, piece) for piece in pieces)

    def surface(self, number: int) -> str:
        piece = self._shown(number)
        return piece if number == UNK_ID else _FROM_PIECE.get(piece, piece)
