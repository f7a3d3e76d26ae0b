"""One hand-written pair for every way to ask, to order and to put clauses together."""

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
from dragoman.corpus.grammar_lexicon import Word, lexicon
from dragoman.corpus.grammar_syntax import SUBJECT, Clause, Job, Phrase, Quality, Sentence
from dragoman.corpus.grammar_words import IS_AT, IS_JOB, IS_LIKE

L = lexicon()
ANAPHOR = Phrase("anaphor")


def two(kind, first, second, german, english):
    return joined(kind, (first, second), german, english)


GOLDEN = {
    "a question": (
        Sentence("question", Clause(verb("kennen"), pronoun("ihr"), (noun("def", "Kollege"),))),
        "Kennt ihr den Kollegen ?",
        "Do you all know the colleague ?",
    ),
    "a question in the past": (
        Sentence("question", Clause(verb("mitbringen"), name("Lena"), (noun("def", "Kuchen"),),
                                    "past")),
        "Hat Lena den Kuchen mitgebracht ?",
        "Did Lena bring the cake along ?",
    ),
    "who": (
        Sentence("who", Clause(verb("helfen"), Phrase("gap"), (pronoun("er"),), gap=SUBJECT)),
        "Wer hilft ihm ?",
        "Who is helping him ?",
    ),
    "whom, with a preposition": (
        Sentence("whom", Clause(verb("warten"), pronoun("du"), (None,), gap=0)),
        "Auf wen wartest du ?",
        "Who are you waiting for ?",
    ),
    "whither": (
        Sentence("whither", Clause(verb("fahren"), noun("def", "Fahrer", plural=True), (None,),
                                   "past", gap=0)),
        "Wohin sind die Fahrer gefahren ?",
        "Where did the drivers drive ?",
    ),
    "a relative clause on the subject": (
        statement(verb("lachen"), noun("def", "Frau", relative=Clause(
            verb("lesen"), Phrase("gap"), (noun("def", "Buch"),), gap=SUBJECT))),
        "Die Frau , die das Buch liest , lacht .",
        "The woman who is reading the book is laughing .",
    ),
    "a relative clause moved behind the participle": (
        statement(verb("finden"), pronoun("ich"), (noun("def", "Schlüssel", relative=Clause(
            verb("suchen"), pronoun("du"), (None,), "past", gap=0)),), "past"),
        "Ich habe den Schlüssel gefunden , den du gesucht hast .",
        "I found the key that you looked for .",
    ),
    "a relative clause with a dative": (
        statement(verb("besuchen"), pronoun("wir"), (noun("def", "Freund", plural=True,
            relative=Clause(verb("danken"), pronoun("er"), (None,), gap=0)),), "future"),
        "Wir werden die Freunde besuchen , denen er dankt .",
        "We will visit the friends that he is thanking .",
    ),
    "a relative clause with a preposition": (
        statement(verb("sehen"), pronoun("ich"), (noun("def", "Lehrer", relative=Clause(
            verb("reden"), pronoun("du"), (None,), "past", gap=0)),)),
        "Ich sehe den Lehrer , mit dem du geredet hast .",
        "I see the teacher that you talked to .",
    ),
    "a subordinate clause first": (
        two("before", Clause(IS_LIKE, noun("def", "Katze"), (Quality(L.adjective("müde")),)),
            Clause(verb("schlafen"), ANAPHOR), "weil", "because"),
        "Weil die Katze müde ist , schläft sie .",
        "Because the cat is tired , it is sleeping .",
    ),
    "wenn is habitual": (
        two("before", Clause(verb("regnen"), pronoun("es"), habitual=True),
            Clause(verb("fernsehen"), noun("my", "Bruder"), habitual=True), "wenn", "when"),
        "Wenn es regnet , sieht mein Bruder fern .",
        "When it rains , my brother watches TV .",
    ),
    "als is past": (
        two("after", Clause(verb("weinen"), noun("def", "Mädchen"), (), "past"),
            Clause(verb("abfahren"), noun("def", "Zug"), (), "past"), "als", "when"),
        "Das Mädchen hat geweint , als der Zug abgefahren ist .",
        "The girl cried when the train departed .",
    ),
    "dass, with the auxiliary last": (
        statement(verb("glauben"), noun("def", "Nachbar"),
                  (Clause(verb("verlieren"), pronoun("ich"), (noun("own", "Schlüssel"),),
                          "past"),)),
        "Der Nachbar glaubt , dass ich meinen Schlüssel verloren habe .",
        "The neighbor believes that I lost my key .",
    ),
    "ob": (
        statement(verb("fragen", "ob"), noun("def", "Mädchen"),
                  (Clause(verb("mitnehmen"), ANAPHOR, (noun("own", "Hund"),), "present",
                          modal("modal", "dürfen")),)),
        "Das Mädchen fragt , ob es seinen Hund mitnehmen darf .",
        "The girl asks whether she is allowed to take her dog along .",
    ),
    "um zu, with a separable verb": (
        Sentence("purpose", Clause(verb("gehen"), pronoun("sie"), (whither("Bahnhof"),)),
                 Clause(verb("abholen"), Phrase("gap"), (noun("own", "Tante"),), gap=SUBJECT)),
        "Sie geht zum Bahnhof , um ihre Tante abzuholen .",
        "She is going to the station to pick up her aunt .",
    ),
    "und shares the auxiliary": (
        two("and", Clause(verb("singen"), pronoun("wir"), (noun("indef", "Lied"),), "past"),
            Clause(verb("tanzen"), Phrase("gap"), (), "past", gap=SUBJECT), "und", "and"),
        "Wir haben ein Lied gesungen und getanzt .",
        "We sang a song and danced .",
    ),
    "deshalb turns the clause round": (
        two("so", Clause(IS_LIKE, name("Peter"), (Quality(L.adjective("hungrig")),), "past"),
            Clause(verb("kochen"), ANAPHOR, (noun("bare", "Suppe"),), "past"), "deshalb", "so"),
        "Peter war hungrig , deshalb hat er Suppe gekocht .",
        "Peter was hungry , so he cooked soup .",
    ),
    "an order": (
        Sentence("order", Clause(verb("zumachen"), pronoun("du"), (noun("def", "Fenster"),),
                                 gap=SUBJECT), None, Word("bitte", "please")),
        "Bitte mach das Fenster zu !",
        "Please close the window !",
    ),
    "an order not to": (
        Sentence("order", Clause(verb("vergessen"), pronoun("du"), (noun("own", "Schlüssel"),),
                                 negated=True, gap=SUBJECT)),
        "Vergiss deinen Schlüssel nicht !",
        "Do not forget your key !",
    ),
    "a comparison": (
        statement(IS_LIKE, noun("def", "Elefant"),
                  (Quality(L.adjective("groß"), "more", noun("def", "Bär")),)),
        "Der Elefant ist größer als der Bär .",
        "The elephant is bigger than the bear .",
    ),
    "a comparison of equals": (
        statement(IS_LIKE, noun("this", "Auto"),
                  (Quality(L.adjective("teuer"), "as", noun("def", "Boot")),), negated=True),
        "Dieses Auto ist nicht so teuer wie das Boot .",
        "This car is not as expensive as the boat .",
    ),
    "a profession": (
        statement(IS_JOB, noun("my", "Onkel"), (Job(L.noun("Künstler")),)),
        "Mein Onkel ist Künstler .",
        "My uncle is an artist .",
    ),
    "being somewhere": (
        statement(IS_AT, pronoun("sie"), (where("Strand"),), "past"),
        "Sie war am Strand .",
        "She was on the beach .",
    ),
    "there is": (
        Sentence("exists", Clause(IS_LIKE, pronoun("es"),
                                  (noun("many", "Baum", "groß", plural=True),),
                                  place=where("Park"))),
        "Es gibt viele große Bäume im Park .",
        "There are many big trees in the park .",
    ),
    "gern becomes a verb": (
        statement(verb("spielen"), noun("our", "Lehrer", plural=True),
                  (noun("zero", "Klavier"),), gladly=True),
        "Unsere Lehrer spielen gern Klavier .",
        "Our teachers like to play the piano .",
    ),
    "a habit": (
        statement(verb("füttern"), noun("def", "Bauer"), (noun("own", "Kuh", plural=True),),
                  habitual=True, when=when("habit", "jeden Morgen")),
        "Der Bauer füttert jeden Morgen seine Kühe .",
        "The farmer feeds his cows every morning .",
    ),
    "a reflexive verb": (
        statement(verb("freuen"), noun("def", "Kind", plural=True), (noun("def", "Fest"),)),
        "Die Kinder freuen sich auf das Fest .",
        "The children are looking forward to the festival .",
    ),
    "joined subjects": (
        statement(verb("fahren"), noun("my", "Bruder")._replace(partner=pronoun("ich")),
                  (whither("Stadt"),), when=when("now", "heute")),
        "Mein Bruder und ich fahren heute in die Stadt .",
        "My brother and I are driving to the city today .",
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


def test_do_is_linked_to_the_finite_verb_alone():
    pairs = linked_words("a question in the past")
    assert {german for german, english in pairs if english == "Did"} == {"Hat"}
    assert {german for german, english in pairs if english in ("bring", "along")} == {"mitgebracht"}


def test_the_trees_of_a_sentence_are_as_drawn_by_hand():
    example = grammar.pair(GOLDEN["a relative clause on the subject"][0])
    assert example.src_tree == (
        "(S (NP (DET Die) (NOUN Frau) (PUNCT ,) (SBAR (WHNP (PRON die)) (S (NP (DET das)"
        " (NOUN Buch)) (VERB liest))) (PUNCT ,)) (VERB lacht) (PUNCT .))"
    )
    assert example.tgt_tree == (
        "(S (NP (NP (DET The) (NOUN woman)) (SBAR (WHNP (PRON who)) (S (VP (AUX is) (VP"
        " (VERB reading) (NP (DET the) (NOUN book))))))) (VP (AUX is) (VP (VERB laughing)))"
        " (PUNCT .))"
    )
