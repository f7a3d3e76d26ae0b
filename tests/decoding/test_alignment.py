"""Links between words by hand, and which heads they are read from."""

import json

import numpy as np
import pytest

from dragoman.config import DataConfig, ModelConfig
from dragoman.decoding.alignment import AlignmentChoice, Words, align, links_of, word_weights
from dragoman.errors import BundleError
from dragoman.tokenize.tokenizer import Tokenizer

CONFIG = ModelConfig(d_model=8, n_heads=2, n_layers=3, d_ff=8, vocab_size=20)


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


def test_a_mark_without_a_mark_to_look_at_is_not_linked(staged):
    pair = MARKED.encode("a b"), MARKED.encode("c .", "tgt")
    choice = AlignmentChoice(((0, 0),))
    assert align(staged(), MARKED, [pair], choice=choice) == [((0, 0),)]


@pytest.mark.parametrize("shift", [False, True])
def test_the_shift_takes_the_state_that_has_read_the_word(shift, staged, symbols):
    choice = AlignmentChoice(((1, 0),), shift=shift)
    src, tgt = symbols.encode("1 2 3"), symbols.encode("3 2 1", "tgt")
    links = align(staged((1, 0, int(shift))), symbols, [(src, tgt)], choice=choice)
    assert links == [((2, 0), (1, 1), (0, 2))]
    other = align(staged((1, 0, 1 - int(shift))), symbols, [(src, tgt)], choice=choice)
    assert other != links


def test_a_real_model_aligns_every_word_of_a_padded_batch(
    make_model, sources, symbols, reversed_examples
):
    model = make_model(vocab_size=8)
    pairs = [(symbols.encode(s), symbols.encode(t)) for s, t, _ in reversed_examples]
    choice = AlignmentChoice.default(model.config)
    together = align(model, symbols, pairs, choice=choice)
    assert together == [align(model, symbols, [pair], choice=choice)[0] for pair in pairs]
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
