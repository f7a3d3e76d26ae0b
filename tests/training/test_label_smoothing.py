import math

import numpy as np
import pytest
import torch
from torch.nn import functional
from torch.testing import assert_close

from dragoman.reference import label_smoothing as twin
from dragoman.training.label_smoothing import Smoothing, smoothed_loss

GOLD = torch.tensor([9, 4, 10, 4, 2])
EPSILONS = [0.0, 0.1, 0.4, 0.99]


@pytest.fixture
def logits():
    generator = torch.Generator().manual_seed(1)
    return 3 * torch.randn(5, 13, generator=generator, dtype=torch.float64)


def test_the_uniform_target_agrees_with_hand_arithmetic():
    q = Smoothing.of("uniform", 0.2, vocab_size=4).target(torch.tensor([2, 1]), 4)
    expected = [[0.05, 0.05, 0.85, 0.05], [0.05, 0.85, 0.05, 0.05]]
    assert_close(q, torch.tensor(expected, dtype=torch.float64))


def test_the_kl_target_agrees_with_hand_arithmetic():
    q = Smoothing.of("kl", 0.2, vocab_size=4).target(torch.tensor([2, 1]), 4)
    expected = [[0.0, 0.1, 0.8, 0.1], [0.0, 0.8, 0.1, 0.1]]
    assert_close(q, torch.tensor(expected, dtype=torch.float64))


def test_the_annotated_transformers_example_comes_out():
    # V = 5, ε = 0.4, pad 0: 0.6 on the gold token and 0.4 / 3 on each of the three others
    q = Smoothing.of("kl", 0.4, vocab_size=5).target(torch.tensor([2, 1, 3]), 5)
    third = 0.4 / 3
    expected = [
        [0, third, 0.6, third, third],
        [0, 0.6, third, third, third],
        [0, third, third, 0.6, third],
    ]
    assert_close(q, torch.tensor(expected, dtype=torch.float64))


def test_the_losses_agree_with_hand_arithmetic():
    # p = (1/2, 1/4, 1/8, 1/8), gold = 1, so -log2 p = (1, 2, 3, 3)
    logits = torch.tensor([[0.5, 0.25, 0.125, 0.125]], dtype=torch.float64).log()
    gold = torch.tensor([1])
    uniform = smoothed_loss(logits, gold, Smoothing.of("uniform", 0.2, vocab_size=4))
    assert uniform.item() == pytest.approx((0.85 * 2 + 0.05 * (1 + 3 + 3)) * math.log(2))
    kl = smoothed_loss(logits, gold, Smoothing.of("kl", 0.2, vocab_size=4))
    cross_entropy = (0.8 * 2 + 0.1 * (3 + 3)) * math.log(2)
    entropy = -(0.8 * math.log(0.8) + 0.2 * math.log(0.1))
    assert kl.item() == pytest.approx(cross_entropy - entropy)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_uniform_form_equals_pytorchs_cross_entropy(logits, epsilon):
    ours = smoothed_loss(logits, GOLD, Smoothing.of("uniform", epsilon, vocab_size=13))
    theirs = functional.cross_entropy(logits, GOLD, label_smoothing=epsilon, reduction="sum")
    assert_close(ours, theirs, rtol=0, atol=1e-10)


@pytest.mark.parametrize("pad_id", [0, 7])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_kl_form_equals_pytorchs_divergence(logits, epsilon, pad_id):
    q = torch.full((5, 13), epsilon / 11, dtype=torch.float64)
    q[:, pad_id] = 0
    q[torch.arange(5), GOLD] = 1 - epsilon
    theirs = torch.nn.KLDivLoss(reduction="sum")(logits.log_softmax(-1), q)
    smoothing = Smoothing.of("kl", epsilon, vocab_size=13, pad_id=pad_id)
    assert_close(smoothed_loss(logits, GOLD, smoothing), theirs, rtol=0, atol=1e-10)
    assert_close(smoothing.target(GOLD, 13), q, rtol=0, atol=1e-12)


@pytest.mark.parametrize("form", ["uniform", "kl"])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_loss_and_target_equal_the_numpy_twins(logits, epsilon, form):
    smoothing = Smoothing.of(form, epsilon, vocab_size=13)
    options = {"epsilon": epsilon, "form": form, "pad_id": 0}
    q = twin.smoothed_targets(GOLD.numpy()[None], 13, **options)[0]
    np.testing.assert_allclose(smoothing.target(GOLD, 13).numpy(), q, rtol=0, atol=1e-12)
    theirs, n_tokens = twin.smoothed_loss(logits.numpy()[None], GOLD.numpy()[None], **options)
    assert n_tokens == 5
    assert smoothed_loss(logits, GOLD, smoothing).item() == pytest.approx(theirs, abs=1e-10)


@pytest.mark.parametrize("form", ["uniform", "kl"])
def test_the_gradient_of_the_logits_is_p_minus_q(logits, form):
    smoothing = Smoothing.of(form, 0.1, vocab_size=13)
    logits.requires_grad_()
    (grad,) = torch.autograd.grad(smoothed_loss(logits, GOLD, smoothing), logits)
    assert_close(grad, logits.softmax(-1) - smoothing.target(GOLD, 13), rtol=0, atol=1e-12)


def test_a_perfect_prediction_costs_nothing_in_the_kl_form():
    smoothing = Smoothing.of("kl", 0.1, vocab_size=13)
    logits = smoothing.target(GOLD, 13).clamp(min=1e-300).log()
    assert smoothed_loss(logits, GOLD, smoothing).item() == pytest.approx(0, abs=1e-12)


def test_the_kl_form_needs_a_token_to_give_something_to():
    with pytest.raises(ValueError, match="vocab_size >= 3"):
        Smoothing.of("kl", 0.1, vocab_size=2)
