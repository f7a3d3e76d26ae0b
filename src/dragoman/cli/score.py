"""``dragoman score``: how probable a model finds given translations."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dragoman.cli.options import JsonOption, examples
from dragoman.cli.output import print_json, result, say
from dragoman.errors import DataError

if TYPE_CHECKING:
    from dragoman.corpus.pair import Pair

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
    as_json: JsonOption = False,
) -> None:
    """Print log-probability and perplexity of each given pair, a line a pair; totals on stderr.

    The log-probability is natural and of the whole target with its end; perplexity is by token.
    """
    import dragoman
    from dragoman.corpus.plain_text import read_pairs

    translator = dragoman.load(run)
    pairs: list[dict[str, Any]] = []
    log_prob, n_tokens, n_pairs = 0.0, 0, 0
    for chunk in _chunks(read_pairs(src, tgt)):
        for found in translator.score([(pair.src, pair.tgt) for pair in chunk]):
            log_prob, n_tokens, n_pairs = (
                log_prob + found.log_prob,
                n_tokens + found.n_tokens,
                n_pairs + 1,
            )
            if as_json:
                pairs.append(
                    {
                        "log_prob": found.log_prob,
                        "tokens": found.n_tokens,
                        "perplexity": found.perplexity,
                    }
                )
            else:
                result(f"{found.log_prob:.6f}\t{found.perplexity:.6g}")
    if not n_pairs:
        raise DataError(f"{src} is empty: there is nothing to score")
    perplexity = math.exp(-log_prob / n_tokens) if n_tokens else 1.0
    if as_json:
        totals = {"log_prob": log_prob, "perplexity": perplexity, "tokens": n_tokens}
        print_json({**totals, "sentences": n_pairs, "pairs": pairs})
    else:
        say(
            f"{n_pairs:,} sentences, {n_tokens:,} tokens:"
            f" log-probability {log_prob:.4f}, perplexity {perplexity:.4f}"
        )


def _chunks(pairs: Iterator[Pair]) -> Iterator[list[Pair]]:
    while chunk := list(islice(pairs, AT_A_TIME)):
        yield chunk
