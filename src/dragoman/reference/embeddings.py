"""Ids into vectors, and vectors into logits (3.4): often one and the same table.

Letters: B sentences, L length, D d_model, V vocabulary.
"""

from __future__ import annotations

import math

from dragoman.config import ModelConfig, Tie
from dragoman.reference.parameters import Array, Params, linear
from dragoman.reference.positional_encoding import learned_encoding, sinusoidal_encoding

# The names of the source's table, the target's and the output's, for each way of sharing them.
TABLES: dict[Tie, tuple[str, str, str]] = {
    "all": ("embedding.weight", "embedding.weight", "embedding.weight"),
    "decoder": ("src_embedding.weight", "tgt_embedding.weight", "tgt_embedding.weight"),
    "none": ("src_embedding.weight", "tgt_embedding.weight", "output.weight"),
}


def embed(
    params: Params,
    ids: Array,
    *,
    config: ModelConfig,
    table: str = "embedding.weight",
    positions: str = "positions.weight",
) -> Array:
    """√d · (the row of each id) + its position: (B, L) -> (B, L, D).

    Rows are made with variance 1/d, fit for the output projection; √d brings them to the size of
    the positions. Rotary positions enter later, in attention.

    >>> import numpy as np
    >>> config = ModelConfig(d_model=4, n_heads=1, positions="rotary")
    >>> params = {"embedding.weight": np.arange(8.0).reshape(2, 4)}
    >>> embed(params, np.array([[1, 0]]), config=config).tolist()
    [[[8.0, 10.0, 12.0, 14.0], [0.0, 2.0, 4.0, 6.0]]]
    """
    x = params[table][ids] * math.sqrt(config.d_model)  # (B, L, D)
    length = ids.shape[1]
    if config.positions == "sinusoidal":
        return x + sinusoidal_encoding(length, config.d_model).astype(x.dtype)
    if config.positions == "learned":
        return x + learned_encoding(params[positions], length)
    return x


def output_projection(table: Array, x: Array) -> Array:
    """The logit of each piece, its row's dot product with the state: (B, L, D) -> (B, L, V).

    >>> import numpy as np
    >>> output_projection(np.eye(2), np.array([[[3.0, 4.0]]])).tolist()
    [[[3.0, 4.0]]]
    """
    return linear(x, table)
