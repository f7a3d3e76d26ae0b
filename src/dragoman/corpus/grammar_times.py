"""Which time expressions there are: gestern, am Montag um acht Uhr, vor drei Tagen."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from dragoman.corpus.grammar_lexicon import Time, Word, lexicon
from dragoman.corpus.grammar_rules import Build, Mix, Pick, Rule, one
from dragoman.corpus.grammar_syntax import When


@cache
def numbers() -> tuple[Word, ...]:
    """zwei ... zwölf."""
    return lexicon().words("number")


@cache
def times(mood: str) -> Rule[When]:
    """Time expressions that go with a mood: now, habit, past or future."""
    fixed = [_time(row) for row in lexicon().sections["time"] if row[0] == mood]
    rules: list[tuple[float, Rule[Time]]] = [(6, Pick(fixed))]
    hour = Pick([_hour(word) for word in (Word("ein", "one"), *numbers())])
    if mood in ("past", "future"):
        days = [_join_pair("am", day, "on", name) for day, name in lexicon().sections["day"]]
        months = [
            _join_pair("im", month, "in", name) for month, name in lexicon().sections["month"]
        ]
        rules.append((2, Pick(days)))
        rules.append((1, Pick(months)))
        rules.append((1, Build(_joined, Pick(days), hour)))
        rules.append((1, Pick([_span(mood, n, unit) for n in numbers() for unit in _units()])))
    if mood in ("past", "future", "now"):
        near = {"past": "gestern", "future": "morgen", "now": "heute"}[mood]
        day = next(time for time in fixed if time.de[0][0] == near and len(time.de) == 1)
        rules.append((1, Build(_joined, one(day), hour)))
    return Build(When, Mix(rules))


def _tagged(text: str) -> tuple[tuple[str, str], ...]:
    pairs = [word.rpartition("/") for word in text.split()]
    return tuple((word, tag) for word, _, tag in pairs)


def _time(row: Sequence[str]) -> Time:
    _, de, en, links = row
    pairs = [link.split("-") for link in links.split()]
    return Time(_tagged(de), _tagged(en), tuple((int(i), int(j)) for i, j in pairs))


def _hour(word: Word) -> Time:
    return Time(
        (("um", "ADP"), (word.de, "NUM"), ("Uhr", "NOUN")),
        (("at", "ADP"), (word.en, "NUM"), ("o'clock", "ADV")),
        ((0, 0), (1, 1), (2, 2)),
    )


def _join_pair(de_prep: str, de: str, en_prep: str, en: str) -> Time:
    return Time(
        ((de_prep, "ADP"), (de, "PROPN")), ((en_prep, "ADP"), (en, "PROPN")), ((0, 0), (1, 1))
    )


def _units() -> tuple[tuple[str, ...], ...]:
    return lexicon().sections["unit"]


def _span(mood: str, number: Word, unit: tuple[str, ...]) -> Time:
    """vor drei Tagen, three days ago; in drei Tagen, in three days."""
    _, de, _, en = unit
    if mood == "past":
        english = ((number.en, "NUM"), (en, "NOUN"), ("ago", "ADV"))
        links = ((0, 2), (1, 0), (2, 1))
    else:
        english = (("in", "ADP"), (number.en, "NUM"), (en, "NOUN"))
        links = ((0, 0), (1, 1), (2, 2))
    german = (("vor" if mood == "past" else "in", "ADP"), (number.de, "NUM"), (de, "NOUN"))
    return Time(german, english, links)


def _joined(first: Time, second: Time) -> Time:
    shift = [(i + len(first.de), j + len(first.en)) for i, j in second.links]
    return Time(first.de + second.de, first.en + second.en, (*first.links, *shift))
