"""What holds of losses, schedules, updates and averages whatever the sizes and settings."""

import itertools
import json
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from dragoman.batches.batch import make_batch
from dragoman.batches.loader import Position
from dragoman.config import ModelConfig, TrainConfig
from dragoman.model.transformer import Transformer
from dragoman.training import vocabulary_loss as blocks
from dragoman.training.distributed import World
from dragoman.training.label_smoothing import Smoothing, smoothed_loss
from dragoman.training.muon import orthogonalize
from dragoman.training.optimizer import Optimizers
from dragoman.training.schedule import learning_rate, peak_rate
from dragoman.training.state import TrainState, Validated
from dragoman.training.step import Objective, update

FORMS = st.sampled_from(["uniform", "kl"])
EPSILONS = st.floats(0, 0.99)
SEEDS = st.integers(0, 2**32)
SCHEDULES = st.sampled_from(["noam", "inverse_sqrt", "cosine", "linear", "exponential", "constant"])
IDS = st.lists(st.integers(4, 12), max_size=6)


@settings(deadline=None, max_examples=80)
@given(FORMS, EPSILONS, st.integers(3, 40), st.data())
def test_a_target_is_a_distribution_without_padding_in_the_kl_form(form, epsilon, vocab_size, data):
    gold = torch.tensor(data.draw(st.lists(st.integers(1, vocab_size - 1), min_size=1)))
    q = Smoothing.of(form, epsilon, vocab_size=vocab_size).target(gold, vocab_size)
    assert_close(q.sum(-1), torch.ones(len(gold), dtype=torch.float64), rtol=0, atol=1e-12)
    assert (q >= 0).all()
    if form == "kl":
        assert (q[:, 0] == 0).all()


@settings(deadline=None, max_examples=80)
@given(
    form=FORMS,
    epsilon=EPSILONS,
    sizes=st.tuples(st.integers(1, 20), st.integers(1, 9), st.integers(3, 30)),
    block=st.integers(1, 700),
    scale=st.sampled_from([0.01, 1.0, 30.0, 1000.0]),
    seed=SEEDS,
)
def test_the_blockwise_loss_is_the_plain_one(form, epsilon, sizes, block, scale, seed):
    n_tokens, width, vocab_size = sizes
    generator = torch.Generator().manual_seed(seed)
    hidden = scale * torch.randn(n_tokens, width, generator=generator, dtype=torch.float64)
    weight = torch.randn(vocab_size, width, generator=generator, dtype=torch.float64)
    gold = torch.randint(1, vocab_size, (n_tokens,), generator=generator)
    smoothing = Smoothing.of(form, epsilon, vocab_size=vocab_size)
    inputs = (hidden.requires_grad_(), weight.requires_grad_())
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(blocks.BLOCK_ELEMENTS, "cpu", block)
        ours = blocks.vocabulary_loss(hidden, weight, gold, smoothing).loss
    plain = smoothed_loss(hidden @ weight.t(), gold, smoothing)
    size = max(1.0, (hidden @ weight.t()).detach().abs().max().item() * n_tokens)
    assert_close(ours, plain, rtol=0, atol=1e-12 * size)
    for mine, theirs in zip(
        torch.autograd.grad(ours, inputs), torch.autograd.grad(plain, inputs), strict=True
    ):
        assert_close(mine, theirs, rtol=0, atol=1e-10 * max(1.0, float(theirs.abs().max())))


@settings(deadline=None, max_examples=150)
@given(
    schedule=SCHEDULES,
    warmup_steps=st.integers(0, 300),
    total_steps=st.integers(1, 2000),
    final=st.floats(0, 1),
    rate=st.none() | st.floats(1e-6, 10),
    d_model=st.integers(1, 2048),
)
def test_a_rate_is_never_negative_nor_above_its_peak_and_never_jumps(
    schedule, warmup_steps, total_steps, final, rate, d_model
):
    config = TrainConfig(
        schedule=schedule,
        warmup_steps=warmup_steps,
        final_learning_rate=final,
        learning_rate=rate,
    )
    peak = peak_rate(config, d_model)
    steps = [*range(1, 12), *range(max(12, warmup_steps - 3), warmup_steps + 12), total_steps]
    rates = {
        step: learning_rate(step, config, d_model=d_model, total_steps=total_steps)
        for step in [*steps, total_steps + 1, 10**9]
    }
    assert all(math.isfinite(r) and 0 <= r <= peak * (1 + 1e-9) for r in rates.values())
    span = max(1, total_steps - warmup_steps)
    for step, here in rates.items():
        if step + 1 in rates and step >= max(1, warmup_steps):
            fall = here - rates[step + 1]
            assert fall >= -1e-12 * peak
            if schedule in ("noam", "inverse_sqrt"):
                assert fall <= here / (2 * step) * (1 + 1e-9)
            elif schedule in ("cosine", "linear"):
                assert fall <= peak * (math.pi / 2 / span + 1e-12)


@settings(deadline=None, max_examples=25)
@given(
    st.lists(st.tuples(IDS, IDS), min_size=1, max_size=10),
    st.data(),
    st.sampled_from(["adam", "muon"]),
)
def test_however_an_update_is_cut_into_batches_it_is_the_same(pairs, data, optimizer):
    cuts = data.draw(st.sets(st.integers(1, max(1, len(pairs) - 1)), max_size=4))
    edges = [0, *sorted(cut for cut in cuts if cut < len(pairs)), len(pairs)]
    parts = [pairs[a:b] for a, b in itertools.pairwise(edges)]
    config = TrainConfig(optimizer=optimizer, clip_norm=0.5)
    gradients = []
    for batches in ([pairs], parts):
        torch.manual_seed(1)
        model = Transformer(
            ModelConfig(d_model=8, n_heads=2, n_layers=1, d_ff=9, vocab_size=13, dropout=0.0)
        ).double()
        optimizers = Optimizers(model, config)
        micro = [make_batch(part) for part in batches]
        update(
            Objective(model, config).train(),
            optimizers,
            micro,
            config=config,
            world=World(),
            n_tokens=float(sum(batch.n_tokens for batch in micro)),
            learning_rate=0.1,
        )
        key = {"adam": "exp_avg", "muon": "momentum_buffer"}[optimizer]
        gradients.append({n: t for n, t in optimizers.state().items() if n.endswith(key)})
    whole, cut = gradients
    for name, moment in whole.items():  # in one step from zero, a multiple of the gradient
        assert_close(cut[name], moment, rtol=0, atol=1e-10, msg=name)


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 12), st.integers(1, 12), st.floats(0, 1e6), SEEDS)
def test_an_orthogonalized_matrix_is_finite_and_short(rows, columns, scale, seed):
    generator = torch.Generator().manual_seed(seed)
    matrix = scale * torch.randn(1, rows, columns, generator=generator)
    out = orthogonalize(matrix)
    assert out.isfinite().all()
    assert torch.linalg.svdvals(out).max() < 1.3


@settings(deadline=None, max_examples=60)
@given(
    st.builds(
        TrainState,
        step=st.integers(0, 2**62),
        tokens=st.integers(0, 2**62),
        seconds=st.floats(0, 1e12),
        review_step=st.integers(0, 2**62),
        position=st.builds(Position, st.integers(0, 10**9), st.integers(0, 10**9)),
        validations=st.lists(
            st.builds(
                Validated,
                st.integers(0, 10**9),
                st.floats(allow_nan=False),
                st.none() | st.floats(0, 100),
            )
        ),
    )
)
def test_a_state_survives_json(state):
    again = TrainState.from_dict(json.loads(json.dumps(state.to_dict())))
    assert again == state
    assert again.best == state.best
