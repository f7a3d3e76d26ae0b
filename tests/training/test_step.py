import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.testing import assert_close

from dragoman.batches.batch import make_batch
from dragoman.tokenize.vocabulary import EOS_ID, PAD_ID, UNK_ID
from dragoman.training.distributed import World
from dragoman.training.optimizer import Optimizers
from dragoman.training.step import Objective, clip_gradients, mask_source, seed_step, update


@pytest.fixture
def train_once(make_model, make_train):
    """A function: the model after one update on these batches, and what the update tells."""

    def once(batches, *, rate=0.01, scaler=None, model=None, need_norm=True, **options):
        model = model or make_model()
        config = make_train(**options)
        objective = Objective(model, config).train()
        done = update(
            objective,
            Optimizers(model, config),
            batches,
            config=config,
            world=World(),
            n_tokens=float(sum(batch.n_tokens for batch in batches)),
            learning_rate=rate,
            scaler=scaler,
            need_norm=need_norm,
        )
        return model, done

    return once


def assert_same_weights(one, other, *, atol):
    for name, weight in one.named_parameters():
        assert_close(weight, other.get_parameter(name), rtol=0, atol=atol, msg=name)


def grads(model):
    return {name: p.grad.clone() for name, p in model.named_parameters()}


# --- the loss -------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["uniform", "kl"])
def test_the_objective_is_the_summed_loss_of_the_real_tokens(make_model, make_train, batch, form):
    model = make_model()
    config = make_train(smoothing_form=form, label_smoothing=0.0)
    loss, nll = Objective(model, config)(batch)
    logits = model(batch.src_ids, batch.tgt_in)
    expected = functional.cross_entropy(
        logits.flatten(0, 1), batch.tgt_out.flatten(), ignore_index=PAD_ID, reduction="sum"
    )
    assert_close(loss, expected, rtol=1e-10, atol=0)
    assert_close(nll, expected.detach(), rtol=1e-10, atol=0)


def test_a_batch_without_padding_gives_the_same_as_one_with(make_model, make_train):
    objective = Objective(make_model(), make_train())
    pairs = [([4, 5, 6], [7, 8]), ([5, 6, 7], [9, 4])]
    whole = make_batch(pairs)
    assert whole.src_index is whole.tgt_index is None
    longer = make_batch([*pairs, ([4] * 6, [5] * 6)])
    alone = make_batch([([4] * 6, [5] * 6)])
    total = sum(objective(b)[0] for b in (whole, alone))
    assert_close(objective(longer)[0], total, rtol=1e-10, atol=0)


def test_an_update_tells_sums_and_tokens(train_once, batch, make_model, make_train):
    expected, nll = Objective(make_model(), make_train())(batch)
    _, done = train_once([batch])
    assert_close(done.loss, expected.detach(), rtol=1e-12, atol=0)
    assert_close(done.nll, nll, rtol=1e-12, atol=0)
    assert done.n_tokens == batch.n_tokens
    assert not done.loss.requires_grad


# --- accumulation, clipping -----------------------------------------------------------------------


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "muon"])
@pytest.mark.parametrize("clip_norm", [0.0, 0.05])
def test_four_quarter_batches_equal_the_big_batch(train_once, make_pairs, optimizer, clip_norm):
    pairs = make_pairs(16)
    options = {"optimizer": optimizer, "clip_norm": clip_norm, "weight_decay": 0.1}
    big, of_big = train_once([make_batch(pairs)], **options)
    quarters = [make_batch(pairs[i : i + 4]) for i in range(0, 16, 4)]
    assert len({quarter.n_tokens for quarter in quarters}) > 1  # a mean of means would differ
    small, of_small = train_once(quarters, **options)
    assert_same_weights(big, small, atol=1e-6)
    assert_close(of_big.loss, of_small.loss, rtol=1e-10, atol=0)
    assert_close(of_big.grad_norm, of_small.grad_norm, rtol=1e-8, atol=0)
    third, _ = train_once(quarters[:3], **options)
    assert not torch.allclose(big.embedding.weight, third.embedding.weight, atol=1e-6)  # control


def test_the_gradient_is_that_of_the_mean_over_tokens(make_model, train_once, batch):
    model = make_model()
    logits = model(batch.src_ids, batch.tgt_in).flatten(0, 1)
    functional.cross_entropy(
        logits, batch.tgt_out.flatten(), ignore_index=PAD_ID, label_smoothing=0.1
    ).backward()
    expected = nn.utils.get_total_norm([p.grad for p in model.parameters()])
    _, done = train_once([batch])
    assert_close(done.grad_norm, expected, rtol=1e-10, atol=0)


@pytest.mark.parametrize("limit", [0.01, 1e6])
def test_clipping_equals_pytorchs(make_model, make_train, batch, limit):
    mine, theirs = make_model(), make_model()
    for model in (mine, theirs):
        Objective(model, make_train())(batch)[0].backward()
    objective = Objective(mine, make_train())
    norm = clip_gradients(objective, Optimizers(mine, make_train()), None, limit, need_norm=False)
    expected = nn.utils.clip_grad_norm_(theirs.parameters(), limit)
    assert torch.equal(norm, expected)
    for name, grad in grads(mine).items():
        assert torch.equal(grad, theirs.get_parameter(name).grad)


def test_a_norm_that_is_only_looked_at_changes_nothing(train_once, batch):
    looked, done = train_once([batch], need_norm=True)
    unlooked, without = train_once([batch], need_norm=False)
    assert done.grad_norm > 0
    assert without.grad_norm is None
    assert_same_weights(looked, unlooked, atol=0)


def test_a_norm_that_is_infinite_spoils_no_other_gradient(make_model, make_train, batch):
    # With two optimizers a scaler skips the one that has an overflow; the other takes its step.
    model = make_model()
    objective = Objective(model, make_train())
    objective(batch)[0].backward()
    model.encoder.layers[0].feed_forward.w1.weight.grad[0, 0] = torch.inf
    before = model.embedding.weight.grad.clone()
    optimizers = Optimizers(model, make_train(optimizer="muon"))
    assert clip_gradients(objective, optimizers, None, 0.0, need_norm=True).isinf()
    assert torch.equal(model.embedding.weight.grad, before)


# --- mixed precision ------------------------------------------------------------------------------


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_half_precision_comes_close_to_float32(make_model, train_once, batch, precision):
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0) if precision == "fp16" else None
    _, expected = train_once([batch], model=make_model(dtype=torch.float32))
    half, done = train_once(
        [batch], model=make_model(dtype=torch.float32), precision=precision, scaler=scaler
    )
    assert done.loss.dtype == torch.float32
    assert_close(done.loss, expected.loss, rtol=0.02, atol=0)
    assert done.loss != expected.loss  # control: the arithmetic was another
    assert_close(done.grad_norm, expected.grad_norm, rtol=0.05, atol=0)
    assert all(p.dtype == torch.float32 and p.isfinite().all() for p in half.parameters())


@pytest.mark.parametrize("optimizer", ["adam", "muon"])
@pytest.mark.parametrize("clip_norm", [0.0, 0.05])
def test_a_scaled_loss_is_unscaled_before_it_is_clipped(
    make_model, train_once, batch, clip_norm, optimizer
):
    options = {"clip_norm": clip_norm, "optimizer": optimizer}
    plain, expected = train_once([batch], model=make_model(dtype=torch.float32), **options)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**12)
    scaled, done = train_once(
        [batch], model=make_model(dtype=torch.float32), scaler=scaler, **options
    )
    assert_close(done.grad_norm, expected.grad_norm, rtol=1e-5, atol=0)
    assert_same_weights(plain, scaled, atol=1e-5)


@pytest.mark.parametrize("optimizer", ["adam", "muon"])
@pytest.mark.parametrize("need_norm", [False, True])
def test_an_overflow_skips_the_step_and_lowers_the_scale(
    make_model, train_once, batch, optimizer, need_norm
):
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**80)
    model, _ = train_once(
        [batch],
        model=make_model(dtype=torch.float32),
        precision="fp16",
        scaler=scaler,
        optimizer=optimizer,
        need_norm=need_norm,
    )
    assert_same_weights(model, make_model(dtype=torch.float32), atol=0)
    assert scaler.get_scale() == 2.0**79
    assert all(p.grad is None for p in model.parameters())


# --- R-Drop ---------------------------------------------------------------------------------------


def test_without_dropout_r_drop_changes_nothing(train_once, batch):
    plain, expected = train_once([batch])
    with_term, done = train_once([batch], r_drop=5.0)
    assert_close(done.loss, expected.loss, rtol=1e-10, atol=0)
    assert_close(done.nll, expected.nll, rtol=1e-10, atol=0)
    assert_same_weights(plain, with_term, atol=1e-9)


def test_r_drop_is_the_mean_loss_and_half_the_mean_divergence(make_model, make_train, batch):
    model = make_model(dropout=0.3).train()
    objective = Objective(model, make_train(r_drop=3.0, label_smoothing=0.1))
    caught = []
    model.decoder.register_forward_hook(lambda *a: caught.append(a[2]))
    loss, nll = objective(batch)
    gold = batch.tgt_out.flatten()
    gold = gold[gold != PAD_ID]
    p, q = passes = model.logits(caught[0]).log_softmax(-1).view(2, len(gold), 13)
    smooth = [
        functional.cross_entropy(x, gold, label_smoothing=0.1, reduction="sum") for x in passes
    ]
    apart = functional.kl_div(p, q, log_target=True, reduction="sum")
    apart = (apart + functional.kl_div(q, p, log_target=True, reduction="sum")) / 2
    assert apart > 0.1
    assert_close(loss, sum(smooth) / 2 + 3.0 * apart / 2, rtol=1e-10, atol=0)
    wanted = sum(functional.nll_loss(x, gold, reduction="sum") for x in passes) / 2
    assert_close(nll, wanted.detach(), rtol=1e-10, atol=0)


def test_the_gradient_of_r_drop_is_finite_and_felt(make_model, make_train, batch):
    found = []
    for r_drop in (0.001, 5.0):
        model = make_model(dropout=0.3).train()
        seed_step(1, 1, 0)
        Objective(model, make_train(r_drop=r_drop))(batch)[0].backward()
        found.append(grads(model))
    assert all(grad.isfinite().all() for grad in found[1].values())
    assert not torch.allclose(found[0]["embedding.weight"], found[1]["embedding.weight"])


def test_an_evaluation_has_no_r_drop(make_model, make_train, batch):
    model = make_model(dropout=0.3).eval()
    losses = [Objective(model, make_train(r_drop=r)).eval()(batch)[0] for r in (0.0, 5.0)]
    assert torch.equal(*losses)


# --- source masking -------------------------------------------------------------------------------


def test_about_the_right_share_of_pieces_is_masked_and_nothing_else():
    torch.manual_seed(1)
    src_ids = torch.full((100, 103), 7)
    src_ids[:, 100], src_ids[:, 101:] = EOS_ID, PAD_ID
    masked = mask_source(src_ids, 0.3, PAD_ID)
    assert 0.28 < (masked[:, :100] == UNK_ID).double().mean() < 0.32
    assert ((masked == UNK_ID) | (masked == src_ids)).all()
    assert torch.equal(masked[:, 100:], src_ids[:, 100:])
    assert (src_ids[:, :100] == 7).all()  # the batch itself is left alone


def test_the_source_is_masked_in_training_only(make_model, make_train, batch):
    model = make_model()
    plain = Objective(model, make_train())(batch)[0]
    objective = Objective(model, make_train(source_masking=0.9))
    seed_step(1, 1, 0)
    assert objective.train()(batch)[0] != plain
    assert torch.equal(objective.eval()(batch)[0], plain)


# --- randomness -----------------------------------------------------------------------------------


def test_a_step_draws_the_same_whatever_came_before(make_model, make_train, batch):
    objective = Objective(make_model(dropout=0.3), make_train()).train()

    def loss(seed, step, rank):
        torch.rand(torch.randint(1, 99, ()))  # something else happens in between
        seed_step(seed, step, rank)
        return objective(batch)[0].item()

    assert loss(1, 7, 0) == loss(1, 7, 0)
    others = [loss(1, 8, 0), loss(1, 7, 1), loss(2, 7, 0)]
    assert len({loss(1, 7, 0), *others}) == 4


def test_seeds_do_not_run_together():
    # 1/12/0 and 11/2/0 hold the same digits in the same order
    drawn = set()
    for args in [(1, 12, 0), (11, 2, 0), (1, 1, 20), (0, 0, 0), (2**62, 10**9, 999)]:
        seed_step(*args)
        drawn.add(torch.rand(()).item())
    assert len(drawn) == 5
