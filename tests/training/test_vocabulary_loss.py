"""The blockwise loss against the plain one: project, smooth, and let autograd differentiate."""

import pytest
import torch
from torch.nn import functional
from torch.testing import assert_close

from dragoman.model.packing import Packing
from dragoman.training import vocabulary_loss as module
from dragoman.training.label_smoothing import Smoothing, smoothed_loss
from dragoman.training.vocabulary_loss import vocabulary_loss

P, D, V = 17, 12, 13
FORMS = ["uniform", "kl"]
TOLERANCES = {torch.float64: 1e-10, torch.float32: 1e-5}


def make(n_tokens=P, *, vocab_size=V, dtype=torch.float64, scale=1.0):
    generator = torch.Generator().manual_seed(1)
    hidden = scale * torch.randn(n_tokens, D, generator=generator, dtype=torch.float64)
    weight = torch.randn(vocab_size, D, generator=generator, dtype=torch.float64)
    gold = torch.randint(1, vocab_size, (n_tokens,), generator=generator)
    return hidden.to(dtype).requires_grad_(), weight.to(dtype).requires_grad_(), gold


def plain(hidden, weight, gold, smoothing):
    """(loss, nll) with the logits written out."""
    logits = hidden @ weight.t()
    return smoothed_loss(logits, gold, smoothing), functional.cross_entropy(
        logits, gold, reduction="sum"
    )


def assert_equals_plain(hidden, weight, gold, smoothing, *, upstream=1.0, rtol, atol=0.0):
    """Loss, negative log-likelihood and both gradients, relative to the largest of each."""
    ours = vocabulary_loss(hidden, weight, gold, smoothing)
    loss, nll = plain(hidden, weight, gold, smoothing)
    assert_close(ours.loss, loss, rtol=rtol, atol=atol)
    assert_close(ours.nll, nll, rtol=rtol, atol=atol)
    grads = torch.autograd.grad(upstream * ours.loss, (hidden, weight))
    expected = torch.autograd.grad(upstream * loss, (hidden, weight))
    for grad, wanted in zip(grads, expected, strict=True):
        assert grad.dtype == wanted.dtype
        size = float(wanted.abs().max())
        assert_close(grad, wanted, rtol=0, atol=rtol * max(1.0, size))


@pytest.fixture(params=[1, V, 3 * V + 1, 17 * V, 1 << 22], ids=lambda n: f"{n // V}-rows")
def block(request, monkeypatch):
    """Blocks of one row, of a few, of all; also such that do not divide the number of tokens."""
    monkeypatch.setitem(module.BLOCK_ELEMENTS, "cpu", request.param)


@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.6])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.usefixtures("block")
def test_loss_and_gradients_equal_the_plain_way(form, epsilon, dtype):
    smoothing = Smoothing.of(form, epsilon, vocab_size=V)
    assert_equals_plain(*make(dtype=dtype), smoothing, rtol=TOLERANCES[dtype])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("n_tokens", "vocab_size"), [(1, V), (1, 3), (P, 3)])
def test_the_smallest_cases_equal_the_plain_way(n_tokens, vocab_size, form):
    smoothing = Smoothing.of(form, 0.1, vocab_size=vocab_size)
    assert_equals_plain(*make(n_tokens, vocab_size=vocab_size), smoothing, rtol=1e-10)


@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
@pytest.mark.parametrize("form", FORMS)
def test_extreme_logits_equal_the_plain_way(form, dtype):
    hidden, weight, gold = make(dtype=dtype, scale=3000.0)  # logits of about ±1e4
    assert (hidden @ weight.t()).abs().max() > 1e4
    probs = (hidden @ weight.t()).softmax(-1)
    assert (probs[:, 0] == 0).any()  # control: the first token's probability does underflow
    smoothing = Smoothing.of(form, 0.1, vocab_size=V)
    assert_equals_plain(hidden, weight, gold, smoothing, rtol=TOLERANCES[dtype])


@pytest.mark.parametrize("first", [0.0, -60.0, -80.0, -95.0, -1000.0])
def test_a_faint_first_token_costs_no_precision(first):
    # exp(-60) is told well from zero, exp(-80) badly, exp(-95) hardly, exp(-1000) not at all
    logits = torch.zeros(2, 5)
    logits[:, 0] = first
    smoothing = Smoothing.of("uniform", 0.1, vocab_size=5)
    ours = vocabulary_loss(logits, torch.eye(5), torch.tensor([1, 2]), smoothing)
    expected = smoothed_loss(logits.double(), torch.tensor([1, 2]), smoothing)
    assert ours.loss.item() == pytest.approx(expected.item(), rel=1e-6)


def test_padding_may_have_any_number():
    hidden, weight, gold = make()
    smoothing = Smoothing.of("kl", 0.1, vocab_size=V, pad_id=5)
    assert_equals_plain(hidden, weight, gold.where(gold != 5, 6), smoothing, rtol=1e-10)


@pytest.mark.parametrize("form", FORMS)
def test_a_scaled_loss_has_scaled_gradients(form):
    smoothing = Smoothing.of(form, 0.1, vocab_size=V)
    assert_equals_plain(*make(), smoothing, upstream=-7.5, rtol=1e-10)


@pytest.mark.parametrize("which", ["hidden", "weight"])
def test_one_input_alone_gets_its_gradient(which):
    hidden, weight, gold = make()
    smoothing = Smoothing.of("uniform", 0.1, vocab_size=V)
    (weight if which == "hidden" else hidden).requires_grad_(False)
    wanted = hidden if which == "hidden" else weight
    (grad,) = torch.autograd.grad(vocabulary_loss(hidden, weight, gold, smoothing).loss, wanted)
    (expected,) = torch.autograd.grad(plain(hidden, weight, gold, smoothing)[0], wanted)
    assert_close(grad, expected, rtol=0, atol=1e-10)


def test_the_negative_log_likelihood_has_no_gradient():
    losses = vocabulary_loss(*make(), Smoothing.of("uniform", 0.1, vocab_size=V))
    assert losses.loss.requires_grad
    assert not losses.nll.requires_grad


def test_backward_may_run_twice():
    hidden, weight, gold = make()
    loss = vocabulary_loss(hidden, weight, gold, Smoothing.of("uniform", 0.1, vocab_size=V)).loss
    first = torch.autograd.grad(loss, (hidden, weight), retain_graph=True)
    second = torch.autograd.grad(loss, (hidden, weight))
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


@pytest.mark.usefixtures("block")
def test_an_evaluation_gives_the_same_numbers():
    hidden, weight, gold = make()
    smoothing = Smoothing.of("kl", 0.1, vocab_size=V)
    with torch.no_grad():
        losses = vocabulary_loss(hidden, weight, gold, smoothing)
    loss, nll = plain(hidden, weight, gold, smoothing)
    assert not losses.loss.requires_grad
    assert_close(losses.loss, loss.detach(), rtol=1e-10, atol=0)
    assert_close(losses.nll, nll.detach(), rtol=1e-10, atol=0)


def test_an_evaluation_makes_no_gradients(monkeypatch):
    asked = []
    real = module._blocks

    def spy(*args, need_grad, sample):
        asked.append(need_grad)
        return real(*args, need_grad=need_grad, sample=sample)

    monkeypatch.setattr(module, "_blocks", spy)
    hidden, weight, gold = make()
    smoothing = Smoothing.of("uniform", 0.1, vocab_size=V)
    vocabulary_loss(hidden, weight, gold, smoothing)
    with torch.no_grad():  # the matrix is a parameter: it asks for gradients wherever it goes
        vocabulary_loss(hidden, weight, gold, smoothing)
    assert asked == [True, False]


def test_no_tokens_cost_nothing():
    hidden, weight, gold = make(0)
    losses = vocabulary_loss(hidden, weight, gold, Smoothing.of("kl", 0.1, vocab_size=V))
    losses.loss.backward()
    assert losses.loss.item() == losses.nll.item() == 0
    assert hidden.grad.shape == (0, D)
    assert torch.equal(weight.grad, torch.zeros(V, D, dtype=torch.float64))


def test_a_nan_is_not_hidden():
    hidden, weight, gold = make()
    with torch.no_grad():
        hidden[3, 2] = torch.nan
    losses = vocabulary_loss(hidden, weight, gold, Smoothing.of("uniform", 0.1, vocab_size=V))
    assert losses.loss.isnan()
    assert losses.nll.isnan()


@pytest.mark.parametrize("form", FORMS)
def test_bfloat16_states_come_close(form):
    hidden, weight, gold = make(dtype=torch.float32)
    smoothing = Smoothing.of(form, 0.1, vocab_size=V)
    rounded = hidden.detach().bfloat16().requires_grad_()
    losses = vocabulary_loss(rounded, weight, gold, smoothing)
    loss, nll = plain(hidden, weight, gold, smoothing)
    assert losses.loss.dtype == torch.float32
    assert_close(losses.loss, loss, rtol=0.02, atol=0)
    assert_close(losses.nll, nll.detach(), rtol=0.02, atol=0)
    grads = torch.autograd.grad(losses.loss, (rounded, weight))
    expected = torch.autograd.grad(loss, (hidden, weight))
    assert [grad.dtype for grad in grads] == [torch.bfloat16, torch.float32]
    for grad, wanted in zip(grads, expected, strict=True):
        assert_close(grad.float(), wanted, rtol=0, atol=0.03 * float(wanted.abs().max()))


@pytest.mark.parametrize("tie", ["all", "decoder", "none"])
def test_a_whole_model_gets_the_gradients_of_the_plain_way(make_model, batch, tie):
    model = make_model(tie=tie)
    smoothing = Smoothing.of("uniform", 0.1, vocab_size=V)
    tgt = Packing(batch.tgt_index, *batch.tgt_in.shape)
    src = Packing(batch.src_index, *batch.src_ids.shape)
    gold = tgt.pack(batch.tgt_out)
    hidden = model.hidden(batch.src_ids, batch.tgt_in, src, tgt)
    vocabulary_loss(hidden, model.output_weight, gold, smoothing).loss.backward()
    ours = {name: p.grad.clone() for name, p in model.named_parameters()}
    model.zero_grad()
    logits = model(batch.src_ids, batch.tgt_in)[batch.tgt_out != 0]
    smoothed_loss(logits, gold, smoothing).backward()
    for name, parameter in model.named_parameters():
        assert_close(ours[name], parameter.grad, rtol=0, atol=1e-10, msg=name)
