"""One sentence and its translation, with the place they come from.

A corpus is an iterator of ``Pair``, whatever the format it was read from. Text is always a single
line, because translation is line in, line out.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_LINE_BREAKS = re.compile(r"[\r\n]+")


class Pair(NamedTuple):
    """A source sentence, its target, and where the source stands.

    A named tuple and not a dataclass: a corpus has millions of them, and this is made in half the
    time.

    >>> pair = Pair("Ein Hund rennt.", "A dog runs.", "train.de", 17)
    >>> pair.place
    'train.de:17'
    """

    src: str
    tgt: str
    file: str
    line: int

    @property
    def place(self) -> str:
        """``file:line``, as editors and compilers write it."""
        return f"{self.file}:{self.line}"


def one_line(text: str) -> str:
    r"""The text on one line: each line break with its indentation becomes a space.

    >>> one_line("Delete this file?\n    It cannot be undone.\n")
    'Delete this file? It cannot be undone.'
    """
    if "\n" not in text and "\r" not in text:
        return text
    # Spaces around a line break are the layout of the file, not a part of the sentence.
    parts = (part.strip(" \t") for part in _LINE_BREAKS.split(text))
    return " ".join(part for part in parts if part)


def excerpt(text: str, width: int = 80) -> str:
    """The beginning of a text in quotes, for messages; control characters are made visible.

    >>> excerpt("Ein Hund rennt.")
    '"Ein Hund rennt."'
    >>> excerpt("a" * 100, width=5)
    '"aaaa…"'
    """
    if len(text) > width:
        text = text[: width - 1] + "…"
    visible = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return f'"{visible}"'
