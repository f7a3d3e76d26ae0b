import pytest

from dragoman.evaluation.mistakes import (
    Line,
    is_empty,
    is_repeating,
    is_too_long,
    is_too_short,
    is_untranslated,
)


def line(hyp, ref, src=None):
    return Line(1, src, hyp, ref, 0.0)


def test_an_output_is_empty_only_where_something_was_wanted():
    assert is_empty(line(" ", "a dog"))
    assert not is_empty(line("", ""))
    assert not is_empty(line("a", "a dog"))


def test_a_sentence_that_stays_as_it_was_is_untranslated():
    assert is_untranslated(line("Ein Hund.", "A dog.", src="ein Hund."))
    assert not is_untranslated(line("Berlin", "Berlin", src="Berlin"))  # it is its own translation
    assert not is_untranslated(line("", "", src=""))
    assert not is_untranslated(line("A dog.", "A dog.", src="Ein Hund."))


@pytest.mark.parametrize(
    ("hyp", "ref", "expected"),
    [
        ("the the dog", "the dog", True),
        ("a dog a dog a dog", "a dog", True),
        ("in the big park in the big park", "in the big park", True),
        ("one two three four five one two three four five", "one", False),  # too long a phrase
        ("very very good", "very very bad", False),
        ("wait . . .", "wait", False),
        ("7 7 7 7", "7 3 1 7", True),
        ("the dog and the cat", "the dog", False),
    ],
)
def test_repetition_is_what_follows_upon_itself_and_not_in_the_reference(hyp, ref, expected):
    assert is_repeating(line(hyp, ref)) == expected


@pytest.mark.parametrize(
    ("n_hyp", "n_ref", "short", "long"),
    [
        (4, 10, True, False),
        (5, 10, False, False),
        (1, 3, False, False),
        (1, 4, True, False),
        (0, 9, False, False),  # that is empty, and counted as such
        (9, 4, False, True),
        (8, 4, False, False),
        (3, 1, False, False),
        (4, 1, False, True),
    ],
)
def test_much_too_short_and_long_by_words(n_hyp, n_ref, short, long):
    both = line("w " * n_hyp, "w " * n_ref)
    assert (is_too_short(both), is_too_long(both)) == (short, long)
