"""Lines longer than a model can take, cut where a reader would pause.

A text that does not fit is halved at the border nearest its middle, of the best kind that it has:
between sentences, else between clauses, else between words, else anywhere. The halves are treated
alike until all parts fit. Only punctuation is looked at, of many scripts, and no language asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

_CLOSING = "[\"'”’»›」』）)\\]]*"
BORDERS = (
    re.compile(rf"[.!?…؟۔]{_CLOSING}\s+|[。！？।॥]{_CLOSING}\s*"),  # between sentences
    re.compile(rf"[,;:،؛]{_CLOSING}\s+|[、，；：]{_CLOSING}\s*|\s[–—-]+\s+"),  # between clauses
    re.compile(r"\s+"),  # between words
)


@dataclass(frozen=True)
class Segment:
    """A part of a text, and the number of the word it begins with.

    Words are what stands between spaces. A part that begins inside a word has that word's number.
    """

    text: str
    first_word: int = 0


def split_text(text: str, fits: Callable[[str], bool]) -> list[Segment]:
    """The text in parts that fit, in order, without the spaces around them.

    >>> parts = split_text("It rains. We stay, and read.", lambda part: len(part) < 14)
    >>> [(part.text, part.first_word) for part in parts]
    [('It rains.', 0), ('We stay,', 2), ('and read.', 4)]
    """
    segments = []
    waiting = [(text, 0)]  # a part and where it begins; the next one last
    while waiting:
        part, start = waiting.pop()
        lead = len(part) - len(part.lstrip())
        part, start = part.strip(), start + lead
        if not part:
            continue
        if len(part) == 1 or fits(part):
            segments.append(Segment(part, _words_before(text, start)))
            continue
        middle = _middle_border(part)
        waiting += [(part[middle:], start + middle), (part[:middle], start)]
    return segments


def _middle_border(text: str) -> int:
    """Where to halve a text: at the border of the best kind there is, nearest the middle."""
    middle = len(text) / 2
    for pattern in BORDERS:
        ends = [found.end() for found in pattern.finditer(text)]
        inside = [end for end in ends if 0 < end < len(text)]
        if inside:
            return min(inside, key=lambda end: abs(end - middle))
    return len(text) // 2


def _words_before(text: str, start: int) -> int:
    """The number of the word that stands at ``start``."""
    before = text[:start]
    n_words = len(before.split())
    return n_words - 1 if before and not before[-1].isspace() else n_words
