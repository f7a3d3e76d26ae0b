"""Links between words by hand, the error rate, and the choice of heads on gold links."""

import json

import numpy as np
import pytest
import torch

from dragoman.config import DataConfig, ModelConfig
from dragoman.decoding.alignment import AlignmentChoice, Words, align, links_of, word_weights
from dragoman.errors import BundleError
from dragoman.tokenize.tokenizer import Tokenizer

CONFIG = ModelConfig(d_model=8, n_heads=2, n_layers=3, d_ff=8, vocab_size=20)
SYMBOLS = Tokenizer.train([("1 2 3 4", "4 3 2 1")], DataConfig(tokenizer="symbols"), seed=1)


class Staged:
    """A model whose attention the test sets: (layer, head, shift) looks at the word it reverses."""

    config = CONFIG
    output_weight = torch.zeros(1)

    def __init__(self, *good):
        self.good = good

    def __call__(self, src_ids, tgt_in, *, probe):
        n_src, n_tgt = src_ids.size(1), tgt_in.size(1)
        real = (src_ids != 0).sum(1) - 1  # without EOS
        for layer in range(3):
            weights = torch.zeros(src_ids.size(0), 2, n_tgt, n_src)
            weights[..., 0] = 0.1  # a little of everything at the first word
            for _, head, shift in [g for g in self.good if g[0] == layer]:
                for row, n in enumerate(real.tolist()):
                    for t in range(n):
                        weights[row, head, t + shift, n - 1 - t] = 0.4
            weights[..., -1] = 0.5  # EOS or padding, which must not matter
            probe.weights[f"decoder.{layer}.cross"] = weights


def reversed_examples():
    for text in ("1 2 3", "2 4", "3 1 2 4", "4 4 1"):
        words = text.split()
        n = len(words)
        yield text, " ".join(words[::-1]), [(n - 1 - t, t) for t in range(n)]


def test_weights_of_pieces_are_added_up_by_words():
    pieces = np.array([[[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.0, 1.0, 0.0]]])
    by_word = word_weights(pieces, Words([0, 0, 1], [0, 1, 1], np.ones((2, 2))))
    np.testing.assert_allclose(by_word, [[[0.3, 0.7], [1.6, 0.4]]])


def test_each_target_word_is_linked_to_the_word_it_looks_at_most():
    assert links_of(np.array([[0.9, 0.1], [0.2, 0.8]])) == ((0, 0), (1, 1))
    assert links_of(np.array([[0.5, 0.5]])) == ((0, 0),)  # the first of equals


def test_nothing_has_no_links():
    assert links_of(np.zeros((0, 3))) == ()
    assert links_of(np.zeros((3, 0))) == ()
    assert links_of(np.zeros((3, 2))) == ()


MARKED = Tokenizer.train([("a , b .", "c , d .")] * 3, DataConfig(tokenizer="words"), seed=1)


def test_marks_are_linked_to_marks_and_words_to_words():
    words = Words.of(MARKED, MARKED.encode("a , b ."), MARKED.encode("c d .", "tgt"))
    assert words.may_link.tolist() == [[1, 0, 1, 0], [1, 0, 1, 0], [0, 1, 0, 1]]


def test_a_mark_without_a_mark_to_look_at_is_not_linked():
    pair = MARKED.encode("a b"), MARKED.encode("c .", "tgt")
    choice = AlignmentChoice(((0, 0),))
    assert align(Staged(), MARKED, [pair], choice=choice) == [((0, 0),)]


@pytest.mark.parametrize("shift", [False, True])
def test_the_shift_takes_the_state_that_has_read_the_word(shift):
    choice = AlignmentChoice(((1, 0),), shift=shift)
    src, tgt = SYMBOLS.encode("1 2 3"), SYMBOLS.encode("3 2 1", "tgt")
    links = align(Staged((1, 0, int(shift))), SYMBOLS, [(src, tgt)], choice=choice)
    assert links == [((2, 0), (1, 1), (0, 2))]
    other = align(Staged((1, 0, 1 - int(shift))), SYMBOLS, [(src, tgt)], choice=choice)
    assert other != links


def test_a_real_model_aligns_every_word_of_a_padded_batch(make_model, sources):
    model = make_model(vocab_size=8)
    pairs = [(SYMBOLS.encode(s), SYMBOLS.encode(t)) for s, t, _ in reversed_examples()]
    choice = AlignmentChoice.default(model.config)
    together = align(model, SYMBOLS, pairs, choice=choice)
    assert together == [align(model, SYMBOLS, [pair], choice=choice)[0] for pair in pairs]
    for (src, tgt), links in zip(pairs, together, strict=True):
        assert [t for _, t in links] == list(range(len(tgt)))
        assert all(0 <= s < len(src) for s, _ in links)


def test_the_default_is_the_last_layer_but_one():
    assert AlignmentChoice.default(CONFIG) == AlignmentChoice(((1, 0), (1, 1)), shift=False)
    assert AlignmentChoice.default(ModelConfig(n_layers=1, n_heads=1)).heads == ((0, 0),)


def test_a_choice_is_kept_in_the_record_beside_the_rest(tmp_path):
    (tmp_path / "record.json").write_text('{"seed": 3}')
    choice = AlignmentChoice(((2, 1), (0, 1)), False)
    choice.save(tmp_path)
    record = json.loads((tmp_path / "record.json").read_text())
    assert record == {"seed": 3, "alignment": {"heads": [[2, 1], [0, 1]], "shift": False}}
    assert AlignmentChoice.of_record(record, CONFIG) == choice
    assert AlignmentChoice.of_record({}, CONFIG) == AlignmentChoice.default(CONFIG)


@pytest.mark.parametrize(
    "stored",
    [
        {"heads": [[3, 0]], "shift": True},
        {"heads": [[0, 2]], "shift": True},
        {"heads": [], "shift": True},
        {"heads": [0], "shift": True},
        {"heads": [[0, 1]]},
        [1],
    ],
)
def test_a_choice_that_does_not_fit_the_model_is_refused(stored):
    with pytest.raises(BundleError, match=r"record\.json: alignment"):
        AlignmentChoice.of_record({"alignment": stored}, CONFIG)
