"""``bench decode``: the same sources through everybody's search.

Forced: every translation has the same number of tokens, so that random weights do and nobody wins
by stopping early. Real: a bundle's weights, translations that end by themselves, and how many of
them are the same as ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.bench.contest import OURS, Outcome, describe, hold
from dragoman.bench.engines import text_engines
from dragoman.bench.peer import Peer
from dragoman.bench.text import IdPair, Text, decode_batches
from dragoman.bench.work import Work
from dragoman.bundle import TOKENIZER, read_config
from dragoman.config import ModelConfig
from dragoman.errors import DataError
from dragoman.presets import MODEL_PRESETS
from dragoman.tokenize.tokenizer import Tokenizer
from dragoman.tokenize.vocabulary import EOS_ID

OnCase = Callable[[str], None]


@dataclass(frozen=True)
class DecodeCase:
    """One way to decode: sentences at a time, beam, and the share of the sentences to take."""

    batch_size: int
    beam: int
    share: float = 1.0

    @property
    def name(self) -> str:
        search = "greedy" if self.beam == 1 else f"beam {self.beam}"
        return f"batch {self.batch_size}, {search}"


# One sentence at a time takes long and varies little: a tenth of the sentences is enough.
CASES = (DecodeCase(32, 1), DecodeCase(32, 5), DecodeCase(1, 1, share=0.1))
SENTENCES = {"tiny": 200, "small": 200, "base": 64, "big": 32}
FORCED_TOKENS = 20
MAX_EXTRA = 50


def measure_decoding(
    text: Text,
    peers: Sequence[Peer],
    *,
    preset: str,
    n_sentences: int | None = None,
    n_tokens: int = FORCED_TOKENS,
    repeats: int = 5,
    threads: int = 1,
    on_case: OnCase = lambda name: None,
) -> Iterator[dict[str, Any]]:
    """What each peer takes for ``n_tokens`` tokens a sentence, case by case."""
    shape = ModelConfig(**MODEL_PRESETS[preset], vocab_size=text.vocab_size)
    for case in CASES:
        on_case(f"{preset}, {case.name}")
        batches = _batches(text, case, n_sentences or SENTENCES[preset])
        work = Work("decode", shape, batches, beam=case.beam, max_tokens=n_tokens)
        outcomes = hold({p.name: (p, work) for p in peers}, repeats=repeats, threads=threads)
        n = sum(map(len, batches))
        results = [
            _forced_result(name, outcome, outcomes.get(OURS), n_tokens=n * n_tokens, n_sentences=n)
            for name, outcome in outcomes.items()
        ]
        yield {
            "preset": preset,
            "case": case.name,
            "batch_size": case.batch_size,
            "beam": case.beam,
            "sentences": n,
            "tokens": n_tokens,
            "results": results,
        }


def measure_real(
    bundle: Path,
    texts: Sequence[str],
    peers: Sequence[Peer],
    *,
    repeats: int = 5,
    threads: int = 1,
    on_case: OnCase = lambda name: None,
) -> Iterator[dict[str, Any]]:
    """What each peer that can hold the bundle's weights takes for these lines, case by case.

    Ours also as a user has it, from text to text. No length penalty, on which engines differ: all
    look for the likeliest translation.
    """
    shape, tokenizer = read_config(bundle).model, Tokenizer.load(bundle / TOKENIZER)
    lines = [text for text in texts if text.strip()]
    encoded = dict(zip(lines, tokenizer.encode_batch(lines, "src"), strict=True))
    by_length = sorted((line for line in lines if encoded[line]), key=lambda x: -len(encoded[x]))
    if not by_length:
        raise DataError("there is no sentence to translate")
    for case in CASES:
        on_case(f"{bundle.name}, {case.name}")
        n = max(1, round(case.share * len(by_length)))
        chosen = [by_length[i * len(by_length) // n] for i in range(n)]
        cut = [chosen[i : i + case.batch_size] for i in range(0, n, case.batch_size)]
        work = Work(
            "decode",
            shape,
            [[(encoded[line], []) for line in batch] for batch in cut],
            beam=case.beam,
            max_tokens=len(encoded[chosen[0]]) + 1 + MAX_EXTRA,
            is_forced=False,
            bundle=str(bundle),
            texts=cut,
        )
        entries = {peer.name: (peer, work) for peer in (*peers, *text_engines())}
        outcomes = hold(entries, repeats=repeats, threads=threads, want_found=True)
        results = [_real_result(name, out, outcomes.get(OURS)) for name, out in outcomes.items()]
        yield {
            "bundle": str(bundle),
            "case": case.name,
            "batch_size": case.batch_size,
            "beam": case.beam,
            "sentences": n,
            "results": results,
        }


def _batches(text: Text, case: DecodeCase, n_sentences: int) -> list[list[IdPair]]:
    n = max(1, round(case.share * n_sentences))
    return decode_batches(text, n_sentences=n, batch_size=case.batch_size)


def _forced_result(
    name: str, outcome: Outcome, ours: Outcome | None, *, n_tokens: int, n_sentences: int
) -> dict[str, Any]:
    """A forced outcome; one that did not decode what it should is no outcome."""
    if outcome.has_run and outcome.n_tokens != n_tokens:
        outcome = Outcome(note=f"decoded {outcome.n_tokens:,} tokens, not {n_tokens:,}")
    return describe(name, outcome, ours, n_tokens=n_tokens, n_sentences=n_sentences)


def _real_result(name: str, outcome: Outcome, ours: Outcome | None) -> dict[str, Any]:
    """A real outcome, with the share of translations that are the same as ours."""
    mine = [_spoken(found) for found in outcome.found]
    n_tokens = sum(len(each) + 1 for each in mine)  # EOS counted, whether the engine says it or not
    result = describe(name, outcome, ours, n_tokens=n_tokens, n_sentences=len(mine))
    begins_as_text = any(isinstance(token, str) for each in mine for token in each)
    if ours is None or not ours.has_run or not outcome.has_run or name == OURS or begins_as_text:
        return result
    same = sum(a == _spoken(b) for a, b in zip(mine, ours.found, strict=True))
    return {**result, "same_as_ours": round(same / len(mine), 4)}


def _spoken(found: Sequence[int | str]) -> list[int | str]:
    return [token for token in found if token != EOS_ID]
