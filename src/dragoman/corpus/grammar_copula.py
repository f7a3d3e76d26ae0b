"""Clauses with "sein": der Hund ist müde, sie war im Garten, mein Bruder ist Pilot."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from dragoman.corpus import grammar_phrases as np
from dragoman.corpus.grammar_clauses import Frame
from dragoman.corpus.grammar_lexicon import Noun, Verb, lexicon
from dragoman.corpus.grammar_rules import Build, Mix, Pick, Rule, one
from dragoman.corpus.grammar_syntax import Clause, Job, Location, Phrase, Quality, Tense
from dragoman.corpus.grammar_words import IS_AT, IS_JOB, IS_LIKE

MOODS = frozenset({"present", "past", "future", "bare habit"})
ANIMAL = frozenset({"animal"})
# What can be the reason of something, because it comes and goes.
_PASSING = frozenset(["tired", "hungry", "sick", "happy", "sad", "nervous", "satisfied"])
_PASSING_OF_ANIMALS = frozenset(["tired", "hungry", "sick"])
_COMPARED = frozenset(["animal", "person", "vehicle", "clothing", "fruit", "text", "furniture"])
_MEN = frozenset(["Mann", "Vater", "Bruder", "Onkel", "Sohn", "Neffe", "Freund", "Nachbar"])


@cache
def copula(frame: Frame) -> Rule[Clause]:
    """Clauses with "sein" of the kind asked for."""
    if frame.classes == ANIMAL:
        who = _anaphor() if frame.who == "anaphor" else np.of_classes(ANIMAL, "plain")
        return _clauses(frame, IS_LIKE, who, _passing(_PASSING_OF_ANIMALS))
    where = np.places(IS_AT.slots[0].classes, False)
    if frame.who == "anaphor":
        passing = _clauses(frame, IS_LIKE, _anaphor(), _passing(_PASSING))
        return Mix([(4, passing), (1, _clauses(frame, IS_AT, _anaphor(), where))])
    people = _people(frame.who)
    full = Mix([(2, people), (3, np.person("plain"))])
    rules: list[tuple[float, Rule[Clause]]] = [(1.5, _clauses(frame, IS_AT, full, where))]
    if frame.who in ("third", "other"):
        rules.append((4, _clauses(frame, IS_LIKE, full, _passing(_PASSING))))
        if frame.who == "other":
            rules.append((3, _described(frame, without_people=True)))
        return Mix(rules)
    rules.append((3, _clauses(frame, IS_LIKE, people, _any_of_people())))
    rules.append((5, _described(frame, without_people=False)))
    if frame.mood == "present":
        rules.append((0.5, _clauses(frame, IS_JOB, _men(), _jobs())))
    return Mix(rules)


def _clauses(frame: Frame, verb: Verb, who: Rule[Phrase], what: Rule[object]) -> Rule[Clause]:
    polarity = one(False) if frame.positive else Pick([False, True], [8, 1])
    return Build(_maker(frame, verb), who, what, polarity)


def _maker(frame: Frame, verb: Verb) -> Callable[..., Clause]:
    tense: Tense = "present"
    if frame.mood in ("past", "future"):
        tense = "past" if frame.mood == "past" else "future"
    habitual = frame.mood == "bare habit"

    def make(who: Phrase, what: Quality | Job | Location, negated: bool) -> Clause:
        return Clause(verb, who, (what,), tense, negated=negated, habitual=habitual)

    return make


# --- who ------------------------------------------------------------------------------------


@cache
def _anaphor() -> Rule[Phrase]:
    return Build(lambda: Phrase("anaphor"))


@cache
def _people(who: str) -> Rule[Phrase]:
    """Names and those pronouns that the kind of subject allows."""
    allowed: list[tuple[int, str]] = []
    if who != "other":
        allowed += [(2, "m"), (2, "f"), (5, "")]
    if who != "third":
        allowed += [(1, ""), (4, "")]
    if who in ("free", "other"):
        allowed += [(0, ""), (3, "")]
    return Mix([(1, np.names()), (1.5, np.pronouns(*allowed))])


@cache
def _men() -> Rule[Phrase]:
    men = [noun for noun in lexicon().nouns if noun.de in _MEN]
    return Mix(
        [(1, Build(_one_man, one(noun), Pick(["def", "my", "your", "our"]))) for noun in men]
    )


def _one_man(noun: Noun, det: str) -> Phrase:
    return Phrase(det, noun)


# --- what -----------------------------------------------------------------------------------


@cache
def _passing(english: frozenset[str]) -> Rule[Quality]:
    return Build(Quality, Pick([a for a in lexicon().adjectives if a.en in english]))


@cache
def _any_of_people() -> Rule[Quality]:
    man = next(noun for noun in lexicon().nouns if noun.de == "Mann")
    return Build(Quality, Pick(np.adjectives_for(man, predicate=True)))


@cache
def _jobs() -> Rule[Job]:
    return Build(Job, Pick([noun for noun in lexicon().nouns if "job" in noun.classes]))


def _described(frame: Frame, *, without_people: bool) -> Rule[Clause]:
    """Each noun with what can be said of it."""
    found = [
        (1.0, _clauses(frame, IS_LIKE, np.undescribed(noun, "plain"), _qualities(noun)))
        for noun in lexicon().nouns
        if np.adjectives_for(noun, predicate=True) and not (without_people and noun.is_person)
    ]
    return Mix(found)


@cache
def _qualities(noun: Noun) -> Rule[Quality]:
    """müde; größer als der Hund; so groß wie der Hund."""
    fitting = np.adjectives_for(noun, predicate=True)
    rules: list[tuple[float, Rule[Quality]]] = [(5, Build(Quality, Pick(fitting)))]
    compared = [adjective for adjective in fitting if adjective.de_more]
    others = [
        (1.0, np.simple(other, "than"))
        for other in lexicon().nouns
        if other is not noun and other.plural and other.classes & noun.classes & _COMPARED
    ]
    if compared and others:
        rules.append((1, Build(Quality, Pick(compared), one("more"), Mix(others))))
        rules.append((0.5, Build(Quality, Pick(compared), one("as"), Mix(others))))
    return Mix(rules)
