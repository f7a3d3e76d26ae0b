"""Clauses in English: subject before verb, do-support, progressive, prepositions left behind.

The present is progressive for what happens and simple for states, habits and what "wenn" says;
the German perfect is the simple past. "do" is linked to the German finite verb.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from dragoman.corpus import grammar_english as en
from dragoman.corpus.grammar_german_clauses import says_kein
from dragoman.corpus.grammar_syntax import (
    SUBJECT,
    Agreement,
    Clause,
    Job,
    Location,
    Phrase,
    Quality,
    agreement,
)
from dragoman.corpus.grammar_trees import Key, Leaf, Node

Mode = Literal["plain", "inverted", "to", "order"]
Parts = list[Leaf | Node]
_IS = ("am", "are", "is", "are", "are", "are")
_WAS = ("was", "were", "was", "were", "were", "were")
_PAST = {"have": "had", "want": "wanted"}
_THAT = {"dass": "that", "ob": "whether"}


class Verbs(NamedTuple):
    """The words of the verb: an auxiliary that can move and take "not", and the others."""

    auxiliary: Leaf | None
    others: list[Leaf]


def verb_words(clause: Clause, agreed: Agreement, mode: Mode) -> Verbs:
    """The verb in its tense, with "do" where negation or inversion needs it."""
    verb, modal, past = clause.verb, clause.modal, clause.tense == "past"
    finite, meaning = (id(clause), "finite"), (id(clause), "verb")
    base = Leaf("VERB", verb.en, (meaning,))
    if mode == "to":
        return Verbs(None, [Leaf("PART", "to", ((id(clause), "to"),)), base])
    if mode == "order":
        do = Leaf("AUX", "do", (finite,)) if clause.negated else None
        return Verbs(do, [Leaf("VERB", verb.en, (finite, meaning))])
    if modal is not None and not modal.is_verb:
        first = (_WAS if past else _IS)[agreed.person] if modal.en == "be" else modal.en
        rest = [Leaf("PART" if word == "to" else "VERB", word, (finite,)) for word in modal.rest]
        return Verbs(Leaf("AUX", first, (finite,)), [*rest, base])
    if clause.tense == "future":
        return Verbs(Leaf("AUX", "will", (finite,)), [base])
    be = (_WAS if past else _IS)[agreed.person]
    if verb.en == "be":
        return Verbs(Leaf("AUX", be, (finite, meaning)), [])
    head, forms, tail = base, (verb.en_s, verb.en_past), []
    keys: tuple[Key, ...] = (finite, meaning)
    if modal is not None or clause.gladly:
        key = (id(clause), "gladly") if modal is None else finite
        lemma = "like" if modal is None else modal.en
        forms = ("has" if lemma == "have" else lemma + "s", _PAST.get(lemma, lemma))
        head, keys = Leaf("VERB", lemma, (key,)), (key,)
        tail = [Leaf("PART", "to", (key,)), base]
    elif not past and not verb.is_state and not clause.habitual:
        return Verbs(Leaf("AUX", be, (finite,)), [Leaf("VERB", verb.en_ing, (meaning,))])
    third = agreed.person == 2
    if clause.negated or mode == "inverted":
        helper = "did" if past else "does" if third else "do"
        return Verbs(Leaf("AUX", helper, (finite,)), [head, *tail])
    word = forms[1] if past else forms[0] if third else head.word
    return Verbs(None, [Leaf("VERB", word, keys), *tail])


def relative(clause: Clause, head: Phrase) -> Node:
    """A relative clause: who is reading the book, that he is waiting for."""
    if head.noun is None:
        raise ValueError("a relative clause needs a noun")
    word = "who" if head.noun.is_person and clause.gap == SUBJECT else "that"
    pronoun = Node("WHNP", [Leaf("PRON", word, ((id(clause), "rel"),))])
    return Node("SBAR", [pronoun, Node("S", parts(clause, "plain", head=head))])


def subject_node(clause: Clause, agreed: Agreement) -> Node | None:
    """The subject; None where it is the gap."""
    subject = clause.subject
    if subject is None or clause.gap == SUBJECT:
        return None
    return _full(subject, agreed, is_object=False)


def _full(phrase: Phrase, agreed: Agreement, *, is_object: bool, negated: bool = False) -> Node:
    """A phrase with its partner and its relative clause; ``agreed`` is the clause's subject."""
    if phrase.noun is None:
        return en.personal(phrase, agreed, is_object=is_object)
    words = en.noun_phrase(phrase, agreed, negated=negated)
    if phrase.partner is not None:
        joined = Leaf("CCONJ", "and", ((id(phrase.partner), "and"),))
        partner = _full(phrase.partner, agreement(phrase.partner), is_object=is_object)
        return Node("NP", [Node("NP", words), joined, partner])
    if phrase.relative is not None:
        return Node("NP", [Node("NP", words), relative(phrase.relative, phrase)])
    return Node("NP", words)


def _object(arg: Phrase, subject: Agreement, *, negated: bool) -> Node:
    agreed = agreement(arg) if arg.noun is None else subject
    return _full(arg, agreed, is_object=True, negated=negated)


def _complements(clause: Clause, subject: Agreement, kein: bool) -> Parts:
    """The arguments with the verb's particle: bare objects, then those with a preposition."""
    bare: Parts = []
    late: Parts = []
    last: Parts = []
    particle_last = clause.verb.particle in ("aloud", "along")
    for i, (slot, arg) in enumerate(zip(clause.verb.slots, clause.args, strict=True)):
        whose = (id(clause), "verb")
        if slot.kind not in ("acc", "dat", "zero"):  # then German has a preposition of its own
            whose = (id(clause) if i == clause.gap else id(arg), "prep")
        mark = [Leaf("ADP", slot.en, (whose,))] if slot.en else []
        if i == clause.gap:
            late += mark
        elif isinstance(arg, Location):
            late.append(en.location(arg))
        elif isinstance(arg, Quality):
            late.append(en.quality(arg, subject))
        elif isinstance(arg, Job):
            late.append(en.job(arg))
        elif isinstance(arg, Clause):
            last.append(subordinate(arg, _THAT[slot.kind], antecedent=clause.subject))
        elif isinstance(arg, Phrase):
            node = _object(arg, subject, negated=kein and slot.kind == "acc")
            particle_last = (particle_last or arg.noun is None) and arg.relative is None
            if mark:
                late.append(Node("PP", [*mark, node]))
            else:
                bare.append(node)
    particle: Parts = [
        Leaf("PART", word, ((id(clause), "verb"),)) for word in clause.verb.particle.split()
    ]
    return (bare + particle if particle_last else particle + bare) + late + last


def parts(
    clause: Clause,
    mode: Mode,
    *,
    antecedent: Phrase | None = None,
    head: Phrase | None = None,
) -> Parts:
    """The children of the clause's S (or SQ), in order."""
    me = id(clause)
    owner = head if clause.gap == SUBJECT else clause.subject
    agreed = agreement(owner, antecedent)
    subject = subject_node(clause, agreed)
    verbs = verb_words(clause, agreed, mode)
    inside: Parts = [*verbs.others, *_complements(clause, agreed, says_kein(clause))]
    if clause.how is not None:
        inside.append(Node("ADVP", [Leaf("ADV", clause.how.en, ((me, "how"),))]))
    if clause.place is not None and clause.front != "place":
        inside.append(en.location(clause.place))
    if clause.when is not None and clause.front != "when":
        inside.append(en.when(clause.when))
    often: Parts = []
    if clause.often is not None:
        often = [Node("ADVP", [Leaf("ADV", clause.often.en, ((me, "often"),))])]
    opening: Parts = [subject] if subject is not None else []
    if clause.front == "when" and clause.when is not None:
        opening.insert(0, en.when(clause.when))
    if clause.front == "place" and clause.place is not None:
        opening.insert(0, en.location(clause.place))
    if verbs.auxiliary is None:
        return [*opening, Node("VP", [*often, *inside])]
    no: Parts = [Leaf("PART", "not", ((me, "not"),))] if clause.negated else []
    inner: Parts = [Node("VP", inside)] if verbs.others else inside
    auxiliary = verbs.auxiliary
    if auxiliary.word == "can" and no and mode == "plain":
        auxiliary, no = Leaf("AUX", "cannot", (*(auxiliary.parts or ()), (me, "not"))), []
    if mode == "inverted":
        return [auxiliary, *opening, *no, *often, *inner]
    return [*opening, Node("VP", [auxiliary, *no, *often, *inner])]


def subordinate(clause: Clause, conjunction: str, *, antecedent: Phrase | None = None) -> Node:
    """A clause after a conjunction: because the dog is sleeping."""
    word = Leaf("SCONJ", conjunction, ((id(clause), "conj"),))
    return Node("SBAR", [word, Node("S", parts(clause, "plain", antecedent=antecedent))])
