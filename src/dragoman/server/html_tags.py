"""Inline tags carried over from a sentence to its translation.

Letters: S source words, T target words.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from dragoman.decoding.translation import Links

_WORDS = re.compile(r"\S+")
Span = tuple[int, int]


@dataclass(frozen=True)
class Element:
    """An inline element over characters ``start`` to ``end``; a mark if they are equal."""

    start: int
    end: int
    open: str  # the tags as they were written
    close: str
    children: tuple[Element, ...] = ()
    spaces: tuple[bool, bool] = (False, False)  # whether a mark had one before and after it

    @property
    def raw(self) -> str:
        """The tags without any text."""
        return self.open + "".join(child.raw for child in self.children) + self.close


def place_tags(source: str, elements: Sequence[Element], target: str, links: Links | None) -> str:
    """The target text as HTML, with the elements of the source around the words they belong to.

    >>> bold = Element(4, 8, "<b>", "</b>")  # Ein Hund rennt.
    >>> place_tags("Ein Hund rennt.", [bold], "A dog runs.", ((0, 0), (1, 1), (2, 2)))
    'A <b>dog</b> runs.'
    """
    if not elements:
        return escape(target, quote=False)
    sides = _Sides(source, target, links)
    return sides.render(elements, (0, len(sides.tgt_words)), (0, len(sides.src_words)))


@dataclass(frozen=True)
class _Placed:
    """An element and the target characters it will stand around."""

    element: Element
    words: Span  # target words
    chars: Span
    src_words: Span
    spaces: tuple[str, str] = ("", "")  # to be added before and after it


class _Sides:
    """A sentence, its translation, and which of their words belong together."""

    def __init__(self, source: str, target: str, links: Links | None) -> None:
        self.source, self.target = source, target
        self.src_words = [match.span() for match in _WORDS.finditer(source)]
        self.tgt_words = [match.span() for match in _WORDS.finditer(target)]
        n_src, n_tgt = len(self.src_words), len(self.tgt_words)
        # Without an alignment the words are taken to be in the same order.
        self.source_of = [j * n_src // max(n_tgt, 1) for j in range(n_tgt)]
        for src, tgt in links or ():
            if src < n_src and tgt < n_tgt:
                self.source_of[tgt] = src

    def render(self, elements: Sequence[Element], inside: Span, src_inside: Span) -> str:
        """The target words of a span, and the elements that belong into it."""
        first, last = inside
        if first < last:
            chars = self.tgt_words[first][0], self.tgt_words[last - 1][1]
        else:
            chars = 0, 0
        return self.render_chars(elements, inside, src_inside, chars)

    def render_chars(
        self, elements: Sequence[Element], inside: Span, src_inside: Span, chars: Span
    ) -> str:
        """The same for given characters, which may leave out punctuation at the edges."""
        placed = self._place(elements, inside, src_inside, chars)
        out, at = [], chars[0]
        for each in placed:
            out.append(escape(self.target[at : each.chars[0]], quote=False))
            out.append(each.spaces[0] + each.element.open)
            children = each.element.children
            if each.words[0] == each.words[1]:
                out += [child.raw for child in children]
            else:
                out.append(self.render_chars(children, each.words, each.src_words, each.chars))
            out.append(each.element.close + each.spaces[1])
            at = each.chars[1]
        out.append(escape(self.target[at : chars[1]], quote=False))
        return "".join(out)

    def _place(
        self, elements: Sequence[Element], inside: Span, src_inside: Span, chars: Span
    ) -> list[_Placed]:
        """The elements with their places, in the order of the target; none within another."""
        free = [inside[0] <= j < inside[1] for j in range(len(self.tgt_words))]
        spans: list[_Placed] = []
        marks: list[Element] = []
        for element in elements:
            src_words = self._words_of(element)
            words = self._best_run(src_words, free, inside, src_inside)
            if words is None:
                marks.append(element)
                continue
            free[words[0] : words[1]] = [False] * (words[1] - words[0])
            spans.append(_Placed(element, words, self._chars(element, words, chars), src_words))
        for mark in marks:
            spans.append(self._place_mark(mark, inside, chars, spans))
        return sorted(spans, key=lambda each: (each.chars, each.element.start))

    def _words_of(self, element: Element) -> Span:
        """The source words that an element has at least half of."""
        first = bisect_right(self.src_words, element.start, key=lambda span: span[1])
        last = bisect_left(self.src_words, element.end, key=lambda span: span[0])
        while first < last and not self._has_half(element, first):
            first += 1
        while first < last and not self._has_half(element, last - 1):
            last -= 1
        return first, last

    def _has_half(self, element: Element, word: int) -> bool:
        start, end = self.src_words[word]
        inside = self._weight(max(start, element.start), min(end, element.end))
        return 2 * inside >= self._weight(start, end)

    def _weight(self, start: int, end: int) -> int:
        """Letters and digits count; of a word of signs alone, the signs."""
        text = self.source[start:end] if start < end else ""
        return 100 * sum(character.isalnum() for character in text) + len(text)

    def _best_run(
        self, src_words: Span, free: Sequence[bool], inside: Span, src_inside: Span
    ) -> Span | None:
        """The run of free target words with most links to these source words and fewest others."""
        if src_words[0] == src_words[1]:
            return None
        whole = src_words[0] <= src_inside[0] and src_words[1] >= src_inside[1]
        if whole and inside[0] < inside[1] and all(free[inside[0] : inside[1]]):
            return inside
        best, best_sum = None, 0
        start, total = inside[0], 0
        for j in range(*inside):
            is_linked = src_words[0] <= self.source_of[j] < src_words[1]
            if total <= 0 or not free[j]:
                start, total = j, 0
            if not free[j]:
                start = j + 1
                continue
            total += 1 if is_linked else -1
            if total > best_sum:
                best, best_sum = (start, j + 1), total
        return best

    def _chars(self, element: Element, words: Span, chars: Span) -> Span:
        """The characters of target words, without signs at the edge that the element had not."""
        start, end = self.tgt_words[words[0]][0], self.tgt_words[words[1] - 1][1]
        text = self.target[start:end]
        if element.end < len(self.source) and _is_sign(self.source[element.end]):
            end -= len(text) - len(_strip_signs(text, at_end=True))
        if element.start and _is_sign(self.source[element.start - 1]):
            start += len(text) - len(_strip_signs(text, at_end=False))
        start, end = max(start, chars[0]), min(end, chars[1])
        return start, max(start, end)

    def _place_mark(
        self, mark: Element, inside: Span, chars: Span, spans: Sequence[_Placed]
    ) -> _Placed:
        """A place for tags without words: before what belongs to the source word that follows."""
        next_word = bisect_left(self.src_words, mark.start, key=lambda span: span[0])
        following = [j for j in range(*inside) if self.source_of[j] >= next_word]
        if following:
            at = self.tgt_words[min(following, key=lambda j: (self.source_of[j], j))][0]
            spaces = "", " " if mark.spaces[1] else ""
        else:
            at = chars[1]
            spaces = " " if mark.spaces[0] else "", ""
        for each in spans:  # not inside another element
            if each.chars[0] < at < each.chars[1]:
                at = each.chars[0]
        at = min(max(at, chars[0]), chars[1])
        return _Placed(mark, (0, 0), (at, at), (0, 0), spaces)


def _is_sign(character: str) -> bool:
    return not character.isalnum() and not character.isspace()


def _strip_signs(text: str, *, at_end: bool) -> str:
    """The text without the signs at one edge; as it is if it has nothing else."""
    kept = text
    while kept and _is_sign(kept[-1 if at_end else 0]):
        kept = kept[:-1] if at_end else kept[1:]
    return kept or text
