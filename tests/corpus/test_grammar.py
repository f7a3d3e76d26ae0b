"""The grammar: a hand-written pair for every phenomenon, with its words linked by hand."""

import pytest

from dragoman.corpus import grammar
from dragoman.corpus import grammar_phrases as np
from dragoman.corpus.grammar_lexicon import Word, lexicon
from dragoman.corpus.grammar_syntax import (
    SUBJECT,
    Clause,
    Job,
    Location,
    Phrase,
    Quality,
    Sentence,
    When,
)
from dragoman.corpus.grammar_words import IS_AT, IS_JOB, IS_LIKE, MODALS

L = lexicon()
ICH, DU, ER, SIE, WIR, IHR, SIE_PL = range(7)


def pro(which):
    person, gender = [(0, ""), (1, ""), (2, "m"), (2, "f"), (3, ""), (4, ""), (5, "")][which]
    return Phrase("pronoun", person=person, gender=gender)


def np_(det, noun, *adjectives, plural=False, number=None, **more):
    word = next((w for w in np.numbers() if w.de == number), None)
    described = tuple(L.adjective(a) for a in adjectives)
    return Phrase(det, L.noun(noun), plural, described, word, **more)


def name(de):
    return Phrase("name", L.noun(de))


def verb(de, slot=""):
    return L.verb(de, slot)


def where(noun, *adjectives, det="def"):
    place = L.noun(noun)
    phrase = name(noun) if "city" in place.classes else np_(det, noun, *adjectives)
    return Location(phrase, *place.where, 2)


def whither(noun):
    place = L.noun(noun)
    phrase = name(noun) if "city" in place.classes else np_("def", noun)
    return Location(phrase, *place.whither, 2 if place.whither[0] in ("zu", "nach") else 1)


def when(mood, german):
    for found in np.times(mood).every():
        if " ".join(word for word, _ in found.time.de) == german:
            return When(found.time)
    raise LookupError(german)


def modal(mood, infinitive):
    return next(m for m in MODALS[mood].every() if m.infinitive == infinitive)


def statement(*args, **more):
    return Sentence("statement", Clause(*args, **more))


def two(kind, first, second, de, en):
    return Sentence(kind, first, second, Word(de, en))


ANAPHOR = Phrase("anaphor")
GOLDEN = {
    "a noun and a verb": (
        statement(verb("schlafen"), np_("def", "Hund")),
        "Der Hund schläft .",
        "The dog is sleeping .",
    ),
    "verb second after a time": (
        statement(verb("lesen"), np_("def", "Frau"), (np_("indef", "Brief"),), "past",
                  when=when("past", "gestern"), front="when"),
        "Gestern hat die Frau einen Brief gelesen .",
        "Yesterday the woman read a letter .",
    ),
    "verb second after a place": (
        statement(verb("tanzen"), np_("def", "Kind", plural=True), place=where("Garten"),
                  front="place"),
        "Im Garten tanzen die Kinder .",
        "In the garden the children are dancing .",
    ),
    "a separable verb apart": (
        statement(verb("anrufen"), np_("my", "Mutter"), (np_("def", "Arzt"),)),
        "Meine Mutter ruft den Arzt an .",
        "My mother is calling the doctor .",
    ),
    "a separable verb together at the end": (
        two("after", Clause(verb("lachen"), pro(ER)),
            Clause(verb("aufmachen"), np_("def", "Frau"), (np_("def", "Tür"),)), "weil", "because"),
        "Er lacht , weil die Frau die Tür aufmacht .",
        "He is laughing because the woman is opening the door .",
    ),
    "a modal verb and its infinitive": (
        statement(verb("einladen"), name("Anna"), (np_("def", "Nachbar", plural=True),), "present",
                  modal("modal", "wollen")),
        "Anna will die Nachbarn einladen .",
        "Anna wants to invite the neighbors .",
    ),
    "a negated modal": (
        statement(verb("arbeiten"), pro(DU), (), "present", modal("modal", "müssen"), True),
        "Du musst nicht arbeiten .",
        "You do not have to work .",
    ),
    "cannot in one word": (
        statement(verb("schlafen"), pro(ICH), (), "present", modal("modal", "können"), True),
        "Ich kann nicht schlafen .",
        "I cannot sleep .",
    ),
    "the perfect with sein": (
        statement(verb("reisen"), pro(WIR), (whither("Berlin"),), "past",
                  when=when("past", "letztes Jahr")),
        "Wir sind letztes Jahr nach Berlin gereist .",
        "We traveled to Berlin last year .",
    ),
    "the future": (
        statement(verb("kaufen"), pro(SIE), (np_("number", "Buch", plural=True, number="drei"),),
                  "future", when=when("future", "am Montag um acht Uhr"), front="when"),
        "Am Montag um acht Uhr wird sie drei Bücher kaufen .",
        "On Monday at eight o'clock she will buy three books .",
    ),
    "weak nouns and dative before accusative": (
        statement(verb("geben"), np_("def", "Junge"),
                  (np_("def", "Student"), np_("indef", "Apfel", "süß"))),
        "Der Junge gibt dem Studenten einen süßen Apfel .",
        "The boy is giving the student a sweet apple .",
    ),
    "strong, weak and mixed adjectives": (
        statement(verb("bringen"), np_("this", "Mann", "alt"),
                  (np_("own", "Sohn", "krank"), np_("bare", "Wasser", "kalt"))),
        "Dieser alte Mann bringt seinem kranken Sohn kaltes Wasser .",
        "This old man is bringing his sick son cold water .",
    ),
    "a genitive": (
        statement(verb("reparieren"), name("Paul"),
                  (Phrase("def", L.noun("Auto"), False, (L.adjective("alt"),), None,
                          np_("my", "Schwester")),)),
        "Paul repariert das alte Auto meiner Schwester .",
        "Paul is repairing my sister 's old car .",
    ),
    "the genitive of a weak noun and of a name": (
        statement(verb("suchen"), name("Eva"),
                  (Phrase("def", L.noun("Hund"), owner=np_("def", "Junge")),)),
        "Eva sucht den Hund des Jungen .",
        "Eva is looking for the boy 's dog .",
    ),
    "kein": (
        statement(verb("haben"), np_("our", "Lehrer"), (np_("indef", "Fahrrad"),), negated=True),
        "Unser Lehrer hat kein Fahrrad .",
        "Our teacher does not have a bicycle .",
    ),
    "kein of a mass": (
        statement(verb("trinken"), pro(WIR), (np_("bare", "Milch"),), "past", negated=True),
        "Wir haben keine Milch getrunken .",
        "We did not drink any milk .",
    ),
    "nicht before a place, after an object": (
        statement(verb("lesen"), pro(SIE_PL), (np_("def", "Zeitung"),), negated=True,
                  place=where("Küche")),
        "Sie lesen die Zeitung nicht in der Küche .",
        "They are not reading the newspaper in the kitchen .",
    ),
    "a question": (
        Sentence("question", Clause(verb("kennen"), pro(IHR), (np_("def", "Kollege"),))),
        "Kennt ihr den Kollegen ?",
        "Do you all know the colleague ?",
    ),
    "a question in the past": (
        Sentence("question", Clause(verb("mitbringen"), name("Lena"), (np_("def", "Kuchen"),),
                                    "past")),
        "Hat Lena den Kuchen mitgebracht ?",
        "Did Lena bring the cake along ?",
    ),
    "who": (
        Sentence("who", Clause(verb("helfen"), Phrase("gap"), (pro(ER),), gap=SUBJECT)),
        "Wer hilft ihm ?",
        "Who is helping him ?",
    ),
    "whom, with a preposition": (
        Sentence("whom", Clause(verb("warten"), pro(DU), (None,), gap=0)),
        "Auf wen wartest du ?",
        "Who are you waiting for ?",
    ),
    "whither": (
        Sentence("whither", Clause(verb("fahren"), np_("def", "Fahrer", plural=True), (None,),
                                   "past", gap=0)),
        "Wohin sind die Fahrer gefahren ?",
        "Where did the drivers drive ?",
    ),
    "a relative clause on the subject": (
        statement(verb("lachen"), Phrase("def", L.noun("Frau"), relative=Clause(
            verb("lesen"), Phrase("gap"), (np_("def", "Buch"),), gap=SUBJECT))),
        "Die Frau , die das Buch liest , lacht .",
        "The woman who is reading the book is laughing .",
    ),
    "a relative clause moved behind the participle": (
        statement(verb("finden"), pro(ICH), (Phrase("def", L.noun("Schlüssel"), relative=Clause(
            verb("suchen"), pro(DU), (None,), "past", gap=0)),), "past"),
        "Ich habe den Schlüssel gefunden , den du gesucht hast .",
        "I found the key that you looked for .",
    ),
    "a relative clause with a dative": (
        statement(verb("besuchen"), pro(WIR), (Phrase("def", L.noun("Freund"), True,
            relative=Clause(verb("danken"), pro(ER), (None,), gap=0)),), "future"),
        "Wir werden die Freunde besuchen , denen er dankt .",
        "We will visit the friends that he is thanking .",
    ),
    "a relative clause with a preposition": (
        statement(verb("sehen"), pro(ICH), (Phrase("def", L.noun("Lehrer"), relative=Clause(
            verb("reden"), pro(DU), (None,), "past", gap=0)),)),
        "Ich sehe den Lehrer , mit dem du geredet hast .",
        "I see the teacher that you talked to .",
    ),
    "a subordinate clause first": (
        two("before", Clause(IS_LIKE, np_("def", "Katze"), (Quality(L.adjective("müde")),)),
            Clause(verb("schlafen"), ANAPHOR), "weil", "because"),
        "Weil die Katze müde ist , schläft sie .",
        "Because the cat is tired , it is sleeping .",
    ),
    "wenn is habitual": (
        two("before", Clause(verb("regnen"), Phrase("pronoun", gender="n"), habitual=True),
            Clause(verb("fernsehen"), np_("my", "Bruder"), habitual=True), "wenn", "when"),
        "Wenn es regnet , sieht mein Bruder fern .",
        "When it rains , my brother watches TV .",
    ),
    "als is past": (
        two("after", Clause(verb("weinen"), np_("def", "Mädchen"), (), "past"),
            Clause(verb("abfahren"), np_("def", "Zug"), (), "past"), "als", "when"),
        "Das Mädchen hat geweint , als der Zug abgefahren ist .",
        "The girl cried when the train departed .",
    ),
    "dass, with the auxiliary last": (
        statement(verb("glauben"), np_("def", "Nachbar"),
                  (Clause(verb("verlieren"), pro(ICH), (np_("own", "Schlüssel"),), "past"),)),
        "Der Nachbar glaubt , dass ich meinen Schlüssel verloren habe .",
        "The neighbor believes that I lost my key .",
    ),
    "ob": (
        statement(verb("fragen", "ob"), np_("def", "Mädchen"),
                  (Clause(verb("mitnehmen"), ANAPHOR, (np_("own", "Hund"),), "present",
                          modal("modal", "dürfen")),)),
        "Das Mädchen fragt , ob es seinen Hund mitnehmen darf .",
        "The girl asks whether she is allowed to take her dog along .",
    ),
    "um zu, with a separable verb": (
        Sentence("purpose", Clause(verb("gehen"), pro(SIE), (whither("Bahnhof"),)),
                 Clause(verb("abholen"), Phrase("gap"), (np_("own", "Tante"),), gap=SUBJECT)),
        "Sie geht zum Bahnhof , um ihre Tante abzuholen .",
        "She is going to the station to pick up her aunt .",
    ),
    "und shares the auxiliary": (
        two("and", Clause(verb("singen"), pro(WIR), (np_("indef", "Lied"),), "past"),
            Clause(verb("tanzen"), Phrase("gap"), (), "past", gap=SUBJECT), "und", "and"),
        "Wir haben ein Lied gesungen und getanzt .",
        "We sang a song and danced .",
    ),
    "deshalb turns the clause round": (
        two("so", Clause(IS_LIKE, name("Peter"), (Quality(L.adjective("hungrig")),), "past"),
            Clause(verb("kochen"), ANAPHOR, (np_("bare", "Suppe"),), "past"), "deshalb", "so"),
        "Peter war hungrig , deshalb hat er Suppe gekocht .",
        "Peter was hungry , so he cooked soup .",
    ),
    "an order": (
        Sentence("order", Clause(verb("zumachen"), pro(DU), (np_("def", "Fenster"),), gap=SUBJECT),
                 None, Word("bitte", "please")),
        "Bitte mach das Fenster zu !",
        "Please close the window !",
    ),
    "an order not to": (
        Sentence("order", Clause(verb("vergessen"), pro(DU), (np_("own", "Schlüssel"),),
                                 negated=True, gap=SUBJECT)),
        "Vergiss deinen Schlüssel nicht !",
        "Do not forget your key !",
    ),
    "a comparison": (
        statement(IS_LIKE, np_("def", "Elefant"),
                  (Quality(L.adjective("groß"), "more", np_("def", "Bär")),)),
        "Der Elefant ist größer als der Bär .",
        "The elephant is bigger than the bear .",
    ),
    "a comparison of equals": (
        statement(IS_LIKE, np_("this", "Auto"),
                  (Quality(L.adjective("teuer"), "as", np_("def", "Boot")),), negated=True),
        "Dieses Auto ist nicht so teuer wie das Boot .",
        "This car is not as expensive as the boat .",
    ),
    "a profession": (
        statement(IS_JOB, np_("my", "Onkel"), (Job(L.noun("Künstler")),)),
        "Mein Onkel ist Künstler .",
        "My uncle is an artist .",
    ),
    "being somewhere": (
        statement(IS_AT, pro(SIE), (where("Strand"),), "past"),
        "Sie war am Strand .",
        "She was on the beach .",
    ),
    "there is": (
        Sentence("exists", Clause(IS_LIKE, Phrase("pronoun", gender="n"),
                                  (np_("many", "Baum", "groß", plural=True),),
                                  place=where("Park"))),
        "Es gibt viele große Bäume im Park .",
        "There are many big trees in the park .",
    ),
    "gern becomes a verb": (
        statement(verb("spielen"), np_("our", "Lehrer", plural=True),
                  (Phrase("zero", L.noun("Klavier")),), gladly=True),
        "Unsere Lehrer spielen gern Klavier .",
        "Our teachers like to play the piano .",
    ),
    "a habit": (
        statement(verb("füttern"), np_("def", "Bauer"), (np_("own", "Kuh", plural=True),),
                  habitual=True, when=when("habit", "jeden Morgen")),
        "Der Bauer füttert jeden Morgen seine Kühe .",
        "The farmer feeds his cows every morning .",
    ),
    "a reflexive verb": (
        statement(verb("freuen"), np_("def", "Kind", plural=True), (np_("def", "Fest"),)),
        "Die Kinder freuen sich auf das Fest .",
        "The children are looking forward to the festival .",
    ),
    "joined subjects": (
        statement(verb("fahren"), np_("my", "Bruder")._replace(partner=pro(ICH)),
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


def test_do_is_linked_to_the_finite_verb_alone():
    pairs = linked_words("a question in the past")
    assert {german for german, english in pairs if english == "Did"} == {"Hat"}
    assert {german for german, english in pairs if english in ("bring", "along")} == {"mitgebracht"}


def test_a_melted_preposition_is_linked_to_preposition_and_article():
    assert {("Im", "In"), ("Im", "the")} <= linked_words("verb second after a place")


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


def test_the_other_direction_swaps_sides_and_links():
    sentence = GOLDEN["kein"][0]
    there, back = grammar.pair(sentence), grammar.pair(sentence, to_german=True)
    assert (back.src, back.tgt) == (there.tgt, there.src)
    assert (back.src_tree, back.tgt_tree) == (there.tgt_tree, there.src_tree)
    assert set(back.alignment) == {(j, i) for i, j in there.alignment}


def test_natural_text_glues_punctuation_and_possessives():
    example = grammar.pair(GOLDEN["a genitive"][0], tokenized=False)
    assert example.tgt == "Paul is repairing my sister's old car."
