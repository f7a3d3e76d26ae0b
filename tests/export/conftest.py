"""Bundles of tiny random models that translate something, in every shape."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from dragoman.bundle import Bundle, read_bundle, write_bundle
from dragoman.config import Config, DataConfig, DecodeConfig, ModelConfig
from dragoman.export import comparison
from dragoman.model.transformer import Transformer
from dragoman.tokenize.tokenizer import Tokenizer
from dragoman.tokenize.vocabulary import EOS_ID

SYMBOLS = " ".join(map(str, range(1, 30)))


@pytest.fixture(autouse=True)
def _few_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare fewer sentences than is our custom, which takes as much less time."""
    monkeypatch.setattr(comparison, "N_SENTENCES", 20)


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    return Tokenizer.train([(SYMBOLS, SYMBOLS)], DataConfig(tokenizer="symbols"), seed=1)


@pytest.fixture
def make_bundle(tmp_path: Path, tokenizer: Tokenizer) -> Callable[..., Bundle]:
    """Writes a bundle with random weights, and reads it."""

    def make(name: str = "bundle", *, seed: int = 1, record: object = None, **shape: object):
        sizes = {"d_model": 16, "n_heads": 4, "n_layers": 2, "d_ff": 24, "max_positions": 64}
        model = ModelConfig(**{**sizes, **shape, "vocab_size": tokenizer.tgt_vocab_size})
        torch.manual_seed(seed)
        network = Transformer(model)
        with torch.no_grad():
            for key, parameter in network.named_parameters():
                parameter.add_(0.05 * torch.randn_like(parameter))  # norms and biases too
                if "cross_attention.out" in key or "cross_attention.qkv" in key:
                    parameter.mul_(2.5)  # what is said shall depend on the source
            if model.tie == "none":
                network.output.weight.mul_(2.0)
            last = network.decoder.final_norm or network.decoder.layers[-1].feed_forward_norm
            towards_end = network.output_weight[EOS_ID]
            last.bias.add_(towards_end / towards_end.square().sum(), alpha=2.0)
        config = Config(
            model=model,
            data=DataConfig(tokenizer="symbols", max_length=40),
            decode=DecodeConfig(max_extra=10),
        )
        folder = tmp_path / name
        write_bundle(
            folder,
            config=config,
            weights={key: value.numpy() for key, value in network.state_dict().items()},
            save_tokenizer=tokenizer.save,
            record=record or {},
        )
        return read_bundle(folder)

    return make
