"""What a translation carries, and how parts of a line become one."""

import json

from dragoman.config import DataConfig
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.translation import Translation, join, make_translation, with_alternatives
from dragoman.tokenize.tokenizer import Tokenizer


def test_a_hypothesis_becomes_text_and_pieces(tokenizer):
    ids = tuple(tokenizer.encode("A dog runs.", "tgt"))
    found = make_translation(Hypothesis(ids, -3.0, -1.5, "limit"), tokenizer, ((0, 0),))
    assert found.text == "A dog runs."
    assert "".join(found.tokens).replace("▁", " ").strip() == "A dog runs."
    assert (found.ids, found.log_prob, found.score) == (ids, -3.0, -1.5)
    assert found.alignment == ((0, 0),)
    assert found.notes == ("stopped_at_limit",)
    assert not found.is_whole


def test_one_line_in_is_one_line_out():
    # bytes of the fallback spell what the vocabulary lacks, line ends too
    data = DataConfig(tokenizer="bpe", vocab_size=280, byte_fallback=True)
    tokenizer = Tokenizer.train([("A dog runs", "A dog")], data, seed=1)
    ids = tokenizer.encode("A dog", "tgt") + tokenizer.encode("\n", "tgt") * 2
    text = make_translation(Hypothesis(tuple(ids), 0, 0), tokenizer, None).text
    assert "\n" in tokenizer.decode(ids)  # control
    assert "\n" not in text


def test_alternatives_are_the_rest_of_the_n_best():
    ranked = [Translation(text, score=-i, log_prob=-i) for i, text in enumerate("abc")]
    best = with_alternatives(ranked)
    assert best.text == "a"
    assert [t.text for t in best.n_best] == ["a", "b", "c"]


def test_parts_are_joined_with_their_scores_links_and_notes():
    first = Translation("A dog", -1.0, -2.0, ("A", "dog"), (4, 5), ((0, 0), (1, 1)))
    second = Translation("runs.", -0.5, -1.0, ("runs.",), (6,), ((0, 0),), notes=("repetition",))
    whole = join([first, second], first_words=[0, 2])
    assert whole.text == "A dog runs."
    assert (whole.score, whole.log_prob) == (-1.5, -3.0)
    assert whole.ids == (4, 5, 6)
    assert whole.alignment == ((0, 0), (1, 1), (2, 2))
    assert whole.notes == ("split", "repetition")


def test_alternatives_of_parts_are_joined_rank_by_rank():
    def part(*texts):
        return with_alternatives([Translation(text, 0.0, 0.0) for text in texts])

    whole = join([part("a", "b", "c"), part("x", "y")], first_words=[0, 1])
    assert [t.text for t in whole.n_best] == ["a x", "b y"]
    assert whole.alignment is None


def test_a_translation_is_ready_for_json():
    inner = Translation("b", -2.0, -2.0)
    stored = json.loads(json.dumps(Translation("a", -1.0, -1.0, alternatives=(inner,)).to_dict()))
    assert stored["text"] == "a"
    assert stored["alternatives"][0]["text"] == "b"
    assert stored["alignment"] is None
