"""The alignment error rate by hand, and the choice of heads on gold links."""

import pytest
import torch

from dragoman.config import ModelConfig
from dragoman.decoding.alignment import AlignmentChoice
from dragoman.decoding.alignment_choosing import alignment_error_rate, choose_alignment_heads


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
def test_the_head_that_aligns_is_found(good, staged, symbols, reversed_examples):
    choice, error = choose_alignment_heads(staged(good), symbols, reversed_examples)
    assert choice == AlignmentChoice(((good[0], good[1]),), bool(good[2]))
    assert error == 0.0


def test_a_second_head_is_taken_only_if_it_helps(staged, symbols, reversed_examples):
    choice, _ = choose_alignment_heads(staged((1, 0, 1), (1, 1, 1)), symbols, reversed_examples)
    assert choice.heads == ((1, 0),)


def test_heads_of_several_layers_align_together(symbols):
    halves = Halves()
    examples = [("1 2 3 4", "4 3 2 1", [(3, 0), (2, 1), (1, 2), (0, 3)])]
    choice, error = choose_alignment_heads(halves, symbols, examples)
    assert choice == AlignmentChoice(((0, 1), (2, 0)), shift=False)
    assert error == 0.0


class Halves:
    """One head of the first layer knows two words, one of the last layer the other two."""

    config = ModelConfig(d_model=8, n_heads=2, n_layers=3, d_ff=8, vocab_size=20)
    output_weight = torch.zeros(1)

    def __call__(self, src_ids, tgt_in, *, probe):
        for layer in range(3):
            probe.weights[f"decoder.{layer}.cross"] = torch.full((1, 2, 5, 5), 0.1)
        for t in range(4):
            layer, head = ((0, 1), (2, 0))[t % 2]
            probe.weights[f"decoder.{layer}.cross"][0, head, t, 3 - t] = 0.9
