"""Which sentences there are: statements, questions, orders, and two clauses together."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from dragoman.corpus import grammar_phrases as np
from dragoman.corpus.grammar_clauses import (
    FREE_MOODS,
    PERSON,
    Frame,
    clause,
    suited,
    verb_clause,
    weather,
    word,
)
from dragoman.corpus.grammar_copula import ANIMAL, MOODS, copula
from dragoman.corpus.grammar_lexicon import Word, lexicon
from dragoman.corpus.grammar_rules import Build, Mix, Pick, Rule, one
from dragoman.corpus.grammar_syntax import (
    SUBJECT,
    Clause,
    Location,
    Phrase,
    Sentence,
    Tense,
)
from dragoman.corpus.grammar_words import IS_LIKE

Weighted = list[tuple[float, Rule[Clause]]]

# --- parts of sentences ---------------------------------------------------------------------


@cache
def any_clause(frame: Frame) -> Rule[Clause]:
    """A clause with a full verb or with "sein"; the latter more often where it gives a reason."""
    full = clause(frame)
    if frame.mood not in MOODS:
        return full
    share = 1 if frame.who in ("free", "asked") else 5
    return Mix([(6, full), (share, copula(replace(frame, depth=0)))])


def _over_moods(frame: Frame, weights: dict[str, float], with_copula: bool = True) -> Rule[Clause]:
    kind = any_clause if with_copula else clause
    return Mix([(weight, kind(replace(frame, mood=mood))) for mood, weight in weights.items()])


# --- sentences of one clause ----------------------------------------------------------------


def statements() -> Rule[Sentence]:
    """The dog is sleeping."""
    frame = Frame("", depth=1, fronting=True)
    return Build(Sentence, one("statement"), _over_moods(frame, FREE_MOODS))


def yes_no_questions() -> Rule[Sentence]:
    """Is the dog sleeping?"""
    return Build(Sentence, one("question"), _over_moods(Frame("", "asked"), FREE_MOODS))


_ASKED = {"past": 3.0, "future": 1.0, "modal": 1.5, "present": 2.0}
_LATER = {"past": 3.0, "future": 1.5, "modal": 1.0}


def wh_questions() -> Rule[Sentence]:
    """Who is sleeping? What did he read? Where does she live?"""
    rules: list[tuple[float, Rule[Sentence]]] = []
    for mood, weight in _ASKED.items():
        frame = Frame(mood, "wh", gap=SUBJECT, classes=PERSON, positive=True)
        rules.append((weight, Build(Sentence, one("who"), clause(frame))))
        for kind in ("what", "whom", "where", "whither"):
            found = _gapped(kind, mood)
            rules.append((weight, Build(Sentence, one(kind), Mix(found))))
    bare = Frame("", "asked", adverbs=False, positive=True)
    rules.append((4, Build(Sentence, one("when"), _over_moods(bare, _LATER, False))))
    why = Frame("", "asked", adverbs=False)
    rules.append((6, Build(Sentence, one("why"), _over_moods(why, _ASKED))))
    return Mix(rules)


_PEOPLE = frozenset({"person", "kin"})


def _gapped(kind: str, mood: str) -> Weighted:
    """Clauses with the asked-for argument left out."""
    found: Weighted = []
    frame = Frame(mood, "asked", adverbs=False, positive=True)
    for verb in suited(frame):
        if kind == "where" and verb.places and "person" in verb.subjects:
            found.append((1, verb_clause(verb, frame)))
        for i, slot in enumerate(verb.slots):
            wanted = {
                "what": slot.kind == "acc" and bool(slot.classes - _PEOPLE),
                "whom": slot.kind not in ("zero", "loc", "dir") and bool(slot.classes & _PEOPLE),
                "where": slot.kind in ("loc", "on"),
                "whither": slot.kind == "dir",
            }[kind]
            if wanted:
                found.append((1, verb_clause(verb, replace(frame, gap=i))))
    return found


def orders() -> Rule[Sentence]:
    """Open the door!"""
    frame = Frame("present", "you", adverbs=False)
    verbs = [verb for verb in suited(frame) if "order" in verb.flags]
    clauses = Mix([(1, verb_clause(verb, frame)) for verb in verbs])
    please: Rule[Word | None] = Pick([None, Word("bitte", "please")])
    return Build(_order, clauses, please)


def _order(inner: Clause, please: Word | None) -> Sentence:
    # the subject is not said, but "dein" agrees with it
    return Sentence("order", inner._replace(gap=SUBJECT), None, please)


def existence() -> Rule[Sentence]:
    """There is a big tree in the garden."""
    kinds = (("pet plant", "nature"), ("building", "town city"), ("transit", "town city"))
    scenes: list[tuple[float, Rule[tuple[Phrase, Location]]]] = []
    for things, sites in kinds:
        what = np.of_classes(frozenset(things.split()), "there")
        where = np.places(frozenset(sites.split()), False)
        scenes.append((1, Build(lambda thing, site: (thing, site), what, where)))
    tense = Pick(["present", "past"], [2, 1])

    return Build(_exists, Mix(scenes), tense)


def _exists(scene: tuple[Phrase, Location], tense: Tense) -> Sentence:
    thing, place = scene
    es = Phrase("pronoun", gender="n")
    # the kind of the sentence decides the words, not this verb
    return Sentence("exists", Clause(IS_LIKE, es, (thing,), tense, place=place))


# --- sentences of two clauses ---------------------------------------------------------------

_REASONS = (
    ("present", "present"), ("present", "past"), ("past", "past"), ("past", "modal past"),
    ("future", "present"), ("modal", "present"), ("modal past", "past"), ("present", "modal"),
)  # fmt: skip
_SAME = (("present", "present"), ("past", "past"))
_PAST = (("past", "past"),)
_HABIT = (("bare habit", "bare habit"),)
# German, English, (mood of the main, mood of the subordinate clause), weight, states allowed
_CONJUNCTIONS = (
    ("weil", "because", _REASONS, 3.0, True),
    ("obwohl", "although", _REASONS, 2.0, True),
    ("während", "while", _SAME, 1.0, False),
    ("wenn", "when", _HABIT, 1.5, True),
    ("als", "when", _PAST, 1.2, False),
    ("bevor", "before", _PAST + _HABIT, 0.8, False),
)


def _sharing(
    first: str,
    second: str,
    *,
    state_first: bool = False,
    state_second: bool = False,
    events: bool = False,
) -> Rule[tuple[Clause, Clause]]:
    """Two clauses of one subject (a noun, then its pronoun), or of two."""
    opening = any_clause if state_first else clause
    closing = any_clause if state_second else clause
    pairs: list[tuple[float, Rule[tuple[Clause, Clause]]]] = []
    for classes, weight in ((PERSON, 5.0), (ANIMAL, 0.7)):
        shared = Frame(first, "third", classes, adverbs=False, events=events, positive=events)
        one_subject = opening(shared)
        then = closing(replace(shared, mood=second, who="anaphor", adverbs=not state_first))
        pairs.append((weight, Build(_two, one_subject, then)))
    free = Frame(first, "free", adverbs=False, events=events, positive=events)
    another = closing(replace(free, mood=second, who="other", adverbs=not state_first))
    pairs.append((4, Build(_two, opening(free), another)))
    return Mix(pairs)


def _two(first: Clause, second: Clause) -> tuple[Clause, Clause]:
    return first, second


def subordinates() -> Rule[Sentence]:
    """Because it is raining, the man is resting; he is resting because it is raining."""
    rules: list[tuple[float, Rule[Sentence]]] = []
    for de, en, moods, weight, states in _CONJUNCTIONS:
        conjunction = word(de, en)
        for main, other in moods:
            share = weight / len(moods)
            events = de not in ("weil", "obwohl")
            after = _sharing(main, other, state_second=states, events=events)
            before = _sharing(other, main, state_first=states, events=events)
            rules.append((0.55 * share, Build(_sentence, one("after"), after, conjunction)))
            rules.append((0.4 * share, Build(_sentence, one("before"), before, conjunction)))
            if other in ("present", "past", "bare habit"):
                people = clause(Frame(main, classes=PERSON, adverbs=False))
                rain = weather(other)
                late, early = Build(_two, people, rain), Build(_two, rain, people)
                rules.append((0.05 * share, Build(_sentence, one("after"), late, conjunction)))
                rules.append((0.05 * share, Build(_sentence, one("before"), early, conjunction)))
    return Mix(rules)


def _sentence(kind: str, clauses: tuple[Clause, Clause], conjunction: Word) -> Sentence:
    return Sentence(kind, *clauses, conjunction)


_JOINED = (("present", "present"), ("past", "past"), ("past", "present"), ("future", "future"))


def coordinations() -> Rule[Sentence]:
    """... but he is tired; ..., so she is drinking tea; ... and sings a song."""
    rules: list[tuple[float, Rule[Sentence]]] = []
    for kind, de, en in (("but", "aber", "but"), ("so", "deshalb", "so")):
        for main, other in _JOINED:
            if kind == "so" and (main, other) == ("past", "present"):
                continue
            both = _sharing(main, other, state_first=kind == "so", state_second=kind == "but")
            rules.append((1, Build(_sentence, one(kind), both, word(de, en))))
    for mood in ("present", "past"):
        first = clause(Frame(mood, "free", classes=PERSON, adverbs=False, positive=True))
        then = clause(Frame(mood, "gap", PERSON, adverbs=False, positive=True, gap=SUBJECT))
        rules.append((1.5, Build(Sentence, one("and"), first, then, word("und", "and"))))
    return Mix(rules)


def purposes() -> Rule[Sentence]:
    """The woman is going to the market to buy a cake."""
    goers = [v for v in lexicon().verbs if v.slots and v.slots[0].kind == "dir"]
    goers = [v for v in goers if "person" in v.subjects]
    doers = [v for v in lexicon().verbs if "purpose" in v.flags]
    goal = Frame("present", "gap", PERSON, adverbs=False, positive=True, gap=SUBJECT)
    aims = Mix([(1, verb_clause(verb, goal)) for verb in doers])
    rules: list[tuple[float, Rule[Sentence]]] = []
    for mood in ("present", "past", "future", "modal"):
        frame = Frame(mood, classes=PERSON, adverbs=False, positive=True, fronting=True)
        going = Mix([(1, verb_clause(verb, frame)) for verb in goers])
        rules.append((1, Build(Sentence, one("purpose"), going, aims)))
    return Mix(rules)


def reports() -> Rule[Sentence]:
    """The teacher knows that the children are playing; he asks whether ..."""
    rules: list[tuple[float, Rule[Sentence]]] = []
    inner_moods = {
        "present": ("present", "past", "future", "modal"),
        "past": ("past", "modal past"),
    }
    for verb in lexicon().verbs:
        if not any(slot.kind in ("dass", "ob") for slot in verb.slots):
            continue
        for mood, inner in inner_moods.items():
            for inner_mood in inner:
                for who, subject in (("third", "anaphor"), ("free", "other")):
                    outer = verb_clause(
                        verb,
                        Frame(mood, who, PERSON, adverbs=False, gap=0, positive=verb.en != "know"),
                    )
                    said = any_clause(Frame(inner_mood, subject, PERSON))
                    rules.append((1 / len(inner), Build(_report, outer, said)))
    return Mix(rules)


def _report(outer: Clause, said: Clause) -> Sentence:
    return Sentence("statement", outer._replace(args=(said,), gap=None))


@cache
def sentences() -> Rule[Sentence]:
    """All sentences of the grammar."""
    return Mix(
        [
            (34, statements()),
            (8, yes_no_questions()),
            (9, wh_questions()),
            (3, orders()),
            (3, existence()),
            (22, subordinates()),
            (11, coordinations()),
            (4, purposes()),
            (6, reports()),
        ]
    )
