"""The Transformer (3): an encoder reads the source, a decoder writes the target piece by piece.

Letters: B sentences, S source length, T target length, D d_model, V vocabulary.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dragoman.config import ModelConfig
from dragoman.errors import BundleError
from dragoman.reference.decoder import decoder
from dragoman.reference.embeddings import TABLES, embed, output_projection
from dragoman.reference.encoder import encoder
from dragoman.reference.initialize import parameter_shapes
from dragoman.reference.masks import decoder_mask, encoder_mask, padding_mask
from dragoman.reference.parameters import Array, Params, Record, part


class Transformer:
    """The encoder–decoder with its parameters; gives logits, or a translation by greedy search.

    Give any method a dict as ``record`` and it fills it with the attention weights (B, H, L, M)
    of every layer: ``"encoder.0.self"``, ``"decoder.0.self"``, ``"decoder.0.cross"``, …

    >>> from dragoman.reference.initialize import initialize
    >>> config = ModelConfig(d_model=8, n_heads=2, n_layers=1, d_ff=16, vocab_size=11)
    >>> model = Transformer(config, initialize(config, seed=1))
    >>> src_ids, tgt_ids, weights = np.array([[4, 5, 6]]), np.array([[1, 7]]), {}
    >>> model(src_ids, tgt_ids, record=weights).shape
    (1, 2, 11)
    >>> weights["decoder.0.cross"].shape
    (1, 2, 2, 3)
    """

    def __init__(self, config: ModelConfig, params: Params) -> None:
        self.config = config
        self.params = params

    @classmethod
    def load(cls, path: str | Path) -> Transformer:
        """The twin of a trained model: the weights of a bundle or run directory."""
        from dragoman.bundle import read_bundle

        bundle = read_bundle(Path(path))
        config, params = bundle.config.model, bundle.weights
        wanted = parameter_shapes(config)
        wrong = [n for n, shape in wanted.items() if n not in params or params[n].shape != shape]
        wrong += [name for name in params if name not in wanted]
        if wrong:
            raise BundleError(
                f"{path}: the weights are not those of the encoder–decoder its config describes.\n"
                f"  Missing, of another shape or not expected: {', '.join(wrong[:8])}"
                f"{' …' if len(wrong) > 8 else ''}"
            )
        return cls(config, params)

    def __call__(self, src_ids: Array, tgt_ids: Array, *, record: Record | None = None) -> Array:
        """Logits of the next target piece at every position: (B, S), (B, T) -> (B, T, V)."""
        memory = self.encode(src_ids, record=record)
        return self.decode(tgt_ids, memory, src_ids, record=record)

    def encode(self, src_ids: Array, *, record: Record | None = None) -> Array:
        """The memory, one vector for each source position in its context: (B, S) -> (B, S, D)."""
        return encoder(
            part(self.params, "encoder"),
            embed_source(self.params, src_ids, config=self.config),
            mask=encoder_mask(src_ids, self.config.pad_id, self.config.window),
            config=self.config,
            record=record,
        )

    def decode(
        self, tgt_ids: Array, memory: Array, src_ids: Array, *, record: Record | None = None
    ) -> Array:
        """Logits of the next piece after each target position: (B, T), (B, S, D) -> (B, T, V)."""
        x = decoder(
            part(self.params, "decoder"),
            embed_target(self.params, tgt_ids, config=self.config),
            memory,
            mask=decoder_mask(tgt_ids, self.config.pad_id, self.config.window),
            memory_mask=padding_mask(src_ids, self.config.pad_id),
            config=self.config,
            record=record,
        )  # (B, T, D)
        _, _, out_table = TABLES[self.config.tie]
        return output_projection(self.params[out_table], x)  # (B, T, V)

    def greedy(self, src_ids: Array, *, bos_id: int, eos_id: int, max_len: int) -> list[list[int]]:
        """For each source the target that takes the likeliest piece each time, without BOS and EOS.

        Everything is computed anew for every piece: slow, and as plain as the idea. A sentence
        that ends before the others goes on with them; what it writes after its EOS is cut off.
        """
        memory = self.encode(src_ids)  # (B, S, D)
        tgt_ids = np.full((len(src_ids), 1), bos_id)  # (B, 1)
        is_done = np.zeros(len(src_ids), dtype=bool)  # (B,)
        while not is_done.all() and tgt_ids.shape[1] <= max_len:
            logits = self.decode(tgt_ids, memory, src_ids)  # (B, T, V)
            next_ids = logits[:, -1].argmax(axis=-1)  # (B,)
            tgt_ids = np.column_stack([tgt_ids, next_ids])  # (B, T + 1)
            is_done |= next_ids == eos_id
        return [_until(row.tolist(), eos_id) for row in tgt_ids[:, 1:]]


def embed_source(params: Params, src_ids: Array, *, config: ModelConfig) -> Array:
    """The encoder's input: (B, S) -> (B, S, D).

    >>> from dragoman.reference.initialize import initialize
    >>> config = ModelConfig(d_model=8, n_heads=2, n_layers=1, d_ff=16, vocab_size=11)
    >>> embed_source(initialize(config, seed=1), np.array([[4, 5]]), config=config).shape
    (1, 2, 8)
    """
    table, _, _ = TABLES[config.tie]
    return embed(params, src_ids, config=config, table=table, positions="src_positions.weight")


def embed_target(params: Params, tgt_ids: Array, *, config: ModelConfig) -> Array:
    """The decoder's input: (B, T) -> (B, T, D).

    >>> from dragoman.reference.initialize import initialize
    >>> config = ModelConfig(d_model=8, n_heads=2, n_layers=1, d_ff=16, vocab_size=11)
    >>> embed_target(initialize(config, seed=1), np.array([[1, 4, 5]]), config=config).shape
    (1, 3, 8)
    """
    _, table, _ = TABLES[config.tie]
    return embed(params, tgt_ids, config=config, table=table, positions="tgt_positions.weight")


def _until(ids: list[int], eos_id: int) -> list[int]:
    """The ids before the first EOS."""
    return ids[: ids.index(eos_id)] if eos_id in ids else ids
