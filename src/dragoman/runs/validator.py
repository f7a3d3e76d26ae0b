"""What the validation set says of a model: loss, perplexity, and BLEU of greedy translations."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from dragoman.batches.batch import pad_sources
from dragoman.batches.bucketing import plan_by_length
from dragoman.batches.loader import validation_batches
from dragoman.batches.store import Store
from dragoman.config import Config
from dragoman.corpus.pair import Pair
from dragoman.decoding.greedy import greedy
from dragoman.evaluation.scores import bleu_score
from dragoman.model.transformer import Transformer
from dragoman.tokenize.tokenizer import Tokenizer
from dragoman.training.distributed import World
from dragoman.training.reporting import Sample, Validation
from dragoman.training.step import Objective

N_SCORED = 1000  # sentences translated at each validation, at most
N_SAMPLES = 3


@dataclass(frozen=True)
class Validator:
    """Judges a model by validation pairs; each process takes its share of them."""

    store: Store
    pairs: Sequence[Pair]
    tokenizer: Tokenizer
    config: Config
    world: World

    def __call__(self, model: Transformer) -> Validation:
        started = time.monotonic()
        with torch.no_grad():
            nll = self.loss(model)
        bleu, samples = None, []
        if self.config.train.validate_bleu:
            hypotheses = self.translate(model)
            scored = self.pairs[:N_SCORED]
            bleu = bleu_score(hypotheses, [pair.tgt for pair in scored])
            samples = [
                Sample(source=pair.src, translation=hypothesis, reference=pair.tgt)
                for pair, hypothesis in list(zip(scored, hypotheses, strict=True))[:N_SAMPLES]
            ]
        return Validation(
            val_loss=nll,
            val_ppl=math.exp(min(nll, 50.0)),
            val_bleu=bleu,
            samples=samples,
            seconds=time.monotonic() - started,
        )

    def loss(self, model: Transformer) -> float:
        """-log p of a gold token, on average over the whole set."""
        objective = Objective(model, self.config.train).eval()
        batches = validation_batches(
            self.store,
            batch_tokens=self.config.train.batch_tokens,
            world_size=self.world.size,
            rank=self.world.rank,
        )
        total, n_tokens = 0.0, 0.0
        for batch in batches:
            total += float(objective(batch.to(self.world.device))[1])
            n_tokens += batch.n_tokens
        total, n_tokens = self.world.sum([total, n_tokens])
        return total / n_tokens

    def translate(self, model: Transformer) -> list[str]:
        """Greedy translations of the first pairs, in order."""
        sources = [pair.src for pair in self.pairs[:N_SCORED]]
        rows = self.tokenizer.encode_batch(sources, "src")
        plan = plan_by_length(np.array([len(row) + 1 for row in rows]), batch_tokens=4096)
        found: dict[int, list[int]] = {}
        for indices in plan[self.world.rank :: self.world.size]:
            src_ids = pad_sources([rows[i] for i in indices]).to(self.world.device)
            ids = greedy(model, src_ids, max_extra=self.config.decode.max_extra)
            found.update(zip(indices.tolist(), ids, strict=True))
        for part in self.world.gather(found):
            found.update(part)
        return self.tokenizer.decode_batch([found[i] for i in range(len(sources))])
