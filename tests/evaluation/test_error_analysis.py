"""Counts of an error analysis, worked out by hand on a few lines."""

import pytest

from dragoman.evaluation.error_analysis import N_WORST, analyze_errors
from dragoman.evaluation.scores import ScoreSettings, score_corpus

SRC = ["der Hund", "die Katze schläft", "ein Haus in Berlin", "eins zwei drei vier fünf sechs"]
REF = ["the dog", "the cat sleeps", "a house in Berlin", "one two three four five six"]
HYP = ["the dog", "the Katze sleeps", "a house in Berlin", ""]


def test_lengths_are_those_of_the_source_and_scores_those_of_the_sentences_inside():
    found = analyze_errors(HYP, [REF], sources=SRC)
    assert found.by_source
    assert [(b.label, b.sentences) for b in found.lengths] == [("0–5", 3), ("6–10", 1)]
    inside = score_corpus(HYP[:3], [REF[:3]])
    assert found.lengths[0].bleu == pytest.approx(inside.bleu)
    assert found.lengths[0].chrf == pytest.approx(inside.chrf)
    assert [b.length_ratio for b in found.lengths] == [1.0, 0.0]


def test_without_sources_lengths_are_those_of_the_references():
    found = analyze_errors(["a"], [["w " * 12]])
    assert not found.by_source
    assert [b.label for b in found.lengths] == ["11–15"]
    assert found.copied_words is None
    assert "Untranslated" not in [finding.title for finding in found.findings]


def test_the_last_bucket_has_no_end():
    found = analyze_errors(["a", "a"], [["w " * 50, "w " * 51]])
    assert [b.label for b in found.lengths] == ["31–50", "51 or more"]


def test_recall_is_counted_by_how_often_a_word_occurs_in_the_references():
    # "the" occurs twice and is found twice; of the 13 others the output lacks cat and one … six.
    found = {r.label: (r.words, r.found) for r in analyze_errors(HYP, [REF]).recalls}
    assert found["once"] == (13, 13 - 7)
    assert found["2–4 times"] == (2, 2)
    assert found["5–19 times"] == (0, 0)


def test_a_word_given_once_is_not_found_twice():
    recalls = analyze_errors(["dog"], [["dog dog dog"]]).recalls
    assert [(r.words, r.found) for r in recalls if r.words] == [(3, 1)]


@pytest.mark.parametrize(("n", "label"), [(1, "once"), (4, "2–4 times"), (5, "5–19 times")])
def test_frequencies_fall_into_their_bucket(n, label):
    recalls = analyze_errors(["x"] * n, [["dog"] * n]).recalls
    assert [r.label for r in recalls if r.words] == [label]


def test_copied_words_are_those_of_the_source_that_no_reference_has():
    found = analyze_errors(HYP, [REF], sources=SRC)
    assert found.copied_words == 1  # Katze; Berlin is right, in both languages
    assert found.output_words == 2 + 3 + 4
    both = analyze_errors(HYP, [REF, ["", "Katze", "", ""]], sources=SRC)
    assert both.copied_words == 0


def test_findings_count_lines_and_show_some():
    found = analyze_errors([""] * 9, [["a dog"] * 9], sources=["ein Hund"] * 9)
    empty = found.findings[0]
    assert (empty.title, empty.count) == ("Empty", 9)
    assert [line.number for line in empty.examples] == [1, 2, 3, 4, 5]


def test_the_worst_come_first_and_what_is_perfect_does_not_come():
    found = analyze_errors(HYP, [REF], sources=SRC)
    assert [line.number for line in found.worst] == [4, 2]
    assert found.worst[0].src == SRC[3]


def test_the_worst_are_thirty_at_most():
    assert len(analyze_errors(["cat"] * 50, [["dog"] * 50]).worst) == N_WORST


def test_settings_reach_the_scores():
    upper = [line.upper() for line in REF]
    assert analyze_errors(upper, [REF]).worst
    assert not analyze_errors(upper, [REF], settings=ScoreSettings(lowercase=True)).worst


def test_a_word_given_too_often_is_found_no_more_often_than_it_was_wanted():
    recalls = analyze_errors(["dog dog dog"], [["dog"]]).recalls
    assert [(r.words, r.found) for r in recalls if r.words] == [(1, 1)]


def test_an_empty_line_that_stays_empty_is_not_among_the_worst():
    found = analyze_errors(["", "a cat"], [["", "a dog"]])
    assert [line.number for line in found.worst] == [2]


def test_a_line_that_equals_another_reference_is_right():
    assert not analyze_errors(["a cat"], [["a dog"], ["a cat"]]).worst
