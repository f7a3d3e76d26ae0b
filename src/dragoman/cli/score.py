"""``dragoman score``: how probable a model finds given translations."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dragoman.cli.options import JsonOption, examples
from dragoman.cli.output import print_json, result, say
from dragoman.errors import DataError

if TYPE_CHECKING:
    from dragoman.corpus.pair import Pair
    from dragoman.decoding.scoring import PairScore

EPILOG = examples(
    "dragoman score runs/deen --src test.de --tgt test.en",
    "dragoman score runs/deen --src test.de --tgt test.en --json",
    "dragoman score runs/deen --src test.de --tgt test.en | paste - test.de test.en | sort -g",
)
AT_A_TIME = 10_000  # pairs: enough to sort by length, few enough to begin at once


def score(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run or bundle.")],
    src: Annotated[Path, typer.Option("--src", metavar="FILE", help="Source text.")],
    tgt: Annotated[
        Path, typer.Option("--tgt", metavar="FILE", help="Its translations, line by line.")
    ],
    batch_tokens: Annotated[
        int, typer.Option(min=1, help="Tokens of each side scored at a time.")
    ] = 4096,
    device: Annotated[
        str | None, typer.Option(help="cpu, cuda, cuda:1, …; a GPU if there is one.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print log-probability and perplexity of each given pair, a line a pair; totals on stderr.

    The log-probability is natural and of the whole target with its end; perplexity is by token.
    """
    from dragoman.corpus.plain_text import read_pairs
    from dragoman.decoding.loading import load

    translator = load(run, device=device)
    found: list[PairScore] = []
    for chunk in _chunks(read_pairs(src, tgt)):
        texts = [(pair.src, pair.tgt) for pair in chunk]
        scores = translator.score(texts, batch_tokens=batch_tokens)
        found += scores
        if not as_json:
            for pair_score in scores:
                result(f"{pair_score.log_prob:.6f}\t{pair_score.perplexity:.6g}")
    if not found:
        raise DataError(f"{src} is empty: there is nothing to score")
    facts = _facts(found)
    if as_json:
        print_json(facts)
    else:
        perplexity = math.inf if facts["perplexity"] is None else facts["perplexity"]
        say(
            f"{facts['sentences']:,} sentences, {facts['tokens']:,} tokens: "
            f"log-probability {facts['log_prob']:.4f}, perplexity {perplexity:.6g}"
        )


def _facts(scores: Sequence[PairScore]) -> dict[str, Any]:
    """The whole and its parts, by their JSON keys."""
    from dragoman.decoding.scoring import PairScore

    whole = PairScore(tuple(part for score in scores for part in score.token_log_probs))
    return {**_numbers(whole), "sentences": len(scores), "pairs": [_numbers(s) for s in scores]}


def _numbers(score: PairScore) -> dict[str, Any]:
    perplexity = score.perplexity if math.isfinite(score.perplexity) else None  # JSON has no ∞
    return {"log_prob": score.log_prob, "perplexity": perplexity, "tokens": score.n_tokens}


def _chunks(pairs: Iterator[Pair]) -> Iterator[list[Pair]]:
    while chunk := list(islice(pairs, AT_A_TIME)):
        yield chunk
