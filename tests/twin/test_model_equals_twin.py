"""Our model in PyTorch and its NumPy twin: the same numbers and gradients, for every option."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from dragoman.model.attention import Probe
from dragoman.model.decoder_only import DecoderOnly
from dragoman.model.encoder_only import EncoderOnly
from dragoman.model.transformer import Transformer
from dragoman.reference.decoder_only import DecoderOnly as TwinDecoderOnly
from dragoman.reference.encoder_only import EncoderOnly as TwinEncoderOnly
from dragoman.reference.gradients_transformer import loss_and_gradients
from dragoman.reference.initialize import parameter_shapes
from dragoman.reference.transformer import Transformer as Twin

CLOSE = {"rtol": 0, "atol": 1e-10}


def randomized(model):
    """The model in float64 with no zero and no one left in it, and its weights for the twin."""
    torch.manual_seed(1)
    model = model.double().eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, mean=0.1, std=0.4)
    return model, {name: value.detach().numpy() for name, value in model.state_dict().items()}


@pytest.fixture
def both(config):
    model, params = randomized(Transformer(config))
    return model, Twin(config, params)


@pytest.fixture
def tensors(batch):
    return {name: torch.from_numpy(ids) for name, ids in batch.items()}


def test_the_twin_has_the_models_parameters(config):
    shapes = {name: tuple(p.shape) for name, p in Transformer(config).state_dict().items()}
    assert shapes == parameter_shapes(config)


def test_logits_are_equal(both, batch, tensors):
    model, twin = both
    theirs = model(tensors["src_ids"], tensors["tgt_in"]).detach().numpy()
    np.testing.assert_allclose(twin(batch["src_ids"], batch["tgt_in"]), theirs, **CLOSE)


def test_encoder_outputs_are_equal(both, batch, tensors):
    model, twin = both
    theirs = model.encode(tensors["src_ids"]).detach().numpy()
    np.testing.assert_allclose(twin.encode(batch["src_ids"]), theirs, **CLOSE)


def test_attention_weights_are_equal(both, batch, tensors):
    model, twin = both
    probe, record = Probe(), {}
    model(tensors["src_ids"], tensors["tgt_in"], probe=probe)
    twin(batch["src_ids"], batch["tgt_in"], record=record)
    assert record.keys() == probe.weights.keys()
    for name, weights in probe.weights.items():
        np.testing.assert_allclose(record[name], weights.detach().numpy(), err_msg=name, **CLOSE)


def test_gradients_are_equal(both, batch, tensors):
    model, twin = both
    logits = model(tensors["src_ids"], tensors["tgt_in"])
    loss = functional.cross_entropy(
        logits.flatten(0, 1), tensors["tgt_out"].flatten(), ignore_index=0, label_smoothing=0.1
    )
    loss.backward()
    our_loss, grads = loss_and_gradients(twin.params, twin.config, **batch, epsilon=0.1)
    assert our_loss == pytest.approx(loss.item(), abs=1e-10)
    named = dict(model.named_parameters())
    assert grads.keys() == named.keys()
    for name, parameter in named.items():
        np.testing.assert_allclose(grads[name], parameter.grad.numpy(), err_msg=name, **CLOSE)


def test_float32_is_equal_to_five_places(both, batch, tensors):
    model, twin = both
    theirs = model.float()(tensors["src_ids"], tensors["tgt_in"]).detach().numpy()
    single = Twin(twin.config, {n: p.astype(np.float32) for n, p in twin.params.items()})
    ours = single(batch["src_ids"], batch["tgt_in"])
    assert ours.dtype == theirs.dtype
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5 * np.abs(theirs).max())


def test_decoding_with_a_cache_equals_the_twin_without_one(both, batch, tensors):
    model, twin = both
    first = {name: ids[:1] for name, ids in tensors.items()}  # the sentence without padding
    cache = model.start(first["src_ids"], n_beams=1, capacity=7)
    with torch.no_grad():
        steps = [model.step(first["tgt_in"][:, i], cache) for i in range(7)]
    ours = twin(batch["src_ids"][:1], batch["tgt_in"][:1])
    np.testing.assert_allclose(ours, torch.stack(steps, dim=1).numpy(), **CLOSE)


@pytest.mark.parametrize("pooling", ["first", "mean", "max"])
@pytest.mark.parametrize("n_classes", [None, 4])
def test_the_encoder_alone_is_equal(config, batch, tensors, pooling, n_classes):
    model, params = randomized(EncoderOnly(config, n_classes=n_classes, pooling=pooling))
    twin = TwinEncoderOnly(config, params, pooling=pooling)
    ids, tensor = batch["src_ids"], tensors["src_ids"]
    np.testing.assert_allclose(twin.states(ids), model.states(tensor).detach().numpy(), **CLOSE)
    np.testing.assert_allclose(twin.embed(ids), model.embed(tensor).detach().numpy(), **CLOSE)
    np.testing.assert_allclose(twin(ids), model(tensor).detach().numpy(), **CLOSE)


def test_the_decoder_alone_is_equal(config, batch, tensors):
    model, params = randomized(DecoderOnly(config))
    ours = TwinDecoderOnly(config, params)(batch["tgt_in"])
    np.testing.assert_allclose(ours, model(tensors["tgt_in"]).detach().numpy(), **CLOSE)
