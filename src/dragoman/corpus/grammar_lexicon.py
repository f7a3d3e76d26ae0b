"""The words of the German-English grammar, read from ``lexicon/*.txt``, with all their forms.

Cases are numbered 0 nominative, 1 accusative, 2 dative, 3 genitive; persons 0 ich, 1 du, 2 er sie
es, 3 wir, 4 ihr, 5 sie. What is regular is derived here, what is not stands in the files.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from dragoman.corpus.grammar_inflection import (
    english_ing,
    english_past,
    english_plural,
    english_s,
    german_imperative,
    german_noun_forms,
    german_present,
)


@dataclass(frozen=True, slots=True, eq=False)
class Noun:
    """A noun, or a name: four German cases in each number, two English forms."""

    de: str
    gender: str  # m f n; the article of the singular
    singular: tuple[str, ...]  # by case
    plural: tuple[str, ...]  # by case; empty for mass nouns and names
    en: str
    en_plural: str
    classes: frozenset[str]
    where: tuple[str, str] = ("", "")  # preposition for "in the ...", German and English
    whither: tuple[str, str] = ("", "")  # preposition for "to the ..."

    @property
    def is_mass(self) -> bool:
        return not self.plural

    @property
    def is_person(self) -> bool:
        return bool(self.classes & {"person", "infant"})


@dataclass(frozen=True, slots=True, eq=False)
class Adjective:
    """An adjective; the comparatives are empty where none is used."""

    de: str
    stem: str
    de_more: str
    en: str
    en_more: tuple[str, ...]
    classes: frozenset[str]
    never: frozenset[str]
    predicate_only: bool

    def fits(self, noun: Noun) -> bool:
        """Whether the adjective can be said of the noun."""
        return bool(self.classes & noun.classes) and not self.never & noun.classes


@dataclass(frozen=True, slots=True)
class Slot:
    """A complement of a verb: how German and English mark it, and what may stand in it."""

    kind: str  # acc dat zero loc dir on onto from, or a German preposition
    case: int
    en: str  # English preposition, or nothing
    classes: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Verb:
    """A verb with its forms in both languages and its frame."""

    de: str  # infinitive, with the prefix
    prefix: str
    reflexive: bool
    present: tuple[str, ...]  # by person, without the prefix
    preterite: tuple[str, ...]  # by person; empty where the perfect is used
    participle: str
    auxiliary: str  # haben or sein
    zu: str  # "aufzumachen", or "zu machen"
    imperative: str
    en: str
    en_s: str
    en_past: str
    en_ing: str
    particle: str
    subjects: frozenset[str]
    slots: tuple[Slot, ...]
    flags: frozenset[str]
    how: tuple[Word, ...]
    places: frozenset[str]  # classes of places it may happen at

    @property
    def is_state(self) -> bool:
        return "state" in self.flags


@dataclass(frozen=True, slots=True, eq=False)
class Word:
    """An adverb, a number or another word without forms."""

    de: str
    en: str


@dataclass(frozen=True, slots=True, eq=False)
class Time:
    """A time expression: tagged words on both sides and the links between them."""

    de: tuple[tuple[str, str], ...]
    en: tuple[tuple[str, str], ...]
    links: tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class Lexicon:
    """All words, by kind."""

    nouns: tuple[Noun, ...]
    places: tuple[Noun, ...]
    people: tuple[Noun, ...]
    cities: tuple[Noun, ...]
    bare: tuple[Noun, ...]
    adjectives: tuple[Adjective, ...]
    verbs: tuple[Verb, ...]
    sections: dict[str, tuple[tuple[str, ...], ...]]

    def noun(self, de: str) -> Noun:
        """The noun, place or name with this German form."""
        every = (*self.nouns, *self.places, *self.people, *self.cities, *self.bare)
        return next(noun for noun in every if noun.de == de)

    def adjective(self, de: str) -> Adjective:
        """The adjective with this German form."""
        return next(adjective for adjective in self.adjectives if adjective.de == de)

    def verb(self, de: str, slot: str = "") -> Verb:
        """The verb with this infinitive, and with this kind of complement where it has several."""
        return next(
            verb
            for verb in self.verbs
            if verb.de == de and (not slot or slot in [s.kind for s in verb.slots])
        )

    def words(self, section: str) -> tuple[Word, ...]:
        return tuple(Word(row[0], row[1]) for row in self.sections[section])


@cache
def lexicon() -> Lexicon:
    """The lexicon, read once.

    >>> boy = next(noun for noun in lexicon().nouns if noun.en == "boy")
    >>> boy.singular, boy.plural[2]
    (('Junge', 'Jungen', 'Jungen', 'Jungen'), 'Jungen')
    """
    sections: dict[str, list[tuple[str, ...]]] = {}
    for line in _lines("words"):
        if line.startswith("["):
            current = sections.setdefault(line[1 : line.index("]")], [])
        elif "|" in line:
            current.append(tuple(part.strip() for part in line.split("|")))
        else:
            current.append(tuple(part.replace("_", " ") for part in line.split()))
    names = [line.split() for line in _lines("names")]
    how = {row[0]: Word(row[0], row[1]) for row in sections["how"]}
    return Lexicon(
        nouns=tuple(_noun(line.split()) for line in _lines("nouns")),
        places=tuple(_noun(line.split()) for line in _lines("places")),
        people=tuple(_name(de, kind, en) for de, kind, en in names if kind != "place"),
        cities=tuple(_name(de, kind, en) for de, kind, en in names if kind == "place"),
        bare=tuple(
            Noun(de, "n", (de,) * 4, (), en, "", frozenset({kind}))
            for kind, de, en in sections["zero"]
        ),
        adjectives=tuple(_adjective(line.split()) for line in _lines("adjectives")),
        verbs=tuple(_verb(line.split(), how) for line in _lines("verbs")),
        sections={name: tuple(rows) for name, rows in sections.items()},
    )


def _lines(name: str) -> Iterator[str]:
    text = (files("dragoman.corpus") / "lexicon" / f"{name}.txt").read_text(encoding="utf-8")
    for line in text.split("\n"):
        if line and not line.startswith("#"):
            yield line


def _noun(row: list[str]) -> Noun:
    de, gender, plural, genitive, en, en_plural, classes, *prepositions = row
    singular, plurals = german_noun_forms(de, gender, plural, genitive)
    where, whither = [tuple(p.split(">")) for p in prepositions] or [("", ""), ("", "")]
    return Noun(
        de,
        gender,
        singular,
        plurals,
        en.replace("_", " "),
        "" if en_plural == "-" else english_plural(en.replace("_", " "), en_plural),
        frozenset(classes.split(",")),
        (where[0], where[1]),
        (whither[0], whither[1]),
    )


def _name(de: str, kind: str, en: str) -> Noun:
    if kind == "place":
        city = frozenset({"city"})
        return Noun(de, "n", (de,) * 4, (), en, "", city, ("in", "in"), ("nach", "to"))
    return Noun(de, kind, (de, de, de, de + "s"), (), en, "", frozenset({"person"}))


def _adjective(row: list[str]) -> Adjective:
    de, stem, de_more, en, en_more, classes = row
    more = () if de_more == "-" else ("more", en) if en_more == "-" else (en_more,)
    kinds = classes.split(",")
    fitting = frozenset(kind.lstrip("*") for kind in kinds if not kind.startswith("!"))
    never = frozenset(kind[1:] for kind in kinds if kind.startswith("!"))
    return Adjective(de, stem, de_more.strip("-"), en, more, fitting, never, "*" in classes)


_CASES = {"nom": 0, "acc": 1, "dat": 2, "gen": 3}


def _slot(text: str) -> Slot:
    marks, _, classes = text.partition(":")
    german, _, english = marks.partition(">")
    kind, _, case = german.partition("+")
    case_name = case or {"acc": "acc", "zero": "acc", "onto": "acc", "dir": "acc"}.get(kind, "dat")
    return Slot(kind, _CASES[case_name], english, frozenset(filter(None, classes.split("/"))))


def _verb(row: list[str], adverbs: dict[str, Word]) -> Verb:
    lemma, third, participle, aux, english, past, ing, subjects, slots, flags = row
    reflexive = lemma.startswith("sich_")
    # what follows an underscore only tells two frames of one verb apart: spielen, spielen_mit
    prefix, _, bare = lemma.removeprefix("sich_").split("_")[0].rpartition("|")
    en, _, particle = english.partition("_")
    options = dict(flag.partition("=")[::2] for flag in flags.split(","))
    preterite = options.get("past", "")
    return Verb(
        de=prefix + bare,
        prefix=prefix,
        reflexive=reflexive,
        present=german_present(bare, third),
        preterite=_preterite(preterite) if preterite else (),
        participle=participle,
        auxiliary={"h": "haben", "s": "sein"}[aux],
        zu=f"{prefix}zu{bare}" if prefix else f"zu {bare}",
        imperative=german_imperative(bare, third),
        en=en,
        en_s=english_s(en),
        en_past=english_past(en, past),
        en_ing=english_ing(en, ing),
        particle=particle.replace("_", " "),
        subjects=frozenset(subjects.split("/")),
        slots=tuple(_slot(slot) for slot in slots.split(",")) if slots != "-" else (),
        flags=frozenset(options),
        how=tuple(adverbs[name] for name in options.get("how", "").split("/") if name),
        places=_places(options),
    )


def _preterite(third: str) -> tuple[str, ...]:
    """hatte -> hatte hattest hatte hatten hattet hatten; a preterite in -e, as all in use here."""
    return (third, third + "st", third, third + "n", third + "t", third + "n")


def _places(options: dict[str, str]) -> frozenset[str]:
    if "place" not in options:
        return frozenset()
    named = options["place"] or "room/outdoors/building/open"
    return frozenset(named.split("/"))
