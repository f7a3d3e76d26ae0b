"""Clauses in German: the verb second, first or last, and the order of what stands between.

Between the two places of the verb stand, in this order: subject, pronouns, time, frequency, gern,
dative, accusative, nicht, manner, place and prepositional objects, predicate.
"""

from __future__ import annotations

from typing import Literal

from dragoman.corpus import grammar_german as de
from dragoman.corpus.grammar_inflection import HABEN, RELATIVE, SEIN, WERDEN
from dragoman.corpus.grammar_lexicon import Slot
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

Order = Literal["second", "first", "last", "zu"]
Parts = list[Leaf | Node]


def subject_node(clause: Clause, agreed: Agreement) -> Node | None:
    """The subject in the nominative; None where it is the gap."""
    subject = clause.subject
    if subject is None or clause.gap == SUBJECT:
        return None
    if subject.noun is None:
        return de.personal(subject, 0, agreed)
    parts = de.noun_phrase(subject, 0, subject=agreed)
    if subject.partner is not None:
        return Node("NP", [Node("NP", parts), *_partner(subject.partner)])
    if subject.relative is not None:
        parts += [de.COMMA, relative(subject.relative, subject), de.CLOSING_COMMA]
    return Node("NP", parts)


def _partner(partner: Phrase) -> Parts:
    agreed = agreement(partner)
    joined: Leaf = Leaf("CCONJ", "und", ((id(partner), "and"),))
    if partner.noun is None:
        return [joined, de.personal(partner, 0, agreed)]
    return [joined, Node("NP", de.noun_phrase(partner, 0, subject=agreed))]


def asked_preposition(clause: Clause, slot: Slot) -> Leaf:
    """The preposition before a relative or asking pronoun; English leaves it behind the verb."""
    return Leaf("ADP", slot.kind, ((id(clause), "prep" if slot.en else "verb"),))


def relative(clause: Clause, head: Phrase) -> Node:
    """A relative clause: die das Buch liest, auf den er wartet."""
    if head.noun is None or clause.gap is None:
        raise ValueError("a relative clause needs a noun and a gap")
    slot = None if clause.gap == SUBJECT else clause.verb.slots[clause.gap]
    key = (slot.case if slot else 0, "p" if head.plural else head.noun.gender)
    word = Node("WHNP", [Leaf("PRON", RELATIVE[key], ((id(clause), "rel"),))])
    if slot and slot.kind not in ("acc", "dat"):
        word = Node("WHPP", [asked_preposition(clause, slot), word])
    return Node("SBAR", [word, Node("S", parts(clause, "last", head=head))])


def verb_leaves(clause: Clause, agreed: Agreement, order: Order) -> tuple[Leaf, list[Leaf]]:
    """The finite verb, and what of the verb stands at the end."""
    verb, person = clause.verb, agreed.person
    finite, meaning = (id(clause), "finite"), (id(clause), "verb")
    infinitive = Leaf("VERB", verb.de, (meaning,))
    if order == "zu":
        words = verb.zu.split()
        both = (meaning, (id(clause), "to"))
        if len(words) == 1:
            return Leaf("VERB", verb.zu, both), []
        return Leaf("VERB", words[1], (meaning,)), [Leaf("PART", "zu", ((id(clause), "to"),))]
    if clause.modal is not None:
        return Leaf("AUX", clause.modal.de[person], (finite,)), [infinitive]
    if clause.tense == "future":
        return Leaf("AUX", WERDEN[person], (finite,)), [infinitive]
    if clause.tense == "past" and not verb.preterite:
        forms = SEIN if verb.auxiliary == "sein" else HABEN
        participle = Leaf("VERB", verb.participle, (meaning,))
        return Leaf("AUX", forms[person], (finite,)), [participle]
    form = (verb.preterite if clause.tense == "past" else verb.present)[person]
    tag = "AUX" if verb.de == "sein" else "VERB"
    if not verb.prefix:
        return Leaf(tag, form, (finite, meaning)), []
    if order == "last":
        return Leaf(tag, verb.prefix + form, (finite, meaning)), []
    return Leaf(tag, form, (finite, meaning)), [Leaf("PART", verb.prefix, (meaning,))]


def says_kein(clause: Clause) -> bool:
    """Whether the negation is in an indefinite object: keinen Hund."""
    if not clause.negated:
        return False
    for i, (slot, arg) in enumerate(zip(clause.verb.slots, clause.args, strict=True)):
        if slot.kind == "acc" and i != clause.gap and isinstance(arg, Phrase):
            return arg.det in ("indef", "bare")
    return False


class _Middle:
    """Fills the positions between the two places of the verb."""

    def __init__(self, clause: Clause, agreed: Agreement) -> None:
        self.clause, self.agreed = clause, agreed
        self.kein: Key | None = (id(clause), "not") if says_kein(clause) else None
        self.pronouns: Parts = []
        self.names: Parts = []
        self.dative: Parts = []
        self.accusative: Parts = []
        self.late: Parts = []
        self.tail: Parts = []
        self.indefinite = False
        if clause.verb.reflexive:
            word = de.REFLEXIVES[agreed.person]
            self.pronouns.append(Node("NP", [Leaf("PRON", word, ((id(clause), "verb"),))]))
        for i in range(len(clause.args)):
            if i != clause.gap:
                self._argument(i)

    def _argument(self, i: int) -> None:
        slot, arg = self.clause.verb.slots[i], self.clause.args[i]
        if isinstance(arg, Location):
            self.late.append(de.location(arg))
        elif isinstance(arg, Quality):
            self.late.append(de.quality(arg, self.agreed))
        elif isinstance(arg, Job):
            self.late.append(de.job(arg))
        elif isinstance(arg, Clause):
            self.tail += [de.COMMA, subordinate(arg, slot.kind, antecedent=self.clause.subject)]
        elif isinstance(arg, Phrase):
            if slot.kind in ("acc", "dat", "zero"):
                self._bare(arg, slot.kind, slot.case)
            else:
                self._prepositional(arg, slot)

    def _prepositional(self, arg: Phrase, slot: Slot) -> None:
        if arg.noun is None:
            node = de.personal(arg, slot.case, agreement(arg), slot.kind)
        else:
            kind = slot.kind
            words = de.noun_phrase(arg, slot.case, subject=self.agreed, preposition=kind)
            node = Node("PP", [words[0], Node("NP", words[1:])])
        if not slot.en:  # English has an object in its place: sich erinnern an, remember
            opening, *rest = node.children
            if isinstance(opening, Leaf):
                keys = (*(opening.parts or ()), (id(self.clause), "verb"))
                node = Node("PP", [Leaf("ADP", opening.word, keys), *rest])
        self.late.append(node)

    def _bare(self, arg: Phrase, kind: str, case: int) -> None:
        if arg.noun is None:
            self.pronouns.append(de.personal(arg, case, agreement(arg)))
        else:
            kein = self.kein if kind == "acc" else None
            words = de.noun_phrase(arg, case, subject=self.agreed, negation=kein)
            here = {"acc": self.accusative, "dat": self.dative, "zero": self.late}[kind]
            if arg.det == "name":  # known to both: it comes as early as a pronoun
                here = self.names
            here.append(Node("NP", words))
            self.indefinite |= kind == "acc" and arg.det in ("indef", "bare", "number", "some")
        if arg.relative is not None:
            self.tail += [de.COMMA, relative(arg.relative, arg), de.CLOSING_COMMA]

    def ordered(self) -> Parts:
        clause, me = self.clause, id(self.clause)
        out: Parts = [*self.pronouns, *self.names]
        if clause.when is not None and clause.front != "when":
            out.append(de.when(clause.when))
        if clause.often is not None:
            out.append(Node("ADVP", [Leaf("ADV", clause.often.de, ((me, "often"),))]))
        if clause.gladly:
            out.append(Node("ADVP", [Leaf("ADV", "gern", ((me, "gladly"),))]))
        place: Parts = []
        if clause.place is not None and clause.front != "place":
            place = [de.location(clause.place)]
        early = place if self.indefinite else []
        out += [*self.dative, *early, *self.accusative]
        if clause.negated and self.kein is None:
            out.append(Node("ADVP", [Leaf("PART", "nicht", ((me, "not"),))]))
        if clause.how is not None:
            out.append(Node("ADVP", [Leaf("ADV", clause.how.de, ((me, "how"),))]))
        return out + (place if not early else []) + self.late


def parts(
    clause: Clause,
    order: Order,
    *,
    antecedent: Phrase | None = None,
    head: Phrase | None = None,
) -> Parts:
    """The children of the clause's S, in order.

    ``antecedent`` is what an anaphor stands for; ``head`` the noun that a relative clause, or the
    subject that an infinitive, belongs to.
    """
    owner = head if clause.gap == SUBJECT else clause.subject
    agreed = agreement(owner, antecedent)
    finite, end = verb_leaves(clause, agreed, order)
    subject = subject_node(clause, agreed)
    middle = _Middle(clause, agreed)
    inner = middle.ordered()
    opening: Parts = [subject] if subject is not None else []
    if order in ("last", "zu"):
        if order == "last" and end:  # only a participle or an infinitive makes a phrase of its own
            return [*opening, Node("VP", [*inner, *end]), finite, *middle.tail]
        return [*opening, *inner, *end, finite, *middle.tail]
    rest: Parts = [*inner, *end]
    if end and end[0].tag == "VERB":
        rest = [Node("VP", rest)]
    rest += middle.tail
    if order == "first":
        return [finite, *opening, *rest]
    if clause.front == "when" and clause.when is not None:
        return [de.when(clause.when), finite, *opening, *rest]
    if clause.front == "place" and clause.place is not None:
        return [de.location(clause.place), finite, *opening, *rest]
    return [*opening, finite, *rest]


def subordinate(
    clause: Clause,
    conjunction: str,
    *,
    antecedent: Phrase | None = None,
    closing: Leaf = de.CLOSING_COMMA,
) -> Node:
    """A clause with its verb last: weil der Hund schläft."""
    word = Leaf("SCONJ", conjunction, ((id(clause), "conj"),))
    inner = Node("S", parts(clause, "last", antecedent=antecedent))
    return Node("SBAR", [word, inner, closing])
