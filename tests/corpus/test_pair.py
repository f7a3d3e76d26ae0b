"""Pairs and the shape of their text."""

import pytest

from dragoman.corpus.pair import Pair, excerpt, one_line


def test_a_place_is_file_and_line() -> None:
    assert Pair("a", "b", "data/train.de", 12).place == "data/train.de:12"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  as it is \t ", "  as it is \t "),
        ("a\nb", "a b"),
        ("\n    a\n      b\n  ", "a b"),
        ("a\r\n\r\nb", "a b"),
        ("a \n b", "a b"),
        ("\n", ""),
        ("a\u2028b", "a\u2028b"),
    ],
)
def test_line_breaks_become_single_spaces(text: str, expected: str) -> None:
    assert one_line(text) == expected


def test_an_excerpt_is_short_and_shows_what_cannot_be_seen() -> None:
    assert excerpt("a\x07b\u200b") == r'"a\x07b\u200b"'
    assert len(excerpt("x" * 500)) == 82
