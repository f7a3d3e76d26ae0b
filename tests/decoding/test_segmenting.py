"""Long lines cut where a reader would pause."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.decoding.segmenting import split_text


def split(text, most):
    return [part.text for part in split_text(text, lambda part: len(part) <= most)]


def test_what_fits_stays_whole():
    assert split("It rains. We stay.", 18) == ["It rains. We stay."]


def test_sentences_come_before_clauses():
    text = "We stay, and read. It rains, and pours."
    assert split(text, 30) == ["We stay, and read.", "It rains, and pours."]


def test_clauses_come_before_words():
    assert split("we stay at home, and read", 18) == ["we stay at home,", "and read"]


def test_words_come_before_letters():
    assert split("we stay at home", 8) == ["we stay", "at home"]


def test_a_word_too_long_is_cut_anywhere():
    assert split("abcdefgh", 3) == ["ab", "cd", "ef", "gh"]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("今日は雨です。家にいます。", ["今日は雨です。", "家にいます。"]),
        ("他说：“走吧！”我们走了。", ["他说：“走吧！”", "我们走了。"]),
        ("बारिश हो रही है। हम घर पर हैं।", ["बारिश हो रही है।", "हम घर पर हैं।"]),
        ("هل تمطر؟ نبقى في البيت.", ["هل تمطر؟", "نبقى في البيت."]),
        ('He said "stop!" Then he left.', ['He said "stop!"', "Then he left."]),
    ],
)
def test_punctuation_of_other_scripts_is_known(text, parts):
    assert split(text, len(text) - 2) == parts


def test_a_point_inside_a_number_is_no_border():
    assert split("It is 3.5 m long or so", 12) == ["It is 3.5", "m long or so"]


def test_parts_know_the_word_they_begin_with():
    parts = split_text("It rains. We stay, and read.", lambda part: len(part) < 14)
    assert [part.first_word for part in parts] == [0, 2, 4]
    inside = split_text("ab cdefgh", lambda part: len(part) < 4)
    assert [(p.text, p.first_word) for p in inside] == [("ab", 0), ("cde", 1), ("fgh", 1)]


@settings(deadline=None, max_examples=60, derandomize=True)
@given(st.text(alphabet="ab .,!\u3000。\n", max_size=60), st.integers(1, 20))
def test_nothing_is_lost_and_everything_fits(text, most):
    parts = split(text, most)
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert all(len(part) <= most and part == part.strip() != "" for part in parts)
