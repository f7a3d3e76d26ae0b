"""One hand-written pair for every phenomenon within a clause, with links checked by hand."""

import pytest

from dragoman.corpus import grammar
from dragoman.corpus.grammar_builder import (
    joined,
    modal,
    name,
    noun,
    pronoun,
    statement,
    verb,
    when,
    where,
    whither,
)
from dragoman.corpus.grammar_lexicon import lexicon
from dragoman.corpus.grammar_syntax import Clause, Phrase

L = lexicon()
ANAPHOR = Phrase("anaphor")


def two(kind, first, second, german, english):
    return joined(kind, (first, second), german, english)


GOLDEN = {
    "a noun and a verb": (
        statement(verb("schlafen"), noun("def", "Hund")),
        "Der Hund schläft .",
        "The dog is sleeping .",
    ),
    "verb second after a time": (
        statement(verb("lesen"), noun("def", "Frau"), (noun("indef", "Brief"),), "past",
                  when=when("past", "gestern"), front="when"),
        "Gestern hat die Frau einen Brief gelesen .",
        "Yesterday the woman read a letter .",
    ),
    "verb second after a place": (
        statement(verb("tanzen"), noun("def", "Kind", plural=True), place=where("Garten"),
                  front="place"),
        "Im Garten tanzen die Kinder .",
        "In the garden the children are dancing .",
    ),
    "a separable verb apart": (
        statement(verb("anrufen"), noun("my", "Mutter"), (noun("def", "Arzt"),)),
        "Meine Mutter ruft den Arzt an .",
        "My mother is calling the doctor .",
    ),
    "a separable verb together at the end": (
        two("after", Clause(verb("lachen"), pronoun("er")),
            Clause(verb("aufmachen"), noun("def", "Frau"), (noun("def", "Tür"),)),
            "weil", "because"),
        "Er lacht , weil die Frau die Tür aufmacht .",
        "He is laughing because the woman is opening the door .",
    ),
    "a modal verb and its infinitive": (
        statement(verb("einladen"), name("Anna"), (noun("def", "Nachbar", plural=True),), "present",
                  modal("modal", "wollen")),
        "Anna will die Nachbarn einladen .",
        "Anna wants to invite the neighbors .",
    ),
    "a negated modal": (
        statement(verb("arbeiten"), pronoun("du"), (), "present", modal("modal", "müssen"), True),
        "Du musst nicht arbeiten .",
        "You do not have to work .",
    ),
    "cannot in one word": (
        statement(verb("schlafen"), pronoun("ich"), (), "present", modal("modal", "können"), True),
        "Ich kann nicht schlafen .",
        "I cannot sleep .",
    ),
    "the perfect with sein": (
        statement(verb("reisen"), pronoun("wir"), (whither("Berlin"),), "past",
                  when=when("past", "letztes Jahr")),
        "Wir sind letztes Jahr nach Berlin gereist .",
        "We traveled to Berlin last year .",
    ),
    "the future": (
        statement(verb("kaufen"), pronoun("sie"),
                  (noun("number", "Buch", plural=True, number="drei"),), "future",
                  when=when("future", "am Montag um acht Uhr"), front="when"),
        "Am Montag um acht Uhr wird sie drei Bücher kaufen .",
        "On Monday at eight o'clock she will buy three books .",
    ),
    "weak nouns and dative before accusative": (
        statement(verb("geben"), noun("def", "Junge"),
                  (noun("def", "Student"), noun("indef", "Apfel", "süß"))),
        "Der Junge gibt dem Studenten einen süßen Apfel .",
        "The boy is giving the student a sweet apple .",
    ),
    "strong, weak and mixed adjectives": (
        statement(verb("bringen"), noun("this", "Mann", "alt"),
                  (noun("own", "Sohn", "krank"), noun("bare", "Wasser", "kalt"))),
        "Dieser alte Mann bringt seinem kranken Sohn kaltes Wasser .",
        "This old man is bringing his sick son cold water .",
    ),
    "a genitive": (
        statement(verb("reparieren"), name("Paul"),
                  (noun("def", "Auto", "alt", owner=noun("my", "Schwester")),)),
        "Paul repariert das alte Auto meiner Schwester .",
        "Paul is repairing my sister 's old car .",
    ),
    "the genitive of a weak noun and of a name": (
        statement(verb("suchen"), name("Eva"),
                  (noun("def", "Hund", owner=noun("def", "Junge")),)),
        "Eva sucht den Hund des Jungen .",
        "Eva is looking for the boy 's dog .",
    ),
    "kein": (
        statement(verb("haben"), noun("our", "Lehrer"), (noun("indef", "Fahrrad"),), negated=True),
        "Unser Lehrer hat kein Fahrrad .",
        "Our teacher does not have a bicycle .",
    ),
    "kein of a mass": (
        statement(verb("trinken"), pronoun("wir"), (noun("bare", "Milch"),), "past", negated=True),
        "Wir haben keine Milch getrunken .",
        "We did not drink any milk .",
    ),
    "nicht before a place, after an object": (
        statement(verb("lesen"), pronoun("sie (plural)"), (noun("def", "Zeitung"),), negated=True,
                  place=where("Küche")),
        "Sie lesen die Zeitung nicht in der Küche .",
        "They are not reading the newspaper in the kitchen .",
    ),
}  # fmt: skip


@pytest.mark.parametrize("phenomenon", list(GOLDEN))
def test_a_sentence_is_put_into_words_as_a_speaker_would(phenomenon):
    sentence, german, english = GOLDEN[phenomenon]
    example = grammar.pair(sentence)
    assert (example.src, example.tgt) == (german, english)


def linked_words(phenomenon):
    example = grammar.pair(GOLDEN[phenomenon][0])
    source, target = example.src.split(), example.tgt.split()
    return {(source[i], target[j]) for i, j in example.alignment}


def test_both_parts_of_a_separable_verb_are_linked_to_the_english_verb():
    assert linked_words("a separable verb apart") == {
        ("Meine", "My"), ("Mutter", "mother"), ("ruft", "is"), ("ruft", "calling"), ("den", "the"),
        ("Arzt", "doctor"), ("an", "calling"), (".", "."),
    }  # fmt: skip


def test_kein_is_linked_to_not_and_to_the_article():
    assert linked_words("kein") == {
        ("Unser", "Our"), ("Lehrer", "teacher"), ("hat", "does"), ("hat", "have"), ("kein", "not"),
        ("kein", "a"), ("Fahrrad", "bicycle"), (".", "."),
    }  # fmt: skip


def test_auxiliary_and_participle_are_linked_to_the_simple_past():
    assert {("hat", "read"), ("gelesen", "read")} <= linked_words("verb second after a time")


def test_a_melted_preposition_is_linked_to_preposition_and_article():
    assert {("Im", "In"), ("Im", "the")} <= linked_words("verb second after a place")


def test_the_other_direction_swaps_sides_and_links():
    sentence = GOLDEN["kein"][0]
    there, back = grammar.pair(sentence), grammar.pair(sentence, to_german=True)
    assert (back.src, back.tgt) == (there.tgt, there.src)
    assert (back.src_tree, back.tgt_tree) == (there.tgt_tree, there.src_tree)
    assert set(back.alignment) == {(j, i) for i, j in there.alignment}


def test_natural_text_glues_punctuation_and_possessives():
    example = grammar.pair(GOLDEN["a genitive"][0], tokenized=False)
    assert example.tgt == "Paul is repairing my sister's old car."
