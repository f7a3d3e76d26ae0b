"""The encoder (3.1): a stack of layers in which every source position looks at every other.

Letters: B sentences, S source length, D d_model.
"""

from __future__ import annotations

from functools import partial

from dragoman.config import ModelConfig
from dragoman.reference.attention import self_attention
from dragoman.reference.feed_forward import feed_forward
from dragoman.reference.layer_norm import layer_norm
from dragoman.reference.parameters import Array, Params, Record, part
from dragoman.reference.sublayer import residual


def encoder_layer(
    params: Params,
    x: Array,
    *,
    mask: Array | None,
    config: ModelConfig,
    record: Record | None = None,
    name: str = "encoder",
) -> Array:
    """Self-attention, then feed-forward: (B, S, D) -> (B, S, D).

    >>> import numpy as np
    >>> from dragoman.reference.initialize import initialize
    >>> config = ModelConfig(d_model=4, n_heads=2, n_layers=1, d_ff=8, vocab_size=5)
    >>> layer = part(initialize(config, seed=1), "encoder.layers.0")
    >>> encoder_layer(layer, np.ones((2, 3, 4)), mask=None, config=config).shape
    (2, 3, 4)
    """
    attend = partial(self_attention, mask=mask, config=config, record=record, name=f"{name}.self")
    feed = partial(feed_forward, activation=config.activation)
    x = residual(params, x, name="self_attention", sublayer=attend, order=config.norm)
    return residual(params, x, name="feed_forward", sublayer=feed, order=config.norm)


def encoder(
    params: Params,
    x: Array,
    *,
    mask: Array | None,
    config: ModelConfig,
    record: Record | None = None,
) -> Array:
    """One layer after the other, with a last norm where norms come first: (B, S, D) -> (B, S, D).

    >>> import numpy as np
    >>> from dragoman.reference.initialize import initialize
    >>> config = ModelConfig(d_model=4, n_heads=2, n_layers=2, d_ff=8, vocab_size=5)
    >>> stack, weights = part(initialize(config, seed=1), "encoder"), {}
    >>> encoder(stack, np.ones((2, 3, 4)), mask=None, config=config, record=weights).shape
    (2, 3, 4)
    >>> {name: w.shape for name, w in weights.items()}
    {'encoder.0.self': (2, 2, 3, 3), 'encoder.1.self': (2, 2, 3, 3)}
    """
    for i in range(config.encoder_layers):
        layer = part(params, f"layers.{i}")
        x = encoder_layer(layer, x, mask=mask, config=config, record=record, name=f"encoder.{i}")
    return layer_norm(part(params, "final_norm"), x) if config.norm == "pre" else x
