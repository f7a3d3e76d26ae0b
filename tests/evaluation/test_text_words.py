import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.evaluation.text_words import differences, split_words, word_texts

TEXT = st.text(
    st.sampled_from("ab cd'.-,东é्ि\u0301 <&1") | st.characters(codec="utf-8"), max_size=30
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A dog runs.", ["A", "dog", "runs", "."]),
        ("don't re-read (it)", ["don't", "re-read", "(", "it", ")"]),
        ("3,5 km 1.000, ok", ["3,5", "km", "1.000", ",", "ok"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("东京塔", ["东", "京", "塔"]),
        ("مرحبا، يا عالم", ["مرحبا", "،", "يا", "عالم"]),
        ("a - b -", ["a", "-", "b", "-"]),
        ("", []),
        ("   ", []),
    ],
)
def test_words_of_any_script(text, words):
    assert word_texts(text) == words


@settings(deadline=None, max_examples=100)
@given(TEXT)
def test_words_and_spaces_give_the_text_back(text):
    spaced = "".join(" " * word.after_space + word.text for word in split_words(text))
    assert spaced == " ".join(text.split())


@settings(deadline=None, max_examples=60)
@given(TEXT, TEXT)
def test_differences_show_both_sentences_whole_and_what_they_share_in_order(hyp, ref):
    left, right = differences(hyp, ref)
    for stretches, text in ((left, hyp), (right, ref)):
        assert "".join(stretch.text for stretch in stretches) == " ".join(text.split())
    shared = [
        [word for stretch in side if stretch.is_shared for word in word_texts(stretch.text)]
        for side in (left, right)
    ]
    assert len(shared[0]) == len(shared[1])


def test_a_changed_word_is_marked_on_both_sides():
    left, right = differences("A cat runs.", "A big dog runs.")
    assert [s.text for s in left if not s.is_shared] == [" cat"]
    assert [s.text for s in right if not s.is_shared] == [" big dog"]


def test_a_very_long_line_is_still_compared():
    left, right = differences("a b " * 2000, "a b " * 1999 + "c")
    assert left
    assert right
