"""A small model that explains a sentence, and an eye for what a figure shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from dragoman.config import Config, DataConfig, DecodeConfig, ModelConfig
from dragoman.decoding.explanation import Explanation
from dragoman.decoding.translator import Translator
from dragoman.model.transformer import Transformer
from dragoman.pictures import style
from dragoman.tokenize.tokenizer import Tokenizer

HEADS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.fixture(scope="session")
def explanation() -> Explanation:
    pairs = [("собака бежит", "the dog runs"), ("кошка спит", "the cat sleeps")]
    tokenizer = Tokenizer.train(pairs, DataConfig(tokenizer="symbols", joint_vocab=False), seed=1)
    shape = ModelConfig(
        d_model=12,
        n_heads=3,
        n_encoder_layers=1,
        n_decoder_layers=2,
        d_ff=11,
        vocab_size=tokenizer.tgt_vocab_size,
        src_vocab_size=tokenizer.src_vocab_size,
        tie="none",
    )
    torch.manual_seed(1)
    model = Transformer(shape).eval().requires_grad_(False)
    model.output.weight.mul_(8.0)
    config = Config(model=shape, decode=DecodeConfig(max_extra=4))
    return Translator((model,), tokenizer, config).explain("собака спит", beam=3)


@pytest.fixture
def is_picture() -> Any:
    """Whether a file is what its name says."""

    def check(path: Path) -> bool:
        start = HEADS[path.suffix]
        return path.read_bytes()[: len(start)] == start

    return check


@pytest.fixture
def labels_of() -> Any:
    """The labels of the rows and of the columns of a drawn matrix."""

    def find(axis: Any) -> tuple[list[str], list[str]]:
        height, width = axis.images[0].get_array().shape
        texts = [text.get_text() for text in axis.texts]
        return texts[:height], texts[height : height + width]

    return find


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every figure that is saved during a test."""
    from matplotlib.figure import Figure

    seen: list[Any] = []
    save = Figure.savefig

    def look(self: Any, *args: Any, **kwargs: Any) -> None:
        seen.append(self)
        save(self, *args, **kwargs)

    monkeypatch.setattr(Figure, "savefig", look)
    assert tuple(HEADS) == style.FORMATS
    return seen
