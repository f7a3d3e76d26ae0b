"""HTML as a sequence of tags and text, kept to the letter.

The scanner never fails and never takes more than a bounded time for each character, whatever it is
given: what is no tag is text. (The standard library's parser takes seconds for some malformed
pages of a few kilobytes.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["text", "open", "close", "other"]

_INLINE = """
a abbr acronym b bdi bdo big cite data del dfn em font i ins label mark q rp rt ruby s small span
strike strong sub sup time tt u
"""
INLINE = frozenset(_INLINE.split())
INLINE_VOID = frozenset(("img", "wbr", "input"))
_OPAQUE = "script style code kbd samp var pre textarea svg math template"
OPAQUE = frozenset(_OPAQUE.split())
_RAW_TEXT = ("script", "style", "textarea")  # tags inside them are none
_NAME = re.compile(r"</?([a-zA-Z][^\s/>]{0,40})")
_REST_OF_TAG = re.compile(r"""[^"'>]*+(?:(?:"[^"]*+"|'[^']*+')[^"'>]*+)*+>""")
_NOT_TRANSLATED = re.compile(
    r"""\stranslate\s*=\s*["']?no\b|\sclass\s*=\s*(?:"[^"]*\bnotranslate\b|'[^']*\bnotranslate\b)""",
    re.IGNORECASE,
)
_LONGEST_TAG = 4096  # with a > inside quotes; a longer tag ends at its first >


@dataclass(frozen=True)
class Token:
    """A piece of a page as it was written."""

    kind: Kind
    raw: str
    name: str = ""  # of a tag, in lower case

    @property
    def is_inline(self) -> bool:
        """Whether it can stand inside a sentence."""
        return self.kind == "other" or self.name in INLINE or self.name in INLINE_VOID

    @property
    def is_opaque(self) -> bool:
        """Whether what it opens is not to be translated."""
        if self.kind != "open":
            return False
        return self.name in OPAQUE or bool(_NOT_TRANSLATED.search(self.raw))


def scan(html: str) -> Iterator[Token]:
    """The tokens of a page; put together again they are the page.

    >>> [(token.kind, token.raw) for token in scan("a <B>dog</B> < cat")]
    [('text', 'a '), ('open', '<B>'), ('text', 'dog'), ('close', '</B>'), ('text', ' < cat')]
    """
    position = start = 0  # of what is looked at; of the text before it
    while (position := html.find("<", position)) >= 0:
        token = _tag(html, position)
        if token is None:
            position += 1
            continue
        if position > start:
            yield Token("text", html[start:position])
        yield token
        position = start = position + len(token.raw)
        if token.kind == "open" and token.name in _RAW_TEXT:
            end = re.compile(rf"</{token.name}\b", re.IGNORECASE).search(html, position)
            position = end.start() if end else len(html)
            yield Token("other", html[start:position])
            start = position
    if start < len(html):
        yield Token("text", html[start:])


def _tag(html: str, position: int) -> Token | None:
    """The tag, comment or declaration that begins here, or None."""
    if html.startswith("<!--", position):
        end = html.find("-->", position + 4)
        return Token("other", html[position:] if end < 0 else html[position : end + 3])
    if html.startswith(("<!", "<?"), position):
        end = html.find(">", position)
        return Token("other", html[position:] if end < 0 else html[position : end + 1])
    name = _NAME.match(html, position)
    if name is None:
        return None
    rest = _REST_OF_TAG.match(html, name.end(), name.end() + _LONGEST_TAG)
    end = rest.end() if rest else html.find(">", name.end()) + 1
    if not end:
        return None
    kind: Kind = "close" if html[position + 1] == "/" else "open"
    return Token(kind, html[position:end], name[1].lower())
