"""A model of ours in the words of CTranslate2: its specification, filled with our weights.

CTranslate2 (https://github.com/OpenNMT/CTranslate2) runs Transformers in C++. Its model is a folder
with the weights (``model.bin``), the vocabularies and a ``config.json``; beside them we put
``export.json``, which says what the folder was made from and is how we know it as ours.

Nearly every shape can be said in its words; what cannot is refused with the key of the
configuration that is in the way (``why_not``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dragoman import atomic
from dragoman.config import Config, ModelConfig
from dragoman.errors import ConfigError, MissingExtraError
from dragoman.model.int8 import LARGEST
from dragoman.model.positional_encoding import sinusoidal_encoding
from dragoman.tokenize.tokenizer import Side, Tokenizer
from dragoman.tokenize.vocabulary import BOS_ID, EOS_ID, SPECIAL_PIECES, UNK_ID

Quantization = Literal["float32", "int8", "int8_float32", "int16", "float16", "bfloat16"]
QUANTIZATIONS: tuple[Quantization, ...] = get_args(Quantization)
Weights = Mapping[str, NDArray[np.float32]]
MODEL, NOTE = "model.bin", "export.json"
REVISION = 1  # of this conversion: one more with each change, so that kept ones are made again
LAYER_NORM_EPSILON = 1e-5  # PyTorch's
TINY = 1e-30
# CTranslate2 takes the waves as a table, and a table has an end: 4 times what a source may have,
# and at least this.
LEAST_POSITIONS = 2048


def ctranslate2() -> Any:
    """The package, or an error that says how to get it."""
    try:
        import ctranslate2 as package
    except ImportError:
        raise MissingExtraError("ctranslate2", "ct2", "the engine ctranslate2") from None
    return package


def why_not(model: ModelConfig) -> str | None:
    """What keeps CTranslate2 from computing this model; None where nothing does.

    >>> why_not(ModelConfig()) is None
    True
    >>> why_not(ModelConfig(window=8))
    'model.window = 8: it has no self-attention that is restricted to a window on both sides'
    """
    d_k, d_v = model.head_sizes
    if model.window is not None:
        lack = "it has no self-attention that is restricted to a window on both sides"
        return f"model.window = {model.window}: {lack}"
    if d_k != d_v:
        return f"model.d_v = {d_v}: it takes values of the width of the keys only (d_k = {d_k})"
    return None


def check_convertible(model: ModelConfig, quantization: str) -> None:
    """Raise, saying why, where this model or quantization is beyond CTranslate2."""
    if quantization not in QUANTIZATIONS:
        allowed = ", ".join(QUANTIZATIONS)
        raise ConfigError(f"--quantization {quantization}: CTranslate2 has {allowed}")
    reason = why_not(model)
    if reason is not None:
        raise ConfigError(
            f"CTranslate2 cannot compute this model. {reason}.\n"
            "  Translate with --engine torch, which can."
        )


def write_model(
    folder: Path,
    *,
    config: Config,
    weights: Weights,
    tokenizer: Tokenizer,
    quantization: Quantization = "float32",
    note: Mapping[str, Any] | None = None,
) -> None:
    """Fill an empty folder with the model as CTranslate2 reads it; ``note`` adds to export.json."""
    package = ctranslate2()
    check_convertible(config.model, quantization)
    positions = table_length(config)
    spec = make_spec(config.model, weights, positions=positions)
    spec.register_source_vocabulary(pieces_of(tokenizer, "src", config.model.source_vocab))
    spec.register_target_vocabulary(pieces_of(tokenizer, "tgt", config.model.vocab_size))
    spec.config.unk_token, spec.config.bos_token = SPECIAL_PIECES[UNK_ID], SPECIAL_PIECES[BOS_ID]
    spec.config.eos_token = SPECIAL_PIECES[EOS_ID]
    spec.config.decoder_start_token = SPECIAL_PIECES[BOS_ID]
    spec.config.layer_norm_epsilon = LAYER_NORM_EPSILON
    by_us = quantization in ("int8", "int8_float32")
    if by_us:
        _round_weights(spec)
    spec.validate()
    spec.optimize(quantization=None if by_us else quantization)
    spec.save(str(folder))
    facts = {
        "format": "ctranslate2",
        "quantization": quantization,
        "positions": positions,
        "ctranslate2": package.__version__,
    }
    atomic.write_json(folder / NOTE, {**facts, **(note or {})})


def table_length(config: Config) -> int | None:
    """How many positions the exported model can tell apart; None: any number.

    >>> table_length(Config(model=ModelConfig(positions="learned", max_positions=99)))
    99
    """
    if config.model.positions == "rotary":
        return None
    if config.model.positions == "learned":
        return config.model.max_positions
    return max(LEAST_POSITIONS, 4 * config.data.max_length)


def pieces_of(tokenizer: Tokenizer, side: Side, size: int) -> list[str]:
    """The piece of every id, no two alike, for CTranslate2 knows a piece by its spelling alone.

    >>> from dragoman.config import DataConfig
    >>> tokenizer = Tokenizer.train(["a </s>"], DataConfig(tokenizer="symbols"), seed=1)
    >>> sorted(pieces_of(tokenizer, "src", 7))
    ['</s>', '</s>#4', '<pad>', '<s>', '<unk>', '<unused>#6', 'a']
    """
    n_known = tokenizer.src_vocab_size if side == "src" else tokenizer.tgt_vocab_size
    pieces: list[str] = list(SPECIAL_PIECES)
    taken = set(pieces)
    for number in range(len(pieces), size):
        piece = tokenizer.piece(number, side) if number < n_known else f"<unused>#{number}"
        while piece in taken:
            piece += f"#{number}"
        taken.add(piece)
        pieces.append(piece)
    return pieces


def _round_weights(spec: Any) -> None:
    """Make every matrix below a specification one of 8-bit integers, with a scale for each row.

    CTranslate2 would use the whole range, up to 127; without VNNI its sums then overflow in places
    (see ``model/int8.py``): on Multi30k 63 % of translations stay the same, by this way 86 %.
    """
    for value in list(vars(spec).values()):
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ctranslate2().specs.LayerSpec):
                _round_weights(part)
    if hasattr(spec, "weight_scale"):
        largest = np.maximum(np.abs(spec.weight).max(axis=1), TINY)  # of a row of zeros, say
        scale = (LARGEST / largest).astype(np.float32)
        spec.weight = np.rint(spec.weight * scale[:, None]).astype(np.int8)
        spec.weight_scale = scale


# --- the specification ---------------------------------------------------------------------------


def make_spec(model: ModelConfig, weights: Weights, *, positions: int | None) -> Any:
    """The specification of a model, all weights in place; vocabularies are still to be given."""
    specs = ctranslate2().specs
    activations = specs.Activation
    shape: dict[str, Any] = {
        "num_heads": model.n_heads,
        "pre_norm": model.norm == "pre",
        "activation": {
            "relu": activations.RELU,
            "gelu": activations.GELU,
            "swiglu": activations.SWISH,
        }[model.activation],
        "ffn_glu": model.activation == "swiglu",
    }
    if model.positions == "rotary":
        shape |= {"rotary_dim": 0, "rotary_interleave": True}  # 0: all of the head
    if model.head_sizes[0] * model.n_heads != model.d_model:
        shape["head_dim"] = model.head_sizes[0]
    encoder = specs.TransformerEncoderSpec(model.encoder_layers, **shape)
    decoder = specs.TransformerDecoderSpec(model.decoder_layers, **shape)
    spec = specs.TransformerSpec(encoder, decoder)
    _set_embeddings(encoder, decoder, model, weights)
    _set_positions(encoder, decoder, model, weights, length=positions)
    for stack, name in ((encoder, "encoder"), (decoder, "decoder")):
        for number, layer in enumerate(stack.layer):
            _set_layer(layer, model, _below(weights, f"{name}.layers.{number}"))
        if model.norm == "pre":
            _set_norm(stack.layer_norm, _below(weights, name), "final_norm")
    return spec


def _set_embeddings(encoder: Any, decoder: Any, model: ModelConfig, weights: Weights) -> None:
    """The two embeddings and the output; CTranslate2 stores equal ones once."""
    names = {
        "all": ("embedding", "embedding", "embedding"),
        "decoder": ("src_embedding", "tgt_embedding", "tgt_embedding"),
        "none": ("src_embedding", "tgt_embedding", "output"),
    }[model.tie]
    parts = (encoder.embeddings[0], decoder.embeddings, decoder.projection)
    for part, name in zip(parts, names, strict=True):
        part.weight = _below(weights, name)("weight")


def _set_positions(
    encoder: Any, decoder: Any, model: ModelConfig, weights: Weights, *, length: int | None
) -> None:
    if model.positions == "rotary" or length is None:
        return
    if model.positions == "learned":
        encoder.position_encodings.encodings = _below(weights, "src_positions")("weight")
        decoder.position_encodings.encodings = _below(weights, "tgt_positions")("weight")
        return
    table = sinusoidal_encoding(length, model.d_model).float().numpy()
    encoder.position_encodings.encodings = decoder.position_encodings.encodings = table


Get = Callable[[str], NDArray[np.float32]]


def _below(weights: Weights, place: str) -> Get:
    """What finds the weights of a part by their names in it, as copies.

    CTranslate2 scales the arrays it is given in place when it quantizes them.
    """
    return lambda name: np.array(weights[f"{place}.{name}"])


def _set_layer(layer: Any, model: ModelConfig, get: Get) -> None:
    """One layer of the encoder or decoder, whose weights ``get`` finds by their names in it."""
    own = layer.self_attention
    _set_linear(own.linear[0], get, "self_attention.qkv")
    _set_linear(own.linear[1], get, "self_attention.out")
    _set_norm(own.layer_norm, get, "self_attention_norm")
    if hasattr(layer, "attention"):
        cross, n = layer.attention, model.n_heads * model.head_sizes[0]
        _set_linear(cross.linear[0], get, "cross_attention.qkv", slice(0, n))
        _set_linear(cross.linear[1], get, "cross_attention.qkv", slice(n, None))
        _set_linear(cross.linear[2], get, "cross_attention.out")
        _set_norm(cross.layer_norm, get, "cross_attention_norm")
    if model.activation == "swiglu":  # first the rows that gate, then those that are gated
        _set_linear(layer.ffn.linear_0, get, "feed_forward.w1", slice(0, model.d_ff))
        _set_linear(layer.ffn.linear_0_noact, get, "feed_forward.w1", slice(model.d_ff, None))
    else:
        _set_linear(layer.ffn.linear_0, get, "feed_forward.w1")
    _set_linear(layer.ffn.linear_1, get, "feed_forward.w2")
    _set_norm(layer.ffn.layer_norm, get, "feed_forward_norm")


def _set_linear(spec: Any, get: Get, name: str, rows: slice = slice(None)) -> None:
    spec.weight = np.ascontiguousarray(get(f"{name}.weight")[rows])
    spec.bias = np.ascontiguousarray(get(f"{name}.bias")[rows])


def _set_norm(spec: Any, get: Get, name: str) -> None:
    spec.gamma, spec.beta = get(f"{name}.weight"), get(f"{name}.bias")
