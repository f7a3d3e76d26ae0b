"""What must hold of every sentence of the grammar, checked on many."""

import re
from random import Random

import pytest

from dragoman.corpus import grammar
from dragoman.corpus import grammar_phrases as np
from dragoman.corpus.grammar_lexicon import lexicon
from dragoman.corpus.grammar_times import times

# Written down apart from the lexicon, to check it.
MASCULINE = """
Mann Junge Hund Arzt Vogel Apfel Kuchen Käse Tee Wein Brief Roman Film Satz Plan Zug Bus Hut
Mantel Rock Schlüssel Koffer Ball Computer Teller Löffel Stift Ring Spiegel Baum Tisch Stuhl
Schrank Teppich Garten Park Wald Bahnhof Flughafen Strand Fluss See Markt Balkon Keller Bär
"""
FEMININE = """
Frau Mutter Schwester Katze Kuh Maus Banane Kartoffel Suppe Milch Butter Zeitung Frage Idee Reise
Hochzeit Straßenbahn Mütze Jacke Bluse Tasche Puppe Lampe Kamera Flasche Tasse Vase Gabel Blume
Tür Mauer Rose Kiste Küche Wohnung Stadt Schule Universität Bibliothek Brücke Insel
"""
NEUTER = """
Kind Mädchen Pferd Huhn Schwein Ei Brot Fleisch Wasser Bier Buch Gedicht Märchen Lied Bild Wort
Problem Fest Geld Auto Fahrrad Boot Taxi Hemd Kleid Radio Telefon Glas Messer Geschenk Paket
Fenster Tor Haus Bett Regal Sofa Zimmer Büro Dorf Museum Restaurant Hotel Schloss
"""
CONTENT = {"NOUN", "PROPN", "VERB", "ADJ", "NUM", "PRON", "ADV", "AUX", "DET", "ADP", "PART"}


@pytest.fixture(scope="module")
def sentences():
    rng = Random("properties")
    return [grammar.draw(rng) for _ in range(3000)]


@pytest.fixture(scope="module")
def examples(sentences):
    return [grammar.pair(sentence) for sentence in sentences]


def parse(text):
    """A bracketed tree as (label, children) with words as strings."""
    stack, root = [], None
    for token in re.findall(r"\(|\)|[^\s()]+", text):
        if token == "(":
            stack.append([])
        elif token == ")":
            label, *children = stack.pop()
            node = (label, children)
            if stack:
                stack[-1].append(node)
            else:
                assert root is None, "two trees in one line"
                root = node
        else:
            stack[-1].append(token)
    assert not stack, "brackets are left open"
    return root


def leaves(node):
    label, children = node
    if children and isinstance(children[0], str):
        assert len(children) == 1
        return [(label, children[0])]
    assert children, f"{label} is empty"
    return [leaf for child in children for leaf in leaves(child)]


def nodes(node):
    yield node
    for child in node[1]:
        if not isinstance(child, str):
            yield from nodes(child)


def test_there_are_more_than_a_billion_derivations():
    assert grammar.count_derivations() > 10**9


def test_there_are_more_than_four_hundred_words_in_each_language():
    words = lexicon()
    kinds = (words.nouns, words.places, words.adjectives, words.verbs, words.bare)
    assert len({word.de for kind in kinds for word in kind}) >= 400
    assert len({word.en for kind in kinds for word in kind}) >= 400


def test_no_two_nouns_and_no_two_adjectives_share_a_word():
    words = lexicon()
    for kind in ((*words.nouns, *words.places, *words.people, *words.cities), words.adjectives):
        assert len({word.de for word in kind}) == len(kind)
        assert len({word.en for word in kind}) == len(kind)


def test_genders_agree_with_a_list_written_apart():
    found = {noun.de: noun.gender for noun in (*lexicon().nouns, *lexicon().places)}
    for gender, listed in (("m", MASCULINE), ("f", FEMININE), ("n", NEUTER)):
        for noun in listed.split():
            assert found[noun] == gender, noun


def test_leaves_of_both_trees_are_exactly_the_words(examples):
    for example in examples:
        for text, tree in ((example.src, example.src_tree), (example.tgt, example.tgt_tree)):
            assert [word for _, word in leaves(parse(tree))] == text.split()


def test_every_word_but_punctuation_and_conjunctions_is_linked(examples):
    for example in examples:
        for side, tree in enumerate((example.src_tree, example.tgt_tree)):
            linked = {pair[side] for pair in example.alignment}
            for i, (tag, word) in enumerate(leaves(parse(tree))):
                assert i in linked or tag not in CONTENT, (word, example)


def test_links_point_at_words_and_are_sorted(examples):
    for example in examples:
        n_src, n_tgt = len(example.src.split()), len(example.tgt.split())
        assert all(0 <= i < n_src and 0 <= j < n_tgt for i, j in example.alignment)
        assert list(example.alignment) == sorted(set(example.alignment))


def test_a_german_main_clause_has_its_verb_second(examples):
    seen = 0
    for example in examples:
        _, children = parse(example.src_tree)
        if example.src.endswith(".") and children[0][0] != "S":
            assert children[1][0] in ("VERB", "AUX"), example.src_tree
            seen += 1
    assert seen > 1000


def test_a_german_subordinate_clause_has_its_verb_last(examples):
    seen = 0
    for example in examples:
        for label, children in nodes(parse(example.src_tree)):
            if label != "SBAR":
                continue
            inside = next(child for child in children if child[0] == "S")[1]
            labels = [child[0] for child in inside]
            finite = max(i for i, tag in enumerate(labels) if tag in ("VERB", "AUX"))
            assert set(labels[finite + 1 :]) <= {"PUNCT", "SBAR"}, example.src_tree
            assert labels.count("VERB") + labels.count("AUX") == 1
            seen += 1
    assert seen > 500


def test_an_opening_article_agrees_with_its_noun(examples):
    words = [noun for noun in (*lexicon().nouns, *lexicon().places) if noun.plural]
    singular = {noun.de: noun.gender for noun in (*lexicon().nouns, *lexicon().places)}
    plural = {noun.plural[0] for noun in words}
    checked = 0
    for example in examples:
        opening = leaves(parse(example.src_tree))
        if opening[0][1] not in ("Der", "Die", "Das"):
            continue
        noun = next(word for tag, word in opening if tag == "NOUN")
        allowed = {"Der": "m", "Die": "f", "Das": "n"}[opening[0][1]]
        assert singular.get(noun) == allowed or (opening[0][1] == "Die" and noun in plural), noun
        checked += 1
    assert checked > 200


WRONG_ENGLISH = [
    r"(?<!and )\bI (is|are|has|does)\b",
    r"\b(he|she|it) (are|am)\b",
    r"\b(we|they) (is|am|has|does|was)\b",
    r"\ba [aeio]",
    r"\ban [^aeiou]",
    r"\b(\w+) \1\b",
    r"\bcan not\b",
]
WRONG_GERMAN = [
    r"\bich (ist|hat|wird|bist|sind)\b",
    r"\bdu (ist|hat|wird|bin|habe)\b",
    r"\bwir (ist|hat|wird)\b",
    r"\b(in|an|zu|von) dem [A-ZÄÖÜ]",
    r"\bin das [A-ZÄÖÜ]",
    r"\b(mit|von|aus|zu) (die|das|einen|eine|ein)\b",
    r"\b(auf|über|an) (dem|einem) \w+ (warte|denk|freu)",
    r"\b(?!ihr|sie|die|das|der)(\w+) \1\b",
]


def test_typical_mistakes_do_not_occur(examples):
    for example in examples:
        for pattern in WRONG_ENGLISH:
            assert not re.search(pattern, example.tgt, re.IGNORECASE), example.tgt
        for pattern in WRONG_GERMAN:
            found = re.search(pattern, example.src)
            assert not found, (pattern, example.src)


def test_sentences_are_short_and_long(examples):
    lengths = [len(example.src.split()) for example in examples]
    assert min(lengths) <= 4
    assert max(lengths) >= 20
    assert sum(5 <= length <= 16 for length in lengths) > 0.8 * len(lengths)


def _assert_a_function(n):
    rng = Random("function")
    to_english: dict[str, str] = {}
    to_german: dict[str, str] = {}
    for _ in range(n):
        example = grammar.pair(grammar.draw(rng), tokenized=False)
        assert to_english.setdefault(example.src, example.tgt) == example.tgt
        assert to_german.setdefault(example.tgt, example.src) == example.src
    assert len(to_english) > 0.9 * n


def test_a_sentence_has_one_translation_in_each_direction():
    _assert_a_function(10_000)


@pytest.mark.slow
def test_a_sentence_has_one_translation_in_sixty_thousand():
    _assert_a_function(60_000)


def test_a_name_before_a_noun_leaves_no_doubt_about_its_number():
    sweater, hat = (lexicon().noun(word) for word in ("Pullover", "Hut"))
    for noun, numbers in ((sweater, {False}), (hat, {False, True})):
        phrases = np.simple(noun, "object").every()
        owned = {p.plural for p in phrases if p.owner is not None and p.owner.det == "name"}
        assert owned == numbers


def test_nobody_is_named_twice(sentences):
    people = {noun.de for noun in lexicon().people}
    for sentence in sentences:
        named = [lemma for lemma in grammar.content(sentence)[0] if lemma in people]
        assert len(named) == len(set(named))


def test_reserved_combinations_occur_in_the_unseen_slice_alone(sentences):
    for sentence in sentences:
        combinations = grammar.content(sentence)[1]
        reserved = any(grammar.is_reserved(*pair) for pair in combinations)
        assert reserved == (grammar.split_of(sentence) == "unseen")


def test_the_words_of_unseen_combinations_are_known_from_training(sentences):
    known = set()
    for sentence in sentences:
        if grammar.split_of(sentence) == "train":
            known.update(grammar.content(sentence)[0])
    unseen = [s for s in sentences if grammar.split_of(s) == "unseen"]
    assert 0.02 < len(unseen) / len(sentences) < 0.12
    words = [word for s in unseen for word in grammar.content(s)[0]]
    assert sum(word in known for word in words) > 0.99 * len(words)


def test_time_expressions_are_counted_exactly():
    for mood in ("past", "future", "now", "habit"):
        every = [when.time.de for when in times(mood).every()]
        assert len(every) == times(mood).count == len(set(every))


def test_noun_phrases_are_counted_exactly():
    dog = lexicon().noun("Hund")
    rule = np.simple(dog, "negated", True)
    every = {(p.det, p.plural, p.adjectives) for p in rule.every()}
    assert len(every) == rule.count


def test_every_word_of_the_lexicon_can_occur():
    rng = Random("coverage")
    seen: set[str] = set()
    for _ in range(12_000):
        seen.update(grammar.content(grammar.draw(rng))[0])
    words = lexicon()
    kinds = (words.nouns, words.places, words.adjectives, words.verbs, words.people, words.cities)
    assert {word.de for kind in kinds for word in kind} <= seen
