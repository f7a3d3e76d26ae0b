import pytest

from dragoman.tokenize.pieces import word_of_each


@pytest.mark.parametrize(
    ("surfaces", "words"),
    [
        ([], []),
        ([" a", " b"], [0, 1]),
        (["a", "b", " c"], [0, 0, 1]),
        ([" ", "a", " ", " ", "b"], [0, 0, 1, 1, 1]),  # spaces belong to the word that follows
        ([" a", " "], [0, 0]),  # or to the last one
        ([" ", " "], [-1, -1]),
        ([" new york", " city"], [0, 2]),  # a piece of two words belongs to the first
        (["a ", "b"], [0, 1]),
        ([" a\u00a0b", " c"], [0, 1]),  # only a space separates words
    ],
)
def test_pieces_find_their_words(surfaces, words):
    assert word_of_each(surfaces) == words
