"""Which noun phrases and places there are, and how often each is drawn.

Nouns are chosen by class, adjectives by the noun; articles by the part the phrase plays.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from dragoman.corpus.grammar_lexicon import Adjective, Noun, Word, lexicon
from dragoman.corpus.grammar_rules import Build, Mix, Pick, Rule, one
from dragoman.corpus.grammar_syntax import Clause, Location, Phrase
from dragoman.corpus.grammar_times import numbers

Classes = frozenset[str]
Determiner = tuple[str, bool, Word | None]  # det, plural, number word
COLORS = frozenset(["red", "blue", "green", "yellow", "black", "white", "brown", "gray"])
_UNOWNED_TEXT = "building town outdoors open event film built word question tale song"
_UNOWNED = frozenset(_UNOWNED_TEXT.split())

# How often each article is drawn, by the part a phrase plays: det -> (singular, plural).
_STYLES: dict[str, dict[str, tuple[float, float]]] = {
    "subject": {
        "def": (5, 2.5), "indef": (1.5, 0), "this": (0.8, 0.4), "every": (0.4, 0),
        "number": (0, 0.8), "many": (0, 0.4), "some": (0, 0.4), "no": (0.3, 0), "my": (0.5, 0.2),
        "your": (0.4, 0.2), "his": (0.3, 0.1), "her": (0.3, 0.1), "our": (0.4, 0.2),
    },
    "plain": {
        "def": (5, 2), "this": (0.8, 0.3), "my": (0.6, 0.2), "your": (0.4, 0.1), "his": (0.3, 0.1),
        "her": (0.3, 0.1), "our": (0.4, 0.1),
    },
    "object": {
        "def": (4, 2), "indef": (4, 0), "bare": (0, 1.2), "number": (0, 0.9), "this": (0.7, 0.3),
        "own": (2, 0.7), "some": (0, 0.3), "many": (0, 0.2),
    },
    "negated": {
        "def": (4, 2), "indef": (3, 0), "bare": (0, 1.5), "this": (0.6, 0.3), "own": (2, 0.5),
    },
    "indirect": {"def": (4, 2), "indef": (1, 0), "this": (0.5, 0.3), "own": (2.5, 0.7)},
    "place": {"def": (8, 0.1), "indef": (1, 0), "this": (0.7, 0)},
    "than": {"def": (5, 1), "my": (1, 0)},
    "owner": {"def": (2, 0), "my": (2, 0), "your": (1, 0), "our": (1, 0)},
    "head": {"def": (4, 2), "indef": (1.5, 0)},
    "there": {"indef": (4, 0), "number": (0, 2), "many": (0, 1), "some": (0, 1)},
}  # fmt: skip
_POSSESSIVE = frozenset({"my", "your", "his", "her", "our", "own"})


@cache
def nouns(classes: Classes) -> tuple[Noun, ...]:
    """The nouns and places of any of these classes, without names."""
    every = (*lexicon().nouns, *lexicon().places)
    return tuple(noun for noun in every if noun.classes & classes)


def can_be_owned(noun: Noun) -> bool:
    """Whether "mein" goes well with it."""
    if "person" in noun.classes:
        return "kin" in noun.classes
    if "animal" in noun.classes:
        return "pet" in noun.classes
    return not noun.classes & _UNOWNED


@cache
def determiners(noun: Noun, style: str, own: bool) -> Rule[Determiner]:
    """The articles that fit the noun and the part the phrase plays."""
    weighted: list[tuple[float, Determiner]] = []
    for det, (singular, plural) in _STYLES[style].items():
        if "only" in noun.classes:
            plural = 0
        if "family" in noun.classes and style != "than":
            # one says "my mother", not "a mother", "this mother", "ten mothers"
            if det not in _POSSESSIVE and det != "def":
                continue
            if det == "def":
                singular, plural = singular * 0.15, plural * 0.15
        if det in _POSSESSIVE and not (can_be_owned(noun) and (det != "own" or own)):
            continue
        if noun.is_mass:
            if det in ("def", "own", "my", "our", "this") and singular:
                weighted.append((singular, (det, False, None)))
            elif det == "indef":
                weighted.append((singular, ("bare", False, None)))
            continue
        if singular:
            weighted.append((singular, (det, False, None)))
        if plural and det == "number":
            weighted += [(plural / len(numbers()), (det, True, word)) for word in numbers()]
        elif plural:
            weighted.append((plural, (det, True, None)))
    return Pick([item for _, item in weighted], [weight for weight, _ in weighted])


@cache
def adjectives_for(noun: Noun, predicate: bool = False) -> tuple[Adjective, ...]:
    """The adjectives that can describe the noun."""
    return tuple(
        a for a in lexicon().adjectives
        if a.fits(noun) and (predicate or not a.predicate_only)
    )  # fmt: skip


@cache
def adjectives(noun: Noun) -> Rule[tuple[Adjective, ...]]:
    """None, one or two adjectives; of two, the second is a color."""
    fitting = adjectives_for(noun)
    choices: list[tuple[float, Rule[tuple[Adjective, ...]]]] = [(6, one(()))]
    if fitting:
        choices.append((1.6 if noun.is_person else 3.5, Pick([(a,) for a in fitting])))
    colors = [a for a in fitting if a.en in COLORS]
    others = [a for a in fitting if a.en not in COLORS]
    if colors and others:
        choices.append((0.5, Build(lambda a, b: (a, b), Pick(others), Pick(colors))))
    return Mix(choices)


def _phrase(noun: Noun) -> Callable[..., Phrase]:
    def make(determiner: Determiner, described: tuple[Adjective, ...]) -> Phrase:
        det, plural, number = determiner
        return Phrase(det, noun, plural, described, number)

    return make


@cache
def simple(noun: Noun, style: str, own: bool = False) -> Rule[Phrase]:
    """The noun with article and adjectives, and now and then with its owner."""
    basic: Rule[Phrase] = Build(_phrase(noun), determiners(noun, style, own), adjectives(noun))
    if style not in ("subject", "object") or noun.is_mass or not can_be_owned(noun):
        return basic

    def owned(owner: Phrase, plural: bool, described: tuple[Adjective, ...]) -> Phrase:
        return Phrase("def", noun, plural, described, None, owner)

    number = Pick([False, True], [4, 1])
    # "Peters Pullover" would not tell one from many
    clear = number if noun.plural[0] != noun.de else one(False)
    of_person = Build(owned, person("owner"), number, adjectives(noun))
    of_name = Build(owned, names(), clear, adjectives(noun))
    return Mix([(9, basic), (0.7, of_person), (0.3, of_name)])


@cache
def undescribed(noun: Noun, style: str) -> Rule[Phrase]:
    """The noun with its article alone."""
    return Build(_phrase(noun), determiners(noun, style, False), one(()))


@cache
def person(style: str) -> Rule[Phrase]:
    """A phrase for a person."""
    return of_classes(frozenset({"person"}), style)


@cache
def of_classes(classes: Classes, style: str, own: bool = False) -> Rule[Phrase]:
    """A phrase with any noun of the classes."""
    return Mix([(1, simple(noun, style, own)) for noun in nouns(classes)])


@cache
def names() -> Rule[Phrase]:
    """Anna, Peter, ..."""
    return Build(lambda noun: Phrase("name", noun), Pick(lexicon().people))


def with_relative(noun: Noun, clauses: Rule[Clause]) -> Rule[Phrase]:
    """The noun with article, adjectives and a relative clause."""

    def make(determiner: Determiner, described: tuple[Adjective, ...], inner: Clause) -> Phrase:
        det, plural, number = determiner
        return Phrase(det, noun, plural, described, number, relative=inner)

    return Build(make, determiners(noun, "head", False), adjectives(noun), clauses)


def pronouns(*features: tuple[int, str]) -> Rule[Phrase]:
    """Personal pronouns by (person, gender)."""
    return Build(lambda f: Phrase("pronoun", person=f[0], gender=f[1]), Pick(features))


# --- places ---------------------------------------------------------------------------------


@cache
def places(classes: Classes, whither: bool) -> Rule[Location]:
    """A place with the preposition for where (im Garten) or whither (in den Garten)."""
    rules: list[tuple[float, Rule[Location]]] = []
    for noun in (*lexicon().places, *lexicon().cities):
        if noun.classes & classes:
            rules.append((1.0, _located(noun, whither)))
    return Mix(rules)


def _located(noun: Noun, whither: bool) -> Rule[Location]:
    de, en = noun.whither if whither else noun.where
    case = 1 if whither and de not in ("zu", "nach") else 2
    name = "city" in noun.classes
    phrase = Build(lambda: Phrase("name", noun)) if name else simple(noun, "place")
    return Build(lambda p: Location(p, de, en, case), phrase)


@cache
def from_place() -> Rule[Location]:
    """aus Berlin, from Berlin."""
    return Build(lambda n: Location(Phrase("name", n), "aus", "from", 2), Pick(lexicon().cities))


_SURFACES = [("auf", "on"), ("unter", "under"), ("neben", "next to"), ("hinter", "behind")]
_SURFACES.append(("vor", "in front of"))


@cache
def furniture(classes: Classes, case: int) -> Rule[Location]:
    """auf dem Tisch (2), unter den Tisch (1); a seat is for sitting on."""
    prepositions = _SURFACES[:1] if "seat" in classes else _SURFACES
    noun_phrase = of_classes(classes or frozenset({"furniture"}), "place")
    return Build(
        lambda preposition, p: Location(p, preposition[0], preposition[1], case),
        Pick(prepositions, [3.0] + [1.0] * (len(prepositions) - 1)),
        noun_phrase,
    )
