import pytest

from dragoman.errors import TokenizerError
from dragoman.tokenize.preparation import Placeholders, Preparation


def test_text_is_left_alone_unless_asked():
    text = "Ünïcode ﬁ e\u0301  \u00a0Ａ\t"
    assert list(Preparation().apply([text])) == [text]


def test_lower_case_spares_the_placeholders():
    preparation = Preparation(lowercase=True, placeholders=("{NAME}",))
    assert preparation.apply(["HI {NAME} {Name}", ""]) == ["hi {NAME} {name}", ""]


def test_half_a_surrogate_pair_becomes_the_replacement_character():
    assert Preparation().apply(["a\ud800b", "c"]) == ["a\ufffdb", "c"]


def test_the_longest_placeholder_wins():
    parts = list(Placeholders(["<A", "<AB>"]).split("<AB><A"))
    assert parts == [("<AB>", True), ("<A", True)]


def test_a_placeholder_is_taken_literally():
    assert list(Placeholders(["a.c"]).split("abca.c")) == [("abc", False), ("a.c", True)]


@pytest.mark.parametrize("string", ["", " x", "<s>"])
def test_an_impossible_placeholder_is_refused(string):
    with pytest.raises(TokenizerError, match=r"data\.placeholders"):
        Preparation(placeholders=(string,))
