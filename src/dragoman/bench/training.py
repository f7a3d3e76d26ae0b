"""``bench train``: the same batches of real text through everybody's training step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dragoman.bench.contest import OURS, describe, hold
from dragoman.bench.peer import Peer
from dragoman.bench.text import (
    Text,
    TrainBatches,
    batches_in_random_order,
    batches_of_like_length,
)
from dragoman.bench.work import Work
from dragoman.config import ModelConfig
from dragoman.presets import MODEL_PRESETS


@dataclass(frozen=True)
class TrainSize:
    """How much is trained on in one turn: large models in smaller batches, so that it ends."""

    batch_tokens: int
    n_batches: int


SIZES = {
    "tiny": TrainSize(4096, 4),
    "small": TrainSize(2048, 4),
    "base": TrainSize(1024, 2),
    "big": TrainSize(512, 2),
}


def measure_training(
    text: Text,
    peers: Sequence[Peer],
    *,
    preset: str,
    size: TrainSize | None = None,
    repeats: int = 5,
    threads: int = 1,
    on_case: Callable[[str], None] = lambda name: None,
) -> Iterator[dict[str, Any]]:
    """What each peer does with batches of like lengths, and with the same pairs in random order."""
    size = size or SIZES[preset]
    shape = ModelConfig(**MODEL_PRESETS[preset], vocab_size=text.vocab_size)
    alike = batches_of_like_length(text, batch_tokens=size.batch_tokens, n_batches=size.n_batches)
    mixed = batches_in_random_order(alike, batch_tokens=size.batch_tokens)
    for order, batches in (("like lengths", alike), ("random order", mixed)):
        on_case(f"{preset}, {order}")
        yield {
            "preset": preset,
            "order": order,
            "batch_tokens": size.batch_tokens,
            "batches": len(batches.batches),
            "target_tokens": batches.n_tokens,
            "padding": round(batches.padding, 3),
            "results": _results(batches, peers, shape, repeats=repeats, threads=threads),
        }


def _results(
    batches: TrainBatches, peers: Sequence[Peer], shape: ModelConfig, *, repeats: int, threads: int
) -> list[dict[str, Any]]:
    work = Work("train", shape, batches.batches)
    outcomes = hold({p.name: (p, work) for p in peers}, repeats=repeats, threads=threads)
    n_sentences = sum(map(len, batches.batches))
    return [
        describe(
            name,
            outcome,
            outcomes.get(OURS),
            n_tokens=batches.n_tokens,
            n_sentences=n_sentences,
        )
        for name, outcome in outcomes.items()
    ]
