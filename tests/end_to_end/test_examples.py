"""Every example runs, and does what it says."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
import torch

import dragoman
from dragoman.bundle import write_bundle
from dragoman.config import Config, DataConfig, ModelConfig
from dragoman.export.onnx import export_onnx
from dragoman.model.transformer import Transformer
from dragoman.tokenize.tokenizer import Tokenizer
from dragoman.tokenize.vocabulary import EOS_ID

EXAMPLES = Path(__file__).parents[2] / "examples"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_training_loop_in_sixty_lines_learns_to_translate():
    assert load("own_training_loop").main(steps=250, n_pairs=8000) > 25


def test_onnx_translates_without_pytorch_what_we_translate_greedily(tmp_path):
    pytest.importorskip("onnxruntime")
    torch.manual_seed(3)
    data = DataConfig(tokenizer="symbols")
    tokenizer = Tokenizer.train([("1 2 3 4 5 6", "6 5 4 3 2 1")], data, seed=1)
    shape = ModelConfig(d_model=8, n_heads=2, n_layers=1, d_ff=8, vocab_size=10, tie="none")
    weights = {name: 2 * w.numpy() for name, w in Transformer(shape).state_dict().items()}
    towards_end = weights["output.weight"][EOS_ID]
    weights["decoder.layers.0.feed_forward_norm.bias"] += towards_end
    write_bundle(
        tmp_path / "run",
        config=Config(model=shape, data=data),
        weights=weights,
        save_tokenizer=tokenizer.save,
        record={},
    )
    export_onnx(tmp_path / "run", tmp_path / "onnx")
    lines = ["1 2 3", "", "6", "4 4 2 1"]
    expected = dragoman.load(tmp_path / "run").translate(lines, beam=1)
    found = load("translate_with_onnx").main(str(tmp_path / "onnx"), lines)
    # Ours stops who goes in circles; the example is simpler than that.
    assert [text.startswith(t.text) for text, t in zip(found, expected, strict=True)] == [True] * 4
    assert any(t.is_whole for t in expected if t.text)


def test_every_example_is_run_by_a_test():
    tested = Path(__file__).read_text(encoding="utf-8")
    tested += (Path(__file__).parents[1] / "twin/test_reference_training.py").read_text("utf-8")
    assert all(path.stem in tested for path in EXAMPLES.glob("*.py"))
