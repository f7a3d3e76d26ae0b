"""The twin against PyTorch's own layers: independent code, the same weights copied in."""

import numpy as np
import pytest
import torch

from dragoman.reference.decoder import decoder
from dragoman.reference.encoder import encoder
from dragoman.reference.gradients_transformer import decoder_backward, encoder_backward
from dragoman.reference.masks import decoder_mask, encoder_mask, padding_mask

CLOSE = {"rtol": 0, "atol": 1e-10}
B, S, T, D = 2, 5, 7, 12

pytestmark = [
    pytest.mark.parametrize("norm", ["post", "pre"]),
    pytest.mark.parametrize("activation", ["relu", "gelu"]),
]


@pytest.fixture
def arrays():
    rng = np.random.default_rng(1)
    return rng.normal(size=(B, T, D)), rng.normal(size=(B, S, D))


@pytest.fixture
def encode(make_stack, make_config, our_names, arrays, batch, norm, activation):
    """PyTorch's encoder after its own backward pass, and the arguments of ours."""
    stack = make_stack("Encoder", norm, activation)
    x = torch.from_numpy(arrays[1]).requires_grad_()
    out = stack(x, src_key_padding_mask=torch.from_numpy(batch["src_ids"] == 0))
    d_out = np.random.default_rng(2).normal(size=out.shape)
    out.backward(torch.from_numpy(d_out))
    parameters = our_names(stack)
    params = {name: p.detach().numpy() for name, p in parameters.items()}
    config = make_config(norm=norm, activation=activation)
    given = {"mask": encoder_mask(batch["src_ids"], 0), "config": config}
    return out, d_out, x.grad, parameters, params, given


@pytest.fixture
def decode(make_stack, make_config, our_names, arrays, batch, norm, activation):
    """The same for the decoder."""
    stack = make_stack("Decoder", norm, activation)
    x, memory = (torch.from_numpy(a).requires_grad_() for a in arrays)
    out = stack(
        x,
        memory,
        tgt_mask=torch.ones(T, T, dtype=torch.bool).triu(1),
        tgt_key_padding_mask=torch.from_numpy(batch["tgt_in"] == 0),
        memory_key_padding_mask=torch.from_numpy(batch["src_ids"] == 0),
    )
    d_out = np.random.default_rng(2).normal(size=out.shape)
    out.backward(torch.from_numpy(d_out))
    parameters = our_names(stack)
    params = {name: p.detach().numpy() for name, p in parameters.items()}
    given = {
        "mask": decoder_mask(batch["tgt_in"], 0),
        "memory_mask": padding_mask(batch["src_ids"], 0),
        "config": make_config(norm=norm, activation=activation),
    }
    return out, d_out, (x.grad, memory.grad), parameters, params, given


def assert_gradients_equal(ours, parameters):
    assert ours.keys() == parameters.keys()
    for name, parameter in parameters.items():
        np.testing.assert_allclose(ours[name], parameter.grad.numpy(), err_msg=name, **CLOSE)


def test_the_encoder_equals_pytorchs_with_padding(encode, arrays):
    out, _, _, _, params, given = encode
    ours = encoder(params, arrays[1], **given)
    np.testing.assert_allclose(ours, out.detach().numpy(), **CLOSE)


def test_the_encoders_gradients_equal_autograds(encode, arrays):
    _, d_out, d_x, parameters, params, given = encode
    our_d_x, grads = encoder_backward(d_out, params, arrays[1], **given)
    np.testing.assert_allclose(our_d_x, d_x.numpy(), **CLOSE)
    assert_gradients_equal(grads, parameters)


def test_the_decoder_equals_pytorchs_with_padding_and_causality(decode, arrays):
    out, _, _, _, params, given = decode
    ours = decoder(params, *arrays, **given)
    np.testing.assert_allclose(ours, out.detach().numpy(), **CLOSE)


def test_the_decoders_gradients_equal_autograds(decode, arrays):
    _, d_out, (d_x, d_memory), parameters, params, given = decode
    our_d_x, our_d_memory, grads = decoder_backward(d_out, params, *arrays, **given)
    np.testing.assert_allclose(our_d_x, d_x.numpy(), **CLOSE)
    np.testing.assert_allclose(our_d_memory, d_memory.numpy(), **CLOSE)
    assert_gradients_equal(grads, parameters)
