"""Noun phrases, places and times in German: cases, articles, adjective endings."""

from __future__ import annotations

from dragoman.corpus.grammar_inflection import DEFINITE, DIESER, EIN, MIXED, STRONG, WEAK
from dragoman.corpus.grammar_syntax import Agreement, Job, Location, Phrase, Quality, When
from dragoman.corpus.grammar_trees import Key, Leaf, Node

PRONOUNS = (  # by person, then case; the third person singular is below
    ("ich", "mich", "mir"),
    ("du", "dich", "dir"),
    ("", "", ""),
    ("wir", "uns", "uns"),
    ("ihr", "euch", "euch"),
    ("sie", "sie", "ihnen"),
)
_THIRD = {"m": ("er", "ihn", "ihm"), "f": ("sie", "sie", "ihr"), "n": ("es", "es", "ihm")}
REFLEXIVES = ("mich", "dich", "sich", "uns", "euch", "sich")
_POSSESSIVES = {"my": "mein", "your": "dein", "his": "sein", "her": "ihr", "our": "unser"}
_OWN = ("mein", "dein", "", "unser", "euer", "ihr")
_CONTRACTIONS = {
    ("in", "dem"): "im",
    ("an", "dem"): "am",
    ("zu", "dem"): "zum",
    ("zu", "der"): "zur",
    ("von", "dem"): "vom",
    ("in", "das"): "ins",
}
COMMA = Leaf("PUNCT", ",")
CLOSING_COMMA = Leaf("PUNCT", ",", None)


def pronoun(agreed: Agreement, case: int) -> str:
    """The personal pronoun.

    >>> pronoun(Agreement(2, "m", "m"), 2)
    'ihm'
    """
    return _THIRD[agreed.gender][case] if agreed.person == 2 else PRONOUNS[agreed.person][case]


def _own(subject: Agreement) -> str:
    if subject.person != 2:
        return _OWN[subject.person]
    return "ihr" if subject.gender == "f" else "sein"


def _with_ending(stem: str, ending: str) -> str:
    return "eur" + ending if stem == "euer" and ending else stem + ending


def _determiner(phrase: Phrase, case: int, subject: Agreement, negated: bool) -> tuple[str, str]:
    """The word before the noun, and the kind of ending adjectives take after it."""
    noun = phrase.noun
    if noun is None:
        raise ValueError("a pronoun has no determiner")
    key = (case, "p" if phrase.plural else noun.gender)
    det = phrase.det
    if det == "def":
        return DEFINITE[key], "weak"
    if det in ("this", "every"):
        return ("dies" if det == "this" else "jed") + DIESER[key], "weak"
    if det in ("many", "some"):
        return ("viel" if det == "many" else "einig") + DIESER[key], "strong"
    if det == "number" and phrase.number is not None:
        return phrase.number.de, "strong"
    if det == "no" or (negated and det in ("indef", "bare")):
        return "kein" + EIN[key], "mixed"
    if det == "indef":
        return "ein" + EIN[key], "mixed"
    if det in _POSSESSIVES or det == "own":
        stem = _POSSESSIVES.get(det) or _own(subject)
        return _with_ending(stem, EIN[key]), "mixed"
    return "", "strong"


_ENDINGS = {"weak": WEAK, "strong": STRONG, "mixed": MIXED}


def noun_phrase(
    phrase: Phrase,
    case: int,
    *,
    subject: Agreement,
    negation: Key | None = None,
    preposition: str = "",
) -> list[Leaf | Node]:
    """The parts of a noun phrase in the given case, without relative clause.

    ``negation`` is the part that "kein" expresses in place of "nicht". A preposition melts with
    the article where German does so: im, zum.
    """
    me = id(phrase)
    before = [Leaf("ADP", preposition, ((me, "prep"),))] if preposition else []
    if phrase.noun is None:
        raise ValueError("pronouns are spelled by pronoun()")
    if phrase.det in ("name", "zero"):
        tag = "PROPN" if phrase.det == "name" else "NOUN"
        return [*before, Leaf(tag, phrase.noun.singular[case], ((me, "noun"),))]
    word, kind = _determiner(phrase, case, subject, negation is not None)
    parts: list[Leaf | Node] = [*before]
    if phrase.owner is not None and phrase.owner.det == "name" and phrase.owner.noun is not None:
        owner = ((id(phrase.owner), "noun"), (me, "det"))
        parts.append(Leaf("PROPN", phrase.owner.noun.singular[3], owner))
        kind = "strong"
    elif word:
        tag = "NUM" if phrase.det == "number" else "DET"
        expressed = ((me, "det"), negation) if negation else ((me, "det"),)
        melted = _CONTRACTIONS.get((preposition, word))
        if melted:
            parts = [Leaf("ADP", melted, ((me, "prep"), (me, "det")))]
        else:
            parts.append(Leaf(tag, word, expressed))
    number = "p" if phrase.plural else phrase.noun.gender
    ending = _ENDINGS[kind][case, number]
    for i, adjective in enumerate(phrase.adjectives):
        parts.append(Leaf("ADJ", adjective.stem + ending, ((me, f"adj{i}"),)))
    forms = phrase.noun.plural if phrase.plural else phrase.noun.singular
    parts.append(Leaf("NOUN", forms[case], ((me, "noun"),)))
    if phrase.owner is not None and phrase.owner.det != "name":
        parts.append(Node("NP", noun_phrase(phrase.owner, 3, subject=subject)))
    return parts


def personal(phrase: Phrase, case: int, agreed: Agreement, preposition: str = "") -> Node:
    """A pronoun as a phrase of its own, after a preposition if given."""
    leaf = Leaf("PRON", pronoun(agreed, case), ((id(phrase), "noun"),))
    if not preposition:
        return Node("NP", [leaf])
    return Node("PP", [Leaf("ADP", preposition, ((id(phrase), "prep"),)), Node("NP", [leaf])])


def location(place: Location) -> Node:
    """A place with its preposition: im alten Haus, nach Berlin."""
    nobody = Agreement(2, "n", "n")
    parts = noun_phrase(place.phrase, place.case, subject=nobody, preposition=place.de)
    return Node("PP", [parts[0], Node("NP", parts[1:])])


def quality(predicate: Quality, subject: Agreement) -> Node:
    """A predicate adjective: müde, größer als der Hund, so groß wie der Hund."""
    me = id(predicate)
    word = predicate.adjective.de_more if predicate.degree == "more" else predicate.adjective.de
    parts: list[Leaf | Node] = [Leaf("ADJ", word, ((me, "adj"),))]
    if predicate.than is not None:
        like = "als" if predicate.degree == "more" else "wie"
        if predicate.degree == "as":
            parts.insert(0, Leaf("ADV", "so", ((me, "as"),)))
        than = Node("NP", noun_phrase(predicate.than, 0, subject=subject))
        parts.append(Node("PP", [Leaf("ADP", like, ((me, "than"),)), than]))
    return Node("ADJP", parts)


def job(predicate: Job) -> Node:
    """A predicate noun: Lehrer."""
    return Node("NP", [Leaf("NOUN", predicate.noun.de, ((id(predicate), "noun"),))])


def when(expression: When) -> Node:
    """A time expression: gestern, am Montag um acht Uhr."""
    time, me = expression.time, id(expression)
    leaves = [
        Leaf(tag, word, tuple((me, f"{i}-{j}") for k, j in time.links if k == i))
        for i, (word, tag) in enumerate(time.de)
    ]
    return Node(time_label(time.de[0][1], len(leaves)), leaves)


def time_label(first_tag: str, length: int) -> str:
    """The label of a time expression, by how it begins.

    >>> time_label("ADP", 2), time_label("ADV", 1)
    ('PP', 'ADVP')
    """
    if first_tag == "ADP":
        return "PP"
    return "ADVP" if first_tag == "ADV" else "NP"
