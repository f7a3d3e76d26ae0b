"""Dragoman as a contestant: the update of ``training.step``, the search of ``decoding``.

Letters: B sentences, S source length, R hypotheses, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Generic, Literal

import torch
from torch import Tensor

from dragoman.batches.batch import Batch
from dragoman.bench.peer import Decode, TrainStep, Weights
from dragoman.config import ModelConfig, TrainConfig
from dragoman.cores import two_at_once
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.repetition import LOOK_EVERY, is_time_to_look
from dragoman.decoding.scorer import C, Scorer
from dragoman.decoding.settings import SearchSettings
from dragoman.model.int8 import quantize
from dragoman.model.long_rows import long_rows
from dragoman.model.transformer import Transformer
from dragoman.tokenize.vocabulary import EOS_ID
from dragoman.training.allocator import keep_large_blocks
from dragoman.training.distributed import World
from dragoman.training.optimizer import Optimizers
from dragoman.training.step import Objective, update

LEARNING_RATE = 1e-4
CERTAIN = 50.0  # a logit above all others, yet not so far that their probabilities vanish


@dataclass(frozen=True)
class Dragoman:
    """Our own training step and search, as ``dragoman train`` and ``translate`` run them.

    In int8 it decodes, as ``translate --int8`` does, and does not train.
    """

    precision: Literal["float32", "int8"] = "float32"
    package: str = "dragoman"

    @property
    def name(self) -> str:
        return "dragoman" if self.precision == "float32" else "dragoman int8"

    def is_installed(self) -> bool:
        return True

    def train_step(self, shape: ModelConfig, batches: Sequence[Batch]) -> TrainStep | None:
        if self.precision == "int8":
            return None
        keep_large_blocks(in_one_heap=True)  # as ``dragoman train`` does
        config, world, model = TrainConfig(), World(), Transformer(shape)
        objective, optimizers = Objective(model, config), Optimizers(model, config)
        objective.train()

        def step() -> None:
            for batch in batches:
                update(
                    objective,
                    optimizers,
                    [batch],
                    config=config,
                    world=world,
                    n_tokens=batch.n_tokens,
                    learning_rate=LEARNING_RATE,
                )

        return step

    def decoder(self, shape: ModelConfig, weights: Weights | None = None) -> Decode:
        keep_large_blocks(in_one_heap=False)  # as ``dragoman.load`` does
        model = Transformer(shape)
        if weights is not None:
            model.load_state_dict(dict(weights))
        model = long_rows(model.eval().requires_grad_(False))
        if self.precision == "int8":
            model = quantize(model)

        def decode(
            batches: Sequence[Tensor], *, beam: int, max_tokens: int, is_forced: bool
        ) -> list[list[int]]:
            settings = SearchSettings(beam, 1, 0.0, max_extra=max_tokens, max_len=max_tokens)
            scorer: Scorer[Any] = (
                Forced(model, shape.vocab_size, max_tokens) if is_forced else model
            )

            def search(src_ids: Tensor) -> list[list[Hypothesis]]:
                return settings.search(scorer, src_ids, prefixes=None, keys=[])

            # Who sends one sentence waits for its translation before sending the next.
            one_by_one = all(len(batch) == 1 for batch in batches)
            found = map(search, batches) if one_by_one else two_at_once(search, batches)
            every = chain.from_iterable(found)
            return [[*ranked[0].ids, EOS_ID] for ranked in every]

        return decode


@dataclass(frozen=True)
class Forced(Generic[C]):
    """A scorer by which no hypothesis can end before its last token, so that all do the same work.

    Random weights repeat themselves, and our search has such hypotheses end. To prevent that, two
    tokens of the vocabulary are said, in turn, where the search looks for repetitions, and nowhere
    else.

    >>> from dragoman.config import ModelConfig
    >>> from dragoman.decoding.greedy import greedy_search
    >>> config = ModelConfig(d_model=8, n_heads=2, n_layers=1, d_ff=16, vocab_size=11)
    >>> scorer = Forced(Transformer(config).eval(), size=11, n_tokens=30)
    >>> greedy_search(scorer, torch.tensor([[5, 6, 2]]), max_len=30)[0].n_tokens
    30
    """

    scorer: Scorer[C]
    size: int  # V
    n_tokens: int  # EOS counted

    def start(self, src_ids: Tensor, *, n_beams: int, capacity: int) -> ForcedCache[C]:
        """Read the sources (B, S)."""
        inner = self.scorer.start(src_ids, n_beams=n_beams, capacity=capacity)
        return ForcedCache(inner, torch.tensor([EOS_ID, self.size - 2, self.size - 1]))

    def step(self, ids: Tensor, cache: ForcedCache[C]) -> Tensor:
        """The logits after one more token, of which EOS is no choice: (R,) -> (R, V)."""
        logits = self.scorer.step(ids, cache.inner)
        cache.n_said += 1
        if cache.n_said < self.n_tokens:
            logits.index_fill_(1, cache.banned, -torch.inf)
            if is_time_to_look(cache.n_said):
                logits[:, -1 - cache.n_said // LOOK_EVERY % 2] = CERTAIN
        return logits


@dataclass
class ForcedCache(Generic[C]):
    """What the scorer remembers, and how many tokens each hypothesis has said."""

    inner: C
    banned: Tensor  # (3,) EOS, and the two tokens that are said in turn
    n_said: int = 0

    def reorder(self, rows: Tensor) -> None:
        """Let row i go on from what was row ``rows[i]``."""
        self.inner.reorder(rows)

    def keep(self, sentences: Tensor) -> None:
        """Leave only these sentences, in this order."""
        self.inner.keep(sentences)
