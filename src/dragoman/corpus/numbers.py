"""Whole numbers in words, and back: English and German, 0 to 999,999,999.

>>> in_words(1984, "en")
'one thousand nine hundred eighty-four'
>>> in_words(1984, "de")
'eintausendneunhundertvierundachtzig'
>>> from_words("einundzwanzig", "de")
21
"""

from __future__ import annotations

from functools import cache
from typing import Literal

from dragoman.errors import DataError

Language = Literal["en", "de"]
LIMIT = 1_000_000_000  # the first number that is not spelled

_EN_SMALL_TEXT = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen "
    "fourteen fifteen sixteen seventeen eighteen nineteen"
)
_EN_SMALL = _EN_SMALL_TEXT.split()
_EN_TENS = ["_", "_", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_DE_SMALL_TEXT = (
    "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn "
    "fünfzehn sechzehn siebzehn achtzehn neunzehn"
)
_DE_SMALL = _DE_SMALL_TEXT.split()
_DE_TENS_TEXT = "_ _ zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig"
_DE_TENS = _DE_TENS_TEXT.split()


def in_words(number: int, language: Language = "en") -> str:
    """The number as it is written out.

    >>> in_words(0), in_words(100_001, "de")
    ('zero', 'einhunderttausendeins')
    """
    if not 0 <= number < LIMIT:
        raise DataError(f"{number} cannot be spelled: numbers go from 0 to {LIMIT - 1:,}")
    return _english(number) if language == "en" else _german(number)


def _english(number: int) -> str:
    if number == 0:
        return _EN_SMALL[0]
    millions, rest = divmod(number, 1_000_000)
    thousands, rest = divmod(rest, 1000)
    parts = []
    if millions:
        parts.append(_english_hundreds(millions) + " million")
    if thousands:
        parts.append(_english_hundreds(thousands) + " thousand")
    if rest:
        parts.append(_english_hundreds(rest))
    return " ".join(parts)


@cache
def _english_hundreds(number: int) -> str:
    """1 to 999."""
    hundreds, rest = divmod(number, 100)
    parts = [f"{_EN_SMALL[hundreds]} hundred"] if hundreds else []
    if rest >= 20:
        tens, ones = divmod(rest, 10)
        parts.append(_EN_TENS[tens] + (f"-{_EN_SMALL[ones]}" if ones else ""))
    elif rest:
        parts.append(_EN_SMALL[rest])
    return " ".join(parts)


def _german(number: int) -> str:
    if number == 0:
        return _DE_SMALL[0]
    millions, rest = divmod(number, 1_000_000)
    thousands, rest = divmod(rest, 1000)
    parts = []
    if millions:
        # "Million" is a feminine noun of its own: eine Million, einundzwanzig Millionen
        one = millions == 1
        parts.append("eine Million" if one else f"{_german_hundreds(millions)} Millionen")
    word = f"{_german_hundreds(thousands)}tausend" if thousands else ""
    if rest:
        word += _german_hundreds(rest)
        # the last "ein" stands alone only here: hunderteins, but einundzwanzig
        word += "s" if rest % 100 == 1 else ""
    return " ".join([*parts, word] if word else parts)


@cache
def _german_hundreds(number: int) -> str:
    """1 to 999, with "ein" for a final one."""
    hundreds, rest = divmod(number, 100)
    word = f"{_DE_SMALL[hundreds]}hundert" if hundreds else ""
    if rest >= 20:
        tens, ones = divmod(rest, 10)
        return word + (f"{_DE_SMALL[ones]}und" if ones else "") + _DE_TENS[tens]
    return word + (_DE_SMALL[rest] if rest else "")


def from_words(text: str, language: Language = "en") -> int:
    """The number that the words say; the spelling of ``in_words``, case and extra spaces aside.

    >>> from_words("one hundred five")
    105
    """
    words = " ".join(text.lower().split())
    number = _read_english(words) if language == "en" else _read_german(words)
    if number is None or in_words(number, language).lower() != words:
        raise DataError(
            f"{text!r} is not a number in {'English' if language == 'en' else 'German'} words.\n"
            f"  Expected a form such as {in_words(1984, language)!r}."
        )
    return number


def _read_english(words: str) -> int | None:
    total = group = 0
    for word in words.replace("-", " ").split():
        if word in _EN_SMALL:
            group += _EN_SMALL.index(word)
        elif word in _EN_TENS:
            group += 10 * _EN_TENS.index(word)
        elif word == "hundred":
            group *= 100
        elif word in ("thousand", "million"):
            total += group * (1000 if word == "thousand" else 1_000_000)
            group = 0
        else:
            return None
    return total + group if total + group < LIMIT else None


@cache
def _german_numbers() -> dict[str, int]:
    """Every spelling of 1 to 999, as it stands before "tausend" and at the end."""
    found = {_german_hundreds(number): number for number in range(1, 1000)}
    found |= {_german(number): number for number in range(1000)}
    return found


def _read_german(words: str) -> int | None:
    total = 0
    for mark in (" millionen", " million"):
        head, found, tail = words.partition(mark)
        if found:
            millions = 1 if head == "eine" else _german_numbers().get(head)
            if millions is None:
                return None
            total, words = millions * 1_000_000, tail.strip()
            break
    head, found, tail = words.partition("tausend")
    if found:
        thousands = _german_numbers().get(head)
        if thousands is None:
            return None
        total, words = total + thousands * 1000, tail
    if not words:
        return total
    rest = _german_numbers().get(words)
    return None if rest is None else total + rest
