"""People as subjects and objects: pronouns by group of person, couples."""

from __future__ import annotations

from functools import cache

from dragoman.corpus import grammar_phrases as np
from dragoman.corpus.grammar_rules import Build, Mix, Rule
from dragoman.corpus.grammar_syntax import Phrase

Groups = list[tuple[float, int, Rule[Phrase]]]  # weight, person group, rule

FIRST = np.pronouns((0, ""), (3, ""))
SECOND = np.pronouns((1, ""), (4, ""))
THIRD_PERSON = np.pronouns((2, "m"), (2, "f"), (5, ""))
HE = np.pronouns((2, "m"))


def askers(animate_head: bool) -> Groups:
    """Subjects of object relatives; "die Frau, die das Kind sieht" must not be one."""
    groups: Groups = [(2, 0, FIRST), (1.5, 1, SECOND)]
    if animate_head:
        return [*groups, (1.5, 2, HE)]
    return [*groups, (4, 2, Mix([(2, THIRD_PERSON), (2, np.names()), (4, np.person("plain"))]))]


@cache
def couples() -> Rule[Phrase]:
    """mein Bruder und ich; Anna und Peter; der Lehrer und die Schülerin."""

    def join(first: Phrase, second: Phrase) -> Phrase:
        return first._replace(partner=second)

    kin = np.of_classes(frozenset({"kin"}), "owner")
    return Mix(
        [
            (1, Build(join, np.names(), np.person("than"))),
            (1, Build(join, np.person("than"), np.names())),
            (1, Build(join, kin, np.pronouns((0, "")))),
        ]
    )


@cache
def object_pronouns(group: int, dative: bool) -> Rule[Phrase]:
    """Pronouns that are not of the subject's own person; "sie" as an object is always "her"."""
    persons: list[tuple[int, str]] = [(2, "m"), (2, "f")]
    if group != 0:
        persons += [(0, ""), (3, "")]
    if group != 1:
        persons += [(1, ""), (4, "")]
    if dative:
        persons.append((5, ""))
    return np.pronouns(*persons)
