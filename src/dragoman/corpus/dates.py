"""Dates as people write them, in English and German, for normalization to ISO 8601.

Forms that would be ambiguous (03/04/2026) are left out: each text means one day.

>>> from datetime import date
>>> written(date(2026, 11, 15), "de", 0)
'15. November 2026'
>>> written(date(2026, 11, 15), "en", 0)
'November 15, 2026'
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Literal

from dragoman.errors import DataError

Language = Literal["en", "de"]
FIRST, LAST = date(1900, 1, 1), date(2099, 12, 31)

_EN_MONTHS_TEXT = (
    "January February March April May June July August September October November December"
)
_EN_MONTHS = _EN_MONTHS_TEXT.split()
_DE_MONTHS_TEXT = (
    "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
)
_DE_MONTHS = _DE_MONTHS_TEXT.split()
_DE_SHORT_TEXT = "Jan. Feb. März Apr. Mai Juni Juli Aug. Sept. Okt. Nov. Dez."
_DE_SHORT = _DE_SHORT_TEXT.split()
_EN_SHORT = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_EN_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_DE_DAYS = ["Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"]


def ordinal(number: int) -> str:
    """The English ordinal in digits.

    >>> [ordinal(n) for n in (1, 2, 3, 4, 11, 22, 31)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd', '31st']
    """
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"


def _en(day: date) -> str:
    return _EN_MONTHS[day.month - 1]


def _de(day: date) -> str:
    return _DE_MONTHS[day.month - 1]


_Form = Callable[[date], str]
_ENGLISH: tuple[_Form, ...] = (
    lambda d: f"{_en(d)} {d.day}, {d.year}",
    lambda d: f"{_en(d)} {ordinal(d.day)}, {d.year}",
    lambda d: f"{d.day} {_en(d)} {d.year}",
    lambda d: f"{ordinal(d.day)} {_en(d)} {d.year}",
    lambda d: f"the {ordinal(d.day)} of {_en(d)} {d.year}",
    lambda d: f"the {ordinal(d.day)} of {_en(d)}, {d.year}",
    lambda d: f"{_EN_DAYS[d.weekday()]}, {_en(d)} {d.day}, {d.year}",
    lambda d: f"{_EN_DAYS[d.weekday()]}, {d.day} {_en(d)} {d.year}",
    lambda d: f"{_EN_SHORT[d.month - 1]} {d.day}, {d.year}",
    lambda d: f"{d.day} {_EN_SHORT[d.month - 1]} {d.year}",
    lambda d: f"{d.day:02}-{_EN_SHORT[d.month - 1]}-{d.year}",
    lambda d: f"{d.year}/{d.month:02}/{d.day:02}",
)
_GERMAN: tuple[_Form, ...] = (
    lambda d: f"{d.day}. {_de(d)} {d.year}",
    lambda d: f"der {d.day}. {_de(d)} {d.year}",
    lambda d: f"den {d.day}. {_de(d)} {d.year}",
    lambda d: f"am {d.day}. {_de(d)} {d.year}",
    lambda d: f"{_DE_DAYS[d.weekday()]}, {d.day}. {_de(d)} {d.year}",
    lambda d: f"{_DE_DAYS[d.weekday()]}, der {d.day}. {_de(d)} {d.year}",
    lambda d: f"am {_DE_DAYS[d.weekday()]}, dem {d.day}. {_de(d)} {d.year}",
    lambda d: f"{d.day}.{d.month}.{d.year}",
    lambda d: f"{d.day:02}.{d.month:02}.{d.year}",
    lambda d: f"{d.day}. {d.month}. {d.year}",
    lambda d: f"{_DE_DAYS[d.weekday()]}, {d.day}.{d.month}.{d.year}",
    lambda d: f"{d.day}. {_DE_SHORT[d.month - 1]} {d.year}",
)
FORMS: dict[Language, tuple[_Form, ...]] = {"en": _ENGLISH, "de": _GERMAN}


def written(day: date, language: Language, form: int) -> str:
    """The day in one of the ways people write it.

    >>> written(date(2026, 11, 15), "de", 6)
    'am Sonntag, dem 15. November 2026'
    """
    forms = FORMS[language]
    if not 0 <= form < len(forms):
        raise DataError(f"no way number {form} to write a date: there are {len(forms)}")
    return forms[form](day)
