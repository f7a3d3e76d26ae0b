"""A model with some of its heads switched off: what they found never reaches W^O.

That is the same as setting its columns of W^O to zero, but changes no weight: a hook on a copy of
the model, which shares all weights, takes from what enters W^O the part of the head. So it works
whatever W^O is made of. ``without_heads`` does it for a whole model; ``EachWithout`` lets every
sentence of a batch miss heads of its own, so that the worth of all heads is found in one pass.

Letters: B sentences, L length, R rows, H heads, K d_v, E = H * K.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import ScriptObject, Tensor, nn

from dragoman.config import ModelConfig
from dragoman.config_checks import no_such
from dragoman.errors import ConfigError
from dragoman.model.attention import MultiHeadAttention
from dragoman.model.cache import DecoderCache
from dragoman.model.transformer import Transformer

Head = tuple[str, int]
"""The name of an attention layer, such as ``decoder.2.cross``, and a head of it, from 0."""


def attention_names(config: ModelConfig) -> list[str]:
    """The names of all attention layers, in the order in which they are computed.

    >>> attention_names(ModelConfig(n_layers=1))
    ['encoder.0.self', 'decoder.0.self', 'decoder.0.cross']
    """
    names = [f"encoder.{layer}.self" for layer in range(config.encoder_layers)]
    for layer in range(config.decoder_layers):
        names += [f"decoder.{layer}.self", f"decoder.{layer}.cross"]
    return names


def check_heads(heads: Sequence[Head], config: ModelConfig) -> tuple[Head, ...]:
    """The heads, each once and in order; refused where the model has no such head.

    >>> check_heads([("decoder.0.cross", 9)], ModelConfig(n_layers=1, n_heads=4, d_model=8))
    Traceback (most recent call last):
    dragoman.errors.ConfigError: decoder.0.cross has no head 9: its heads are 0 to 3
    """
    names = attention_names(config)
    for name, head in heads:
        if name not in names:
            raise ConfigError(f"{name}: {no_such('attention', name, known=names)}")
        if not 0 <= head < config.n_heads:
            raise ConfigError(f"{name} has no head {head}: its heads are 0 to {config.n_heads - 1}")
    return tuple(sorted({(name, int(head)) for name, head in heads}))


def private_copy(model: Transformer) -> Transformer:
    """The same model as objects of its own, to hang hooks on; all weights are shared."""
    shared: list[Any] = [*model.parameters(), *model.buffers()]
    for module in model.modules():  # integer matrices are packed into objects of PyTorch's
        shared += [value for value in vars(module).values() if isinstance(value, ScriptObject)]
    copied = copy.deepcopy(model, {id(value): value for value in shared})
    copied.in_one_call = False  # hooks see what PyTorch does
    return copied


def without_heads(model: Transformer, heads: Sequence[Head]) -> Transformer:
    """The model without these heads; the model itself where there are none.

    >>> config = ModelConfig(d_model=8, n_heads=2, n_layers=1, d_ff=16, vocab_size=11)
    >>> model, ids = Transformer(config).eval(), torch.tensor([[5, 2]])
    >>> off = without_heads(model, [("decoder.0.cross", 1)])
    >>> bool((off(ids, ids) == model(ids, ids)).all())
    False
    """
    if not heads:
        return model
    changed = private_copy(model)
    for attention in _attentions(changed):
        off = [head for name, head in heads if name == attention.name]
        if off:
            attention.out.register_forward_pre_hook(_scaling(_gates(attention, off)))
    return changed


def _scaling(gates: Tensor) -> Any:
    """A hook that scales what enters a module."""

    def scale(module: nn.Module, args: tuple[Tensor]) -> Tensor:
        return args[0] * gates.to(args[0])

    return scale


class EachWithout:
    """A scorer for greedy search: sentence i of the batch is read without the heads ``rows[i]``.

    >>> config = ModelConfig(d_model=8, n_heads=2, n_layers=1, d_ff=16, vocab_size=11)
    >>> model = Transformer(config).eval()
    >>> each = EachWithout(model, [[("encoder.0.self", 0)], []])
    >>> each.model(torch.tensor([[4, 2], [4, 2]]), torch.tensor([[1], [1]])).shape
    torch.Size([2, 1, 11])
    """

    def __init__(self, model: Transformer, rows: Sequence[Sequence[Head]]) -> None:
        self.model = private_copy(model)
        self._gates: dict[str, Tensor] = {}  # (B, E) by name, of the sentences still there
        for attention in _attentions(self.model):
            off = [[head for name, head in row if name == attention.name] for row in rows]
            if any(off):
                gates = torch.stack([_gates(attention, heads) for heads in off])
                self._gates[attention.name] = gates.to(model.output_weight)
                attention.out.register_forward_pre_hook(self._scaling(attention.name))

    def _scaling(self, name: str) -> Any:
        def scale(module: nn.Module, args: tuple[Tensor]) -> Tensor:
            x = args[0]  # (B, L, E), or (B, E)
            gates = self._gates[name]
            return x * (gates if x.dim() == 2 else gates[:, None])

        return scale

    def start(self, src_ids: Tensor, *, n_beams: int, capacity: int) -> _EachCache:
        """Read the sources, each without its heads: (B, S)."""
        if n_beams != 1:
            raise ValueError("each sentence has one hypothesis here")
        cache = self.model.start(src_ids, n_beams=1, capacity=capacity)
        return _EachCache(cache, self._gates)

    def step(self, ids: Tensor, cache: _EachCache) -> Tensor:
        """The logits after one more token of each sentence: (B,) -> (B, V)."""
        return self.model.step(ids, cache.cache)


@dataclass(frozen=True)
class _EachCache:
    """The model's cache, and the gates, which leave the batch with their sentences."""

    cache: DecoderCache
    gates: dict[str, Tensor]

    def reorder(self, rows: Tensor) -> None:
        raise ValueError("greedy search never reorders")

    def keep(self, sentences: Tensor) -> None:
        self.cache.keep(sentences)
        for name, gates in self.gates.items():
            self.gates[name] = gates.index_select(0, sentences)


def _attentions(model: nn.Module) -> Iterator[MultiHeadAttention]:
    return (module for module in model.modules() if isinstance(module, MultiHeadAttention))


def _gates(attention: MultiHeadAttention, off: Sequence[int]) -> Tensor:
    """1 where what enters W^O comes from a head that is on, 0 elsewhere: (E,)."""
    gates = torch.ones(attention.n_heads)
    gates[list(off)] = 0.0
    return gates.repeat_interleave(attention.widths[2] // attention.n_heads)
