"""Which clauses there are: a verb, who does it, to whom, when, where and how.

A mood is a tense with what fits it: present, habit, bare habit (after "wenn"), past, future, modal,
modal past. A subject is free, third (something a later pronoun can refer to), other (no third
person pronoun, so that none is taken for an anaphor), asked (not "ich"), you, anaphor, gap, or the
subject of an object relative clause (asker, or pronoun asker of a living being).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from dragoman.corpus import grammar_phrases as np
from dragoman.corpus.grammar_lexicon import Noun, Slot, Verb, Word, lexicon
from dragoman.corpus.grammar_people import (
    FIRST,
    SECOND,
    THIRD_PERSON,
    Groups,
    askers,
    couples,
    object_pronouns,
)
from dragoman.corpus.grammar_phrases import Classes
from dragoman.corpus.grammar_rules import NOTHING, Build, Later, Mix, Rule, one
from dragoman.corpus.grammar_syntax import SUBJECT, Clause, Modal, Phrase
from dragoman.corpus.grammar_words import GLADLY, MODALS, Adverbials, adverbials

FREE_MOODS = {
    "present": 3.0, "habit": 1.0, "past": 3.0, "future": 1.0, "modal": 1.4, "modal past": 0.7,
}  # fmt: skip
_STATE_MOODS = frozenset({"present", "past", "bare habit"})
_TENSES = {"past": "past", "modal past": "past", "future": "future"}
PERSON: Classes = frozenset({"person"})
_ANIMATE = frozenset({"person", "animal", "infant"})


@dataclass(frozen=True)
class Frame:
    """What is asked of a clause."""

    mood: str
    who: str = "free"
    classes: Classes | None = None  # of the subject, where it is given from outside
    depth: int = 0  # relative clauses may be nested this deep
    fronting: bool = False  # a time or a place may come first
    adverbs: bool = True
    positive: bool = False  # never negated
    events: bool = False  # no states
    gap: int | None = None


# --- subjects -------------------------------------------------------------------------------


def _subject_groups(verb: Verb, frame: Frame, plain: bool) -> Groups:
    """The subjects a verb can have, grouped by person, so that objects can differ from them."""
    if frame.gap == SUBJECT:
        return [(1, 2, _placeholder("gap"))]
    if frame.who == "you":
        return [(1, 1, np.pronouns((1, "")))]
    if frame.who == "anaphor":
        return [(1, 2, _placeholder("anaphor"))]
    if frame.who.endswith("asker"):
        return askers(frame.who == "pronoun asker")
    classes = verb.subjects & frame.classes if frame.classes else verb.subjects
    if classes == {"weather"}:
        return [(1, 2, np.pronouns((2, "n")))]
    style = "plain" if plain or frame.who == "third" else "subject"
    if verb.de == "gehören":  # "my car belongs to you" would be a strange thing to say
        style = "head"
    third: list[tuple[float, Rule[Phrase]]] = [
        (6, _full_subjects(classes, style, bool(frame.depth) and frame.who == "free"))
    ]
    groups: Groups = []
    if "person" in classes:
        third.append((1.5, np.names()))
        if frame.who != "other":
            third.append((2.5, THIRD_PERSON))
        if frame.who in ("free", "asked") and not plain:
            third.append((0.6, couples()))
        if frame.who in ("free", "other"):
            groups = [(1.5, 0, FIRST)]
        if frame.who != "third":
            groups.append((3 if frame.who == "asked" else 1, 1, SECOND))
    return [*groups, (7, 2, Mix(third))]


@cache
def _placeholder(det: str) -> Rule[Phrase]:
    return Build(lambda: Phrase(det))


@cache
def _full_subjects(classes: Classes, style: str, relative: bool) -> Rule[Phrase]:
    """Subjects with a noun, now and then with a relative clause."""
    rules: list[tuple[float, Rule[Phrase]]] = []
    for noun in np.nouns(classes):
        rules.append((8, np.simple(noun, style)))
        clauses = relatives(noun) if relative else None
        if clauses is not None:
            rules.append((1, np.with_relative(noun, clauses)))
    return Mix(rules)


# --- relative clauses -----------------------------------------------------------------------


def relatives(noun: Noun) -> Rule[Clause] | None:
    """Relative clauses for a noun; None where no verb fits or the noun has no plural."""
    return _relatives(noun.classes & _verb_classes()) if noun.plural else None


@cache
def _verb_classes() -> Classes:
    """The classes that verbs ask for; others would only make rules multiply."""
    verbs = lexicon().verbs
    asked = [verb.subjects for verb in verbs] + [s.classes for verb in verbs for s in verb.slots]
    return frozenset().union(*asked)


@cache
def _relatives(classes: Classes) -> Rule[Clause] | None:
    found: list[tuple[float, Rule[Clause]]] = []
    animate = bool(classes & _ANIMATE)
    for mood, weight in (("present", 3.0), ("past", 3.0), ("modal", 0.7), ("habit", 0.5)):
        gap = Frame(mood, "gap", gap=SUBJECT)
        subject = [verb_clause(v, gap) for v in suited(Frame(mood)) if v.subjects & classes]
        if subject:
            found.append((weight, Mix([(1, rule) for rule in subject])))
        objects = _object_relatives(classes, mood, "asker" if not animate else "pronoun asker")
        if objects:
            found.append((weight * (0.6 if animate else 1), Mix([(1, rule) for rule in objects])))
    return Mix(found) if found else None


def _object_relatives(classes: Classes, mood: str, who: str) -> list[Rule[Clause]]:
    frame = Frame(mood, who, adverbs=mood == "past")
    return [
        verb_clause(verb, replace(frame, gap=i))
        for verb in suited(Frame(mood))
        if "person" in verb.subjects
        for i, slot in enumerate(verb.slots)
        if slot.classes & classes and slot.kind not in ("zero", "loc", "dir", "on", "onto")
    ]


# --- arguments ------------------------------------------------------------------------------


@cache
def argument(slot: Slot, group: int, *, own: bool, style: str, depth: int) -> Rule[object]:
    """What may fill a slot of a verb."""
    if slot.kind == "zero":
        bare = [noun for noun in lexicon().bare if noun.classes & slot.classes]
        return Mix([(1, Build(Phrase, one("zero"), one(noun))) for noun in bare])
    if slot.kind in ("loc", "dir"):
        return np.places(slot.classes, slot.kind == "dir")
    if slot.kind in ("on", "onto"):
        return np.furniture(slot.classes, slot.case)
    if slot.kind == "from":
        return np.from_place()
    style = "indirect" if slot.kind == "dat" else style
    rules: list[tuple[float, Rule[Phrase]]] = []
    for noun in np.nouns(slot.classes):
        if not depth:
            rules.append((1.0, np.simple(noun, style, own)))
            continue
        clauses = relatives(noun)
        if clauses is not None:
            rules.append((1.0, np.with_relative(noun, clauses)))
    full: Rule[Phrase] = Mix(rules)
    if depth or not slot.classes & {"person", "kin"}:
        return full
    choices: list[tuple[float, Rule[Phrase]]] = [(6, full)]
    choices.append((1.5, object_pronouns(group, slot.case == 2)))
    if "person" in slot.classes:
        choices.append((1, np.names()))
    return Mix(choices)


# --- clauses --------------------------------------------------------------------------------


@cache
def suited(frame: Frame) -> tuple[Verb, ...]:
    """The verbs that can stand in a clause of this kind."""
    return tuple(
        verb
        for verb in lexicon().verbs
        if (not verb.is_state or (frame.mood in _STATE_MOODS and not frame.events))
        and (frame.classes is None or verb.subjects & frame.classes)
        and not any(slot.kind in ("dass", "ob") for slot in verb.slots)
        and "weather" not in verb.subjects
    )


@cache
def clause(frame: Frame) -> Rule[Clause]:
    """Any clause of this kind with a full verb."""
    verbs = suited(frame)
    if frame.who in ("anaphor", "gap", "wh"):  # the classes have chosen the verbs, and no more
        frame = replace(frame, classes=None)
    return Mix([(1, verb_clause(verb, frame)) for verb in verbs])


@cache
def verb_clause(verb: Verb, frame: Frame) -> Rule[Clause]:
    """Any clause of this kind with this verb."""
    return Later(lambda: _verb_clause(verb, frame))


def _verb_clause(verb: Verb, frame: Frame) -> Rule[Clause]:
    variants: list[tuple[float, Rule[Clause]]] = [
        (weight, _positive(verb, frame, group, subject))
        for weight, group, subject in _subject_groups(verb, frame, plain=False)
    ]
    if not frame.positive and frame.mood not in ("habit", "bare habit"):
        variants += [
            (0.16 * weight, _negative(verb, frame, group, subject))
            for weight, group, subject in _subject_groups(verb, frame, plain=True)
        ]
    return Mix(variants)


def _positive(verb: Verb, frame: Frame, group: int, subject: Rule[Phrase]) -> Rule[Clause]:
    around = adverbials(frame.mood, verb, frame.adverbs, frame.fronting)
    basic = _assemble(verb, frame, group, subject, around, style="object", negated=False)
    nests = any(
        slot.kind == "acc"
        and i != frame.gap
        and any(noun.plural for noun in np.nouns(slot.classes))
        for i, slot in enumerate(verb.slots)
    )
    if not frame.depth or not nests:
        return basic
    # an object with a relative clause ends the sentence: nothing may come between
    only_front = adverbials(frame.mood, verb, False, frame.fronting)
    nested = _assemble(
        verb, frame, group, subject, only_front, style="object", negated=False, depth=1
    )
    return Mix([(8, basic), (1, nested)])


def _negative(verb: Verb, frame: Frame, group: int, subject: Rule[Phrase]) -> Rule[Clause]:
    around = adverbials(frame.mood, verb, False, frame.fronting)
    return _assemble(verb, frame, group, subject, around, style="negated", negated=True)


def _assemble(
    verb: Verb,
    frame: Frame,
    group: int,
    subject: Rule[Phrase],
    around: Rule[Adverbials],
    *,
    style: str,
    negated: bool,
    depth: int = 0,
) -> Rule[Clause]:
    own = verb.subjects == PERSON and frame.who != "wh"
    args: list[Rule[object]] = [
        NOTHING
        if i == frame.gap
        else argument(slot, group, own=own, style=style, depth=depth if slot.kind == "acc" else 0)
        for i, slot in enumerate(verb.slots)
    ]
    tense = _TENSES.get(frame.mood, "present")
    habitual = frame.mood in ("habit", "bare habit")
    modals: Rule[Modal | None] = MODALS.get(frame.mood, NOTHING)

    def make(who: Phrase, modal: Modal | None, extra: Adverbials, *filled: object) -> Clause:
        return Clause(
            verb, who, filled, tense, modal, negated, extra.often is GLADLY, habitual,  # type: ignore[arg-type]
            extra.when, None if extra.often is GLADLY else extra.often, extra.how, extra.place,
            extra.front, frame.gap,
        )  # fmt: skip

    return Build(make, subject, modals, around, *args)


def weather(mood: str) -> Rule[Clause]:
    """es regnet, es hat geschneit."""
    verbs = [verb for verb in lexicon().verbs if "weather" in verb.subjects]
    frame = Frame(mood, adverbs=False, positive=True)
    return Mix([(1, verb_clause(verb, frame)) for verb in verbs])


def word(de: str, en: str) -> Rule[Word]:
    """A conjunction, as a rule with one derivation."""
    return one(Word(de, en))
