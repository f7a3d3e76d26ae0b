"""Costs by arithmetic against the paper's table, the real model, and PyTorch's own counters."""

import itertools

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from dragoman.config import ModelConfig
from dragoman.model.cost import count_parameters, estimate_memory, flops_per_token
from dragoman.model.transformer import Transformer
from dragoman.presets import MODEL_PRESETS

SMALL = {"d_model": 24, "n_heads": 4, "n_layers": 2, "d_ff": 40, "vocab_size": 53}


def millions(**changes: object) -> float:
    return sum(count_parameters(ModelConfig(**changes)).values()) / 1e6


def test_the_base_model_has_the_parameters_worked_out_by_hand():
    d, f, v = 512, 2048, 37_000
    attention = 4 * (d * d + d)
    feed_forward = d * f + f + f * d + d
    norm = 2 * d
    encoder = 6 * (attention + feed_forward + 2 * norm)
    decoder = 6 * (2 * attention + feed_forward + 3 * norm)
    assert sum(count_parameters(ModelConfig(vocab_size=v)).values()) == v * d + encoder + decoder
    assert millions(vocab_size=v) == pytest.approx(63.1, abs=0.05)


def test_the_big_model_has_214_million_parameters():
    assert millions(**MODEL_PRESETS["big"], vocab_size=37_000) == pytest.approx(214, abs=0.5)


@pytest.mark.parametrize(
    ("changes", "printed"),
    [
        ({}, 65),
        ({"d_k": 16, "d_v": 64}, 58),
        ({"d_k": 32, "d_v": 64}, 60),
        ({"n_layers": 2}, 36),
        ({"n_layers": 4}, 50),
        ({"n_layers": 8}, 80),
        ({"d_model": 256}, 28),
        ({"d_model": 1024}, 168),
        ({"d_ff": 1024}, 53),
        ({"d_ff": 4096}, 90),
    ],
)
def test_the_rows_of_table_3_come_out_as_printed(changes, printed):
    assert millions(vocab_size=40_960, **changes) == pytest.approx(printed, abs=0.6)


@pytest.mark.parametrize(
    ("changes", "difference"),
    [
        # 18 attentions lose 48 of 64 rows of queries and of keys in each of 8 heads, with biases.
        ({"d_k": 16, "d_v": 64}, -18 * 2 * 8 * 48 * (512 + 1)),
        ({"d_k": 32, "d_v": 64}, -18 * 2 * 8 * 32 * (512 + 1)),
        # A layer of encoder and decoder: 3 attentions, 2 feed-forward networks, 5 norms.
        ({"n_layers": 8}, 2 * (3 * 4 * 512 * 513 + 2 * (2 * 512 * 2048 + 2560) + 5 * 1024)),
        ({"n_layers": 2}, -4 * (3 * 4 * 512 * 513 + 2 * (2 * 512 * 2048 + 2560) + 5 * 1024)),
        # 12 networks, each with 1,024 inner units fewer or 2,048 more: a row, a column, a bias.
        ({"d_ff": 1024}, -12 * 1024 * (2 * 512 + 1)),
        ({"d_ff": 4096}, 12 * 2048 * (2 * 512 + 1)),
        ({"n_heads": 1}, 0),
        ({"n_heads": 32}, 0),
        ({"positions": "learned"}, 2 * 1024 * 512),
        ({"tie": "decoder"}, 40_960 * 512),
        ({"tie": "none"}, 2 * 40_960 * 512),
        ({"norm": "pre"}, 2 * 1024),
        ({"activation": "swiglu"}, 12 * 2048 * 513),
    ],
)
def test_the_differences_between_rows_are_exact(changes, difference):
    base = count_parameters(ModelConfig(vocab_size=40_960))
    row = count_parameters(ModelConfig(vocab_size=40_960, **changes))
    assert sum(row.values()) - sum(base.values()) == difference


OPTIONS = list(
    itertools.product(
        ("post", "pre"),
        ("relu", "swiglu"),
        ("sinusoidal", "learned", "rotary"),
        ("all", "decoder", "none"),
    )
)


@pytest.mark.parametrize(("norm", "activation", "positions", "tie"), OPTIONS)
def test_the_count_is_that_of_the_real_model(norm, activation, positions, tie):
    config = ModelConfig(
        **(SMALL | {"n_encoder_layers": 3, "n_decoder_layers": 1, "d_k": 10, "d_v": 7}),
        norm=norm,
        activation=activation,
        positions=positions,
        tie=tie,
        src_vocab_size=None if tie == "all" else 31,
        max_positions=19,
    )
    parts = count_parameters(config)
    model = Transformer(config)
    real = {name: p.numel() for name, p in model.named_parameters()}
    assert sum(parts.values()) == sum(real.values())
    for part in ("self_attention", "cross_attention", "feed_forward"):
        in_decoder = [n for name, n in real.items() if f"decoder.layers.0.{part}." in name]
        assert parts[f"decoder.{part}"] == sum(in_decoder)
    assert parts["output"] == real.get("output.weight", 0)


@pytest.mark.parametrize(
    "changes", [{}, {"activation": "swiglu"}, {"d_k": 10, "d_v": 7}, {"n_decoder_layers": 5}]
)
def test_the_flops_are_those_that_pytorch_counts(changes):
    config = ModelConfig(**(SMALL | changes))
    src_len, tgt_len = 21, 17  # with fewer than 16 keys some are added
    model = Transformer(config).eval()
    src_ids = torch.randint(4, 53, (1, src_len), generator=torch.manual_seed(1))
    tgt_ids = torch.randint(4, 53, (1, tgt_len), generator=torch.manual_seed(2))
    # The counter knows the products of the written-out attention, not the fused kernel's on a CPU.
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH), torch.no_grad():
        model(src_ids, tgt_ids)
    counted = counter.get_total_flops() / tgt_len
    assert flops_per_token(config, src_len=src_len, tgt_len=tgt_len) == counted


@pytest.mark.parametrize("activation", ["relu", "gelu", "swiglu"])
@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("dropout", [0.0, 0.1])
def test_the_activations_are_about_what_autograd_keeps(activation, norm, dropout, monkeypatch):
    monkeypatch.setattr("dragoman.model.attention.is_short", lambda *qkm: False)  # the fused kernel
    config = ModelConfig(**SMALL, activation=activation, norm=norm, dropout=dropout)
    model = Transformer(config).train()
    ids = torch.randint(4, 53, (3, 16), generator=torch.manual_seed(1))
    own = {p.untyped_storage().data_ptr() for p in model.parameters()}
    kept: dict[int, torch.UntypedStorage] = {}  # held, so that no address is used twice

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if tensor.is_floating_point() and storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        model(ids, ids)
    measured = sum(storage.nbytes() for storage in kept.values())
    before_output = 4 * ids.numel() * 2 * config.vocab_size
    estimate = estimate_memory(config, batch_tokens=ids.numel()).activations - before_output
    assert estimate == pytest.approx(measured, rel=0.15)


def test_optimizer_and_precision_change_the_memory_they_should():
    config = ModelConfig(**SMALL)
    parts = count_parameters(config)
    matrices = sum(n for part, n in parts.items() if "attention" in part or "feed" in part)
    adam = estimate_memory(config, batch_tokens=100)
    muon = estimate_memory(config, batch_tokens=100, optimizer="muon")
    half = estimate_memory(config, batch_tokens=100, precision="bf16")
    assert adam.weights == adam.gradients == 4 * sum(parts.values())
    assert adam.optimizer == 8 * sum(parts.values())
    assert adam.optimizer - muon.optimizer == 4 * matrices
    assert half.activations * 2 == adam.activations
    assert half.weights == adam.weights
