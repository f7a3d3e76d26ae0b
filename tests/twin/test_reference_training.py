import importlib.util
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional

from dragoman.reference.adam import Adam
from dragoman.reference.label_smoothing import smoothed_loss, smoothed_targets
from dragoman.reference.schedule import noam

EXAMPLE = Path(__file__).parents[2] / "examples" / "copy_task_numpy.py"


@pytest.fixture
def logits():
    return np.random.default_rng(1).normal(0, 3, (2, 7, 13))


@pytest.fixture
def example():
    spec = importlib.util.spec_from_file_location("copy_task_numpy", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.4])
def test_the_uniform_form_equals_pytorchs_smoothed_cross_entropy(logits, batch, epsilon):
    loss, n_tokens = smoothed_loss(logits, batch["tgt_out"], epsilon=epsilon, form="uniform")
    theirs = functional.cross_entropy(
        torch.from_numpy(logits).flatten(0, 1),
        torch.from_numpy(batch["tgt_out"]).flatten(),
        ignore_index=0,
        label_smoothing=epsilon,
        reduction="sum",
    )
    assert n_tokens == 11
    assert loss == pytest.approx(theirs.item(), abs=1e-10)


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.4])
def test_the_kl_form_equals_pytorchs_divergence(logits, batch, epsilon):
    tgt_out = batch["tgt_out"]
    q = np.full((2, 7, 13), epsilon / 11)
    q[..., 0] = 0
    np.put_along_axis(q, tgt_out[..., None], 1 - epsilon, axis=-1)
    q[tgt_out == 0] = 0
    log_p = torch.log_softmax(torch.from_numpy(logits), -1)
    theirs = functional.kl_div(log_p, torch.from_numpy(q), reduction="sum")
    loss, n_tokens = smoothed_loss(logits, tgt_out, epsilon=epsilon, form="kl")
    assert n_tokens == 11
    assert loss == pytest.approx(theirs.item(), abs=1e-10)


@pytest.mark.parametrize("form", ["uniform", "kl"])
def test_the_softened_truth_is_a_distribution_and_nothing_at_padding(batch, form):
    q = smoothed_targets(batch["tgt_out"], 13, epsilon=0.3, form=form, pad_id=0)
    np.testing.assert_allclose(q.sum(axis=-1), batch["tgt_out"] != 0, atol=1e-12)
    assert (q[0, :, 0] > 0).all() == (form == "uniform")


def test_the_loss_survives_extreme_logits(batch):
    logits = np.random.default_rng(1).normal(0, 1e6, (2, 7, 13))
    assert np.isfinite(smoothed_loss(logits, batch["tgt_out"])[0])


def test_adam_walks_as_pytorchs_does():
    rng = np.random.default_rng(1)
    params = {"a": rng.normal(size=(3, 4)), "b": rng.normal(size=5)}
    theirs = {name: torch.tensor(value, requires_grad=True) for name, value in params.items()}
    torch_adam = torch.optim.Adam(theirs.values(), betas=(0.9, 0.98), eps=1e-9)
    adam = Adam(params)
    for step in range(1, 20):
        grads = {name: rng.normal(size=value.shape) for name, value in params.items()}
        rate = noam(step, d_model=32, warmup_steps=8)
        adam.update(grads, learning_rate=rate)
        torch_adam.param_groups[0]["lr"] = rate
        for name, parameter in theirs.items():
            parameter.grad = torch.from_numpy(grads[name])
        torch_adam.step()
    for name, parameter in theirs.items():
        np.testing.assert_allclose(params[name], parameter.detach().numpy(), rtol=0, atol=1e-10)


def test_the_learning_rate_peaks_where_the_warm_up_ends():
    rates = [noam(step, d_model=512, warmup_steps=4000) for step in (1, 4000, 100_000)]
    assert rates == pytest.approx([1.7469e-07, 6.9877e-04, 1.3975e-04], rel=1e-4)
    assert noam(5, d_model=16, warmup_steps=5, factor=2.0) == pytest.approx(2 / 4 / 5**0.5)


def test_the_exam_of_the_copy_task_is_never_in_its_lessons(example):
    rng = np.random.default_rng(1)
    lessons = {tuple(row) for row in example.random_sequences(rng, 2000).tolist()}
    exam = {tuple(row) for row in example.random_sequences(rng, 500, held_out=True).tolist()}
    assert len(exam) > 300
    assert not lessons & exam


def test_the_batch_of_the_copy_task_is_shifted_right(example):
    made = example.copy_batch(np.array([[7, 8, 0], [7, 8, 9]]))
    assert made["tgt_in"].tolist() == [[1, 7, 8, 0], [1, 7, 8, 9]]
    assert made["tgt_out"].tolist() == [[7, 8, 2, 0], [7, 8, 9, 2]]


def test_a_hundred_steps_of_the_copy_task_teach_more_than_guessing(example, capsys):
    example.main(steps=100, batch_size=16)
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "| loss" in line]
    assert float(line.split("|")[1].split()[1]) < 0.9 * np.log(11)  # ten symbols or the end


@pytest.mark.slow
def test_numpy_alone_learns_to_copy(example):
    assert example.main() >= 0.95
