"""Sentences a second of our encoding beside SentencePiece's own, in one run, as a ratio.

    python -m benchmarks.tokenize_speed [--repeats N] [--json]

Both encode the same lines with the same model and must give the same ids; the two take turns, and
the median of the ratios is reported.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sentencepiece

from dragoman.config import DataConfig, TokenizerKind
from dragoman.tokenize.tokenizer import Tokenizer

MULTI30K = Path(__file__).resolve().parents[2] / "shared" / "data" / "multi30k"
KINDS: tuple[TokenizerKind, ...] = ("bpe", "unigram")


def read_lines() -> tuple[str, list[str]]:
    """A name for the text, and its lines: Multi30k where it is at hand, otherwise made up."""
    files = [MULTI30K / f"train.{lang}.gz" for lang in ("en", "de")]
    if all(path.exists() for path in files):
        lines = [gzip.decompress(path.read_bytes()).decode("utf-8").split("\n") for path in files]
        return "multi30k", [line for side in lines for line in side]
    generator = random.Random(1)
    letters = "etaoinshrdlucmfwypvbgk"
    words = ["".join(generator.choices(letters, k=generator.randint(2, 9))) for _ in range(20_000)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]  # Zipf's law
    return "generated", [" ".join(generator.choices(words, weights, k=12)) for _ in range(50_000)]


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compare(kind: TokenizerKind, lines: list[str], *, repeats: int) -> dict[str, float]:
    """Sentences a second of both, and the median of ours / theirs."""
    tokenizer = Tokenizer.train(lines, DataConfig(tokenizer=kind, vocab_size=8000), seed=1)
    theirs = sentencepiece.SentencePieceProcessor(model_proto=tokenizer.src_model.to_bytes())
    if tokenizer.encode_batch(lines) != theirs.encode(lines):
        raise SystemExit(f"{kind}: our ids differ from SentencePiece's")
    our_times, their_times = [], []
    for _ in range(repeats):
        our_times.append(seconds(lambda: tokenizer.encode_batch(lines)))
        their_times.append(seconds(lambda: theirs.encode(lines)))
    ratios = [their / our for our, their in zip(our_times, their_times, strict=True)]
    return {
        "sentences_per_second": len(lines) / statistics.median(our_times),
        "sentencepiece_sentences_per_second": len(lines) / statistics.median(their_times),
        "ratio": statistics.median(ratios),
    }


def measure(repeats: int = 9) -> dict[str, Any]:
    """The text, its lines, and the comparison for each kind of tokenizer."""
    name, lines = read_lines()
    results = {kind: compare(kind, lines, repeats=repeats) for kind in KINDS}
    return {"text": name, "lines": len(lines), **results}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    found = measure(options.repeats)
    if options.json:
        print(json.dumps(found))
        return
    print(f"{found['text']}: {found['lines']:,} lines")
    for kind in KINDS:
        result = found[kind]
        print(
            f"  {kind:8} ours {result['sentences_per_second']:>9,.0f}/s"
            f"  sentencepiece {result['sentencepiece_sentences_per_second']:>9,.0f}/s"
            f"  ratio {result['ratio']:.2f}"
        )


if __name__ == "__main__":
    main()
