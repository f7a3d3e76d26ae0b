"""Export to ONNX: an encoder graph, a decoder graph with its cache, and what goes with them.

encoder.onnx, decoder.onnx           see ``onnx_model.py`` for inputs and outputs
tokenizer/, config.toml              the bundle's own
README.txt                           how to run it
export.json                          what it was made from, and how the comparison went
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import torch

from dragoman import atomic
from dragoman.batches.batch import make_batch
from dragoman.bundle import Bundle, read_bundle
from dragoman.decoding.ctranslate2_cache import replacing_folder
from dragoman.decoding.ctranslate2_conversion import NOTE
from dragoman.decoding.engine import TorchEngine
from dragoman.decoding.loading import model_of
from dragoman.errors import ConfigError, MissingExtraError
from dragoman.export.comparison import Comparison, compare, pick_sources
from dragoman.export.folder import Exported, check_place, copy_parts, size_of
from dragoman.export.onnx_engine import DECODER, ENCODER, OnnxEngine
from dragoman.export.onnx_graph import OPSET, onnx
from dragoman.export.onnx_model import decoder_model, encoder_model
from dragoman.model.transformer import Transformer
from dragoman.tokenize.tokenizer import Tokenizer

Quantization = Literal["float32", "int8"]
QUANTIZATIONS: tuple[Quantization, ...] = get_args(Quantization)
N_LOGITS = 20  # sentences whose logits are compared one by one

README = """\
A translation model in ONNX, made by Dragoman.

encoder.onnx   in   src_ids (B, S) int64: ids of the pieces, 2 at the end, 0 for padding
               out  mask (B, S) bool; memory_keys, memory_values (N, B, H, S, K) float32
decoder.onnx   in   ids (B,) int64: the newest id of each sentence, 1 at first
                    keys, values (N, B, H, T, K) float32: what was kept so far, T = 0 at first
                    mask, memory_keys, memory_values: as the encoder gave them
               out  logits (B, V); next_keys, next_values: keys and values of the next call

B sentences, S source length, T target tokens so far, N layers, H heads, K width of a head.
The ids 0, 1, 2, 3 are padding, begin, end and unknown. 0 and 1 are never to be chosen; a
translation ends with 2. tokenizer/ turns text into ids and ids into text.

examples/translate_with_onnx.py of Dragoman is a program of seventy lines that does all this with
onnxruntime and NumPy.
"""


def export_onnx(
    path: Path, out: Path, *, quantization: Quantization = "float32", force: bool = False
) -> Exported:
    """Write a bundle as ONNX graphs, and compare what they compute with what it computes."""
    onnx()
    if quantization not in QUANTIZATIONS:
        raise ConfigError(f"--quantization {quantization}: for ONNX {' or '.join(QUANTIZATIONS)}")
    check_place(out, force=force)
    bundle = read_bundle(path)
    with replacing_folder(out) as folder:
        write_graphs(bundle, folder, quantization)
        copy_parts(bundle, folder)
        (folder / "README.txt").write_text(README, encoding="utf-8")
        comparison = _compare(bundle, folder)
        if quantization == "float32":
            comparison.require_equal()
        facts: dict[str, Any] = {"format": "onnx", "quantization": quantization, "opset": OPSET}
        atomic.write_json(folder / NOTE, {**facts, "comparison": comparison.to_dict()})
    return Exported(out, "onnx", quantization, size_of(out), comparison)


def write_graphs(bundle: Bundle, folder: Path, quantization: Quantization = "float32") -> None:
    """Write the two graphs of a bundle into a folder."""
    config, weights = bundle.config.model, bundle.weights
    exact = quantization == "float32"
    models = {
        ENCODER: encoder_model(config, weights),
        DECODER: decoder_model(config, weights, shared=exact),
    }
    for name, model in models.items():
        if exact:
            (folder / name).write_bytes(model.SerializeToString())
        else:
            _write_int8(model, folder / name)


def _write_int8(model: Any, path: Path) -> None:
    try:
        from onnxruntime.quantization import QuantType, quantize_dynamic
    except ImportError:
        raise MissingExtraError("onnxruntime", "onnx", "quantizing an ONNX model") from None
    with _quiet():
        quantize_dynamic(
            model,
            path,
            weight_type=QuantType.QInt8,
            per_channel=True,
            reduce_range=True,  # 7 bits: see ``model/int8.py``
            op_types_to_quantize=["MatMul"],
        )


def _compare(bundle: Bundle, folder: Path) -> Comparison:
    model = model_of(bundle, torch.device("cpu"))
    theirs = OnnxEngine(folder, bundle.config.model)
    sources, texts = pick_sources(bundle, Tokenizer.load(bundle.tokenizer_dir))
    found = compare(TorchEngine((model,)), theirs, sources, texts=texts)
    return replace(found, largest_logit_difference=_logits_apart(model, theirs, sources))


@torch.inference_mode()
def _logits_apart(model: Transformer, theirs: OnnxEngine, sources: list[list[int]]) -> float:
    """The largest difference between logits, each source being taken for its own translation."""
    pairs = [(ids, [number % model.config.vocab_size for number in ids]) for ids in sources]
    pairs = pairs[:N_LOGITS]
    batch = make_batch(pairs)
    ours = model(batch.src_ids, batch.tgt_in).numpy()
    return max(
        float(np.abs(logits - ours[row, : len(logits)]).max())
        for row, logits in enumerate(theirs.logits(pairs))
    )


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the advice that onnxruntime gives on every quantization."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)
