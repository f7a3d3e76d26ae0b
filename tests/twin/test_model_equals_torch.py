"""Our layers and our whole model against PyTorch's own, with the same weights: float64, 1e-10.

Sizes: B=2 H=3 K=4 S=5 T=7 F=11 D=12 V=13. PyTorch's masks say True = may not attend.
"""

from functools import partial

import pytest
import torch
from torch import nn

from dragoman.config import ModelConfig
from dragoman.model.attention import View
from dragoman.model.decoder import DecoderLayer
from dragoman.model.embeddings import embed
from dragoman.model.encoder import EncoderLayer
from dragoman.model.masks import causal_mask, decoder_mask, padding_mask
from dragoman.model.packing import Packing
from dragoman.model.transformer import Transformer

assert_close = partial(torch.testing.assert_close, rtol=0, atol=1e-10)

SRC_IDS = torch.tensor([[7, 8, 9, 4, 5], [6, 12, 10, 0, 0]])
TGT_IDS = torch.tensor([[1, 5, 6, 11, 8, 9, 4], [1, 7, 12, 0, 0, 0, 0]])
FUTURE = ~causal_mask(7)[0, 0]
NAMES = {  # ours -> PyTorch's; cross-attention shifts its norms by one
    "self_attention.qkv.weight": "self_attn.in_proj_weight",
    "self_attention.qkv.bias": "self_attn.in_proj_bias",
    "self_attention.out": "self_attn.out_proj",
    "cross_attention.qkv.weight": "multihead_attn.in_proj_weight",
    "cross_attention.qkv.bias": "multihead_attn.in_proj_bias",
    "cross_attention.out": "multihead_attn.out_proj",
    "self_attention_norm": "norm1",
    "feed_forward.w1": "linear1",
    "feed_forward.w2": "linear2",
    "final_norm": "norm",
}


def torch_name(name, *, in_decoder):
    """PyTorch's name of our parameter of a layer or of a stack of layers."""
    norms = {
        "cross_attention_norm": "norm2",
        "feed_forward_norm": "norm3" if in_decoder else "norm2",
    }
    for ours, theirs in (NAMES | norms).items():
        name = name.replace(ours, theirs)
    return name


def torch_names(module):
    """Our parameter names of a layer, a stack or a model, each with PyTorch's."""
    is_layer = isinstance(module, DecoderLayer)
    return {
        name: torch_name(name, in_decoder=is_layer or name.startswith("decoder."))
        for name, _ in module.named_parameters()
        if not name.endswith("embedding.weight")
    }


def copy_weights(ours, theirs):
    """Move our weights away from their start and copy them into PyTorch's module, all of them."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in ours.parameters():
            noise = torch.empty_like(parameter).normal_(std=0.4, generator=generator)
            parameter.copy_((parameter.ndim == 1) * 0.3 + noise)
    state = ours.state_dict()
    theirs.load_state_dict({name: state[own] for own, name in torch_names(ours).items()})


def assert_same_gradients(ours, theirs, our_output, their_output):
    """Every parameter of ours has the gradient that PyTorch's has, and it is not zero."""
    weights = torch.randn(our_output.shape, generator=torch.Generator().manual_seed(2)).double()
    (our_output * weights).sum().backward()
    (their_output * weights).sum().backward()
    our_parameters, their_parameters = (dict(m.named_parameters()) for m in (ours, theirs))
    for own, name in torch_names(ours).items():
        assert (our_parameters[own].grad != 0).any(), own
        assert_close(
            our_parameters[own].grad,
            their_parameters[name].grad,
            msg=lambda m, own=own: f"{own}: {m}",
        )


def random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.fixture(params=["post", "pre"])
def norm(request):
    return request.param


@pytest.fixture(params=["relu", "gelu"])
def activation(request):
    return request.param


@pytest.fixture
def config(norm, activation):
    return ModelConfig(
        d_model=12,
        n_heads=3,
        n_layers=2,
        d_ff=11,
        vocab_size=13,
        dropout=0.0,
        norm=norm,
        activation=activation,
    )


@pytest.fixture
def like_ours(config):
    """What PyTorch's layers are told, to be as ours."""
    return {
        "d_model": 12,
        "nhead": 3,
        "dim_feedforward": 11,
        "dropout": 0.0,
        "activation": config.activation,
        "norm_first": config.norm == "pre",
        "batch_first": True,
        "dtype": torch.float64,
    }


def test_an_encoder_layer_equals_pytorchs(config, like_ours):
    ours = EncoderLayer(config, name="encoder.0").double()
    theirs = nn.TransformerEncoderLayer(**like_ours)
    copy_weights(ours, theirs)
    x, is_real = random(2, 5, 12), SRC_IDS != 0
    our_output = ours(x, View(mask=padding_mask(SRC_IDS, 0)))[is_real]
    their_output = theirs(x, src_key_padding_mask=~is_real)[is_real]
    assert_close(our_output, their_output)
    assert_same_gradients(ours, theirs, our_output, their_output)


def test_a_decoder_layer_equals_pytorchs(config, like_ours):
    ours = DecoderLayer(config, name="decoder.0").double()
    theirs = nn.TransformerDecoderLayer(**like_ours)
    copy_weights(ours, theirs)
    x, memory = random(2, 7, 12), random(2, 5, 12, seed=1)
    is_real = TGT_IDS != 0
    own, cross = View(mask=decoder_mask(TGT_IDS, 0)), View(mask=padding_mask(SRC_IDS, 0))
    our_output = ours(x, memory, own, cross)[is_real]
    their_output = theirs(
        x,
        memory,
        tgt_mask=FUTURE,
        tgt_key_padding_mask=~is_real,
        memory_key_padding_mask=SRC_IDS == 0,
    )[is_real]
    assert_close(our_output, their_output)
    assert_same_gradients(ours, theirs, our_output, their_output)


@pytest.fixture
def both_models(config, like_ours):
    """Our Transformer and PyTorch's, same weights; PyTorch's without norms at the end in post."""
    encoder_norm, decoder_norm = (
        nn.LayerNorm(12, dtype=torch.float64) if config.norm == "pre" else None for _ in range(2)
    )
    theirs = nn.Transformer(
        custom_encoder=nn.TransformerEncoder(
            nn.TransformerEncoderLayer(**like_ours), 2, encoder_norm, enable_nested_tensor=False
        ),
        custom_decoder=nn.TransformerDecoder(
            nn.TransformerDecoderLayer(**like_ours), 2, decoder_norm
        ),
        **like_ours,
    )
    ours = Transformer(config).double()
    copy_weights(ours, theirs)
    return ours, theirs


def their_logits(ours, theirs):
    """PyTorch's model between our embeddings and our output matrix, at the real target tokens."""
    hidden = theirs(
        embed(SRC_IDS, ours.embedding, positions=ours.src_positions),
        embed(TGT_IDS, ours.embedding, positions=ours.tgt_positions),
        tgt_mask=FUTURE,
        src_key_padding_mask=SRC_IDS == 0,
        tgt_key_padding_mask=TGT_IDS == 0,
        memory_key_padding_mask=SRC_IDS == 0,
    )
    return hidden[TGT_IDS != 0] @ ours.embedding.weight.detach().T


def test_the_whole_model_equals_pytorchs(both_models):
    ours, theirs = both_models
    our_logits = ours(SRC_IDS, TGT_IDS)[TGT_IDS != 0]
    assert_close(our_logits, their_logits(ours, theirs))
    assert_same_gradients(ours, theirs, our_logits, their_logits(ours, theirs))


def test_the_packed_path_of_training_equals_pytorchs(both_models):
    ours, theirs = both_models
    packings = Packing.of(SRC_IDS, 0), Packing.of(TGT_IDS, 0)
    our_logits = ours.logits(ours.hidden(SRC_IDS, TGT_IDS, *packings))
    assert_close(our_logits, their_logits(ours, theirs))
    assert_same_gradients(ours, theirs, our_logits, their_logits(ours, theirs))
