"""Export to CTranslate2: every shape says what ours says, or is refused with a reason."""

import itertools
import json

import numpy as np
import pytest

pytest.importorskip("ctranslate2")

from dragoman.bundle import read_bundle
from dragoman.decoding.ctranslate2_conversion import pieces_of
from dragoman.decoding.loading import load
from dragoman.errors import BundleError, ConfigError, ExportError
from dragoman.export import comparison
from dragoman.export.ctranslate2 import export_ctranslate2

TEXTS = ["1 2 3", "", "29 28 27 26 25", "7", "3 3 3 3 4 4 4 4 5", "11 12"]
SHAPES = [
    {"norm": norm, "activation": activation, "positions": positions, "tie": tie}
    for (norm, positions), (activation, tie) in itertools.product(
        [("post", "sinusoidal"), ("pre", "sinusoidal"), ("post", "learned"), ("pre", "rotary")],
        [("relu", "all"), ("gelu", "decoder"), ("swiglu", "none")],
    )
]
SHAPES += [{"d_k": 6, "d_v": 6}, {"n_encoder_layers": 1, "n_decoder_layers": 3}]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "-".join(map(str, shape.values())))
def test_every_shape_says_what_ours_says(make_bundle, tmp_path, shape):
    bundle = make_bundle(**shape)
    done = export_ctranslate2(bundle.path, tmp_path / "out")
    assert done.comparison.sentences == done.comparison.equal_tokens == 20
    assert done.comparison.largest_score_difference < 1e-4
    ours, theirs = load(bundle.path), load(tmp_path / "out")
    expected, found = ours.translate(TEXTS, beam=1), theirs.translate(TEXTS, beam=1)
    assert [t.ids for t in found] == [t.ids for t in expected]
    assert len({t.ids for t in found}) > 2  # control: they say different things
    for a, b in zip(expected, found, strict=True):
        assert a.log_prob == pytest.approx(b.log_prob, abs=1e-4)


@pytest.mark.parametrize(
    ("shape", "key"), [({"window": 3}, "model.window = 3"), ({"d_k": 4, "d_v": 6}, "model.d_v = 6")]
)
def test_what_ctranslate2_cannot_compute_is_refused_by_its_key(make_bundle, tmp_path, shape, key):
    bundle = make_bundle(**shape)
    with pytest.raises(ConfigError, match=key):
        export_ctranslate2(bundle.path, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(ConfigError, match=key):
        load(bundle.path, engine="ctranslate2")


@pytest.mark.parametrize("quantization", ["int8", "int8_float32", "int16", "float16", "bfloat16"])
def test_a_quantized_export_is_smaller_and_near(make_bundle, tmp_path, quantization):
    bundle = make_bundle(d_model=32, d_ff=64)
    exact = export_ctranslate2(bundle.path, tmp_path / "exact")
    done = export_ctranslate2(bundle.path, tmp_path / "small", quantization=quantization)
    assert exact.comparison.largest_score_difference < 1e-4
    assert 1e-4 < done.comparison.largest_score_difference < 4
    sizes = [(tmp_path / name / "model.bin").stat().st_size for name in ("exact", "small")]
    assert sizes[1] < sizes[0]


def test_quantizing_leaves_the_weights_of_the_bundle_alone(make_bundle, tmp_path):
    # CTranslate2 scales what it is given in place; ours would be compared with ruins.
    bundle = make_bundle()
    done = export_ctranslate2(bundle.path, tmp_path / "out", quantization="int16")
    assert done.comparison.largest_score_difference < 3
    again = read_bundle(bundle.path)
    assert all(np.array_equal(again.weights[name], bundle.weights[name]) for name in again.weights)


def test_an_unknown_quantization_is_refused_with_those_there_are(make_bundle, tmp_path):
    with pytest.raises(ConfigError, match="int4: CTranslate2 has float32, int8"):
        export_ctranslate2(make_bundle().path, tmp_path / "out", quantization="int4")


def test_an_export_holds_all_that_translating_needs(make_bundle, tmp_path):
    bundle = make_bundle()
    expected = [t.text for t in load(bundle.path).translate(TEXTS)]
    export_ctranslate2(bundle.path, tmp_path / "out")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"model.bin", "config.json", "config.toml", "tokenizer", "export.json"} <= names
    note = json.loads((tmp_path / "out/export.json").read_text())
    assert note["comparison"]["equal_tokens"] == 20
    translator = load(tmp_path / "out")
    assert [t.text for t in translator.translate(TEXTS)] == expected
    with pytest.raises(BundleError, match="need the bundle"):
        translator.translate(TEXTS, alignments=True)


def test_an_export_that_says_something_else_is_thrown_away(make_bundle, tmp_path, monkeypatch):
    bundle = make_bundle()
    right = comparison.compare

    def compare(ours, theirs, sources, *, texts):
        found = right(ours, theirs, sources, texts=texts)
        return comparison.Comparison(texts, 100, 98, found.largest_score_difference)

    monkeypatch.setattr("dragoman.export.ctranslate2.compare", compare)
    with pytest.raises(ExportError, match="98 of 100"):
        export_ctranslate2(bundle.path, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["bundle"]  # nothing is left
    export_ctranslate2(bundle.path, tmp_path / "out", quantization="int8")  # which may differ


def test_an_int8_translation_is_not_made_of_an_exact_export(make_bundle, tmp_path):
    export_ctranslate2(make_bundle().path, tmp_path / "out")
    with pytest.raises(ConfigError, match="exported in float32"):
        load(tmp_path / "out", int8=True)


def test_pieces_that_are_spelled_alike_are_told_apart(tokenizer):
    pieces = pieces_of(tokenizer, "tgt", tokenizer.tgt_vocab_size + 2)
    assert len(set(pieces)) == len(pieces) == tokenizer.tgt_vocab_size + 2
