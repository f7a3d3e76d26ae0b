"""Kinds of mistakes that can be told from a sentence, its output and its reference alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dragoman.evaluation.text_words import is_word, word_texts

MAX_REPEATED = 4  # words of the longest phrase whose repetition is looked for


@dataclass(frozen=True)
class Line:
    """One sentence: source (where known), output, first reference, and the output's chrF."""

    number: int
    src: str | None
    hyp: str
    ref: str
    chrf: float


def is_empty(line: Line) -> bool:
    """
    >>> is_empty(Line(1, None, " ", "a dog", 0.0))
    True
    """
    return not line.hyp.strip() and bool(line.ref.strip())


def is_untranslated(line: Line) -> bool:
    """Whether the output is the source although the reference is not.

    >>> is_untranslated(Line(1, "ein Hund", "Ein Hund", "a dog", 0.0))
    True
    """
    src, hyp, ref = (text.strip().casefold() for text in (line.src or "", line.hyp, line.ref))
    return bool(src) and src == hyp != ref


def is_repeating(line: Line) -> bool:
    """Whether a phrase follows upon itself which does not do so in the reference.

    >>> is_repeating(Line(1, None, "a dog a dog runs", "a dog runs", 0.0))
    True
    >>> is_repeating(Line(1, None, "very very good", "very very big", 0.0))
    False
    """
    return bool(_repeated(word_texts(line.hyp)) - _repeated(word_texts(line.ref)))


def is_too_short(line: Line) -> bool:
    """Whether more than half of the words, and three at least, are missing.

    >>> is_too_short(Line(1, None, "a", "a dog runs fast", 0.0))
    True
    """
    n_hyp, n_ref = len(word_texts(line.hyp)), len(word_texts(line.ref))
    return 0 < n_hyp < n_ref / 2 and n_ref - n_hyp >= 3


def is_too_long(line: Line) -> bool:
    """Whether there are more than twice as many words, and three at least, as there should be.

    >>> is_too_long(Line(1, None, "a dog runs fast", "a", 0.0))
    True
    """
    n_hyp, n_ref = len(word_texts(line.hyp)), len(word_texts(line.ref))
    return n_hyp > 2 * n_ref and n_hyp - n_ref >= 3


def _repeated(words: list[str]) -> set[tuple[str, ...]]:
    """The phrases with a word in them that follow upon themselves."""
    return {
        tuple(words[i : i + n])
        for n in range(1, MAX_REPEATED + 1)
        for i in range(len(words) - 2 * n + 1)
        if words[i : i + n] == words[i + n : i + 2 * n] and any(map(is_word, words[i : i + n]))
    }


Kind = tuple[str, str, Callable[[Line], bool]]
KINDS: tuple[Kind, ...] = (
    ("Empty", "no output for a sentence", is_empty),
    ("Repeated", "a phrase of up to four words follows upon itself", is_repeating),
    ("Much too short", "fewer than half the words of the reference", is_too_short),
    ("Much too long", "more than twice the words of the reference", is_too_long),
)
KINDS_BY_SOURCE: tuple[Kind, ...] = (
    ("Untranslated", "the output is the source sentence", is_untranslated),
)
