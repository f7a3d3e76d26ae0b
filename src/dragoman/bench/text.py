"""Real sentences in batches: the same ids for every contestant.

Multi30k (English to German) where it is at hand, other files where they are named, otherwise the
built-in grammar; cut once with one BPE vocabulary, which is kept for the next time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dragoman.batches.bucketing import padding_share, plan_in_order
from dragoman.batches.store import IntArray
from dragoman.config import DataConfig
from dragoman.corpus.reading import CorpusSource
from dragoman.errors import DataError
from dragoman.runs.cache import cache_dir, cached_tokenizer, tokenizer_key
from dragoman.runs.sources import Source, TaskSource

IdPair = tuple[list[int], list[int]]
"""Source and target ids of a sentence pair, without BOS and EOS."""

MULTI30K = Path("../shared/data/multi30k")
GRAMMAR_PAIRS = 20_000
SEED = 1


@dataclass(frozen=True)
class Text:
    """Sentence pairs in ids, and what they come from."""

    name: str
    vocab_size: int
    pairs: list[IdPair]

    @property
    def src_lengths(self) -> IntArray:
        return np.array([len(src) for src, _ in self.pairs])

    @property
    def tgt_lengths(self) -> IntArray:
        return np.array([len(tgt) for _, tgt in self.pairs])

    def pick(self, batches: Sequence[IntArray]) -> list[list[IdPair]]:
        """The pairs of batches that are given as numbers."""
        return [[self.pairs[i] for i in batch] for batch in batches]


@dataclass(frozen=True)
class TrainBatches:
    """Batches of sentence pairs, and how much of them is padding."""

    batches: list[list[IdPair]]
    padding: float

    @property
    def n_tokens(self) -> int:
        """Target tokens, EOS counted, which is what speed is told in."""
        return sum(len(tgt) + 1 for batch in self.batches for _, tgt in batch)


def find_source(src: Path | None = None, tgt: Path | None = None) -> tuple[str, Source]:
    """The corpus to measure with, and its name."""
    if src is not None or tgt is not None:
        if src is None or tgt is None:
            raise DataError("one side is missing\n  Give both --src and --tgt, or neither.")
        return src.name, CorpusSource((src,), (tgt,))
    sides = [MULTI30K / f"train.{language}.gz" for language in ("en", "de")]
    if all(path.is_file() for path in sides):
        return "Multi30k", CorpusSource((sides[0],), (sides[1],))
    return "grammar", TaskSource("grammar", GRAMMAR_PAIRS, "train", SEED)


def read_text(
    src: Path | None = None, tgt: Path | None = None, *, vocab_size: int = 10_000
) -> Text:
    """The pairs of the corpus in ids of one BPE vocabulary of about this size."""
    name, source = find_source(src, tgt)
    config = DataConfig(tokenizer="bpe", vocab_size=vocab_size)
    tokenizer = cached_tokenizer(
        tokenizer_key([source], config, seed=SEED),
        lambda: [(pair.src, pair.tgt) for pair in source.pairs()],
        config,
        seed=SEED,
        folder=cache_dir() / "tokenizers",
    )
    pairs = [(pair.src, pair.tgt) for pair in source.pairs()]
    src_ids = tokenizer.encode_batch([one for one, _ in pairs], "src")
    tgt_ids = tokenizer.encode_batch([two for _, two in pairs], "tgt")
    kept = [pair for pair in zip(src_ids, tgt_ids, strict=True) if all(pair)]
    if not kept:
        raise DataError(f"{name}: there is no sentence pair to measure with")
    return Text(name, tokenizer.tgt_vocab_size, kept)


def batches_of_like_length(text: Text, *, batch_tokens: int, n_batches: int) -> TrainBatches:
    """Batches as our loader makes them, taken evenly from short sentences to long ones.

    >>> text = Text("toy", 9, [([5] * n, [6] * n) for n in (1, 2, 3, 1, 2, 3)])
    >>> batches = batches_of_like_length(text, batch_tokens=8, n_batches=3)
    >>> [len(batch) for batch in batches.batches], batches.padding
    ([2, 2, 2], 0.0)
    """
    plan = plan_in_order(text.src_lengths, text.tgt_lengths, batch_tokens=batch_tokens)
    n = min(n_batches, len(plan))
    chosen = [plan[(2 * i + 1) * len(plan) // (2 * n)] for i in range(n)]
    return TrainBatches(
        text.pick(chosen), padding_share(chosen, text.src_lengths, text.tgt_lengths)
    )


def batches_in_random_order(batches: TrainBatches, *, batch_tokens: int) -> TrainBatches:
    """The same pairs, shuffled, and cut where the padded target would exceed the budget.

    >>> alike = TrainBatches([[([5], [6]), ([5], [6])], [([5] * 3, [6] * 3)]], 0.0)
    >>> mixed = batches_in_random_order(alike, batch_tokens=12)
    >>> mixed.n_tokens == alike.n_tokens, mixed.padding > 0
    (True, True)
    """
    pairs = [pair for batch in batches.batches for pair in batch]
    order = np.random.default_rng(SEED).permutation(len(pairs))
    mixed = Text("", 0, [pairs[i] for i in order])
    lengths = mixed.tgt_lengths + 1
    plan, start = [], 0
    while start < len(pairs):
        widths = np.maximum.accumulate(lengths[start:])
        fits = widths * np.arange(1, len(widths) + 1) <= batch_tokens
        n = max(1, int(fits.sum()))
        plan.append(np.arange(start, start + n))
        start += n
    return TrainBatches(mixed.pick(plan), padding_share(plan, mixed.src_lengths, mixed.tgt_lengths))


def decode_batches(text: Text, *, n_sentences: int, batch_size: int) -> list[list[IdPair]]:
    """Sentences from all over the corpus in batches of so many, longest first.

    >>> text = Text("toy", 9, [([5] * n, [6]) for n in (1, 2, 3, 4)])
    >>> [[len(src) for src, _ in batch] for batch in
    ...  decode_batches(text, n_sentences=3, batch_size=2)]
    [[3, 2], [1]]
    """
    n = min(n_sentences, len(text.pairs))
    chosen = [text.pairs[i * len(text.pairs) // n] for i in range(n)]
    ordered = sorted(chosen, key=lambda pair: -len(pair[0]))
    return [ordered[i : i + batch_size] for i in range(0, n, batch_size)]
