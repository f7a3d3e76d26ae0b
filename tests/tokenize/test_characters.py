import pytest

from dragoman.tokenize.characters import Characters
from dragoman.tokenize.vocabulary import UNK_ID, Vocabulary


@pytest.mark.parametrize("text", ["a b", "  a  ", "▁ ▁▁", "", " "])
def test_spaces_and_their_mark_are_told_apart(text):
    characters = Characters(Vocabulary(["a", "b", "▁", "▁▁"]))
    assert characters.join(characters.cut(text)) == text
    assert UNK_ID not in characters.encode_batch([text])[0]


def test_a_combining_mark_is_a_character_of_its_own():
    assert Characters(Vocabulary([])).cut("e\u0301") == ["e", "\u0301"]


def test_a_placeholder_is_one_piece():
    assert Characters(Vocabulary([]), ["<N>"]).cut("a<N>") == ["a", "<N>"]


def test_characters_below_the_minimum_frequency_are_unknown(trained):
    tokenizer = trained(tokenizer="characters", min_frequency=2)
    assert tokenizer.decode(tokenizer.encode("Zwei Garten"), "src") == "⁇wei Garten"
