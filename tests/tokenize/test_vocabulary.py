import pytest

from dragoman.errors import TokenizerError
from dragoman.tokenize.vocabulary import SPECIAL_PIECES, UNK_ID, Vocabulary


def test_special_pieces_have_the_first_four_ids():
    vocabulary = Vocabulary(["a"])
    assert [vocabulary.piece(i) for i in range(5)] == [*SPECIAL_PIECES, "a"]
    assert len(vocabulary) == 5


def test_text_spelled_like_a_special_piece_is_not_special():
    assert Vocabulary(["a"]).id("</s>") == UNK_ID
    assert Vocabulary(["a", "</s>"]).ids(["</s>", "a"]) == [5, 4]


def test_pieces_below_the_minimum_frequency_are_left_out():
    vocabulary = Vocabulary.from_counts({"a": 3, "b": 2, "c": 1}, min_frequency=2)
    assert vocabulary.ordinary == ["a", "b"]
    assert "c" not in vocabulary


def test_frequent_pieces_come_first_and_ties_go_by_spelling():
    counts = {"z": 1, "b": 4, "a": 4, "y": 1}
    assert Vocabulary.from_counts(counts).ordinary == ["a", "b", "y", "z"]


def test_the_largest_size_counts_special_and_required_pieces():
    vocabulary = Vocabulary.from_counts({"a": 9, "b": 8}, max_size=6, always=["x", "x"])
    assert vocabulary.ordinary == ["x", "a"]
    assert len(vocabulary) == 6


def test_a_required_piece_that_was_also_seen_is_there_once():
    assert Vocabulary.from_counts({"x": 5, "a": 1}, always=["x"]).ordinary == ["x", "a"]


@pytest.mark.parametrize("number", [-1, 6])
def test_an_id_outside_is_refused(number):
    with pytest.raises(TokenizerError, match=f"no piece {number} in a vocabulary of 6"):
        Vocabulary(["a", "b"]).piece(number)


def test_any_piece_survives_its_file():
    pieces = ["\n", '"', "ü", "\u2028", "<s>", " ", "😀", "\x00"]
    vocabulary = Vocabulary.from_bytes(Vocabulary(pieces).to_bytes(), "v.json")
    assert vocabulary.ordinary == pieces


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[", r"v\.json: this vocabulary is damaged"),
        (b"\xff\xfe", r"v\.json: this vocabulary is damaged"),
        (b"{}", r"v\.json: not a vocabulary"),
        (b'["<pad>", "<s>", "</s>", "<unk>", 7]', r"v\.json: not a vocabulary"),
        (b'["<s>", "<pad>", "</s>", "<unk>", "a"]', r"v\.json: not a vocabulary"),
        (b'["<pad>", "<s>", "</s>", "<unk>", "a", "a"]', r"v\.json: .* same piece twice"),
    ],
)
def test_a_damaged_file_is_named(content, message):
    with pytest.raises(TokenizerError, match=message):
        Vocabulary.from_bytes(content, "v.json")
