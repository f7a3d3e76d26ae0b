from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.evaluation.accuracy import accuracy

LINES = st.lists(st.lists(st.sampled_from("123"), max_size=4).map(" ".join), min_size=1, max_size=6)


def test_shares_agree_with_hand_arithmetic():
    # Right places: 3 of 3, 1 of 3 (one missing in the middle shifts the rest), 2 of 4, 0 of 1.
    found = accuracy(["1 2 3", "4 6", "1 2 3 4", ""], [["1 2 3", "4 5 6", "1 2", "7"]])
    assert found.exact_match == 1 / 4
    assert found.token_accuracy == 6 / 11


def test_of_several_references_the_nearest_counts():
    found = accuracy(["1 2 3", "9"], [["3 2 1", "9"], ["1 2 3", "8"]])
    assert (found.exact_match, found.token_accuracy) == (1.0, 1.0)


def test_spaces_around_a_line_are_no_mistake_but_other_letters_are():
    assert accuracy([" a b "], [["a b"]]).exact_match == 1.0
    assert accuracy(["A b"], [["a b"]]).exact_match == 0.0


def test_empty_lines_that_should_be_empty_are_right():
    found = accuracy(["", ""], [["", ""]])
    assert (found.exact_match, found.token_accuracy) == (1.0, 1.0)


@settings(deadline=None, max_examples=50)
@given(LINES)
def test_the_references_themselves_are_always_right(lines):
    found = accuracy(lines, [lines])
    assert (found.exact_match, found.token_accuracy) == (1.0, 1.0)
    worse = accuracy([*lines[:-1], lines[-1] + " x"], [lines])
    assert worse.exact_match < 1
    assert worse.token_accuracy < 1
