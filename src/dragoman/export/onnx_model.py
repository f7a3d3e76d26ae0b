"""The Transformer as two ONNX graphs, written from its configuration and weights.

encoder   src_ids (B, S)  ->  mask (B, S), memory_keys, memory_values (N, B, H, S, K)
decoder   ids (B,), keys, values (N, B, H, T, K), memory_keys, memory_values, mask
          ->  logits (B, V), next_keys, next_values (N, B, H, T + 1, K)

One call of the decoder is one step: it takes the newest token of each sentence and what was kept of
those before it, T of them (0 at first), which is also how it knows its position. Every option of
the configuration is there, at any length that the model itself can take.

Letters: B sentences, S source length, T target tokens so far, N layers, H heads, K d_k or d_v.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dragoman.config import ModelConfig
from dragoman.decoding.ctranslate2_conversion import Weights
from dragoman.export.onnx_graph import Graph, Shape


def encoder_model(config: ModelConfig, weights: Weights) -> Any:
    """The graph that reads a batch of sources (pieces and EOS, then padding)."""
    graph = Graph("encoder")
    made = _Layers(graph, config, weights)
    src_ids = graph.input("src_ids", np.int64, ["B", "S"])
    is_pad = graph.op("Equal", src_ids, graph.constant(config.pad_id))
    mask = graph.op("Not", is_pad)
    x = graph.op("Gather", made.embedding("src"), src_ids)
    span = graph.positions(graph.constant(0), graph.length(src_ids, 1))
    x = made.with_positions(x, span, "src")
    seen = graph.op("Unsqueeze", mask, graph.constant([1, 2]))  # (B, 1, 1, S)
    if config.window is not None:
        seen = graph.op("And", seen, made.window(span, span))
    bias = graph.mask_bias(seen)
    for i in range(config.encoder_layers):
        x = made.encoder_layer(x, f"encoder.layers.{i}", bias, span)
    memory = made.final_norm(x, "encoder")
    layers = [
        made.memory(memory, f"decoder.layers.{i}.cross_attention")
        for i in range(config.decoder_layers)
    ]
    d_k, d_v = config.head_sizes
    shape: Shape = [config.decoder_layers, "B", config.n_heads, "S"]
    graph.output("mask", mask, np.bool_, ["B", "S"])
    graph.output("memory_keys", made.stack(k for k, _ in layers), np.float32, [*shape, d_k])
    graph.output("memory_values", made.stack(v for _, v in layers), np.float32, [*shape, d_v])
    return graph.model()


def decoder_model(config: ModelConfig, weights: Weights, *, shared: bool = True) -> Any:
    """The graph that takes one more token of each sentence.

    ``shared``: a tied output is stored once, with the embedding. A graph that is to be quantized
    wants two: what is looked up stays as it is, what is multiplied does not.
    """
    graph = Graph("decoder")
    made = _Layers(graph, config, weights)
    (d_k, d_v), layers = config.head_sizes, config.decoder_layers
    ids = graph.input("ids", np.int64, ["B"])
    own: Shape = [layers, "B", config.n_heads, "T"]
    memory: Shape = [layers, "B", config.n_heads, "S"]
    keys = graph.input("keys", np.float32, [*own, d_k])
    values = graph.input("values", np.float32, [*own, d_v])
    memory_keys = graph.input("memory_keys", np.float32, [*memory, d_k])
    memory_values = graph.input("memory_values", np.float32, [*memory, d_v])
    mask = graph.input("mask", np.bool_, ["B", "S"])
    bias = graph.mask_bias(graph.op("Unsqueeze", mask, graph.constant([1, 2])))
    position = graph.length(keys, 3)
    end = graph.add(position, graph.constant(1))
    here = graph.positions(position, end)  # (1,)
    own_bias = None
    if config.window is not None:
        own_bias = graph.mask_bias(made.window(here, graph.positions(graph.constant(0), end)))
    column = graph.op("Unsqueeze", ids, graph.constant([1]))  # (B, 1)
    x = made.with_positions(graph.op("Gather", made.embedding("tgt"), column), here, "tgt")
    kept = []
    for i in range(layers):
        step = _Step(
            keys=made.layer_of(keys, i),
            values=made.layer_of(values, i),
            memory_keys=made.layer_of(memory_keys, i),
            memory_values=made.layer_of(memory_values, i),
            memory_bias=bias,
            own_bias=own_bias,
            position=here,
        )
        x, k, v = made.decoder_layer(x, f"decoder.layers.{i}", step)
        kept.append((k, v))
    last = graph.op("Squeeze", made.final_norm(x, "decoder"), graph.constant([1]))  # (B, D)
    logits = made.logits(last, shared=shared)
    grown: Shape = [layers, "B", config.n_heads, "T + 1"]
    graph.output("logits", logits, np.float32, ["B", config.vocab_size])
    graph.output("next_keys", made.stack(k for k, _ in kept), np.float32, [*grown, d_k])
    graph.output("next_values", made.stack(v for _, v in kept), np.float32, [*grown, d_v])
    return graph.model()


@dataclass(frozen=True)
class _Step:
    """What one decoder layer looks at in one step."""

    keys: str  # (B, H, T, K)
    values: str
    memory_keys: str  # (B, H, S, K)
    memory_values: str
    memory_bias: str
    own_bias: str | None
    position: str  # (1,)


class _Layers:
    """The parts of the model, added to a graph."""

    def __init__(self, graph: Graph, config: ModelConfig, weights: Weights) -> None:
        self.graph, self.config, self.weights = graph, config, weights
        self.d_k, self.d_v = config.head_sizes
        self.widths = [config.n_heads * width for width in (self.d_k, self.d_k, self.d_v)]

    # --- in and out ------------------------------------------------------------------------------

    def embedding(self, side: str) -> str:
        name = "embedding" if self.config.tie == "all" else f"{side}_embedding"
        return self._weight(f"{name}.weight")

    def logits(self, x: str, *, shared: bool) -> str:
        """(B, D) -> (B, V)."""
        tied = self.config.tie != "none"
        if tied and shared:
            return self.graph.op("Gemm", x, self.embedding("tgt"), transB=1)
        name = self.embedding("tgt") if tied else "output.weight"
        return self.graph.op("MatMul", x, self.graph.weight("logits.weight", self.weights[name].T))

    def with_positions(self, vectors: str, span: str, side: str) -> str:
        """Embeddings scaled by √d_model, positions added."""
        graph, width = self.graph, self.config.d_model
        x = graph.scale(vectors, math.sqrt(width))
        if self.config.positions == "learned":
            table = self._weight(f"{side}_positions.weight")
            return graph.add(x, graph.op("Gather", table, span))
        if self.config.positions == "sinusoidal":
            angles = graph.angles(span, width)
            waves = graph.interleave(graph.op("Sin", angles), graph.op("Cos", angles), width)
            return graph.add(x, graph.as_float(waves))
        return x

    def window(self, queries: str, keys: str) -> str:
        """True where query and key are close enough: (L,), (M,) -> (L, M)."""
        graph = self.graph
        column = graph.op("Unsqueeze", queries, graph.constant([1]))
        apart = graph.op("Abs", graph.op("Sub", column, keys))
        return graph.op("LessOrEqual", apart, graph.constant(self.config.window))

    # --- layers ----------------------------------------------------------------------------------

    def encoder_layer(self, x: str, at: str, bias: str, span: str) -> str:
        name = f"{at}.self_attention"
        y = self._before(x, f"{name}_norm")
        q, k, v = self._heads(self._linear(y, f"{name}.qkv"), self.widths)
        q, k = self._turn(q, span), self._turn(k, span)
        x = self._after(x, self._attended(q, k, v, bias, name), f"{name}_norm")
        return self._feed_forward(x, at)

    def decoder_layer(self, x: str, at: str, step: _Step) -> tuple[str, str, str]:
        """(B, 1, D) -> the same, and keys and values of all tokens up to this one."""
        graph, name = self.graph, f"{at}.self_attention"
        y = self._before(x, f"{name}_norm")
        q, k, v = self._heads(self._linear(y, f"{name}.qkv"), self.widths)
        q, k = self._turn(q, step.position), self._turn(k, step.position)
        keys = graph.op("Concat", step.keys, k, axis=2)
        values = graph.op("Concat", step.values, v, axis=2)
        x = self._after(x, self._attended(q, keys, values, step.own_bias, name), f"{name}_norm")
        name = f"{at}.cross_attention"
        y = self._before(x, f"{name}_norm")
        [q] = self._heads(self._linear(y, f"{name}.qkv", slice(0, self.widths[0])), self.widths[:1])
        found = self._attended(q, step.memory_keys, step.memory_values, step.memory_bias, name)
        x = self._after(x, found, f"{name}_norm")
        return self._feed_forward(x, at), keys, values

    def memory(self, memory: str, name: str) -> tuple[str, str]:
        """Keys and values of the memory for one decoder layer: (B, S, D) -> twice (B, H, S, K)."""
        both = self._linear(memory, f"{name}.qkv", slice(self.widths[0], None))
        k, v = self._heads(both, self.widths[1:])
        return k, v

    def final_norm(self, x: str, stack: str) -> str:
        return self._norm(x, f"{stack}.final_norm") if self.config.norm == "pre" else x

    def stack(self, values: Any) -> str:
        """One of each layer as one: N times (…) -> (N, …)."""
        first = self.graph.constant([0])
        each = [self.graph.op("Unsqueeze", value, first) for value in values]
        return self.graph.op("Concat", *each, axis=0)

    def layer_of(self, stacked: str, i: int) -> str:
        return self.graph.op("Gather", stacked, self.graph.constant(i), axis=0)

    # --- sub-layers ------------------------------------------------------------------------------

    def _feed_forward(self, x: str, at: str) -> str:
        graph, name = self.graph, f"{at}.feed_forward"
        inner = self._linear(self._before(x, f"{name}_norm"), f"{name}.w1")
        if self.config.activation == "relu":
            inner = graph.op("Relu", inner)
        elif self.config.activation == "gelu":
            share = graph.op("Erf", graph.scale(inner, math.sqrt(0.5)))
            whole = graph.add(share, graph.constant(1.0, np.float32))
            inner = graph.scale(graph.op("Mul", inner, whole), 0.5)
        else:
            halves = graph.constant([self.config.d_ff] * 2)
            gate, up = graph.node("Split", inner, halves, n_outputs=2, axis=-1)
            silu = graph.op("Mul", gate, graph.op("Sigmoid", gate))
            inner = graph.op("Mul", silu, up)
        return self._after(x, self._linear(inner, f"{name}.w2"), f"{name}_norm")

    def _attended(self, q: str, k: str, v: str, bias: str | None, name: str) -> str:
        context = self.graph.attend(q, k, v, bias, d_k=self.d_k, merged=self.widths[2])
        return self._linear(context, f"{name}.out")

    def _heads(self, x: str, widths: list[int]) -> list[str]:
        """What was made side by side, each with its heads apart."""
        graph, n_heads = self.graph, self.config.n_heads
        parts = [x]
        if len(widths) > 1:
            sizes = graph.constant(widths)
            parts = graph.node("Split", x, sizes, n_outputs=len(widths), axis=-1)
        pairs = zip(parts, widths, strict=True)
        return [graph.split_heads(part, n_heads, width // n_heads) for part, width in pairs]

    def _turn(self, x: str, span: str) -> str:
        """Queries or keys with rotary positions, where the model uses them: (B, H, L, K)."""
        if self.config.positions != "rotary":
            return x
        graph = self.graph
        angles = graph.angles(span, self.d_k)
        cos, sin = (graph.as_float(graph.op(wave, angles)) for wave in ("Cos", "Sin"))
        even, odd = self._columns(x, 0), self._columns(x, 1)
        first = graph.op("Sub", graph.op("Mul", even, cos), graph.op("Mul", odd, sin))
        second = graph.add(graph.op("Mul", even, sin), graph.op("Mul", odd, cos))
        return graph.interleave(first, second, self.d_k)

    def _columns(self, x: str, first: int) -> str:
        """Every second column, from the first on."""
        graph = self.graph
        ends, axes, steps = (graph.constant([value]) for value in (self.d_k, -1, 2))
        return graph.op("Slice", x, graph.constant([first]), ends, axes, steps)

    def _before(self, x: str, norm: str) -> str:
        return self._norm(x, norm) if self.config.norm == "pre" else x

    def _after(self, x: str, found: str, norm: str) -> str:
        total = self.graph.add(x, found)
        return total if self.config.norm == "pre" else self._norm(total, norm)

    def _norm(self, x: str, name: str) -> str:
        gain, shift = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        return self.graph.layer_norm(x, name, gain, shift)

    def _linear(self, x: str, name: str, rows: slice | None = None) -> str:
        """A linear map of the model, or some of its rows."""
        weight, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        if rows is None:
            return self.graph.linear(x, name, weight, bias)
        return self.graph.linear(x, f"{name}.from{rows.start}", weight[rows], bias[rows])

    def _weight(self, name: str) -> str:
        return self.graph.weight(name, self.weights[name])
