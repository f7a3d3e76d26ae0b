"""The exported ONNX graphs at work: onnxruntime computes, NumPy keeps the tokens.

It searches greedily and scores: enough to compare the graphs with the model they came from.

Letters: B sentences, S source length, T target length, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from dragoman.batches.batch import make_batch, pad_sources
from dragoman.config import ModelConfig
from dragoman.decoding.engine import Ids
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.length_penalty import length_penalty
from dragoman.decoding.repetition import goes_in_circles, is_time_to_look
from dragoman.decoding.rules import make_rules
from dragoman.decoding.scoring import PairScore
from dragoman.decoding.settings import SearchSettings
from dragoman.errors import MissingExtraError
from dragoman.tokenize.vocabulary import BOS_ID, EOS_ID, PAD_ID

ENCODER, DECODER = "encoder.onnx", "decoder.onnx"
Array = NDArray[Any]


class OnnxEngine:
    """Two graphs, opened."""

    def __init__(self, folder: Path, config: ModelConfig) -> None:
        try:
            import onnxruntime
        except ImportError:
            raise MissingExtraError("onnxruntime", "onnx", "running an ONNX model") from None
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3  # errors; its warnings are about its own optimizations
        self.encoder, self.decoder = (
            onnxruntime.InferenceSession(
                str(folder / name), options, providers=["CPUExecutionProvider"]
            )
            for name in (ENCODER, DECODER)
        )
        self.config = config
        learned = config.positions == "learned"
        self.max_positions = config.max_positions if learned else None
        self.takes_two = False  # onnxruntime has threads of its own

    def search(
        self,
        sources: Sequence[Ids],
        settings: SearchSettings,
        *,
        prefixes: Sequence[Ids] | None,
        keys: Sequence[tuple[int, ...]],
    ) -> list[list[Hypothesis]]:
        """The greedy translation of each source."""
        src_ids = pad_sources([list(ids) for ids in sources])
        rules = make_rules(src_ids, max_extra=settings.max_extra, max_len=settings.max_len)
        limits = rules.limits.numpy()
        step, cache = self._start(src_ids.numpy())
        ids = np.full(len(sources), BOS_ID)
        said, totals = np.empty((len(sources), 0), np.int64), np.zeros(len(sources))
        done = np.zeros(len(sources), bool)
        for position in range(int(limits.max())):
            logits, cache = step(ids, cache)
            log_probs = log_softmax(logits)  # (B, V)
            choices = log_probs.copy()
            choices[:, [PAD_ID, BOS_ID]] = -np.inf
            must_end = done | (limits <= position + 1)
            if is_time_to_look(position):
                circles = goes_in_circles(torch.from_numpy(said), rules.src_lengths)
                must_end = must_end | circles.numpy()
            ids = np.where(must_end, EOS_ID, choices.argmax(-1))
            totals += np.where(done, 0.0, log_probs[np.arange(len(ids)), ids])
            said = np.concatenate([said, ids[:, None]], axis=1)  # (B, T)
            done = done | (ids == EOS_ID)
            if done.all():
                break
        rows = said.tolist()
        return [
            [_hypothesis(row, float(total), limit, settings.length_penalty)]
            for row, total, limit in zip(rows, totals, limits.tolist(), strict=True)
        ]

    def score(self, pairs: Sequence[tuple[Ids, Ids]], *, batch_tokens: int) -> list[PairScore]:
        """How likely each target is, given its source."""
        found = []
        for (_, tgt), logits in zip(pairs, self.logits(pairs), strict=True):
            gold = [*tgt, EOS_ID]
            log_probs = log_softmax(logits)[np.arange(len(gold)), gold]
            found.append(PairScore(tuple(log_probs.tolist())))
        return found

    def logits(self, pairs: Sequence[tuple[Ids, Ids]]) -> list[Array]:
        """The logits of every token of each target and of EOS: B times (T, V)."""
        batch = make_batch((list(src), list(tgt)) for src, tgt in pairs)
        step, cache = self._start(batch.src_ids.numpy())
        columns = []
        for ids in batch.tgt_in.numpy().T:
            logits, cache = step(ids, cache)
            columns.append(logits)
        table = np.stack(columns, axis=1)  # (B, T, V)
        return [table[row, : len(tgt) + 1] for row, (_, tgt) in enumerate(pairs)]

    def _start(self, src_ids: Array) -> tuple[Any, tuple[Array, Array]]:
        """A function that takes one more token of each sentence, and the empty cache."""
        mask, memory_keys, memory_values = self.encoder.run(None, {"src_ids": src_ids})
        memory = {"mask": mask, "memory_keys": memory_keys, "memory_values": memory_values}

        def step(ids: Array, cache: tuple[Array, Array]) -> tuple[Array, tuple[Array, Array]]:
            keys, values = cache
            inputs = {"ids": ids.astype(np.int64), "keys": keys, "values": values, **memory}
            logits, *grown = self.decoder.run(None, inputs)
            return logits, (grown[0], grown[1])

        return step, (_empty(memory_keys), _empty(memory_values))


def log_softmax(logits: Array) -> Array:
    """Logarithms of probabilities, in float64: (…, V) -> (…, V).

    >>> np.exp(log_softmax(np.array([0.0, 0.0]))).round(3).tolist()
    [0.5, 0.5]
    """
    shifted = logits.astype(np.float64) - logits.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def _empty(memory: Array) -> Array:
    """A cache without any token: (N, B, H, S, K) -> (N, B, H, 0, K)."""
    return memory[:, :, :, :0]


def _hypothesis(row: list[int], log_prob: float, limit: int, alpha: float) -> Hypothesis:
    ids = tuple(row[: row.index(EOS_ID)])
    score = log_prob / length_penalty(len(ids) + 1.0, alpha)
    return Hypothesis(ids, log_prob, score, "limit" if len(ids) + 1 >= limit else "eos")
