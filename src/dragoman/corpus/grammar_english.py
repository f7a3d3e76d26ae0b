"""Noun phrases, places and times in English."""

from __future__ import annotations

from dragoman.corpus.grammar_german import time_label
from dragoman.corpus.grammar_syntax import Agreement, Job, Location, Phrase, Quality, When
from dragoman.corpus.grammar_trees import Key, Leaf, Node

_SUBJECTS = ("I", "you", "", "we", "you all", "they")
_OBJECTS = ("me", "you", "", "us", "you all", "them")
_THIRD = {"m": ("he", "him"), "f": ("she", "her"), "n": ("it", "it")}
_OWN = ("my", "your", "", "our", "your", "their")
_OWN_THIRD = {"m": "his", "f": "her", "n": "its"}
_ARTICLES = {"def": "the", "every": "every", "no": "no", "many": "many", "some": "some"}
_POSSESSIVES = frozenset({"my", "your", "his", "her", "our"})


def pronoun(agreed: Agreement, *, is_object: bool) -> str:
    """The personal pronoun; "ihr" is "you all", so that it can be told from "du".

    >>> pronoun(Agreement(2, "m", "m"), is_object=True)
    'him'
    """
    if agreed.person == 2:
        return _THIRD[agreed.sex][is_object]
    return (_OBJECTS if is_object else _SUBJECTS)[agreed.person]


def personal(phrase: Phrase, agreed: Agreement, *, is_object: bool) -> Node:
    """A pronoun as a phrase of its own."""
    words = pronoun(agreed, is_object=is_object).split()
    return Node("NP", [Leaf("PRON", word, ((id(phrase), "noun"),)) for word in words])


def article_before(word: str) -> str:
    """The indefinite article by the sound that follows.

    >>> article_before("egg"), article_before("university")
    ('an', 'a')
    """
    return "an" if word[0] in "aeiou" and not word.startswith("uni") else "a"


def _determiner(phrase: Phrase, subject: Agreement, negated: bool) -> str:
    det = phrase.det
    if det in _ARTICLES:
        return _ARTICLES[det]
    if det == "this":
        return "these" if phrase.plural else "this"
    if det == "number" and phrase.number is not None:
        return phrase.number.en
    if det in _POSSESSIVES:
        return det
    if det == "own":
        return _OWN_THIRD[subject.sex] if subject.person == 2 else _OWN[subject.person]
    if det == "bare" and negated:
        return "any"
    return ""


def noun_phrase(phrase: Phrase, subject: Agreement, *, negated: bool = False) -> list[Leaf | Node]:
    """The parts of a noun phrase, without relative clause."""
    me = id(phrase)
    if phrase.noun is None:
        raise ValueError("pronouns are spelled by pronoun()")
    if phrase.det == "name":
        return [Leaf("PROPN", phrase.noun.en, ((me, "noun"),))]
    noun = (phrase.noun.en_plural if phrase.plural else phrase.noun.en).split()
    leaves = [Leaf("ADJ", a.en, ((me, f"adj{i}"),)) for i, a in enumerate(phrase.adjectives)]
    for word in noun:  # "the piano" is one German word
        leaves.append(Leaf("DET" if word == "the" else "NOUN", word, ((me, "noun"),)))
    key: Key = (me, "det")
    if phrase.owner is not None:
        inside = noun_phrase(phrase.owner, subject)
        return [Node("NP", [*inside, Leaf("PART", "'s", (key,))]), *leaves]
    word = _determiner(phrase, subject, negated)
    if phrase.det == "indef":
        word = article_before(leaves[0].word)
    if not word:
        return list(leaves)
    return [Leaf("NUM" if phrase.det == "number" else "DET", word, (key,)), *leaves]


def location(place: Location) -> Node:
    """A place with its preposition: in the old house, to Berlin."""
    me = id(place.phrase)
    inner = noun_phrase(place.phrase, Agreement(2, "n", "n"))
    words = [Leaf("ADP", word, ((me, "prep"),)) for word in place.en.split()]
    return Node("PP", [*words, Node("NP", inner)])


def quality(predicate: Quality, subject: Agreement) -> Node:
    """A predicate adjective: tired, bigger than the dog, as big as the dog."""
    me, adjective = id(predicate), predicate.adjective
    words = adjective.en_more if predicate.degree == "more" else (adjective.en,)
    parts: list[Leaf | Node] = [
        Leaf("ADV" if word == "more" else "ADJ", word, ((me, "adj"),)) for word in words
    ]
    if predicate.than is not None:
        like = "than" if predicate.degree == "more" else "as"
        if predicate.degree == "as":
            parts.insert(0, Leaf("ADV", "as", ((me, "as"),)))
        than = Node("NP", noun_phrase(predicate.than, subject))
        parts.append(Node("PP", [Leaf("ADP", like, ((me, "than"),)), than]))
    return Node("ADJP", parts)


def job(predicate: Job) -> Node:
    """A predicate noun: a teacher."""
    key = (id(predicate), "noun")
    word = predicate.noun.en
    return Node("NP", [Leaf("DET", article_before(word), (key,)), Leaf("NOUN", word, (key,))])


def when(expression: When) -> Node:
    """A time expression: yesterday, on Monday at eight o'clock."""
    time, me = expression.time, id(expression)
    leaves = [
        Leaf(tag, word, tuple((me, f"{i}-{k}") for i, k in time.links if k == j))
        for j, (word, tag) in enumerate(time.en)
    ]
    return Node(time_label(time.en[0][1], len(leaves)), leaves)
