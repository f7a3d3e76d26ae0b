"""Every parameter of the model with its shape, and numbers to begin with.

Letters: D d_model, H heads, K d_k, Kv d_v, F d_ff, V vocabulary.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from dragoman.config import ModelConfig
from dragoman.reference.embeddings import TABLES
from dragoman.reference.parameters import Array, Params

Shapes = dict[str, tuple[int, ...]]


def initialize(config: ModelConfig, seed: int, *, dtype: npt.DTypeLike = np.float64) -> Params:
    """Fresh parameters: matrices by Xavier, embeddings from N(0, 1/d), biases 0, norms 1.

    >>> config = ModelConfig(d_model=4, n_heads=2, n_layers=1, d_ff=8, vocab_size=5)
    >>> params = initialize(config, seed=1)
    >>> params["embedding.weight"].shape, params["embedding.weight"][config.pad_id].tolist()
    ((5, 4), [0.0, 0.0, 0.0, 0.0])
    """
    rng = np.random.default_rng(seed)
    params: Params = {}
    for name, shape in parameter_shapes(config).items():
        if name.endswith("bias"):
            value = np.zeros(shape)
        elif name.endswith("norm.weight"):
            value = np.ones(shape)
        elif name.endswith(("embedding.weight", "positions.weight")):
            value = rng.normal(0.0, config.d_model**-0.5, shape)
        else:  # where one tensor holds several matrices, each is drawn by its own size
            rows = _matrix_rows(name, shape[0], config)
            value = np.vstack([xavier(rng, n, shape[1]) for n in rows])
        if name.endswith("embedding.weight"):
            value[config.pad_id] = 0
        params[name] = value.astype(dtype)
    return params


def xavier(rng: np.random.Generator, n_out: int, n_in: int) -> Array:
    """A matrix whose product keeps the variance: uniform in ±√(6 / (in + out)), (out, in).

    >>> bool(np.abs(xavier(np.random.default_rng(1), 2, 4)).max() <= 1)
    True
    """
    bound = math.sqrt(6 / (n_in + n_out))
    return rng.uniform(-bound, bound, (n_out, n_in))


def _matrix_rows(name: str, n_rows: int, config: ModelConfig) -> list[int]:
    """The rows of each matrix that the tensor called ``name`` holds."""
    if name.endswith("qkv.weight"):
        n_query_rows, n_value_rows = (config.n_heads * size for size in config.head_sizes)
        return [n_query_rows, n_query_rows, n_value_rows]
    if name.endswith("w1.weight") and config.activation == "swiglu":
        return [n_rows // 2, n_rows // 2]
    return [n_rows]


def parameter_shapes(config: ModelConfig) -> Shapes:
    """Every parameter of the encoder–decoder by name, in the order in which it is used.

    >>> shapes = parameter_shapes(ModelConfig(vocab_size=37000))  # the paper's base model
    >>> f"{sum(math.prod(shape) for shape in shapes.values()) / 1e6:.1f} million"
    '63.1 million'
    """
    src_table, tgt_table, out_table = TABLES[config.tie]
    d, v = config.d_model, config.vocab_size
    shapes: Shapes = {src_table: (config.source_vocab, d), tgt_table: (v, d), out_table: (v, d)}
    if config.positions == "learned":
        table = (config.max_positions, d)
        shapes |= {"src_positions.weight": table, "tgt_positions.weight": table}
    for i in range(config.encoder_layers):
        shapes |= _layer_shapes(f"encoder.layers.{i}", ("self_attention",), config)
    for i in range(config.decoder_layers):
        both = ("self_attention", "cross_attention")
        shapes |= _layer_shapes(f"decoder.layers.{i}", both, config)
    if config.norm == "pre":
        shapes |= _norm_shapes("encoder.final_norm", d) | _norm_shapes("decoder.final_norm", d)
    return shapes


def _layer_shapes(name: str, attentions: tuple[str, ...], config: ModelConfig) -> Shapes:
    """One encoder or decoder layer: its attentions, then its feed-forward network."""
    d, f, h = config.d_model, config.d_ff, config.n_heads
    d_k, d_v = config.head_sizes
    tall = 2 * f if config.activation == "swiglu" else f
    shapes: Shapes = {}
    for attention in attentions:
        shapes |= _linear_shapes(f"{name}.{attention}.qkv", 2 * h * d_k + h * d_v, d)
        shapes |= _linear_shapes(f"{name}.{attention}.out", d, h * d_v)
        shapes |= _norm_shapes(f"{name}.{attention}_norm", d)
    shapes |= _linear_shapes(f"{name}.feed_forward.w1", tall, d)
    shapes |= _linear_shapes(f"{name}.feed_forward.w2", d, f)
    return shapes | _norm_shapes(f"{name}.feed_forward_norm", d)


def _linear_shapes(name: str, n_out: int, n_in: int) -> Shapes:
    return {f"{name}.weight": (n_out, n_in), f"{name}.bias": (n_out,)}


def _norm_shapes(name: str, width: int) -> Shapes:
    return {f"{name}.weight": (width,), f"{name}.bias": (width,)}
