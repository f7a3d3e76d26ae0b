"""A page in the other language, its tags kept.

Text between block tags is a sentence to translate; tags inside a sentence (``<b>``, ``<a>``) go
where their words go, by the word alignment: each element is put around the run of target words
that has most words linked to its own and fewest others. Every tag of the page is kept, once. What
is not text for readers (scripts, code, comments, ``translate="no"``) stays as it is.

Where alignment cannot help (a language without spaces, words of an element that left no trace) the
tags stand as near as can be.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import unescape

from dragoman.decoding.translation import Translation
from dragoman.server.html_scan import INLINE, Token, scan
from dragoman.server.html_tags import Element, place_tags


@dataclass(frozen=True)
class Sentence:
    """A text between block tags, and the inline elements in it, by their places in the text."""

    text: str
    before: str  # spaces
    after: str
    elements: tuple[Element, ...]

    def render(self, translation: Translation) -> str:
        """The translation with this sentence's tags."""
        body = place_tags(self.text, self.elements, translation.text, translation.alignment)
        return self.before + body + self.after


MAX_TAGS = 128  # of a sentence; more make several of it, since no reader's sentence has so many

Page = list[str | Sentence]
"""Parts to be kept, and sentences to be translated."""


def read_page(html: str) -> Page:
    """The page in parts.

    >>> [part if isinstance(part, str) else part.text for part in read_page("<p>A <b>dog</b>.</p>")]
    ['<p>', 'A dog.', '</p>']
    """
    page: Page = []
    sentence: list[Token] = []
    for token in _without_opaque(scan(html)):
        is_border = token.kind != "text" and not token.is_inline
        if is_border or len(sentence) >= 2 * MAX_TAGS:
            page += _close(sentence)
            sentence = []
        if is_border:
            page.append(token.raw)
        else:
            sentence.append(token)
    return page + _close(sentence)


def write_page(page: Page, translations: Iterable[Translation]) -> str:
    """The page with its sentences translated, one translation for each of them in order."""
    rest = iter(translations)
    return "".join(part if isinstance(part, str) else part.render(next(rest)) for part in page)


def sentences(page: Page) -> list[str]:
    """The texts to translate."""
    return [part.text for part in page if isinstance(part, Sentence)]


def _without_opaque(tokens: Iterable[Token]) -> Iterable[Token]:
    """The tokens, each element that is not to be translated as one token of its own."""
    inside: list[str] = []
    name, depth = "", 0
    for token in tokens:
        if depth:
            inside.append(token.raw)
            if token.name == name:
                depth += {"open": 1, "close": -1}.get(token.kind, 0)
            if not depth:
                yield Token("other", "".join(inside))
                inside = []
        elif token.is_opaque and not token.raw.endswith("/>"):
            name, depth, inside = token.name, 1, [token.raw]
        else:
            yield token
    if inside:
        yield Token("other", "".join(inside))


@dataclass
class _Open:
    """An inline element whose end has not been met."""

    name: str
    raw: str
    start: int
    children: list[Element] = field(default_factory=list)


def _close(tokens: Sequence[Token]) -> Page:
    """A sentence from what stood between two block tags; kept as it is if there is no text."""
    visible = "".join(unescape(token.raw) for token in tokens if token.kind == "text")
    if not any(character.isalnum() for character in visible):
        return [token.raw for token in tokens]
    text = visible.strip()
    lead = len(visible) - len(visible.lstrip())
    elements = _elements(tokens, lead, len(text))
    return [Sentence(text, visible[:lead], visible[lead + len(text) :], elements)]


def _elements(tokens: Sequence[Token], lead: int, length: int) -> tuple[Element, ...]:
    """The inline elements by their places in the text, which begins after ``lead`` spaces."""
    open_ones = [_Open("", "", 0)]
    position = 0

    def place() -> int:
        return min(max(position - lead, 0), length)

    for number, token in enumerate(tokens):
        if token.kind == "text":
            position += len(unescape(token.raw))
        elif token.kind == "open" and token.name in INLINE and not token.raw.endswith("/>"):
            open_ones.append(_Open(token.name, token.raw, place()))
        elif token.kind == "close" and any(each.name == token.name for each in open_ones):
            while (last := open_ones.pop()).name != token.name:
                _keep_unclosed(last, open_ones[-1])
            element = Element(last.start, place(), last.raw, token.raw, tuple(last.children))
            open_ones[-1].children.append(element)
        else:
            spaces = _has_space(tokens, number - 1, -1), _has_space(tokens, number + 1, 0)
            open_ones[-1].children.append(Element(place(), place(), token.raw, "", spaces=spaces))
    while len(open_ones) > 1:
        _keep_unclosed(last := open_ones.pop(), open_ones[-1])
    return tuple(open_ones[0].children)


def _has_space(tokens: Sequence[Token], number: int, edge: int) -> bool:
    """Whether there is text at this place among the tokens, with a space at its edge."""
    is_there = 0 <= number < len(tokens) and tokens[number].kind == "text"
    return is_there and tokens[number].raw[edge].isspace()


def _keep_unclosed(tag: _Open, parent: _Open) -> None:
    """Keep a tag without an end as a mark in the text, and what was in it as its siblings."""
    parent.children += [Element(tag.start, tag.start, tag.raw, ""), *tag.children]
