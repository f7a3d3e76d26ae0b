"""Padding share of our batches, and tokens a second of the loader alone.

    python -m benchmarks.batches_speed [--vocab-size V] [--batch-tokens N] [--json]
    python -m benchmarks.batches_speed --big [--gigabytes G]

The second form makes up a corpus of 2 GB in a temporary folder, prepares it and goes through one
epoch of it, and reports the largest memory that took after each stage.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dragoman.batches.bucketing import padding_share, plan_epoch
from dragoman.batches.loader import Batches, BatchSettings
from dragoman.batches.prepare import prepare
from dragoman.batches.store import Store
from dragoman.config import DataConfig
from dragoman.corpus.reading import CorpusSource
from dragoman.tokenize.tokenizer import Tokenizer

MULTI30K = Path(__file__).resolve().parents[2] / "shared" / "data" / "multi30k"


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What the work gives, and the seconds it takes."""
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def make_up_corpus(folder: Path, *, n_bytes: int) -> tuple[CorpusSource, int]:
    """Two aligned files of made-up words (Zipf's law), and the number of their lines."""
    rng = np.random.default_rng(1)
    letters = np.array(list("etaoinshrdlucmfwypvbgk"))
    words = ["".join(rng.choice(letters, n)) for n in rng.integers(2, 10, 20_000)]
    shares = np.cumsum(1 / np.arange(1, len(words) + 1))
    source = CorpusSource(src=(folder / "big.xx",), tgt=(folder / "big.yy",))
    written = n_lines = 0
    with source.src[0].open("w") as src, source.tgt[0].open("w") as tgt:
        while written < n_bytes:
            n_words = np.clip(rng.normal(14, 5, 20_000), 3, 60).astype(int)
            for file in (src, tgt):
                drawn = np.searchsorted(shares, rng.random(int(n_words.sum())) * shares[-1])
                names = map(words.__getitem__, drawn.tolist())
                lines = [" ".join(itertools.islice(names, n)) for n in n_words.tolist()]
                written += file.write("\n".join(lines) + "\n")
                n_words = np.maximum(n_words + rng.integers(-2, 4, len(n_words)), 1)
            n_lines += len(n_words)
    return source, n_lines


def multi30k(folder: Path) -> CorpusSource | None:
    """English to German, where it is at hand."""
    files = [MULTI30K / f"train.{lang}.gz" for lang in ("en", "de")]
    if not all(path.exists() for path in files):
        return None
    for path in files:
        (folder / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
    return CorpusSource(src=(folder / "train.en",), tgt=(folder / "train.de",))


def measure_padding(store: Store, *, batch_tokens: int) -> dict[str, float]:
    """How full the batches of an epoch are, and how long it takes to plan it."""
    src, tgt = store.src_lengths, store.tgt_lengths
    options = {"batch_tokens": batch_tokens, "seed": 1}
    plans = [timed(lambda e=e: plan_epoch(src, tgt, epoch=e, **options)) for e in range(5)]
    shares = [padding_share(plan, src, tgt) for plan, _ in plans]
    plan = plans[0][0]
    fill = [len(batch) * (int(tgt[batch].max()) + 1) / batch_tokens for batch in plan]
    return {
        "padding_share": float(np.mean(shares)),
        "source_padded_batches": float(np.mean([np.ptp(src[batch]) > 0 for batch in plan])),
        "batches_per_epoch": len(plan),
        "median_fill": float(np.median(fill)),
        "plan_seconds": float(np.median([seconds for _, seconds in plans])),
    }


def epoch_of(store: Store, settings: BatchSettings, *, prefetch: int) -> Iterator[int]:
    """Real tokens, source and target, of each batch of one epoch."""
    with Batches(store, settings, prefetch=prefetch) as batches:
        for batch in batches:
            yield batch.n_tokens + batch.n_src_tokens
            if batches.position.epoch > 0:
                return


def measure_loader(store: Store, *, batch_tokens: int, prefetch: int) -> dict[str, float]:
    """Batches and real tokens a second, when nothing is done with them."""
    settings = BatchSettings(batch_tokens=batch_tokens, seed=1)
    sizes, seconds = timed(lambda: list(epoch_of(store, settings, prefetch=prefetch)))
    return {"batches_per_second": len(sizes) / seconds, "tokens_per_second": sum(sizes) / seconds}


def peak_rss_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(arguments: Sequence[str] = ()) -> dict[str, Any]:
    """Every measurement, with the options of the command line."""
    with tempfile.TemporaryDirectory() as folder:
        return run(read_options(arguments), Path(folder))


def run(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Every measurement, in the order in which training would need it."""
    results: dict[str, Any] = {}
    source = None if options.big else multi30k(folder)
    results["corpus"] = "generated" if source is None else "multi30k"
    if source is None:
        n_bytes = int((options.gigabytes if options.big else 0.005) * 1e9)
        source, results["lines"] = make_up_corpus(folder, n_bytes=n_bytes)
    config = DataConfig(vocab_size=options.vocab_size)
    tokenizer, results["tokenizer_seconds"] = timed(
        lambda: Tokenizer.train(source.pairs(), config, seed=1)
    )
    results["tokenizer_peak_rss_mb"] = peak_rss_mb()

    def prepared() -> Store:
        return prepare(source, tokenizer, config, cache_dir=folder / "cache")

    store, results["prepare_seconds"] = timed(prepared)
    store, results["reuse_seconds"] = timed(prepared)
    results["pairs"] = len(store)
    results["pairs_per_second"] = store.info.n_read / results["prepare_seconds"]
    results["prepare_peak_rss_mb"] = peak_rss_mb()
    if not options.big:
        results |= measure_padding(store, batch_tokens=options.batch_tokens)
    for prefetch in (0, 2):
        speed = measure_loader(store, batch_tokens=options.batch_tokens, prefetch=prefetch)
        results |= {f"{key}_prefetch_{prefetch}": value for key, value in speed.items()}
    return results | {"peak_rss_mb": peak_rss_mb()}


def read_options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vocab-size", type=int, default=4000)
    parser.add_argument("--batch-tokens", type=int, default=4096)
    parser.add_argument("--big", action="store_true", help="a corpus larger than comfort allows")
    parser.add_argument("--gigabytes", type=float, default=2.0, help="size of the big corpus")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser.parse_args(arguments)


def main() -> None:
    results = measure(sys.argv[1:])
    if read_options().json:
        print(json.dumps(results))
        return
    for name, value in results.items():
        shown = (
            value if isinstance(value, str) else f"{value:,.3f}" if value < 10 else f"{value:,.0f}"
        )
        print(f"{name:>32}  {shown}")


if __name__ == "__main__":
    main()
