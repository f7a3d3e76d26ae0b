"""Words as a reader of an error report sees them, and where two sentences differ in words."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

# Han, kana, Thai, Lao, Khmer, Burmese: written without spaces, so that each letter stands alone.
_UNSPACED = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF))
_UNSPACED_HAN = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))
_INSIDE_WORDS = "'’-\u00ad"
LONG = 500  # words from which on differences are looked for by a rule of thumb


class Word(NamedTuple):
    """A word, a punctuation mark or a symbol, and whether a space stands before it."""

    text: str
    after_space: bool


class Stretch(NamedTuple):
    """Part of a sentence that its partner has too, or has not."""

    text: str
    is_shared: bool


def split_words(text: str) -> list[Word]:
    """The words of a sentence of any script; punctuation stands by itself.

    >>> [word.text for word in split_words("Don't stop, 東京.")]
    ["Don't", 'stop', ',', '東', '京', '.']
    """
    words: list[Word] = []
    for i, part in enumerate(text.split()):
        for j, word in enumerate(_cut(part)):
            words.append(Word(word, after_space=j == 0 and i > 0))
    return words


def word_texts(text: str) -> list[str]:
    """
    >>> word_texts("a dog.")
    ['a', 'dog', '.']
    """
    return [word.text for word in split_words(text)]


def is_word(word: str) -> bool:
    """Whether this is a word or a number, and not a punctuation mark or a symbol.

    >>> is_word("dog"), is_word("42"), is_word(".")
    (True, True, False)
    """
    return any(char.isalnum() for char in word)


def differences(hypothesis: str, reference: str) -> tuple[list[Stretch], list[Stretch]]:
    """Both sentences as stretches of words that the other one has too, or has not.

    >>> differences("A cat runs.", "A dog runs.")[0]
    [Stretch(text='A', is_shared=True), Stretch(text=' cat', is_shared=False), \
Stretch(text=' runs.', is_shared=True)]
    """
    hyp, ref = split_words(hypothesis), split_words(reference)
    matcher = SequenceMatcher(
        None,
        [word.text for word in hyp],
        [word.text for word in ref],
        autojunk=max(len(hyp), len(ref)) > LONG,
    )
    hyp_shared, ref_shared = [False] * len(hyp), [False] * len(ref)
    for a, b, size in matcher.get_matching_blocks():
        hyp_shared[a : a + size] = ref_shared[b : b + size] = [True] * size
    return _stretches(hyp, hyp_shared), _stretches(ref, ref_shared)


def _stretches(words: list[Word], shared: list[bool]) -> list[Stretch]:
    """Neighbours that are alike in this, put together."""
    pairs = zip(words, shared, strict=True)
    return [
        Stretch("".join(" " * w.after_space + w.text for w, _ in group), is_shared)
        for is_shared, group in groupby(pairs, key=lambda pair: pair[1])
    ]


def _cut(part: str) -> Iterator[str]:
    """The words of what stands between two spaces."""
    start = 0
    for i, char in enumerate(part):
        if not _stands_alone(char) or _joins(part, i):
            continue
        if start < i:
            yield part[start:i]
        yield char
        start = i + 1
    if start < len(part):
        yield part[start:]


@lru_cache(maxsize=4096)
def _stands_alone(char: str) -> bool:
    """Whether this is a mark, a symbol, or a letter of a script without spaces."""
    code = ord(char)
    unspaced = any(low <= code <= high for low, high in (*_UNSPACED, *_UNSPACED_HAN))
    return unspaced or unicodedata.category(char)[0] in "PS"


def _joins(part: str, i: int) -> bool:
    """Whether the mark at this place is part of a word: apostrophe, hyphen, decimal point."""
    if i == 0 or i == len(part) - 1:
        return False
    before, char, after = part[i - 1], part[i], part[i + 1]
    if char in _INSIDE_WORDS:
        return before.isalnum() and after.isalnum()
    return char in ".," and before.isdigit() and after.isdigit()
