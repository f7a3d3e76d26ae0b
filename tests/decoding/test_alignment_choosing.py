"""The alignment error rate by hand, and the choice of heads on gold links."""

import pytest
import torch

from dragoman.config import DataConfig, ModelConfig
from dragoman.decoding.alignment import AlignmentChoice
from dragoman.decoding.alignment_choosing import alignment_error_rate, choose_alignment_heads
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


@pytest.mark.parametrize(
    ("found", "gold", "rate"),
    [
        ([[(0, 0), (1, 1)]], [[(0, 0), (1, 1)]], 0.0),
        ([[(0, 1)]], [[(0, 0)]], 1.0),
        ([[(0, 0)]], [[(0, 0), (1, 1), (2, 1)]], 0.5),  # 1 - 2 / (1 + 3)
        ([[(0, 0), (1, 1)], [(5, 5)]], [[(0, 0)], [(5, 5)]], 0.2),  # 1 - 4 / 5
        ([[], []], [[], []], 0.0),
    ],
)
def test_the_error_rate_by_hand(found, gold, rate):
    assert alignment_error_rate(found, gold) == pytest.approx(rate)


def test_each_sentence_is_compared_with_its_own_links():
    with pytest.raises(ValueError):
        alignment_error_rate([[]], [[], []])


@pytest.mark.parametrize("good", [(2, 1, 0), (0, 0, 1), (1, 1, 1)])
def test_the_head_that_aligns_is_found(good):
    choice, error = choose_alignment_heads(Staged(good), SYMBOLS, list(reversed_examples()))
    assert choice == AlignmentChoice(((good[0], good[1]),), bool(good[2]))
    assert error == 0.0


def test_a_second_head_is_taken_only_if_it_helps():
    choice, _ = choose_alignment_heads(
        Staged((1, 0, 1), (1, 1, 1)), SYMBOLS, list(reversed_examples())
    )
    assert choice.heads == ((1, 0),)


def test_heads_of_several_layers_align_together():
    halves = Halves()
    examples = [("1 2 3 4", "4 3 2 1", [(3, 0), (2, 1), (1, 2), (0, 3)])]
    choice, error = choose_alignment_heads(halves, SYMBOLS, examples)
    assert choice == AlignmentChoice(((0, 1), (2, 0)), shift=False)
    assert error == 0.0


class Halves(Staged):
    """One head of the first layer knows two words, one of the last layer the other two."""

    def __call__(self, src_ids, tgt_in, *, probe):
        for layer in range(3):
            probe.weights[f"decoder.{layer}.cross"] = torch.full((1, 2, 5, 5), 0.1)
        for t in range(4):
            layer, head = ((0, 1), (2, 0))[t % 2]
            probe.weights[f"decoder.{layer}.cross"][0, head, t, 3 - t] = 0.9
