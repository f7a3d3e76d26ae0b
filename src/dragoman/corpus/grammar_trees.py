"""Trees of one sentence in one language, and how two of them become an ``Example``.

Phrases carry Penn labels (S, SBAR, SQ, NP, VP, PP, ...), words the universal part-of-speech tags.
A leaf names the parts of the derivation it expresses; two words of the two languages are linked
where they express a part in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

Key = tuple[int, str]


class Leaf(NamedTuple):
    """A word, its tag, and the parts of the derivation it expresses.

    ``parts`` is None for the comma that closes a clause: it gives way to any mark after it.
    """

    tag: str
    word: str
    parts: tuple[Key, ...] | None = ()


class Node(NamedTuple):
    """A phrase."""

    label: str
    children: Sequence[Node | Leaf]


@dataclass(frozen=True, slots=True)
class Example:
    """One pair, with word links and bracketed trees where the task has them.

    Words are what stands between spaces. ``alignment`` holds (source word, target word) numbers
    from 0; the leaves of the trees are exactly the words.

    >>> Example("3 1 2", "1 2 3").alignment is None
    True
    """

    src: str
    tgt: str
    alignment: tuple[tuple[int, int], ...] | None = None
    src_tree: str | None = None
    tgt_tree: str | None = None


@dataclass(slots=True)
class Side:
    """One language's words, the parts each expresses, and the tree."""

    words: list[str]
    parts: list[tuple[Key, ...]]
    tree: str


def spell(tree: Node) -> Side:
    """The words and the bracketed text of a tree; the first word gets its capital.

    >>> spell(Node("S", [Leaf("ADV", "heute"), Leaf("PUNCT", ".")])).tree
    '(S (ADV Heute) (PUNCT .))'
    """
    words: list[str] = []
    expressed: list[tuple[Key, ...] | None] = []
    pieces: list[str] = []
    soft = -1  # where in pieces a comma stands that gives way to a mark right after it

    def visit(label: str, children: Sequence[Node | Leaf]) -> None:
        nonlocal soft
        pieces.append(f" ({label}")
        for child in children:
            if isinstance(child, Node):
                visit(child.label, child.children)
                continue
            tag, word, parts = child
            if soft >= 0 and tag == "PUNCT":
                pieces[soft] = ""
                words.pop()
                expressed.pop()
            if not words:
                word = word[0].upper() + word[1:]
            soft = len(pieces) if parts is None else -1
            pieces.append(f" ({tag} {word})")
            words.append(word)
            expressed.append(parts)
        pieces.append(")")

    visit(tree.label, tree.children)
    return Side(words, [parts or () for parts in expressed], "".join(pieces)[1:])


def link(source: Side, target: Side) -> tuple[tuple[int, int], ...]:
    """Pairs of word numbers that express a part of the derivation in common.

    >>> one, two = Side(["ja"], [((0, "x"),)], ""), Side(["yes"], [((0, "x"),)], "")
    >>> link(one, two)
    ((0, 0),)
    """
    where: dict[Key, list[int]] = {}
    for j, parts in enumerate(target.parts):
        for key in parts:
            where.setdefault(key, []).append(j)
    links = {
        (i, j) for i, parts in enumerate(source.parts) for key in parts for j in where.get(key, ())
    }
    return tuple(sorted(links))


_NO_SPACE_BEFORE = frozenset({".", ",", "?", "!", "'s"})


def natural(words: Sequence[str]) -> str:
    """The words as text, with punctuation where print has it.

    >>> natural(["Anna", "'s", "dog", "sleeps", "."])
    "Anna's dog sleeps."
    """
    text = ""
    for word in words:
        text += word if not text or word in _NO_SPACE_BEFORE else f" {word}"
    return text
