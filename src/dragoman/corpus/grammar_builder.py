"""Sentences of the grammar put together by hand, from German words.

>>> from dragoman.corpus.grammar import pair
>>> dog = noun("def", "Hund", "klein")
>>> pair(statement(verb("schlafen"), dog, place=where("Garten"))).src
'Der kleine Hund schläft im Garten .'
"""

from __future__ import annotations

from typing import Any

from dragoman.corpus.grammar_lexicon import Verb, Word, lexicon
from dragoman.corpus.grammar_syntax import Clause, Location, Modal, Phrase, Sentence, When
from dragoman.corpus.grammar_times import numbers, times
from dragoman.corpus.grammar_words import MODALS

_PRONOUNS = {
    "ich": (0, ""),
    "du": (1, ""),
    "er": (2, "m"),
    "sie": (2, "f"),
    "es": (2, "n"),
    "wir": (3, ""),
    "ihr": (4, ""),
    "sie (plural)": (5, ""),
}


def pronoun(german: str) -> Phrase:
    """A personal pronoun by its nominative.

    >>> pronoun("wir").person
    3
    """
    person, gender = _PRONOUNS[german]
    return Phrase("pronoun", person=person, gender=gender)


def noun(det: str, german: str, *adjectives: str, **more: Any) -> Phrase:
    """A noun phrase; ``more`` are fields of ``Phrase``, and a number may be given as a word.

    >>> noun("number", "Hund", plural=True, number="drei").number.en
    'three'
    """
    if "number" in more:
        more["number"] = next(word for word in numbers() if word.de == more["number"])
    described = tuple(lexicon().adjective(adjective) for adjective in adjectives)
    return Phrase(det, lexicon().noun(german), adjectives=described, **more)


def name(german: str) -> Phrase:
    """A person or a city.

    >>> name("Köln").noun.en
    'Cologne'
    """
    return Phrase("name", lexicon().noun(german))


def verb(german: str, slot: str = "") -> Verb:
    """A verb by its infinitive, and by a kind of complement where it has several frames.

    >>> verb("aufmachen").prefix
    'auf'
    """
    return lexicon().verb(german, slot)


def where(german: str) -> Location:
    """At a place.

    >>> where("Strand").en
    'on'
    """
    place = lexicon().noun(german)
    return Location(_site(german), place.where[0], place.where[1], 2)


def whither(german: str) -> Location:
    """To a place.

    >>> whither("Bahnhof").de
    'zu'
    """
    de, en = lexicon().noun(german).whither
    return Location(_site(german), de, en, 2 if de in ("zu", "nach") else 1)


def _site(german: str) -> Phrase:
    is_city = "city" in lexicon().noun(german).classes
    return name(german) if is_city else noun("def", german)


def when(mood: str, german: str) -> When:
    """A time expression of a mood (past, now, habit, future) by its German words.

    >>> when("past", "vor drei Tagen").time.en[2]
    ('ago', 'ADV')
    """
    every = times(mood).every()
    return next(w for w in every if " ".join(word for word, _ in w.time.de) == german)


def modal(mood: str, infinitive: str) -> Modal:
    """A modal verb of the mood "modal" or "modal past".

    >>> modal("modal past", "wollen").de[0]
    'wollte'
    """
    found = (m for m in MODALS[mood].every() if m is not None and m.infinitive == infinitive)
    return next(found)


def statement(*parts: Any, **more: Any) -> Sentence:
    """A sentence of one clause; the arguments are those of ``Clause``.

    >>> statement(verb("schlafen"), pronoun("ich")).kind
    'statement'
    """
    return Sentence("statement", Clause(*parts, **more))


def joined(kind: str, clauses: tuple[Clause, Clause], german: str, english: str) -> Sentence:
    """Two clauses with a conjunction.

    >>> ich = Clause(verb("schlafen"), pronoun("ich"))
    >>> joined("but", (ich, ich), "aber", "but").conjunction.en
    'but'
    """
    return Sentence(kind, *clauses, Word(german, english))
