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
    leaves: list[Leaf] = []
    pieces: list[str] = []
    places: list[int] = []  # of each leaf in pieces

    def visit(node: Node | Leaf) -> None:
        if isinstance(node, Leaf):
            if leaves and leaves[-1].parts is None and node.tag == "PUNCT":
                leaves.pop()
                pieces[places.pop()] = ""
            word = node.word if leaves else node.word[0].upper() + node.word[1:]
            leaves.append(Leaf(node.tag, word, node.parts))
            places.append(len(pieces))
            pieces.append(f" ({node.tag} {word})")
            return
        pieces.append(f" ({node.label}")
        for child in node.children:
            visit(child)
        pieces.append(")")

    visit(tree)
    return Side([leaf.word for leaf in leaves], [leaf.parts or () for leaf in leaves],
                "".join(pieces)[1:])  # fmt: skip


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
        (i, j)
        for i, parts in enumerate(source.parts)
        for key in parts
        for j in where.get(key, ())
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
