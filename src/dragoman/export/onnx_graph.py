"""A small builder of ONNX graphs: names are made up, weights stored once, shapes written down.

Only the operators that a Transformer needs, each as a method that gives the name of its result.

Letters: B sentences, L length, D width, H heads, K width of a head.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dragoman.errors import MissingExtraError

OPSET = 18
EPSILON = 1e-5  # of layer normalization, PyTorch's
Shape = Sequence[int | str]  # a string is a length that is free


def onnx() -> Any:
    """The package, or an error that says how to get it."""
    try:
        import onnx as package
    except ImportError:
        raise MissingExtraError("onnx", "onnx", "exporting to ONNX") from None
    return package


class Graph:
    """A graph that grows node by node.

    >>> graph = Graph("double")
    >>> x = graph.input("x", np.float32, ["n"])
    >>> graph.output("y", graph.add(x, x), np.float32, ["n"])
    >>> [node.op_type for node in graph.model().graph.node]
    ['Add', 'Identity']
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.nodes: list[Any] = []
        self.weights: dict[str, Any] = {}
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []

    def input(self, name: str, dtype: type[np.generic], shape: Shape) -> str:
        """A named input of the graph."""
        self.inputs.append(_value(name, dtype, shape))
        return name

    def output(self, name: str, value: str, dtype: type[np.generic], shape: Shape) -> None:
        """Give a value to the outside, under a name."""
        self.nodes.append(onnx().helper.make_node("Identity", [value], [name]))
        self.outputs.append(_value(name, dtype, shape))

    def weight(self, name: str, array: NDArray[Any]) -> str:
        """A weight of the model; the same name is stored once."""
        if name not in self.weights:
            stored = np.asarray(array, order="C")  # ascontiguousarray would make a row of a number
            self.weights[name] = onnx().numpy_helper.from_array(stored, name)
        return name

    def constant(self, value: Any, dtype: type[np.generic] = np.int64) -> str:
        """A small number or list."""
        array = np.asarray(value, dtype)
        return self.weight(f"constant.{array.dtype.name}.{value}".replace(" ", ""), array)

    def model(self) -> Any:
        """The finished model, checked."""
        helper = onnx().helper
        graph = helper.make_graph(
            self.nodes, self.name, self.inputs, self.outputs, list(self.weights.values())
        )
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="dragoman"
        )
        model.ir_version = 8  # what goes with the operators; newer ones keep old runtimes out
        onnx().checker.check_model(model)
        return model

    def node(self, operator: str, *inputs: str, n_outputs: int = 1, **attributes: Any) -> list[str]:
        """The results of one operator."""
        first = len(self.nodes)
        names = [f"{operator.lower()}.{first}.{i}" for i in range(n_outputs)]
        self.nodes.append(onnx().helper.make_node(operator, list(inputs), names, **attributes))
        return names

    def op(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """The one result of one operator."""
        return self.node(operator, *inputs, **attributes)[0]

    # --- pieces of a Transformer -----------------------------------------------------------------

    def add(self, x: str, y: str) -> str:
        return self.op("Add", x, y)

    def scale(self, x: str, factor: float) -> str:
        """x times a number."""
        return self.op("Mul", x, self.constant(factor, np.float32))

    def linear(self, x: str, name: str, weight: NDArray[Any], bias: NDArray[Any]) -> str:
        """x Wᵀ + b, with W as PyTorch stores it: (…, in) -> (…, out)."""
        product = self.op("MatMul", x, self.weight(f"{name}.weight", weight.T))
        return self.add(product, self.weight(f"{name}.bias", bias))

    def layer_norm(self, x: str, name: str, weight: NDArray[Any], bias: NDArray[Any]) -> str:
        """(…, D) -> (…, D)."""
        gain, shift = self.weight(f"{name}.weight", weight), self.weight(f"{name}.bias", bias)
        return self.op("LayerNormalization", x, gain, shift, axis=-1, epsilon=EPSILON)

    def length(self, x: str, axis: int) -> str:
        """The length of x along an axis, a number."""
        size = self.op("Shape", x)
        return self.op("Gather", size, self.constant(axis), axis=0)

    def positions(self, first: str, end: str) -> str:
        """first … end - 1: (L,)."""
        return self.op("Range", first, end, self.constant(1))

    def angles(self, positions: str, width: int) -> str:
        """pos / 10000^(2i / width), in float64 as ours are: (L,) -> (L, width / 2)."""
        pairs = np.arange(0, width, 2, dtype=np.float64)
        pace = self.weight(f"pace.{width}", (10_000.0 ** (pairs / width))[None])
        column = self.op("Unsqueeze", positions, self.constant([1]))
        number = self.op("Cast", column, to=onnx().TensorProto.DOUBLE)
        return self.op("Div", number, pace)

    def as_float(self, x: str) -> str:
        return self.op("Cast", x, to=onnx().TensorProto.FLOAT)

    def interleave(self, even: str, odd: str, width: int) -> str:
        """Two halves as the even and the odd columns of one: twice (…, width / 2) -> (…, width)."""
        last = self.constant([-1])
        pairs = [self.op("Unsqueeze", half, last) for half in (even, odd)]
        together = self.op("Concat", *pairs, axis=-1)
        front = self.op("Shape", even, end=-1)
        return self.op(
            "Reshape", together, self.op("Concat", front, self.constant([width]), axis=0)
        )

    def split_heads(self, x: str, n_heads: int, width: int) -> str:
        """(B, L, H * K) -> (B, H, L, K)."""
        apart = self.op("Reshape", x, self.constant([0, 0, n_heads, width]))
        return self.op("Transpose", apart, perm=[0, 2, 1, 3])

    def attend(self, q: str, k: str, v: str, bias: str | None, *, d_k: int, merged: int) -> str:
        """softmax(Q Kᵀ / √d_k + bias) V, heads side by side: (B, H, L, K), … -> (B, L, H * K)."""
        turned = self.op("Transpose", k, perm=[0, 1, 3, 2])
        scores = self.scale(self.op("MatMul", q, turned), 1 / math.sqrt(d_k))
        if bias is not None:
            scores = self.add(scores, bias)
        context = self.op("MatMul", self.op("Softmax", scores, axis=-1), v)
        side_by_side = self.op("Transpose", context, perm=[0, 2, 1, 3])
        return self.op("Reshape", side_by_side, self.constant([0, 0, merged]))

    def mask_bias(self, mask: str) -> str:
        """0 where a mask is True, the lowest number where it is False."""
        lowest = self.constant(float(np.finfo(np.float32).min), np.float32)
        return self.op("Where", mask, self.constant(0.0, np.float32), lowest)


def _value(name: str, dtype: type[np.generic], shape: Shape) -> Any:
    helper = onnx().helper
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return helper.make_tensor_value_info(name, kind, list(shape))
