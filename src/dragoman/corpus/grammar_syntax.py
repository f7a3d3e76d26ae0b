"""What a sentence says, before either language puts it into words.

A derivation of the grammar is a tree of these values. Each occurrence is its own object: its
identity is what German and English words are linked by.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from dragoman.corpus.grammar_lexicon import Adjective, Noun, Time, Verb, Word

Tense = Literal["present", "past", "future"]
SUBJECT = -1  # the gap of a clause whose subject is asked for or relative


class Phrase(NamedTuple):
    """A noun phrase.

    ``det``: def, indef, bare, this, every, no, my, your, his, her, our, own (of the subject of the
    clause), number, many, some, name, zero (never an article), pronoun, anaphor (of the subject of
    the main clause).
    """

    det: str
    noun: Noun | None = None
    plural: bool = False
    adjectives: tuple[Adjective, ...] = ()
    number: Word | None = None
    owner: Phrase | None = None
    relative: Clause | None = None
    person: int = 2
    gender: str = ""
    partner: Phrase | None = None  # the second of two joined by "und"


class Location(NamedTuple):
    """A place with its prepositions; ``case`` tells where (2) from whither (1)."""

    phrase: Phrase
    de: str
    en: str
    case: int


class Quality(NamedTuple):
    """A predicate adjective, alone or in a comparison ("more", "as")."""

    adjective: Adjective
    degree: str = ""
    than: Phrase | None = None


class Job(NamedTuple):
    """A predicate noun without article in German: ist Lehrer, is a teacher."""

    noun: Noun


class Modal(NamedTuple):
    """A modal verb: German forms by person, the English word and what follows it."""

    de: tuple[str, ...]
    infinitive: str
    en: str
    rest: tuple[str, ...]  # words between the English modal and the verb
    is_verb: bool  # needs do-support and takes -s: wants to


class When(NamedTuple):
    """A time expression at one place of a derivation."""

    time: Time


class Clause(NamedTuple):
    """A verb with what belongs to it; ``gap`` is the number of the argument left out."""

    verb: Verb
    subject: Phrase | None
    args: tuple[Phrase | Location | Quality | Job | Clause | None, ...] = ()
    tense: Tense = "present"
    modal: Modal | None = None
    negated: bool = False
    gladly: bool = False  # gern
    habitual: bool = False
    when: When | None = None
    often: Word | None = None
    how: Word | None = None
    place: Location | None = None
    front: Literal["subject", "when", "place"] = "subject"
    gap: int | None = None


class Sentence(NamedTuple):
    """One or two clauses and the way they are put together.

    ``kind``: statement, question, who, what, whom, where, whither, when, why (asked), order,
    after (main clause, then subordinate), before (subordinate, then main), and, but, so, purpose,
    exists.
    """

    kind: str
    main: Clause
    other: Clause | None = None
    conjunction: Word | None = None


class Agreement(NamedTuple):
    """What a verb, a possessive or a pronoun agrees with."""

    person: int  # 0-5
    gender: str  # German: m f n
    sex: str  # English: m f n (he, she, it)


THIRD = Agreement(2, "n", "n")  # es, wer, was


def agreement(phrase: Phrase | None, antecedent: Phrase | None = None) -> Agreement:
    """The features of a phrase; an anaphor has those of its antecedent.

    >>> agreement(Phrase("pronoun", person=3)).person
    3
    """
    if phrase is not None and phrase.det == "anaphor":
        phrase = antecedent
    if phrase is None:
        return THIRD
    if phrase.partner is not None:
        with_me = phrase.partner.det == "pronoun"  # mein Bruder und ich
        return Agreement(3 if with_me else 5, "n", "n")
    if phrase.noun is None:
        return Agreement(phrase.person, phrase.gender, phrase.gender)
    noun = phrase.noun
    sex = "f" if noun.de == "Mädchen" else noun.gender if noun.is_person else "n"
    return Agreement(5 if phrase.plural else 2, noun.gender, sex)
