from __future__ import annotations

import pytest
import torch
from torch.testing import assert_close

from dragoman.config import TrainConfig
from dragoman.errors import ConfigError
from dragoman.training import vocabulary_loss as module
from dragoman.training.label_smoothing import Smoothing
from dragoman.training.sampled_vocabulary import draw_sample
from dragoman.training.vocabulary_loss import vocabulary_loss

P, D, V = 7, 4, 50
SMOOTHING = [Smoothing.of("uniform", 0.1, vocab_size=V), Smoothing.of("kl", 0.1, vocab_size=V)]


@pytest.fixture
def case():
    torch.manual_seed(3)
    hidden = torch.randn(P, D, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(V, D, dtype=torch.float64, requires_grad=True)
    return hidden, weight, torch.randint(1, V, (P,))


def straightforward(hidden, weight, gold, smoothing, sample):
    """The same by autograd: log Σ over the weighted sample, all else over the whole vocabulary."""
    logits = hidden @ weight.t()  # (P, V)
    log_sums = torch.logsumexp(logits[:, sample.ids] + sample.log_weights.double(), -1)
    log_probs = logits - log_sums[:, None]
    q = smoothing.target(gold, V)
    return smoothing.constant * P - (q * log_probs).sum()


@pytest.mark.parametrize("smoothing", SMOOTHING, ids=["uniform", "kl"])
@pytest.mark.parametrize("block", [V, 1 << 22], ids=["row by row", "at once"])
def test_loss_and_gradients_are_those_of_autograd_on_the_same_sample(
    case, smoothing, block, monkeypatch
):
    hidden, weight, gold = case
    monkeypatch.setitem(module.BLOCK_ELEMENTS, "cpu", block)
    sample = draw_sample(gold, V, 0.3)
    assert len(set(gold.tolist())) < len(sample.ids) < V  # control: some were drawn, not all
    monkeypatch.setattr(module, "draw_sample", lambda *_: sample)
    found = vocabulary_loss(hidden, weight, gold, smoothing, share=0.3).loss
    wanted = straightforward(hidden, weight, gold, smoothing, sample)
    assert_close(found, wanted, rtol=0, atol=1e-10)
    gradients = [torch.autograd.grad(loss, (hidden, weight)) for loss in (found, wanted)]
    for one, other in zip(*gradients, strict=True):
        assert_close(one, other, rtol=0, atol=1e-10)


def test_the_sum_over_the_vocabulary_is_right_on_average(case):
    hidden, weight, gold = (x.detach() for x in case)
    logits = hidden @ weight.t()
    torch.manual_seed(5)
    sums = []
    for _ in range(4000):
        sample = draw_sample(gold, V, 0.3)
        sums.append((logits[:, sample.ids] + sample.log_weights.double()).exp().sum(-1))
    mean, error = torch.stack(sums).mean(0), torch.stack(sums).std(0) / 4000**0.5
    assert ((mean - logits.exp().sum(-1)).abs() < 5 * error).all()
    # control: without the weights it would be too small by far
    bare = logits[:, draw_sample(gold, V, 0.3).ids].exp().sum(-1)
    assert (bare < mean - 5 * error).any()


def test_all_of_the_vocabulary_is_the_loss_itself(case):
    hidden, weight, gold = case
    exact = vocabulary_loss(hidden, weight, gold, SMOOTHING[0])
    almost = vocabulary_loss(hidden, weight, gold, SMOOTHING[0], share=1 - 1e-9)
    assert_close(almost.loss, exact.loss, rtol=0, atol=1e-6)
    assert_close(almost.nll, exact.nll, rtol=0, atol=1e-6)


def test_gold_tokens_are_always_there_and_found_at_their_places():
    gold = torch.tensor([9, 4, 9, 1])
    for seed in range(20):
        torch.manual_seed(seed)
        sample = draw_sample(gold, 30, 0.2)
        assert sample.ids[sample.gold].tolist() == gold.tolist()
        assert sample.ids.tolist() == sorted(set(sample.ids.tolist()))
        assert (sample.log_weights[sample.gold] == 0).all()


def test_no_tokens_cost_nothing(case):
    hidden, weight, gold = case
    losses = vocabulary_loss(hidden[:0], weight, gold[:0], SMOOTHING[0], share=1e-9)
    losses.loss.backward()
    assert losses.loss.item() == losses.nll.item() == 0
    assert (weight.grad == 0).all()


@pytest.mark.parametrize("wrong", [0.0, 1.5, -0.1])
def test_a_share_that_cannot_be_is_refused(wrong):
    with pytest.raises(ConfigError, match=r"vocabulary_share = .*above 0 and at most 1"):
        TrainConfig(vocabulary_share=wrong)


def test_r_drop_compares_whole_distributions():
    with pytest.raises(ConfigError, match=r"vocabulary_share = 0\.1.*R-Drop"):
        TrainConfig(vocabulary_share=0.1, r_drop=1.0)
