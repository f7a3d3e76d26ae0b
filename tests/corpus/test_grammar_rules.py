from collections import Counter
from random import Random

import pytest

from dragoman.corpus.grammar_inflection import (
    DEFINITE,
    EIN,
    MIXED,
    STRONG,
    WEAK,
    english_ing,
    english_past,
    english_s,
    german_imperative,
    german_noun_forms,
    german_present,
)
from dragoman.corpus.grammar_rules import Build, Later, Mix, Pick, one

PRESENT = {
    ("lesen", "liest"): "lese liest liest lesen lest lesen",
    ("fahren", "fährt"): "fahre fährst fährt fahren fahrt fahren",
    ("arbeiten", "arbeitet"): "arbeite arbeitest arbeitet arbeiten arbeitet arbeiten",
    ("zeichnen", "zeichnet"): "zeichne zeichnest zeichnet zeichnen zeichnet zeichnen",
    ("tanzen", "tanzt"): "tanze tanzt tanzt tanzen tanzt tanzen",
    ("wandern", "wandert"): "wandere wanderst wandert wandern wandert wandern",
    ("laden", "lädt"): "lade lädst lädt laden ladet laden",
    ("lernen", "lernt"): "lerne lernst lernt lernen lernt lernen",
    ("nehmen", "nimmt"): "nehme nimmst nimmt nehmen nehmt nehmen",
    ("mögen", "mag"): "mag magst mag mögen mögt mögen",
    ("haben", "hat"): "habe hast hat haben habt haben",
}


@pytest.mark.parametrize(("verb", "forms"), PRESENT.items())
def test_the_german_present_is_that_of_the_grammar_book(verb, forms):
    assert " ".join(german_present(*verb)) == forms


def test_the_imperative_keeps_an_i_and_drops_an_umlaut():
    forms = {
        ("geben", "gibt"): "gib", ("lesen", "liest"): "lies", ("essen", "isst"): "iss",
        ("fahren", "fährt"): "fahr", ("waschen", "wäscht"): "wasch", ("warten", "wartet"): "warte",
        ("machen", "macht"): "mach", ("nehmen", "nimmt"): "nimm", ("füttern", "füttert"): "füttere",
        ("spielen", "spielt"): "spiel",
    }  # fmt: skip
    assert {verb: german_imperative(*verb) for verb in forms} == forms


def test_adjective_endings_are_those_of_the_three_declensions():
    # der gute Mann, guter Mann, ein guter Mann ... by case; columns m f n plural
    weak = "gute gute gute guten, guten gute gute guten" + ", guten guten guten guten" * 2
    strong = "guter gute gutes gute, guten gute gutes gute, gutem guter gutem guten"
    strong += ", guten guter guten guter"
    mixed = "guter gute gutes guten, guten gute gutes guten" + ", guten guten guten guten" * 2
    for table, text in ((WEAK, weak), (STRONG, strong), (MIXED, mixed)):
        for case, row in enumerate(text.split(", ")):
            for gender, form in zip("mfnp", row.split(), strict=True):
                assert "gut" + table[case, gender] == form


def test_articles_are_those_of_the_grammar_book():
    assert [DEFINITE[case, "m"] for case in range(4)] == ["der", "den", "dem", "des"]
    assert [DEFINITE[case, "f"] for case in range(4)] == ["die", "die", "der", "der"]
    assert [DEFINITE[case, "p"] for case in range(4)] == ["die", "die", "den", "der"]
    assert ["ein" + EIN[case, "m"] for case in range(4)] == ["ein", "einen", "einem", "eines"]
    assert ["kein" + EIN[case, "p"] for case in range(4)] == ["keine", "keine", "keinen", "keiner"]


def test_weak_nouns_and_dative_plurals_get_their_n():
    assert german_noun_forms("Junge", "m", "Jungen", "Jungen")[0] == ("Junge",) + ("Jungen",) * 3
    assert german_noun_forms("Mann", "m", "Männer", "Mannes")[1][2] == "Männern"
    assert german_noun_forms("Auto", "n", "Autos", "-")[1][2] == "Autos"
    assert german_noun_forms("Frau", "f", "Frauen", "-") == (("Frau",) * 4, ("Frauen",) * 4)
    assert german_noun_forms("Milch", "f", "-", "-")[1] == ()


def test_english_verbs_are_spelled_by_rule_and_exception():
    assert [english_s(v) for v in ("go", "watch", "try", "play", "have")] == (
        ["goes", "watches", "tries", "plays", "has"]
    )
    assert [english_past(v, "+") for v in ("love", "try", "plan", "play")] == (
        ["loved", "tried", "planned", "played"]
    )
    assert english_past("go", "went") == "went"
    assert [english_ing(v, "+") for v in ("write", "sing")] == ["writing", "singing"]


def test_counts_are_sums_of_choices_and_products_of_parts():
    letters = Pick("abc")
    rule = Mix([(1, Build(str.__add__, letters, letters)), (5, Later(lambda: Pick("xy")))])
    assert rule.count == 11
    assert len(set(rule.every())) == 11


def test_draws_follow_the_weights():
    rng = Random(1)
    rule = Mix([(3, one("often")), (1, Pick(["a", "b"], [9, 1]))])
    counts = Counter(rule.draw(rng) for _ in range(4000))
    assert counts["often"] == pytest.approx(3000, rel=0.05)
    assert counts["a"] == pytest.approx(900, rel=0.1)
    assert set(counts) == {"often", "a", "b"}


def test_a_choice_of_nothing_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        Pick([])
    with pytest.raises(ValueError, match="at least one"):
        Mix([])
