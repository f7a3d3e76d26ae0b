"""How long one recipe trains beside another: their updates take turns, their steps are counted.

    python -m benchmarks.recipe_time OURS.toml THEIRS.toml --src FILE --tgt FILE \\
        [--updates 40] [--rounds 3] [--json]

Both corpora are prepared beforehand. The time of a recipe is that of its updates times their
number; validations and checkpoints are left out.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from dragoman.batches.loader import Batches, BatchSettings
from dragoman.config_loading import load_config
from dragoman.corpus.reading import CorpusSource
from dragoman.model.transformer import Transformer
from dragoman.runs.setup import TrainRequest, set_up
from dragoman.training.allocator import keep_large_blocks
from dragoman.training.distributed import World
from dragoman.training.optimizer import Optimizers
from dragoman.training.reporting import Silence
from dragoman.training.step import Objective, update
from dragoman.training.trainer import SAMPLED_STEPS

WARM_UP = 10
RATE = 1e-4  # what an update takes does not depend on it


class Recipe:
    """A recipe in training: a model that takes one update after the other."""

    def __init__(self, path: Path, corpus: CorpusSource) -> None:
        with tempfile.TemporaryDirectory() as folder:
            request = TrainRequest(out=Path(folder) / "run", loaded=load_config(path), train=corpus)
            setup = set_up(request, World(), Silence())
        self.path, self.train = path, setup.config.train
        settings = BatchSettings(
            batch_tokens=self.train.batch_tokens,
            seed=self.train.seed,
            accumulate=self.train.accumulate,
            sampling=setup.config.data.sampling,
            tokenizer=setup.tokenizer,
        )
        self.batches = Batches(setup.train_store, settings)
        self.objective = Objective(Transformer(setup.config.model), self.train).train()
        self.optimizers = Optimizers(self.objective.model, self.train)

    def seconds_an_update(self, n_updates: int) -> float:
        """The mean of so many updates, as many of them with a sampled vocabulary as in a run."""
        started = time.perf_counter()
        for number in range(n_updates):
            is_sampled = number < SAMPLED_STEPS * n_updates
            micro = [next(self.batches) for _ in range(self.train.accumulate)]
            n_tokens = float(sum(batch.n_tokens for batch in micro))
            update(
                self.objective,
                self.optimizers,
                micro,
                config=self.train,
                world=World(),
                n_tokens=n_tokens,
                learning_rate=RATE,
                vocabulary_share=self.train.vocabulary_share if is_sampled else 1.0,
            )
        return (time.perf_counter() - started) / n_updates


def measure(recipes: list[Recipe], *, n_updates: int, n_rounds: int) -> list[dict[str, Any]]:
    """Seconds of each recipe, and how many times those of the last they are."""
    keep_large_blocks(in_one_heap=True)
    for recipe in recipes:
        recipe.seconds_an_update(WARM_UP)
    rounds = [[recipe.seconds_an_update(n_updates) for recipe in recipes] for _ in range(n_rounds)]
    last = recipes[-1].train.steps
    found = []
    for number, recipe in enumerate(recipes):
        steps, each = recipe.train.steps, [row[number] for row in rounds]
        ratios = [row[number] * steps / (row[-1] * last) for row in rounds]
        found.append(
            {
                "recipe": str(recipe.path),
                "updates": steps,
                "ms_an_update": 1000 * statistics.median(each),
                "seconds": steps * statistics.median(each),
                "times_the_last": statistics.median(ratios),
                "spread": [min(ratios), max(ratios)],
            }
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recipes", type=Path, nargs="+")
    parser.add_argument("--src", type=Path, required=True)
    parser.add_argument("--tgt", type=Path, required=True)
    parser.add_argument("--updates", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    corpus = CorpusSource(src=(options.src,), tgt=(options.tgt,))
    recipes = [Recipe(path, corpus) for path in options.recipes]
    found = measure(recipes, n_updates=options.updates, n_rounds=options.rounds)
    if options.json:
        print(json.dumps({"recipes": found}, indent=2))
        return
    for each in found:
        low, high = each["spread"]
        print(
            f"{each['recipe']}: {each['updates']:,} updates of {each['ms_an_update']:.0f} ms"
            f" = {each['seconds']:,.0f} s,"
            f" {each['times_the_last']:.2f} × the last ({low:.2f}–{high:.2f})"
        )


if __name__ == "__main__":
    main()
