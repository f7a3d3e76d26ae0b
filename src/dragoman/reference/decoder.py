"""The decoder (3.1): a stack of layers that look at the target so far, and at the source.

Letters: B sentences, S source length, T target length, D d_model.
"""

from __future__ import annotations

from functools import partial

from dragoman.config import ModelConfig
from dragoman.reference.attention import cross_attention, self_attention
from dragoman.reference.feed_forward import feed_forward
from dragoman.reference.layer_norm import layer_norm
from dragoman.reference.parameters import Array, Params, Record, part
from dragoman.reference.sublayer import residual


def decoder_layer(
    params: Params,
    x: Array,
    memory: Array | None,
    *,
    mask: Array | None,
    memory_mask: Array | None,
    config: ModelConfig,
    record: Record | None = None,
    name: str = "decoder",
) -> Array:
    """Self-attention, cross-attention, feed-forward: (B, T, D), (B, S, D) -> (B, T, D).

    Without a memory there is no cross-attention: the layer of a language model.

    >>> import numpy as np
    >>> from dragoman.reference.initialize import initialize
    >>> config = ModelConfig(d_model=4, n_heads=2, n_layers=1, d_ff=8, vocab_size=5)
    >>> layer = part(initialize(config, seed=1), "decoder.layers.0")
    >>> x, memory = np.ones((2, 3, 4)), np.ones((2, 5, 4))
    >>> decoder_layer(layer, x, memory, mask=None, memory_mask=None, config=config).shape
    (2, 3, 4)
    """
    attend = partial(self_attention, mask=mask, config=config, record=record, name=f"{name}.self")
    feed = partial(feed_forward, activation=config.activation)
    x = residual(params, x, name="self_attention", sublayer=attend, order=config.norm)
    if memory is not None:
        look = partial(
            cross_attention,
            memory=memory,
            mask=memory_mask,
            config=config,
            record=record,
            name=f"{name}.cross",
        )
        x = residual(params, x, name="cross_attention", sublayer=look, order=config.norm)
    return residual(params, x, name="feed_forward", sublayer=feed, order=config.norm)


def decoder(
    params: Params,
    x: Array,
    memory: Array | None,
    *,
    mask: Array | None,
    memory_mask: Array | None,
    config: ModelConfig,
    record: Record | None = None,
) -> Array:
    """One layer after the other, with a last norm where norms come first: (B, T, D) -> (B, T, D).

    Every layer looks at the same memory, the output of the whole encoder.

    >>> import numpy as np
    >>> from dragoman.reference.initialize import initialize
    >>> config = ModelConfig(d_model=4, n_heads=2, n_layers=1, d_ff=8, vocab_size=5)
    >>> stack, weights = part(initialize(config, seed=1), "decoder"), {}
    >>> x, memory = np.ones((2, 3, 4)), np.ones((2, 5, 4))
    >>> _ = decoder(
    ...     stack, x, memory, mask=None, memory_mask=None, config=config, record=weights
    ... )
    >>> {name: w.shape for name, w in weights.items()}
    {'decoder.0.self': (2, 2, 3, 3), 'decoder.0.cross': (2, 2, 3, 5)}
    """
    for i in range(config.decoder_layers):
        x = decoder_layer(
            part(params, f"layers.{i}"),
            x,
            memory,
            mask=mask,
            memory_mask=memory_mask,
            config=config,
            record=record,
            name=f"decoder.{i}",
        )
    return layer_norm(part(params, "final_norm"), x) if config.norm == "pre" else x
