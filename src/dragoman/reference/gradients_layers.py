"""The backward pass of a layer: the blocks of ``gradients.py`` in a row.

The forward pass is a chain; the backward pass walks it from its end. So a layer runs forward once,
to know what each of its parts was given, and then goes back through them.

Letters: B sentences, S source length, T target length, D d_model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from dragoman.config import ModelConfig, Norm
from dragoman.reference.attention import cross_attention, self_attention
from dragoman.reference.feed_forward import feed_forward
from dragoman.reference.gradients import (
    feed_forward_backward,
    layer_norm_backward,
    multi_head_attention_backward,
)
from dragoman.reference.layer_norm import layer_norm
from dragoman.reference.parameters import Array, Params, part, under
from dragoman.reference.sublayer import residual


@dataclass(frozen=True)
class Step:
    """One part of a layer: what it is called, how it computes, and how its gradient goes back.

    >>> def negate_backward(d_out, params, x):
    ...     return -d_out, {}
    >>> Step("negate", lambda params, x: -x, negate_backward).name
    'negate'
    """

    name: str
    forward: Callable[[Params, Array], Array]
    backward: Callable[[Array, Params, Array], tuple[Array, Params]]


def residual_backward(
    d_out: Array, params: Params, x: Array, *, step: Step, order: Norm
) -> tuple[Array, Params]:
    """(d_x, gradients) of a sub-layer: x went two ways, so two gradients come back and add up.

    >>> import numpy as np
    >>> params = {"double_norm.weight": np.ones(3), "double_norm.bias": np.zeros(3)}
    >>> step = Step("double", lambda params, x: 2 * x, lambda d_out, params, x: (2 * d_out, {}))
    >>> x = np.array([[1.0, 2.0, 6.0]])
    >>> d_x, grads = residual_backward(np.ones_like(x), params, x, step=step, order="pre")
    >>> d_x.round(6).tolist(), sorted(grads)  # the straight way is left where the norm gives none
    ([[1.0, 1.0, 1.0]], ['double_norm.bias', 'double_norm.weight'])
    """
    own, own_norm = part(params, step.name), part(params, f"{step.name}_norm")
    if order == "post":
        d_sum, d_norm = layer_norm_backward(d_out, own_norm, x + step.forward(own, x))
        d_branch, d_own = step.backward(d_sum, own, x)
        d_x = d_sum + d_branch
    else:
        d_normal, d_own = step.backward(d_out, own, layer_norm(own_norm, x))
        d_branch, d_norm = layer_norm_backward(d_normal, own_norm, x)
        d_x = d_out + d_branch
    return d_x, under(step.name, d_own) | under(f"{step.name}_norm", d_norm)


def layer_backward(
    d_out: Array, params: Params, x: Array, *, steps: list[Step], order: Norm
) -> tuple[Array, Params]:
    """(d_x, gradients) of sub-layers in a row: forward once for their inputs, then back.

    >>> import numpy as np
    >>> params = {"half_norm.weight": np.ones(2), "half_norm.bias": np.zeros(2)}
    >>> half = Step("half", lambda params, x: x / 2, lambda d_out, params, x: (d_out / 2, {}))
    >>> x = np.array([[1.0, 2.0]])
    >>> sorted(layer_backward(x, params, x, steps=[half], order="post")[1])
    ['half_norm.bias', 'half_norm.weight']
    """
    inputs = []
    for step in steps:
        inputs.append(x)
        x = residual(params, x, name=step.name, sublayer=step.forward, order=order)
    grads: Params = {}
    for step, step_input in zip(reversed(steps), reversed(inputs), strict=True):
        d_out, d_step = residual_backward(d_out, params, step_input, step=step, order=order)
        grads |= d_step
    return d_out, grads


def self_attention_backward(
    d_out: Array, params: Params, x: Array, *, mask: Array | None, config: ModelConfig
) -> tuple[Array, Params]:
    """(d_x, gradients) of self-attention, where x asks and answers both.

    >>> import numpy as np
    >>> params = {"qkv.weight": np.ones((3, 1)), "qkv.bias": np.zeros(3)}
    >>> params |= {"out.weight": np.ones((1, 1)), "out.bias": np.zeros(1)}
    >>> config = ModelConfig(d_model=1, n_heads=1, positions="learned")
    >>> one = np.ones((1, 1, 1))
    >>> self_attention_backward(one, params, one, mask=None, config=config)[0].item()
    1.0
    """
    rotary = config.positions == "rotary"
    d_asking, d_answering, grads = multi_head_attention_backward(
        d_out, params, x, x, mask=mask, n_heads=config.n_heads, rotary=rotary
    )
    return d_asking + d_answering, grads


def cross_attention_backward(
    d_out: Array,
    params: Params,
    x: Array,
    *,
    memory: Array,
    mask: Array | None,
    config: ModelConfig,
) -> tuple[Array, Params]:
    """(d_x, gradients) of cross-attention; the gradient of the memory is among them, as "memory".

    >>> import numpy as np
    >>> params = {"qkv.weight": np.ones((3, 1)), "qkv.bias": np.zeros(3)}
    >>> params |= {"out.weight": np.ones((1, 1)), "out.bias": np.zeros(1)}
    >>> config = ModelConfig(d_model=1, n_heads=1, positions="learned")
    >>> one = np.ones((1, 1, 1))
    >>> d_x, grads = cross_attention_backward(
    ...     one, params, one, memory=one, mask=None, config=config
    ... )
    >>> d_x.item(), grads["memory"].item()
    (0.0, 1.0)
    """
    d_x, d_memory, grads = multi_head_attention_backward(
        d_out, params, x, memory, mask=mask, n_heads=config.n_heads
    )
    return d_x, grads | {"memory": d_memory}


def encoder_layer_backward(
    d_out: Array, params: Params, x: Array, *, mask: Array | None, config: ModelConfig
) -> tuple[Array, Params]:
    """(d_x, gradients) of an encoder layer.

    >>> import numpy as np
    >>> from dragoman.reference.initialize import initialize
    >>> config = ModelConfig(d_model=4, n_heads=2, n_layers=1, d_ff=8, vocab_size=5)
    >>> layer, x = part(initialize(config, seed=1), "encoder.layers.0"), np.ones((2, 3, 4))
    >>> d_x, grads = encoder_layer_backward(x, layer, x, mask=None, config=config)
    >>> d_x.shape, grads.keys() == layer.keys()
    ((2, 3, 4), True)
    """
    steps = [_attend(mask, config), _feed(config)]
    return layer_backward(d_out, params, x, steps=steps, order=config.norm)


def decoder_layer_backward(
    d_out: Array,
    params: Params,
    x: Array,
    memory: Array,
    *,
    mask: Array | None,
    memory_mask: Array | None,
    config: ModelConfig,
) -> tuple[Array, Array, Params]:
    """(d_x, d_memory, gradients) of a decoder layer.

    >>> import numpy as np
    >>> from dragoman.reference.initialize import initialize
    >>> config = ModelConfig(d_model=4, n_heads=2, n_layers=1, d_ff=8, vocab_size=5)
    >>> layer = part(initialize(config, seed=1), "decoder.layers.0")
    >>> x, memory = np.ones((2, 3, 4)), np.ones((2, 5, 4))
    >>> d_x, d_memory, grads = decoder_layer_backward(
    ...     x, layer, x, memory, mask=None, memory_mask=None, config=config
    ... )
    >>> d_x.shape, d_memory.shape, grads.keys() == layer.keys()
    ((2, 3, 4), (2, 5, 4), True)
    """
    steps = [_attend(mask, config), _look(memory, memory_mask, config), _feed(config)]
    d_x, grads = layer_backward(d_out, params, x, steps=steps, order=config.norm)
    d_memory = grads.pop("cross_attention.memory")
    return d_x, d_memory, grads


def _attend(mask: Array | None, config: ModelConfig) -> Step:
    given: dict[str, Any] = {"mask": mask, "config": config}
    return Step(
        "self_attention",
        partial(self_attention, **given),
        partial(self_attention_backward, **given),
    )


def _look(memory: Array, mask: Array | None, config: ModelConfig) -> Step:
    given: dict[str, Any] = {"memory": memory, "mask": mask, "config": config}
    return Step(
        "cross_attention",
        partial(cross_attention, **given),
        partial(cross_attention_backward, **given),
    )


def _feed(config: ModelConfig) -> Step:
    given: dict[str, Any] = {"activation": config.activation}
    return Step(
        "feed_forward", partial(feed_forward, **given), partial(feed_forward_backward, **given)
    )
