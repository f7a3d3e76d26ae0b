"""German-English sentence pairs with gold word links and gold trees, from a grammar of our own.

A rule draws what a sentence says (``grammar_sentences``); German and English put it into words
(``grammar_german*``, ``grammar_english*``). One German sentence has one translation: the perfect is
the simple past, the present is progressive for events and simple for states and habits, du is
"you" and ihr "you all". Text is tokenized with spaces around punctuation, so that links and leaves
are words; ``tokenized=False`` gives it as print has it, without links and trees.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from random import Random

from dragoman.corpus.grammar_lexicon import lexicon
from dragoman.corpus.grammar_linearize import english_tree, german_tree
from dragoman.corpus.grammar_sentences import sentences
from dragoman.corpus.grammar_syntax import Clause, Job, Location, Phrase, Quality, Sentence
from dragoman.corpus.grammar_trees import Example, link, natural, spell

_UNSEEN_SHARE = 24  # one in so many combinations is kept for the slice of unseen ones


def count_derivations() -> int:
    """How many different sentences the grammar derives, exactly.

    The few of them that name somebody twice are counted, but never drawn.

    >>> count_derivations() > 10**9
    True
    """
    return sentences().count


def draw(rng: Random) -> Sentence:
    """One sentence, not yet in words; none in which somebody is named twice.

    >>> draw(Random(15)).kind
    'statement'
    """
    while True:
        sentence = sentences().draw(rng)
        if not _names_twice(content(sentence)[0]):
            return sentence


def _names_twice(lemmas: list[str]) -> bool:
    """Whether a person's name comes twice: Anna hilft Anna."""
    named = [lemma for lemma in lemmas if lemma in _people()]
    return len(named) > len(set(named))


@cache
def _people() -> frozenset[str]:
    return frozenset(noun.de for noun in lexicon().people)


# --- examples and splits --------------------------------------------------------------------


def pair(sentence: Sentence, *, to_german: bool = False, tokenized: bool = True) -> Example:
    """The sentence in both languages.

    >>> example = pair(draw(Random(15)))
    >>> example.src
    'Unsere Nichte weiß , dass David zufrieden ist .'
    >>> example.tgt
    'Our niece knows that David is satisfied .'
    """
    source, target = spell(german_tree(sentence)), spell(english_tree(sentence))
    if to_german:
        source, target = target, source
    if not tokenized:
        return Example(natural(source.words), natural(target.words))
    return Example(
        " ".join(source.words),
        " ".join(target.words),
        link(source, target),
        source.tree,
        target.tree,
    )


def content(sentence: Sentence) -> tuple[list[str], list[tuple[str, str]]]:
    """The lemmas of a sentence, and its (adjective, noun) and (verb, noun) combinations."""
    lemmas: list[str] = []
    combinations: list[tuple[str, str]] = []

    def visit(item: object, verb: str = "") -> None:
        if isinstance(item, Phrase):
            if item.noun is not None:
                noun = item.noun.de
                lemmas.append(noun)
                combinations.extend((a.de, noun) for a in item.adjectives)
                lemmas.extend(a.de for a in item.adjectives)
                if verb and item.det not in ("name", "zero"):
                    combinations.append((verb, noun))
            visit(item.owner)
            visit(item.relative)
            visit(item.partner)
        elif isinstance(item, Clause):
            lemmas.append(item.verb.de)
            visit(item.subject)
            for argument in item.args:
                visit(argument, item.verb.de)
            visit(item.place)
        elif isinstance(item, Location):
            visit(item.phrase)
        elif isinstance(item, Quality):
            lemmas.append(item.adjective.de)
            visit(item.than)
        elif isinstance(item, Job):
            lemmas.append(item.noun.de)

    visit(sentence.main)
    visit(sentence.other)
    return lemmas, combinations


@cache
def is_reserved(first: str, noun: str) -> bool:
    """Whether a combination of words is kept out of all slices but the unseen one."""
    digest = blake2b(f"{first} {noun}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % _UNSEEN_SHARE == 0


def split_of(sentence: Sentence) -> str:
    """The slice a sentence belongs to, by its content words alone: 4 % valid, 4 % test.

    Two sentences with the same content words are in the same slice, so that a test sentence is
    never a training sentence in another tense. A reserved combination makes a sentence unseen.
    """
    return _split(*content(sentence))


def _split(lemmas: list[str], combinations: list[tuple[str, str]]) -> str:
    if any(is_reserved(first, noun) for first, noun in combinations):
        return "unseen"
    digest = blake2b(" ".join(lemmas).encode(), digest_size=8).digest()
    share = int.from_bytes(digest, "big") % 25
    return "valid" if share == 0 else "test" if share == 1 else "train"


def generate(rng: Random, split: str, *, to_german: bool, tokenized: bool) -> Iterator[Example]:
    """Endless examples of one slice.

    >>> next(generate(Random(5), "test", to_german=True, tokenized=False)).src
    'We rarely translate a long newspaper.'
    """
    rule = sentences()
    while True:
        sentence = rule.draw(rng)
        lemmas, combinations = content(sentence)
        if _split(lemmas, combinations) == split and not _names_twice(lemmas):
            yield pair(sentence, to_german=to_german, tokenized=tokenized)
