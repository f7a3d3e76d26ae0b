"""int8 (beyond the paper): matrices of 8-bit integers, for translating on a CPU.

Each row of a weight matrix has a scale of its own and whole numbers from -63 to 63 in place of
floating ones. The numbers that meet it are brought to 8 bits by one scale for the whole batch,
found as they come, and the products are added up exactly: processors without VNNI add them in pairs
of 16 bits, which 8 bits by 8 would overflow. A quarter of the bytes has to be read for every token,
which is most of the work of small batches.

What is looked up or normalized stays float32: embeddings, layer norms, softmax, attention itself.
So do the layers of a narrow model: their matrices are small, and integers would cost more than they
save there; of such a model the output matrix alone, the largest by far, is one of integers.
Because the scale of the numbers is that of a batch, a translation can differ, by a near tie, with
the sentences beside it.

Letters: D d_model, V vocabulary.
"""

from __future__ import annotations

import warnings
from typing import cast

import torch
from torch import Tensor, nn

from dragoman.errors import DragomanError
from dragoman.model.attention import MultiHeadAttention, split_heads
from dragoman.model.feed_forward import FeedForward
from dragoman.model.packing import Packing
from dragoman.model.transformer import Transformer

NARROW = 256  # d_model from which on the layers gain by integers too
LARGEST = 63  # 2 * 255 * 63 < 2^15: on Multi30k 87 % of translations stay the same, with 127 73 %


class Int8Linear(nn.Module):
    """A linear map by an integer matrix.

    >>> exact = nn.Linear(8, 3)
    >>> x = torch.linspace(-1, 1, 16).view(2, 8)
    >>> bool(torch.allclose(Int8Linear(exact.weight, exact.bias)(x), exact(x), atol=0.05))
    True
    """

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        # Whoever asks for the weight wants to know its type and its device: the matrix is packed.
        self.register_buffer("weight", weight.detach().new_empty(0))
        self.packed = _pack(weight.detach(), None if bias is None else bias.detach())

    def forward(self, x: Tensor) -> Tensor:
        """(…, in) -> (…, out)."""
        return cast("Tensor", torch.ops.quantized.linear_dynamic(x, self.packed))


def _pack(weight: Tensor, bias: Tensor | None) -> object:
    """The matrix and the bias as the kernel wants them."""
    scales = weight.abs().amax(1).clamp(min=torch.finfo(torch.float32).tiny).double() / LARGEST
    zeros = torch.zeros(weight.size(0), dtype=torch.long)
    try:
        with warnings.catch_warnings():
            # Quantized tensors are to leave PyTorch one day; until then nothing else is as fast.
            warnings.simplefilter("ignore")
            whole = torch.quantize_per_channel(weight.float(), scales, zeros, 0, torch.qint8)
            return torch.ops.quantized.linear_prepack(whole, bias)
    except (AttributeError, RuntimeError) as error:
        raise DragomanError(
            f"this PyTorch cannot compute in int8 here: {str(error).partition(chr(10))[0]}\n"
            "  Translate with --engine ctranslate2 --int8, or without --int8."
        ) from None


class Int8Attention(MultiHeadAttention):
    """Multi-head attention whose projections are integer matrices.

    To itself it makes queries, keys and values with one product; to a memory (``cross``) with two.
    """

    def __init__(self, exact: MultiHeadAttention, *, cross: bool) -> None:
        nn.Module.__init__(self)  # the sizes are those of the other
        self.name, self.n_heads, self.widths = exact.name, exact.n_heads, exact.widths
        self.dropout = exact.dropout
        self.out = cast("nn.Linear", Int8Linear(exact.out.weight, exact.out.bias))
        n, weight, bias = self.widths[0], exact.qkv.weight, exact.qkv.bias
        if cross:
            self.queries = Int8Linear(weight[:n], bias[:n])
            self.keys_and_values = Int8Linear(weight[n:], bias[n:])
        else:
            self.qkv = cast("nn.Linear", Int8Linear(weight, bias))

    def project_queries(self, x: Tensor) -> Tensor:
        """The queries of all heads side by side: (…, D) -> (…, H * K)."""
        return self.queries(x)

    def project_memory(self, memory: Tensor, packing: Packing | None) -> tuple[Tensor, Tensor]:
        """Keys and values of memory: twice (B, H, M, K)."""
        kv = self.keys_and_values(memory)
        kv = kv if packing is None else packing.pad(kv)
        k, v = torch.split(kv, self.widths[1:], dim=-1)
        return split_heads(k, self.n_heads), split_heads(v, self.n_heads)


class Int8Transformer(Transformer):
    """A Transformer that computes with integer matrices; ``quantize`` makes it."""

    def __init__(self, exact: Transformer) -> None:
        nn.Module.__init__(self)
        self.config = exact.config
        self.in_one_call = self.config.d_model < NARROW  # it is for layers in float32
        self.src_positions, self.tgt_positions = exact.src_positions, exact.tgt_positions
        for name, part in exact.named_children():
            setattr(self, name, part)
        self.project = Int8Linear(exact.output_weight, None)
        if self.config.tie == "none":
            self.output = cast("nn.Linear", self.project)

    def logits(self, hidden: Tensor) -> Tensor:
        """(…, D) -> (…, V)."""
        return self.project(hidden)

    def output_rows(self) -> None:
        """None: the output matrix is one of integers."""


def quantize(model: Transformer) -> Transformer:
    """The model in int8, for translating alone; the one that was given is used up.

    >>> from dragoman.config import ModelConfig
    >>> torch.manual_seed(1)  # doctest: +ELLIPSIS
    <torch...>
    >>> shape = ModelConfig(d_model=16, n_heads=2, n_layers=1, d_ff=32, vocab_size=11)
    >>> model, ids = Transformer(shape).eval(), torch.tensor([[5, 6, 2]])
    >>> exact = model(ids, ids)
    >>> bool((quantize(model)(ids, ids) - exact).abs().max() < 0.2)
    True
    """
    if model.config.d_model >= NARROW:
        _quantize_layers(model)
    return Int8Transformer(model).eval().requires_grad_(False)


def _quantize_layers(model: Transformer) -> None:
    for module in list(model.modules()):
        if isinstance(module, FeedForward):
            for name in ("w1", "w2"):
                linear = getattr(module, name)
                setattr(module, name, Int8Linear(linear.weight, linear.bias))
        for name, part in list(module.named_children()):
            if isinstance(part, MultiHeadAttention):
                setattr(module, name, Int8Attention(part, cross=name == "cross_attention"))
