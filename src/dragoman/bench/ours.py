"""Dragoman as a contestant: the update of ``training.step``, the search of ``decoding``.

Letters: B sentences, S source length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from torch import Tensor

from dragoman.batches.batch import Batch
from dragoman.bench.peer import Decode, TrainStep, Weights
from dragoman.config import ModelConfig, TrainConfig
from dragoman.cores import two_at_once
from dragoman.decoding.hypothesis import Hypothesis
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
            settings = SearchSettings(
                beam,
                n_best=1,
                length_penalty=0.0,
                max_extra=max_tokens,
                max_len=max_tokens,
                min_len=max_tokens if is_forced else 0,
            )

            def search(src_ids: Tensor) -> list[list[Hypothesis]]:
                return settings.search(model, src_ids, prefixes=None, keys=[])

            # Who sends one sentence waits for its translation before sending the next.
            one_by_one = all(len(batch) == 1 for batch in batches)
            found = map(search, batches) if one_by_one else two_at_once(search, batches)
            every = chain.from_iterable(found)
            return [[*ranked[0].ids, EOS_ID] for ranked in every]

        return decode
