"""The gradients of a whole training step against autograd and finite differences."""

import math

import numpy as np
import pytest
import torch
from torch.nn import functional

from dragoman.reference.gradients_transformer import loss_and_gradients
from dragoman.reference.label_smoothing import smoothed_loss
from dragoman.reference.numerical_gradient import numerical_gradient
from dragoman.reference.positional_encoding import sinusoidal_encoding
from dragoman.reference.transformer import Transformer

CLOSE = {"rtol": 0, "atol": 1e-10}


def leaves(arrays):
    return [torch.from_numpy(array).requires_grad_() for array in arrays]


def mean_loss(params, config, batch):
    logits = Transformer(config, params)(batch["src_ids"], batch["tgt_in"])
    loss, n_tokens = smoothed_loss(logits, batch["tgt_out"], epsilon=0.2, form="kl")
    return loss / n_tokens


def test_a_whole_step_of_every_option_against_finite_differences(config, make_params, batch):
    params = make_params(config)
    loss, grads = loss_and_gradients(params, config, **batch, epsilon=0.2, form="kl")
    assert loss == mean_loss(params, config, batch)
    assert grads.keys() == params.keys()
    rng = np.random.default_rng(2)
    for name, value in params.items():  # the slope in a random direction feels every number
        direction = rng.normal(size=value.shape)
        at = np.zeros(1)

        def function(name=name, value=value, direction=direction, at=at):
            return mean_loss(params | {name: value + at * direction}, config, batch)

        slope = numerical_gradient(function, at, step=1e-6).item()
        assert (grads[name] * direction).sum() == pytest.approx(slope, rel=1e-5, abs=2e-8), name


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("tie", ["all", "decoder", "none"])
def test_a_whole_step_against_autograd_on_pytorchs_layers(
    make_stack, our_names, make_config, make_params, batch, norm, tie
):
    config = make_config(norm=norm, tie=tie)
    encoder, decoder = make_stack("Encoder", norm), make_stack("Decoder", norm)
    named = {f"encoder.{name}": p for name, p in our_names(encoder).items()}
    named |= {f"decoder.{name}": p for name, p in our_names(decoder).items()}
    tables = {n: v for n, v in make_params(config).items() if n not in named}
    named |= dict(zip(tables, leaves(tables.values()), strict=True))
    src_table, tgt_table, out_table = {
        "all": ("embedding",) * 3,
        "decoder": ("src_embedding", "tgt_embedding", "tgt_embedding"),
        "none": ("src_embedding", "tgt_embedding", "output"),
    }[tie]

    def embedded(ids, table):
        x = functional.embedding(ids, named[f"{table}.weight"]) * math.sqrt(12)
        return x + torch.from_numpy(sinusoidal_encoding(ids.size(1), 12))

    src_ids, tgt_in, tgt_out = (torch.from_numpy(batch[n]) for n in batch)
    memory = encoder(embedded(src_ids, src_table), src_key_padding_mask=src_ids == 0)
    states = decoder(
        embedded(tgt_in, tgt_table),
        memory,
        tgt_mask=torch.ones(7, 7, dtype=torch.bool).triu(1),
        tgt_key_padding_mask=tgt_in == 0,
        memory_key_padding_mask=src_ids == 0,
    )
    logits = states @ named[f"{out_table}.weight"].T
    theirs = functional.cross_entropy(
        logits.flatten(0, 1), tgt_out.flatten(), ignore_index=0, label_smoothing=0.1
    )
    theirs.backward()
    params = {name: p.detach().numpy() for name, p in named.items()}
    loss, grads = loss_and_gradients(params, config, **batch, epsilon=0.1)
    assert loss == pytest.approx(theirs.item(), abs=1e-10)
    assert grads.keys() == named.keys()
    for name, parameter in named.items():
        np.testing.assert_allclose(grads[name], parameter.grad.numpy(), err_msg=name, **CLOSE)


def test_gradients_have_the_type_of_the_weights(make_config, make_params, batch):
    config = make_config(activation="gelu", positions="learned", max_positions=9)
    params = {name: value.astype(np.float32) for name, value in make_params(config).items()}
    _, grads = loss_and_gradients(params, config, **batch)
    assert {value.dtype for value in grads.values()} == {np.dtype(np.float32)}


def test_a_batch_of_padding_alone_teaches_nothing(make_config, make_params):
    config = make_config()
    nothing = np.zeros((1, 3), dtype=int)
    loss, grads = loss_and_gradients(
        make_params(config), config, src_ids=nothing, tgt_in=nothing, tgt_out=nothing
    )
    assert loss == 0
    assert all((value == 0).all() for value in grads.values())


def test_the_parameters_are_left_alone(make_config, make_params, batch):
    config = make_config()
    params = make_params(config)
    before = {name: value.copy() for name, value in params.items()}
    loss_and_gradients(params, config, **batch)
    for name, value in params.items():
        np.testing.assert_array_equal(value, before[name])
