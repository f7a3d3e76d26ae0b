"""Texts as clients send them: several lines, or a page; taken apart to translate, and put together.

Each line of a plain text is translated by itself; empty lines, spaces at the edges and lines
without letters or digits stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from dragoman.decoding.translation import Translation
from dragoman.server.html_text import read_page, sentences, write_page


@dataclass(frozen=True)
class Document:
    """A text in parts to translate, and how to make it whole again."""

    texts: list[str]
    assemble: Callable[[Sequence[Translation]], str]

    def versions(self, found: Sequence[Translation], n_more: int) -> tuple[str, list[str]]:
        """The translated document, and up to so many others.

        The k-th of them is made of the k-th alternatives of its parts. None is like another.
        """
        whole = [self.assemble([_rank(t, k) for t in found]) for k in range(n_more + 1)]
        return whole[0], [text for text in dict.fromkeys(whole) if text != whole[0]]


def plain_document(text: str) -> Document:
    r"""The lines of a text.

    >>> document = plain_document("Ein Hund.\n\n  Eine Katze.")
    >>> document.texts
    ['Ein Hund.', 'Eine Katze.']
    >>> made = [Translation(t.upper(), score=0.0, log_prob=0.0) for t in document.texts]
    >>> document.assemble(made)
    'EIN HUND.\n\n  EINE KATZE.'
    """
    lines = text.replace("\r\n", "\n").split("\n")
    numbers = [i for i, line in enumerate(lines) if any(c.isalnum() for c in line)]

    def assemble(found: Sequence[Translation]) -> str:
        made = list(lines)
        for number, translation in zip(numbers, found, strict=True):
            line = lines[number]
            made[number] = line.replace(line.strip(), translation.text, 1)
        return "\n".join(made)

    return Document([lines[number].strip() for number in numbers], assemble)


def html_document(html: str) -> Document:
    """The sentences of a page."""
    page = read_page(html)
    return Document(sentences(page), lambda found: write_page(page, found))


def _rank(translation: Translation, rank: int) -> Translation:
    """The translation of this rank; the best where there are not so many."""
    ranked = translation.n_best
    return replace(ranked[rank] if rank < len(ranked) else ranked[0], alternatives=())
