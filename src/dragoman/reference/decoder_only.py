"""The decoder alone, without a memory to look at: a language model.

Letters: B sentences, L length, D d_model, V vocabulary.
"""

from __future__ import annotations

import numpy as np

from dragoman.config import ModelConfig
from dragoman.reference.decoder import decoder
from dragoman.reference.embeddings import embed, output_projection
from dragoman.reference.masks import decoder_mask
from dragoman.reference.parameters import Array, Params, Record, part


class DecoderOnly:
    """A decoder with its parameters; gives the logits of the next token, or goes on with a text.

    >>> from dragoman.reference.initialize import initialize
    >>> config = ModelConfig(d_model=8, n_heads=2, n_layers=1, d_ff=16, vocab_size=11)
    >>> model = DecoderOnly(config, initialize(config, seed=1))
    >>> model(np.array([[1, 4, 5]])).shape
    (1, 3, 11)
    """

    def __init__(self, config: ModelConfig, params: Params) -> None:
        self.config = config
        self.params = params

    def __call__(self, ids: Array, *, record: Record | None = None) -> Array:
        """Logits of the next token after each position: (B, L) -> (B, L, V)."""
        x = decoder(
            part(self.params, "decoder"),
            embed(self.params, ids, config=self.config),
            None,
            mask=decoder_mask(ids, self.config.pad_id, self.config.window),
            memory_mask=None,
            config=self.config,
            record=record,
        )  # (B, L, D)
        out_table = "output.weight" if self.config.tie == "none" else "embedding.weight"
        return output_projection(self.params[out_table], x)  # (B, L, V)

    def greedy(self, prefix: list[int], *, eos_id: int, max_len: int) -> list[int]:
        """The prefix and its likeliest continuation, up to ``max_len`` ids or EOS (left out)."""
        ids = list(prefix)
        while len(ids) < max_len:
            next_id = int(self(np.array([ids]))[0, -1].argmax())
            if next_id == eos_id:
                break
            ids.append(next_id)
        return ids
