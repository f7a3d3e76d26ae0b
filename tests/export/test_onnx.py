"""Export to ONNX: the graphs compute what the model computes, in every shape, and nothing else."""

import itertools
import json

import numpy as np
import pytest
import torch

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from dragoman.batches.batch import make_batch
from dragoman.decoding.engine import TorchEngine
from dragoman.decoding.loading import model_of
from dragoman.decoding.settings import SearchSettings
from dragoman.errors import ConfigError
from dragoman.export.onnx import export_onnx, write_graphs
from dragoman.export.onnx_engine import OnnxEngine

CPU = torch.device("cpu")
SOURCES = [[5, 6, 7], [8], [9, 9, 9, 9, 9, 10, 11, 12], [30, 4]]
PAIRS = [([5, 6, 7, 8], [9, 10, 11]), ([20, 21], [30, 31, 32, 4, 5]), ([6] * 9, [])]
SHAPES = [
    {"norm": norm, "activation": activation, "positions": positions, "tie": tie}
    for (norm, tie), (activation, positions) in itertools.product(
        [("post", "all"), ("pre", "decoder"), ("pre", "none")],
        [("relu", "sinusoidal"), ("gelu", "learned"), ("swiglu", "rotary")],
    )
]
SHAPES += [{"d_k": 4, "d_v": 6}, {"window": 1}, {"n_encoder_layers": 1, "n_decoder_layers": 3}]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "-".join(map(str, shape.values())))
def test_the_graphs_compute_the_logits_of_every_shape(make_bundle, tmp_path, shape):
    bundle = make_bundle(**shape)
    write_graphs(bundle, tmp_path)
    batch = make_batch(PAIRS)
    with torch.inference_mode():
        expected = model_of(bundle, CPU)(batch.src_ids, batch.tgt_in).numpy()
    found = OnnxEngine(tmp_path, bundle.config.model).logits(PAIRS)
    for row, logits in enumerate(found):
        assert logits.shape == (len(PAIRS[row][1]) + 1, bundle.config.model.vocab_size)
        np.testing.assert_allclose(logits, expected[row, : len(logits)], atol=1e-4)
    assert np.abs(expected).max() > 1  # control


@pytest.mark.parametrize("max_extra", [0, 30])
def test_greedy_search_with_onnxruntime_is_ours(make_bundle, tmp_path, max_extra):
    bundle = make_bundle()
    write_graphs(bundle, tmp_path)
    settings = SearchSettings(beam=1, n_best=1, length_penalty=0.6, max_extra=max_extra)
    ask = {"prefixes": None, "keys": [(i,) for i in range(len(SOURCES))]}
    expected = TorchEngine((model_of(bundle, CPU),)).search(SOURCES, settings, **ask)
    found = OnnxEngine(tmp_path, bundle.config.model).search(SOURCES, settings, **ask)
    for [ours], [theirs] in zip(expected, found, strict=True):
        assert theirs.ids == ours.ids
        assert theirs.score == pytest.approx(ours.score, abs=1e-4)
        assert theirs.ending in (ours.ending, "eos", "limit")


def test_sinusoidal_positions_go_on_past_any_table(make_bundle, tmp_path):
    bundle = make_bundle()
    write_graphs(bundle, tmp_path)
    pairs = [([5, 6, 7] * 400, [8, 9])]
    batch = make_batch(pairs)
    with torch.inference_mode():
        expected = model_of(bundle, CPU)(batch.src_ids, batch.tgt_in).numpy()
    [found] = OnnxEngine(tmp_path, bundle.config.model).logits(pairs)
    np.testing.assert_allclose(found, expected[0], atol=1e-4)


def test_an_export_is_compared_and_tells_how_to_run_it(make_bundle, tmp_path):
    done = export_onnx(make_bundle().path, tmp_path / "out")
    assert (done.comparison.sentences, done.comparison.equal_tokens) == (20, 20)
    assert done.comparison.largest_score_difference < 1e-4
    assert done.comparison.largest_logit_difference < 1e-4
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"encoder.onnx", "decoder.onnx", "tokenizer", "config.toml", "README.txt"} <= names
    note = json.loads((tmp_path / "out/export.json").read_text())
    assert note["comparison"] == done.comparison.to_dict()


def test_int8_graphs_are_smaller_and_near(make_bundle, tmp_path):
    bundle = make_bundle(d_model=32, d_ff=64)
    export_onnx(bundle.path, tmp_path / "exact")
    done = export_onnx(bundle.path, tmp_path / "small", quantization="int8")
    assert 1e-4 < done.comparison.largest_logit_difference < 2
    sizes = [(tmp_path / name / "decoder.onnx").stat().st_size for name in ("exact", "small")]
    assert sizes[1] < 0.8 * sizes[0]


def test_an_unknown_quantization_is_refused_with_those_there_are(make_bundle, tmp_path):
    with pytest.raises(ConfigError, match="float16: for ONNX float32 or int8"):
        export_onnx(make_bundle().path, tmp_path / "out", quantization="float16")
