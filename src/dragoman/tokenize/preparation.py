"""What is done to text before it is cut, the same in training and in use.

Nothing is normalized: NFC, NFKC and whitespace are the user's business. Only what is asked for
(lower case) is done, and what no file can hold (half of a surrogate pair) is replaced by U+FFFD.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dragoman.errors import TokenizerError
from dragoman.tokenize.vocabulary import SPECIAL_PIECES

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class Placeholders:
    """Strings that are never cut: splits a text into them and what stands between.

    >>> list(Placeholders(["<NAME>"]).split("Hi <NAME>!"))
    [('Hi ', False), ('<NAME>', True), ('!', False)]
    """

    def __init__(self, strings: Sequence[str]) -> None:
        # The longest first, so that "<NAME2>" is not taken for "<NAME" and a rest.
        ordered = sorted(set(strings), key=lambda string: (-len(string), string))
        self._pattern = re.compile("(" + "|".join(map(re.escape, ordered)) + ")")
        self._any = bool(ordered)

    def split(self, text: str) -> Iterator[tuple[str, bool]]:
        """The parts of a text in order, each with whether it is a placeholder."""
        if not self._any:
            yield text, False
            return
        for index, part in enumerate(self._pattern.split(text)):
            if part:
                yield part, index % 2 == 1

    def lower(self, text: str) -> str:
        """The text in lower case, but for the placeholders.

        >>> Placeholders(["<NAME>"]).lower("Hi <NAME>!")
        'hi <NAME>!'
        """
        parts = self.split(text)
        return "".join(part if is_placeholder else part.lower() for part, is_placeholder in parts)


@dataclass(frozen=True)
class Preparation:
    """How texts are made ready for cutting.

    >>> Preparation(lowercase=True, placeholders=("<NAME>",)).apply(["Dear <NAME>"])
    ['dear <NAME>']
    """

    lowercase: bool = False
    placeholders: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for string in self.placeholders:
            if not string or string != string.strip() or string in SPECIAL_PIECES:
                raise TokenizerError(
                    f"data.placeholders: {string!r} cannot be one; a placeholder has no space"
                    f" around it, is not empty and is none of {', '.join(SPECIAL_PIECES)}"
                )

    def apply(self, texts: Sequence[str]) -> Sequence[str]:
        """The texts, ready to be cut."""
        if not _is_unicode(texts):
            texts = [_LONE_SURROGATE.sub("\ufffd", text) for text in texts]
        if not self.lowercase:
            return texts
        if not self.placeholders:
            return [text.lower() for text in texts]
        placeholders = Placeholders(self.placeholders)
        return [placeholders.lower(text) for text in texts]


def _is_unicode(texts: Sequence[str]) -> bool:
    """Whether UTF-8 can spell every text; one look at all of them together is quick."""
    try:
        "".join(texts).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
