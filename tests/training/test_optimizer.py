import pytest
import torch
from torch.testing import assert_close

from dragoman.training.optimizer import Optimizers

KINDS = ["adam", "adamw", "muon"]


def set_gradients(model, step):
    generator = torch.Generator().manual_seed(step)
    for parameter in model.parameters():
        parameter.grad = torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype)


def walk(model, optimizers, steps):
    for step in steps:
        set_gradients(model, step)
        optimizers.step(0.01 / step)


def weights(model):
    return {name: p.detach().clone() for name, p in model.named_parameters()}


def decay_by_name(optimizers):
    return {
        optimizers.names[p]: group["weight_decay"]
        for optimizer in optimizers.all
        for group in optimizer.param_groups
        for p in group["params"]
    }


@pytest.mark.parametrize("kind", ["adam", "adamw"])
def test_several_steps_equal_pytorchs(make_model, make_train, kind):
    mine, theirs = make_model(), make_model()
    optimizers = Optimizers(mine, make_train(optimizer=kind))
    cls = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[kind]
    reference = cls(
        theirs.parameters(), betas=(0.9, 0.98), eps=1e-9, weight_decay=0, foreach=False, fused=False
    )
    for step in range(1, 7):
        for model in (mine, theirs):
            set_gradients(model, step)
        optimizers.step(0.01 / step)
        reference.param_groups[0]["lr"] = 0.01 / step
        reference.step()
    for name, weight in weights(mine).items():
        assert_close(weight, theirs.get_parameter(name).detach(), rtol=0, atol=1e-12, msg=name)


def test_betas_and_eps_come_from_the_config(make_model, make_train):
    optimizers = Optimizers(make_model(), make_train(betas=(0.8, 0.95), eps=1e-6))
    (adam,) = optimizers.all
    assert adam.defaults["betas"] == (0.8, 0.95)
    assert adam.defaults["eps"] == 1e-6


@pytest.mark.parametrize("tie", ["all", "decoder", "none"])
@pytest.mark.parametrize("kind", KINDS)
def test_only_matrices_inside_the_layers_decay(make_model, make_train, kind, tie):
    model = make_model(tie=tie, positions="learned", norm="pre")
    found = decay_by_name(Optimizers(model, make_train(optimizer=kind, weight_decay=0.25)))
    assert found.keys() == dict(model.named_parameters()).keys()
    for name, decay in found.items():
        is_inside = ".layers." in name and name.endswith(".weight") and "norm" not in name
        assert decay == (0.25 if is_inside else 0.0), name
    assert sum(decay > 0 for decay in found.values()) == 2 * 4 + 2 * 6


def test_muon_moves_what_would_decay_and_adamw_the_rest(make_model, make_train):
    muon, adamw = Optimizers(make_model(), make_train(optimizer="muon", weight_decay=0.25)).all
    assert {g["weight_decay"] for g in muon.param_groups} == {0.25}
    assert all(p.ndim == 2 for g in muon.param_groups for p in g["params"])
    assert type(adamw) is torch.optim.AdamW


def test_a_frozen_parameter_is_left_out(make_model, make_train):
    model = make_model()
    model.embedding.weight.requires_grad_(False)
    assert "embedding.weight" not in decay_by_name(Optimizers(model, make_train()))


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_forgets_the_gradients(make_model, make_train, kind):
    model = make_model()
    walk(model, Optimizers(model, make_train(optimizer=kind)), [1])
    assert all(p.grad is None for p in model.parameters())


@pytest.mark.parametrize("kind", KINDS)
def test_a_restored_optimizer_goes_on_as_the_first_would_have(make_model, make_train, kind):
    config = make_train(optimizer=kind, weight_decay=0.1)
    straight, split = make_model(), make_model()
    walk(straight, Optimizers(straight, config), range(1, 8))
    first = Optimizers(split, config)
    walk(split, first, range(1, 5))
    state = {name: tensor.clone() for name, tensor in first.state().items()}
    again = make_model(seed=2)
    again.load_state_dict(split.state_dict())
    second = Optimizers(again, config)
    second.load_state(state)
    walk(again, second, range(5, 8))
    for name, weight in weights(straight).items():
        assert torch.equal(weight, weights(again)[name]), name
    without = make_model(seed=2)
    without.load_state_dict(split.state_dict())
    walk(without, Optimizers(without, config), range(5, 8))
    assert not torch.equal(weights(without)["embedding.weight"], straight.embedding.weight)


@pytest.mark.parametrize("kind", KINDS)
def test_a_restored_state_shares_no_memory_with_the_saved_one(make_model, make_train, kind):
    model = make_model()
    optimizers = Optimizers(model, make_train(optimizer=kind))
    walk(model, optimizers, [1])
    saved = {name: tensor.clone() for name, tensor in optimizers.state().items()}
    before = {name: tensor.clone() for name, tensor in saved.items()}
    optimizers.load_state(saved)
    walk(model, optimizers, [2])
    assert all(torch.equal(saved[name], before[name]) for name in saved)


def test_a_restored_state_is_on_the_device_of_its_parameter(make_model, make_train):
    model = make_model()
    first = Optimizers(model, make_train())
    walk(model, first, [1])
    saved = first.state()  # as a checkpoint gives it: on the CPU
    elsewhere = make_model().to("meta")
    second = Optimizers(elsewhere, make_train())
    second.load_state(saved)
    assert {tensor.device.type for tensor in second.state().values()} == {"meta"}


@pytest.mark.parametrize("kind", KINDS)
def test_every_quantity_has_the_name_of_its_parameter(make_model, make_train, kind):
    model = make_model()
    optimizers = Optimizers(model, make_train(optimizer=kind))
    assert optimizers.state() == {}  # before the first step there is nothing to remember
    walk(model, optimizers, [1])
    state = optimizers.state()
    assert {name.split("/")[0] for name in state} == dict(model.named_parameters()).keys()
    quantities = {name.split("/")[1] for name in state}
    assert quantities == {"step", "exp_avg", "exp_avg_sq"} | (
        {"momentum_buffer"} if kind == "muon" else set()
    )
