"""Where the time of the training loop goes, as shares: update, waiting for batches, all the rest.

    python -m benchmarks.loop_profile [--steps 60] [--json]

Trains ``tiny`` on Multi30k (where it is absent, on the built-in grammar), 4,096 target tokens
a batch. ``update`` is model, loss and optimizer; the rest is what the loop itself costs, logging at
every step included. The checkpoint and the validation at the end are left out.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from dragoman.config_loading import load_config
from dragoman.corpus.reading import CorpusSource
from dragoman.runs.setup import TrainRequest
from dragoman.runs.sources import Source, TaskSource
from dragoman.runs.training_run import train
from dragoman.training import trainer

MULTI30K = Path(__file__).parents[2] / "shared" / "data" / "multi30k"
SETTINGS = ["train.batch_tokens=4096", "train.log_every=1", "train.validate_every=100000"]
SETTINGS += ["train.checkpoint_every=100000", "data.vocab_size=10000", "model.dropout=0.3"]


def corpus() -> Source:
    if MULTI30K.is_dir():
        return CorpusSource(src=(MULTI30K / "train.en.gz",), tgt=(MULTI30K / "train.de.gz",))
    return TaskSource("grammar", 20_000, "train", 1)


class Clock:
    """Seconds spent in the functions that it was wrapped around."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)

    def around(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            started = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                self.seconds[name] += time.perf_counter() - started

        return timed


def measure(steps: int) -> dict[str, float]:
    """The share of each part in the time of the loop, without validation and checkpoint."""
    clock = Clock()
    plain_run = trainer.Trainer.run

    def run(self: trainer.Trainer) -> Any:
        self.batches = _timed_batches(self.batches, clock)
        return clock.around("all", plain_run)(self)

    trainer.update = clock.around("update", trainer.update)
    trainer.Trainer.run = run
    trainer.Trainer._validate = clock.around("validation", trainer.Trainer._validate)
    trainer.Trainer.save = clock.around("checkpoint", trainer.Trainer.save)
    trainer.Trainer._log = clock.around("logging", trainer.Trainer._log)
    with tempfile.TemporaryDirectory() as folder:
        loaded = load_config(overrides=[*SETTINGS, f"train.steps={steps}"])
        train(TrainRequest(out=Path(folder) / "run", loaded=loaded, train=corpus()))
    seconds = clock.seconds
    loop = seconds["all"] - seconds["validation"] - seconds["checkpoint"]
    rest = loop - seconds["update"] - seconds["batches"] - seconds["logging"]
    parts = {name: seconds[name] for name in ("update", "batches", "logging")} | {"rest": rest}
    return {name: round(value / loop, 4) for name, value in parts.items()}


def _timed_batches(batches: Any, clock: Clock) -> Any:
    class Timed(Iterator[Any]):
        def __next__(self) -> Any:
            return clock.around("batches", batches.__next__)()

        @property
        def position(self) -> Any:
            return batches.position

    return Timed()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    shares = measure(options.steps)
    if options.json:
        print(json.dumps(shares, indent=2))
        return
    print(f"training loop, {options.steps} steps of tiny:")
    for name, share in shares.items():
        print(f"  {name:9} {share:7.2%}")


if __name__ == "__main__":
    main()
