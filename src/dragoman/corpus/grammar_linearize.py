"""Sentences in words: what was drawn, as a German and as an English tree."""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.corpus import grammar_english as en
from dragoman.corpus import grammar_english_clauses as english
from dragoman.corpus import grammar_german as de
from dragoman.corpus import grammar_german_clauses as german
from dragoman.corpus.grammar_syntax import THIRD, Clause, Location, Phrase, Sentence
from dragoman.corpus.grammar_trees import Leaf, Node

_WH = {
    "who": ("wer", "who"),
    "what": ("was", "what"),
    "where": ("wo", "where"),
    "whither": ("wohin", "where"),
    "when": ("wann", "when"),
    "why": ("warum", "why"),
}


def german_tree(sentence: Sentence) -> Node:
    """The German tree of a sentence."""
    kind, main, other = sentence.kind, sentence.main, sentence.other
    mark = Leaf("PUNCT", _mark(kind), ((id(sentence), "mark"),))
    word = sentence.conjunction.de if sentence.conjunction else ""
    if kind == "exists":
        return Node("S", [*_es_gibt(main), mark])
    if kind == "order":
        return Node("S", [*_please(sentence, word), *_german_order(main), mark])
    if kind == "question":
        return Node("S", [*german.parts(main, "first"), mark])
    if other is None and kind != "statement":
        return Node("S", [_german_wh(kind, main), *german.parts(main, "first"), mark])
    if other is None:
        return Node("S", [*german.parts(main, "second"), mark])
    return Node("S", [*_german_pair(kind, main, other, word), mark])


def _german_pair(kind: str, main: Clause, other: Clause, word: str) -> list[Node | Leaf]:
    conjunction = Leaf("CCONJ", word, ((id(other), "conj"),))
    subject = main.subject
    if kind == "before":
        # the noun stands in the first clause, whichever that is
        opening = german.subordinate(main, word, closing=_comma(other))
        return [opening, *german.parts(other, "first", antecedent=subject)]
    first = german.parts(main, "second")
    if kind == "after":
        return [*first, de.COMMA, german.subordinate(other, word, antecedent=subject)]
    if kind == "but":
        inner = Node("S", german.parts(other, "second", antecedent=subject))
        return [Node("S", first), _comma(other), conjunction, inner]
    if kind == "so":
        adverb = Node("ADVP", [Leaf("ADV", word, ((id(other), "conj"),))])
        inner = Node("S", [adverb, *german.parts(other, "first", antecedent=subject)])
        return [Node("S", first), _comma(other), inner]
    if kind == "and":
        second = _unless_said(german.parts(other, "first", head=subject), first)
        return [Node("S", first), conjunction, Node("S", second)]
    um = Leaf("SCONJ", "um", ((id(other), "to"),))
    inner = Node("S", german.parts(other, "zu", head=subject))
    return [*first, de.COMMA, Node("SBAR", [um, inner])]


def english_tree(sentence: Sentence) -> Node:
    """The English tree of a sentence."""
    kind, main, other = sentence.kind, sentence.main, sentence.other
    mark = Leaf("PUNCT", _mark(kind), ((id(sentence), "mark"),))
    word = sentence.conjunction.en if sentence.conjunction else ""
    if kind == "exists":
        return Node("S", [*_there_is(main), mark])
    if kind == "order":
        order = english.parts(main, "order", head=main.subject)
        return Node("S", [*_please(sentence, word), *order, mark])
    if kind == "question":
        return Node("SQ", [*english.parts(main, "inverted"), mark])
    if kind == "who":
        return Node("SBARQ", [_english_wh(kind, main), *english.parts(main, "plain"), mark])
    if other is None and kind != "statement":
        inner = Node("SQ", english.parts(main, "inverted"))
        return Node("SBARQ", [_english_wh(kind, main), inner, mark])
    if other is None:
        return Node("S", [*english.parts(main, "plain"), mark])
    return Node("S", [*_english_pair(kind, main, other, word), mark])


def _english_pair(kind: str, main: Clause, other: Clause, word: str) -> list[Node | Leaf]:
    conjunction = Leaf("CCONJ", word, ((id(other), "conj"),))
    subject = main.subject
    if kind == "before":
        rest = english.parts(other, "plain", antecedent=subject)
        return [english.subordinate(main, word), _comma(other), *rest]
    first = english.parts(main, "plain")
    if kind == "after":
        return [*first, english.subordinate(other, word, antecedent=subject)]
    if kind in ("but", "so"):
        inner = Node("S", english.parts(other, "plain", antecedent=subject))
        return [Node("S", first), _comma(other), conjunction, inner]
    if kind == "and":
        phrase = english.parts(other, "plain", head=subject)[0]
        before = first[-1].children if isinstance(first[-1], Node) else []
        inside = _unless_said(phrase.children, before) if isinstance(phrase, Node) else [phrase]
        return [Node("S", first), conjunction, Node("VP", inside)]
    return [*first, Node("S", english.parts(other, "to", head=subject))]


def _comma(other: Clause) -> Leaf:
    """The comma between two clauses that both languages write."""
    return Leaf("PUNCT", ",", ((id(other), "comma"),))


def _unless_said(parts: Sequence[Node | Leaf], before: Sequence[Node | Leaf]) -> list[Node | Leaf]:
    """The parts without their auxiliary where the clause before has the same one."""
    opening = parts[0]
    if isinstance(opening, Leaf) and opening.tag == "AUX":
        said = [part.word for part in before if isinstance(part, Leaf) and part.tag == "AUX"]
        if opening.word in said:
            return list(parts[1:])
    return list(parts)


def _mark(kind: str) -> str:
    if kind == "order":
        return "!"
    plain = ("statement", "exists", "after", "before", "but", "so", "and", "purpose")
    return "." if kind in plain else "?"


# --- questions, orders, existence -----------------------------------------------------------


def _german_wh(kind: str, clause: Clause) -> Node:
    key = (id(clause), "wh")
    if kind != "whom" or clause.gap is None:
        label = "WHNP" if kind in ("who", "what") else "WHADVP"
        return Node(label, [Leaf("PRON" if label == "WHNP" else "ADV", _WH[kind][0], (key,))])
    slot = clause.verb.slots[clause.gap]
    word = Node("WHNP", [Leaf("PRON", "wem" if slot.case == 2 else "wen", (key,))])
    if slot.kind in ("acc", "dat"):
        return word
    return Node("WHPP", [german.asked_preposition(clause, slot), word])


def _english_wh(kind: str, clause: Clause) -> Node:
    label = "WHNP" if kind in ("who", "what", "whom") else "WHADVP"
    word = "who" if kind == "whom" else _WH[kind][1]
    return Node(label, [Leaf("PRON" if label == "WHNP" else "ADV", word, ((id(clause), "wh"),))])


def _please(sentence: Sentence, word: str) -> list[Node | Leaf]:
    if not word:
        return []
    return [Node("INTJ", [Leaf("INTJ", word, ((id(sentence), "please"),))])]


def _german_order(clause: Clause) -> list[Node | Leaf]:
    finite, *rest = german.parts(clause, "first", head=clause.subject)
    return [Leaf("VERB", clause.verb.imperative, finite.parts), *rest]  # type: ignore[union-attr]


def _thing(clause: Clause) -> tuple[Phrase, Location]:
    thing = clause.args[0]
    if not isinstance(thing, Phrase) or clause.place is None:
        raise ValueError("es gibt needs a thing and a place")
    return thing, clause.place


def _es_gibt(clause: Clause) -> list[Node | Leaf]:
    thing, place = _thing(clause)
    verb = "gibt" if clause.tense == "present" else "gab"
    return [
        Node("NP", [Leaf("PRON", "es", ((id(clause), "there"),))]),
        Leaf("VERB", verb, ((id(clause), "verb"),)),
        Node("NP", de.noun_phrase(thing, 1, subject=THIRD)),
        de.location(place),
    ]


def _there_is(clause: Clause) -> list[Node | Leaf]:
    thing, place = _thing(clause)
    present = clause.tense == "present"
    verb = ("are" if present else "were") if thing.plural else ("is" if present else "was")
    inside: list[Node | Leaf] = [
        Leaf("VERB", verb, ((id(clause), "verb"),)),
        Node("NP", en.noun_phrase(thing, THIRD)),
        en.location(place),
    ]
    return [Node("NP", [Leaf("PRON", "there", ((id(clause), "there"),))]), Node("VP", inside)]
