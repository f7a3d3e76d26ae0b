import pytest

from dragoman.evaluation.text_checks import check_texts, looks_like_subwords, looks_tokenized

PLAIN = ["A dog runs.", "Two men, one boat.", "Nothing here"]
TOKENIZED = ["a dog runs .", "two men , one boat .", "nothing here"]
FRENCH = ["« Vraiment ? » dit-il.", "Oui ; bien sûr !", "Le prix : 3,5 €."]
JAPANESE = ["犬 が 走る 。", "二 人 。"]


@pytest.mark.parametrize("lines", [["▁a ▁dog"], ["a do@@ g runs"], ["a do@@"]])
def test_subwords_are_seen(lines):
    assert looks_like_subwords(lines)


@pytest.mark.parametrize("lines", [PLAIN, TOKENIZED, [], ["a@b", "@@foo"], ["▁"] + ["x"] * 200])
def test_plain_text_is_not_taken_for_subwords(lines):
    assert not looks_like_subwords(lines)


@pytest.mark.parametrize("lines", [TOKENIZED, JAPANESE])
def test_tokenized_text_is_seen(lines):
    assert looks_tokenized(lines)


@pytest.mark.parametrize("lines", [PLAIN, FRENCH, [], ["1 2 3"], ["a. b", "c .", "d. e"]])
def test_plain_text_is_not_taken_for_tokenized(lines):
    assert not looks_tokenized(lines)


def test_tokenized_text_is_to_be_scored_without_tokenization():
    (warning,) = check_texts({"out": TOKENIZED, "ref": TOKENIZED})
    assert "out, ref looks tokenised" in warning
    assert "--tokenize none" in warning
    assert check_texts({"out": TOKENIZED, "ref": TOKENIZED}, tokenize="none") == []


@pytest.mark.parametrize("tokenize", ["13a", "none"])
def test_texts_of_different_kinds_are_never_compared_in_silence(tokenize):
    (warning,) = check_texts({"out": TOKENIZED, "ref": PLAIN}, tokenize=tokenize)
    assert "out looks tokenised" in warning
    assert "ref does not" in warning


def test_plain_text_needs_a_tokenization():
    assert check_texts({"out": PLAIN, "ref": PLAIN}) == []
    (warning,) = check_texts({"out": PLAIN, "ref": PLAIN}, tokenize="none")
    assert "--tokenize 13a" in warning


def test_algorithmic_tasks_have_nothing_to_warn_of():
    lines = ["1 2 3", "4 5"]
    assert check_texts({"out": lines, "ref": lines}) == []
    assert check_texts({"out": lines, "ref": lines}, tokenize="none") == []


def test_only_the_text_that_shows_pieces_is_named():
    (warning,) = check_texts({"out": ["▁ein ▁H und"], "ref": ["ein Hund"]})
    assert warning.startswith("warning: out looks like subwords")
