"""The backward pass of the two stacks and of the whole model: a training step, by hand.

Letters: B sentences, S source length, T target length, D d_model, V vocabulary.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dragoman.config import ModelConfig, SmoothingForm
from dragoman.reference.decoder import decoder, decoder_layer
from dragoman.reference.embeddings import TABLES, output_projection
from dragoman.reference.encoder import encoder, encoder_layer
from dragoman.reference.gradients import (
    embed_backward,
    layer_norm_backward,
    output_projection_backward,
    smoothed_loss_backward,
)
from dragoman.reference.gradients_layers import decoder_layer_backward, encoder_layer_backward
from dragoman.reference.label_smoothing import smoothed_loss
from dragoman.reference.masks import decoder_mask, encoder_mask, padding_mask
from dragoman.reference.parameters import Array, Params, add_up, part, under
from dragoman.reference.transformer import embed_source, embed_target


def encoder_backward(
    d_out: Array, params: Params, x: Array, *, mask: Array | None, config: ModelConfig
) -> tuple[Array, Params]:
    """(d_x, gradients) of the encoder: each layer hands its gradient to the one below.

    >>> from dragoman.reference.initialize import initialize
    >>> config = ModelConfig(d_model=4, n_heads=2, n_layers=2, d_ff=8, vocab_size=5)
    >>> stack, x = part(initialize(config, seed=1), "encoder"), np.ones((2, 3, 4))
    >>> d_x, grads = encoder_backward(x, stack, x, mask=None, config=config)
    >>> d_x.shape, grads.keys() == stack.keys()
    ((2, 3, 4), True)
    """
    given: dict[str, Any] = {"mask": mask, "config": config}
    layers = [part(params, f"layers.{i}") for i in range(config.encoder_layers)]
    inputs = [x]
    for layer in layers:
        inputs.append(encoder_layer(layer, inputs[-1], **given))
    d_x, grads = _final_norm_backward(d_out, params, inputs.pop(), config)
    for i in reversed(range(len(layers))):
        d_x, d_layer = encoder_layer_backward(d_x, layers[i], inputs[i], **given)
        grads |= under(f"layers.{i}", d_layer)
    return d_x, grads


def decoder_backward(
    d_out: Array,
    params: Params,
    x: Array,
    memory: Array,
    *,
    mask: Array | None,
    memory_mask: Array | None,
    config: ModelConfig,
) -> tuple[Array, Array, Params]:
    """(d_x, d_memory, gradients) of the decoder; each layer adds to the memory's gradient.

    >>> from dragoman.reference.initialize import initialize
    >>> config = ModelConfig(d_model=4, n_heads=2, n_layers=2, d_ff=8, vocab_size=5)
    >>> stack = part(initialize(config, seed=1), "decoder")
    >>> x, memory = np.ones((2, 3, 4)), np.ones((2, 5, 4))
    >>> d_x, d_memory, grads = decoder_backward(
    ...     x, stack, x, memory, mask=None, memory_mask=None, config=config
    ... )
    >>> d_x.shape, d_memory.shape, grads.keys() == stack.keys()
    ((2, 3, 4), (2, 5, 4), True)
    """
    given: dict[str, Any] = {"mask": mask, "memory_mask": memory_mask, "config": config}
    layers = [part(params, f"layers.{i}") for i in range(config.decoder_layers)]
    inputs = [x]
    for layer in layers:
        inputs.append(decoder_layer(layer, inputs[-1], memory, **given))
    d_x, grads = _final_norm_backward(d_out, params, inputs.pop(), config)
    d_memory = np.zeros_like(memory)
    for i in reversed(range(len(layers))):
        d_x, d_share, d_layer = decoder_layer_backward(d_x, layers[i], inputs[i], memory, **given)
        d_memory += d_share
        grads |= under(f"layers.{i}", d_layer)
    return d_x, d_memory, grads


def _final_norm_backward(
    d_out: Array, params: Params, x: Array, config: ModelConfig
) -> tuple[Array, Params]:
    """(d_x, gradients) of the stack's last norm, where it has one."""
    if config.norm == "post":
        return d_out, {}
    d_x, d_norm = layer_norm_backward(d_out, part(params, "final_norm"), x)
    return d_x, under("final_norm", d_norm)


def loss_and_gradients(
    params: Params,
    config: ModelConfig,
    *,
    src_ids: Array,
    tgt_in: Array,
    tgt_out: Array,
    epsilon: float = 0.1,
    form: SmoothingForm = "uniform",
) -> tuple[float, Params]:
    """The mean loss of a batch over its real target tokens, and its gradient for every parameter.

    ``tgt_in`` is the target shifted right (BOS first), ``tgt_out`` the target itself (EOS last).

    >>> from dragoman.reference.initialize import initialize
    >>> config = ModelConfig(d_model=8, n_heads=2, n_layers=1, d_ff=16, vocab_size=11)
    >>> params = initialize(config, seed=1)
    >>> batch = {"src_ids": np.array([[4, 5]]), "tgt_in": np.array([[1, 4]])}
    >>> batch["tgt_out"] = np.array([[4, 2]])
    >>> loss, grads = loss_and_gradients(params, config, **batch)
    >>> downhill = {name: params[name] - 0.01 * grads[name] for name in params}
    >>> loss_and_gradients(downhill, config, **batch)[0] < loss
    True
    """
    pad_id, window = config.pad_id, config.window
    src_table, tgt_table, out_table = TABLES[config.tie]
    to_encode: dict[str, Any] = {"mask": encoder_mask(src_ids, pad_id, window), "config": config}
    to_decode: dict[str, Any] = {
        "mask": decoder_mask(tgt_in, pad_id, window),
        "memory_mask": padding_mask(src_ids, pad_id),
        "config": config,
    }
    truth: dict[str, Any] = {"epsilon": epsilon, "form": form, "pad_id": pad_id}

    src_x = embed_source(params, src_ids, config=config)  # (B, S, D)
    memory = encoder(part(params, "encoder"), src_x, **to_encode)  # (B, S, D)
    tgt_x = embed_target(params, tgt_in, config=config)  # (B, T, D)
    x = decoder(part(params, "decoder"), tgt_x, memory, **to_decode)  # (B, T, D)
    logits = output_projection(params[out_table], x)  # (B, T, V)
    loss, n_tokens = smoothed_loss(logits, tgt_out, **truth)
    n_tokens = max(n_tokens, 1)  # a batch of nothing but padding teaches nothing

    d_logits = smoothed_loss_backward(logits, tgt_out, **truth) / n_tokens
    d_x, d_out_table = output_projection_backward(d_logits, params[out_table], x)
    d_tgt_x, d_memory, d_decoder = decoder_backward(
        d_x, part(params, "decoder"), tgt_x, memory, **to_decode
    )
    d_src_x, d_encoder = encoder_backward(d_memory, part(params, "encoder"), src_x, **to_encode)
    d_src_tables = embed_backward(
        d_src_x, params, src_ids, config=config, table=src_table, positions="src_positions.weight"
    )
    d_tgt_tables = embed_backward(
        d_tgt_x, params, tgt_in, config=config, table=tgt_table, positions="tgt_positions.weight"
    )
    return loss / n_tokens, add_up(
        under("encoder", d_encoder),
        under("decoder", d_decoder),
        d_src_tables,
        d_tgt_tables,
        {out_table: d_out_table},
    )
