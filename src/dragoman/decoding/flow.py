"""The way of a sentence through the model, step by step: shapes, sizes, and what happens.

Hooks on a private copy of the model see the states between its parts; the copy shares all weights,
and the model that others use is left alone.

Letters: S source length, T target length, D d_model, H heads, F d_ff, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from dragoman.config import ModelConfig
from dragoman.decoding.heads import private_copy
from dragoman.model.transformer import Transformer

POSITIONS = {
    "sinusoidal": "Waves of many lengths are added, so that the same word in another place is"
    " another vector.",
    "learned": "A learned vector for each place is added, so that the same word in another place"
    " is another vector.",
    "rotary": "Nothing is added: each self-attention turns its queries and keys by their places.",
}


@dataclass(frozen=True)
class FlowStep:
    """One station of the way: the vectors of all tokens as they stand after it.

    >>> FlowStep("embedding", "Embedding", (7, 512), "(S, D)", "Each piece is a vector.", 21.5).norm
    21.5
    """

    name: str
    title: str
    shape: tuple[int, ...]
    letters: str
    what: str
    norm: float  # mean length (L2) of a token's vector


@torch.inference_mode()
def trace_flow(model: Transformer, src_ids: Tensor, tgt_ids: Tensor) -> tuple[FlowStep, ...]:
    """The stations of one sentence pair, in the order of computation: (1, S), (1, T).

    >>> config = ModelConfig(d_model=8, n_heads=2, n_layers=1, d_ff=16, vocab_size=11)
    >>> flow = trace_flow(Transformer(config).eval(), torch.tensor([[5, 2]]), torch.tensor([[1]]))
    >>> [step.name for step in flow][:4]
    ['embedding', 'positions', 'encoder.0.self', 'encoder.0.feed_forward']
    """
    config, states = model.config, _States()
    watched = private_copy(model)
    states.watch(watched)
    logits = watched(src_ids, tgt_ids)
    stations = [
        *_input_stations(config, "encoder"),
        *_stack_stations(config, "encoder"),
        *_input_stations(config, "decoder"),
        *_stack_stations(config, "decoder"),
    ]
    steps = []
    for name, title, letters, what in stations:
        x = states.at[name]
        steps.append(FlowStep(name, title, tuple(x.shape[1:]), letters, what, _mean_norm(x)))
    what = "A product with every target embedding: one number for each piece that may come next."
    if config.tie == "none":
        what = "The output matrix gives one number for each piece that may come next."
    shape, norm = tuple(logits.shape[1:]), _mean_norm(logits)
    return (*steps, FlowStep("logits", "Logits", shape, "(T, V)", what, norm))


# --- what is seen --------------------------------------------------------------------------------


class _States:
    """The states of one forward pass by the names of their stations, each (1, L, D)."""

    def __init__(self) -> None:
        self.at: dict[str, Tensor] = {}

    def watch(self, model: Transformer) -> None:
        """See the embeddings, what enters the stacks, and each layer's state after each part."""
        tied = model.config.tie == "all"
        self._watch_embedding(model.embedding if tied else model.src_embedding)
        if not tied:
            self._watch_embedding(model.tgt_embedding)
        for side, stack in (("encoder", model.encoder), ("decoder", model.decoder)):
            self._before(stack, _input_name(side, "positions"))
            for number, layer in enumerate(stack.layers):
                self._watch_layer(layer, f"{side}.{number}", model.config.norm == "pre")
            if stack.final_norm is not None:
                self._after(stack.final_norm, f"{side}.norm")

    def _watch_embedding(self, embedding: nn.Module) -> None:
        def see(module: nn.Module, args: Any, out: Tensor) -> None:
            # The source is embedded before the target, by the same module or by another.
            is_source = _input_name("encoder", "embedding") not in self.at
            self.at[_input_name("encoder" if is_source else "decoder", "embedding")] = out

        embedding.register_forward_hook(see)

    def _watch_layer(self, layer: nn.Module, name: str, is_pre_norm: bool) -> None:
        parts = {
            "self": "self_attention",
            "cross": "cross_attention",
            "feed_forward": "feed_forward",
        }
        norms = {
            f"{name}.{short}": getattr(layer, f"{part}_norm")
            for short, part in parts.items()
            if getattr(layer, f"{part}_norm", None) is not None
        }
        if not is_pre_norm:  # the norm closes its part
            for station, norm in norms.items():
                self._after(norm, station)
            return
        stations = list(norms)
        for station, following in pairwise(stations):
            self._before(norms[following], station)  # what the next norm reads is the sum so far
        self._after(layer, stations[-1])

    def _before(self, module: nn.Module, name: str) -> None:
        def see(module: nn.Module, args: tuple[Any, ...]) -> None:
            self.at[name] = args[0]

        module.register_forward_pre_hook(see)

    def _after(self, module: nn.Module, name: str) -> None:
        def see(module: nn.Module, args: Any, out: Tensor) -> None:
            self.at[name] = out

        module.register_forward_hook(see)


def _mean_norm(x: Tensor) -> float:
    return float(x.double().norm(dim=-1).mean())


# --- what is said --------------------------------------------------------------------------------

Station = tuple[str, str, str, str]  # name, title, letters, what


def _input_name(side: str, part: str) -> str:
    return part if side == "encoder" else f"decoder.{part}"


def _input_stations(config: ModelConfig, side: str) -> Iterator[Station]:
    is_source = side == "encoder"
    letters = "(S, D)" if is_source else "(T, D)"
    of = "source" if is_source else "target"
    what = "Each source piece is looked up as a vector, times √D."
    if not is_source:
        what = "<s> and the target pieces so far are looked up as vectors, times √D."
    yield _input_name(side, "embedding"), f"Embedding of the {of}", letters, what
    what = POSITIONS[config.positions]
    yield _input_name(side, "positions"), f"Positions of the {of}", letters, what


def _stack_stations(config: ModelConfig, side: str) -> Iterator[Station]:
    is_source = side == "encoder"
    letters = "(S, D)" if is_source else "(T, D)"
    n_layers = config.encoder_layers if is_source else config.decoder_layers
    heads, inner = config.n_heads, config.d_ff
    for layer in range(n_layers):
        title = f"{side.capitalize()} layer {layer + 1} of {n_layers}"
        look = f"Every piece looks at the whole source with {heads} heads and adds what it found."
        if not is_source:
            look = f"Every piece looks at itself and those before it with {heads} heads."
        yield f"{side}.{layer}.self", f"{title}: self-attention", letters, look
        if not is_source:
            what = f"Every target piece looks into the encoded source with {heads} heads."
            yield f"{side}.{layer}.cross", f"{title}: cross-attention", letters, what
        what = f"Each vector by itself is widened to {inner:,} numbers, cut off below 0 and put"
        if config.activation != "relu":
            what = f"Each vector by itself is widened to {inner:,} numbers ({config.activation})"
            what += " and put"
        yield (
            f"{side}.{layer}.feed_forward",
            f"{title}: feed-forward",
            letters,
            f"{what} back together.",
        )
    if config.norm == "pre":
        what = "The sum of all layers is brought to one scale."
        yield f"{side}.norm", f"Norm after the {side}", letters, what
