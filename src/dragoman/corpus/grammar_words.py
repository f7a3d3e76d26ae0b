"""Modal verbs, the verb "sein", and what can be said of time, place and manner around a verb."""

from __future__ import annotations

from functools import cache
from typing import Literal, NamedTuple

from dragoman.corpus import grammar_phrases as np
from dragoman.corpus.grammar_inflection import SEIN, WAR
from dragoman.corpus.grammar_lexicon import Slot, Verb, Word, lexicon
from dragoman.corpus.grammar_rules import NOTHING, Build, Mix, Pick, Rule, one
from dragoman.corpus.grammar_syntax import Location, Modal, When
from dragoman.corpus.grammar_times import times

GLADLY = Word("gern", "like to")  # an adverb in German, a verb in English


def _modal(forms: str, infinitive: str, en: str, rest: str = "", is_verb: bool = False) -> Modal:
    return Modal(tuple(forms.split()), infinitive, en, tuple(rest.split()), is_verb)


MODALS: dict[str, Rule[Modal | None]] = {
    "modal": Pick(
        [
            _modal("kann kannst kann können könnt können", "können", "can"),
            _modal("muss musst muss müssen müsst müssen", "müssen", "have", "to", True),
            _modal("will willst will wollen wollt wollen", "wollen", "want", "to", True),
            _modal("darf darfst darf dürfen dürft dürfen", "dürfen", "be", "allowed to"),
            _modal("sollte solltest sollte sollten solltet sollten", "sollen", "should"),
            _modal("möchte möchtest möchte möchten möchtet möchten", "mögen", "would", "like to"),
        ]
    ),
    "modal past": Pick(
        [
            _modal("konnte konntest konnte konnten konntet konnten", "können", "could"),
            _modal("musste musstest musste mussten musstet mussten", "müssen", "have", "to", True),
            _modal("wollte wolltest wollte wollten wolltet wollten", "wollen", "want", "to", True),
            _modal("durfte durftest durfte durften durftet durften", "dürfen", "be", "allowed to"),
        ]
    ),
}


def _copula(*slots: Slot) -> Verb:
    return Verb(
        de="sein", prefix="", reflexive=False, present=SEIN, preterite=WAR, participle="gewesen",
        auxiliary="sein", zu="zu sein", imperative="sei", en="be", en_s="is", en_past="was",
        en_ing="being", particle="", subjects=frozenset({"person"}), slots=slots,
        flags=frozenset({"state"}), how=(), places=frozenset(),
    )  # fmt: skip


IS_LIKE = _copula(Slot("adj", 0, "", frozenset()))
IS_AT = _copula(Slot("loc", 2, "", frozenset(["room", "outdoors", "building", "open", "city"])))
IS_JOB = _copula(Slot("job", 0, "", frozenset()))


class Adverbials(NamedTuple):
    """What stands around the verb; ``front`` tells which of it comes first."""

    when: When | None = None
    often: Word | None = None
    how: Word | None = None
    place: Location | None = None
    front: Literal["subject", "when", "place"] = "subject"


_MOOD_TIMES = {"present": "now", "habit": "habit", "past": "past", "future": "future"}
_MOOD_TIMES |= {"modal": "future", "modal past": "past"}


@cache
def adverbials(mood: str, verb: Verb, inner: bool, fronting: bool) -> Rule[Adverbials]:
    """Adverbials for a verb in a mood: ``inner`` ones after the verb, a first one if ``fronting``.

    A habit is said by an adverb of frequency or a recurring time, so it always has one of them.
    """
    found: list[tuple[float, Rule[Adverbials]]] = []
    timed = mood in _MOOD_TIMES and (not verb.is_state or ("time" in verb.flags and mood == "past"))
    if mood == "habit":
        often = Pick(lexicon().words("often"))
        found.append((3, Build(lambda word: Adverbials(often=word), often)))
    else:
        found.append((4, Build(Adverbials)))
    where: Rule[Location | None] = np.places(verb.places, False) if verb.places else NOTHING
    if timed:
        when = times(_MOOD_TIMES[mood])
        if inner:
            found.append((2, Build(lambda w: Adverbials(when=w), when)))
        if fronting:
            found.append((2, Build(lambda w: Adverbials(when=w, front="when"), when)))
        if inner and verb.places:
            found.append((0.8, Build(lambda w, p: Adverbials(when=w, place=p), when, where)))
        if inner and fronting and verb.places:
            found.append((0.8, Build(_when_first, when, where)))
    if verb.places and inner and mood != "habit":
        found.append((1.5, Build(lambda p: Adverbials(place=p), where)))
        if fronting and not verb.is_state and not verb.slots:
            found.append((1.0, Build(lambda p: Adverbials(place=p, front="place"), where)))
    if verb.how and inner and mood != "habit":
        found.append((1.2, Build(lambda h: Adverbials(how=h), Pick(verb.how))))
    if mood == "present" and inner and "person" in verb.subjects and not verb.is_state:
        found.append((0.4, one(Adverbials(often=GLADLY))))
    return Mix(found)


def _when_first(when: When, place: Location) -> Adverbials:
    return Adverbials(when=when, place=place, front="when")
