"""R-Drop block by block against the plain way: two softmaxes, differentiated by autograd."""

import pytest
import torch
from torch.nn import functional
from torch.testing import assert_close

from dragoman.training import r_drop as module
from dragoman.training.label_smoothing import Smoothing, smoothed_loss
from dragoman.training.r_drop import r_drop_loss

P, D, V = 17, 12, 13


def make(n_tokens=P, *, dtype=torch.float64, scale=1.0):
    generator = torch.Generator().manual_seed(1)
    hidden = scale * torch.randn(2 * n_tokens, D, generator=generator, dtype=torch.float64)
    weight = torch.randn(V, D, generator=generator, dtype=torch.float64)
    gold = torch.randint(1, V, (n_tokens,), generator=generator)
    return hidden.to(dtype).requires_grad_(), weight.to(dtype).requires_grad_(), gold


def plain(hidden, weight, gold, smoothing, alpha):
    """(loss, nll) with the logits written out."""
    logits = (hidden @ weight.t()).view(2, len(gold), -1)
    loss = sum(smoothed_loss(each, gold, smoothing) for each in logits)
    p, q = logits.log_softmax(-1)
    apart = functional.kl_div(p, q, log_target=True, reduction="sum")
    apart = apart + functional.kl_div(q, p, log_target=True, reduction="sum")
    nll = sum(functional.cross_entropy(each, gold, reduction="sum") for each in logits)
    return loss / 2 + alpha / 2 * apart / 2, nll / 2


@pytest.fixture(params=[1, V, 3 * V + 1, 17 * V, 1 << 22], ids=lambda n: f"{n // V}-rows")
def block(request, monkeypatch):
    """Blocks of one row, of a few, of all; also such that do not divide the number of tokens."""
    monkeypatch.setitem(module.BLOCK_ELEMENTS, "cpu", request.param)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("alpha", [0.5, 5.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
@pytest.mark.parametrize("form", ["uniform", "kl"])
@pytest.mark.usefixtures("block")
def test_loss_and_gradients_equal_the_plain_way(form, epsilon, alpha, dtype):
    rtol = 1e-10 if dtype == torch.float64 else 1e-5
    hidden, weight, gold = make(dtype=dtype)
    smoothing = Smoothing.of(form, epsilon, vocab_size=V)
    ours = r_drop_loss(hidden, weight, gold, smoothing, alpha)
    loss, nll = plain(hidden, weight, gold, smoothing, alpha)
    assert_close(ours.loss, loss, rtol=rtol, atol=0)
    assert_close(ours.nll, nll.detach(), rtol=rtol, atol=0)
    assert not ours.nll.requires_grad
    grads = torch.autograd.grad(3.0 * ours.loss, (hidden, weight))
    expected = torch.autograd.grad(3.0 * loss, (hidden, weight))
    for grad, wanted in zip(grads, expected, strict=True):
        assert_close(grad, wanted, rtol=0, atol=rtol * max(1.0, float(wanted.abs().max())))


def test_the_gradient_is_that_of_finite_differences():
    hidden, weight, gold = make(n_tokens=3)
    smoothing = Smoothing.of("uniform", 0.1, vocab_size=V)
    assert torch.autograd.gradcheck(
        lambda h, w: r_drop_loss(h, w, gold, smoothing, 5.0).loss, (hidden, weight)
    )


@pytest.mark.parametrize("scale", [0.0, 300.0])
def test_passes_that_are_alike_and_certain_ones_stay_finite(scale):
    hidden, weight, gold = make(dtype=torch.float32, scale=scale)
    smoothing = Smoothing.of("uniform", 0.1, vocab_size=V)
    loss = r_drop_loss(hidden, weight, gold, smoothing, 5.0).loss
    loss.backward()
    assert all(each.isfinite().all() for each in (loss, hidden.grad, weight.grad))
    assert_close(loss, plain(hidden, weight, gold, smoothing, 5.0)[0], rtol=1e-4, atol=1e-4)


def test_in_bfloat16_it_comes_close():
    hidden, weight, gold = make(dtype=torch.float32)
    smoothing = Smoothing.of("uniform", 0.1, vocab_size=V)
    exact = r_drop_loss(hidden, weight, gold, smoothing, 5.0).loss
    half = r_drop_loss(hidden.bfloat16(), weight, gold, smoothing, 5.0).loss
    assert half.dtype == torch.float32
    assert_close(half, exact, rtol=0.05, atol=0)
