"""Text in, text out by ``--engine ctranslate2``, beside CTranslate2 called with the tokens.

    python -m benchmarks.engines RUN --src FILE [--beam K] [--length-penalty A] [--lines N] [--json]

Direct: the model that our converter made, given the pieces of every line at once, sorted and cut in
batches of as many tokens by CTranslate2 itself; pieces come out. It searches on for as long as our
engine asks it to, which a large length penalty makes longer. Ours: lines of text come in, lines of
text come out, with scores and notes. The two take turns, so that a busy machine slows both alike,
and the median of the ratios is reported with its spread. The torch engine runs along.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any, cast

from dragoman.corpus.files import read_lines
from dragoman.decoding.ctranslate2_engine import CTranslate2Engine, patience
from dragoman.decoding.loading import load
from dragoman.decoding.settings import SearchSettings
from dragoman.decoding.translator import Translator

BATCH_TOKENS = 4096
EOS = "</s>"


def direct(
    translator: Translator, lines: list[str], settings: SearchSettings
) -> Callable[[], object]:
    """A call of CTranslate2 with the pieces of all lines."""
    engine = cast("CTranslate2Engine", translator.engine)
    encoded = translator.tokenizer.encode_batch(lines, "src")
    pieces = [[*(engine.src_pieces[number] for number in ids), EOS] for ids in encoded]
    times = patience(settings)
    return lambda: engine.translator.translate_batch(
        pieces,
        beam_size=settings.beam,
        patience=times,
        num_hypotheses=settings.beam * times,
        length_penalty=0,
        max_batch_size=BATCH_TOKENS // settings.beam,
        batch_type="tokens",
        return_scores=True,
    )


def measure(
    run: Path,
    lines: list[str],
    *,
    beam: int | None,
    length_penalty: float | None,
    repeats: int,
    int8: bool,
) -> dict[str, Any]:
    """Seconds of each way, and how many times as long as calling directly ours takes."""
    converted = load(run, engine="ctranslate2", int8=int8)
    own = load(run, engine="torch", int8=int8)
    settings = SearchSettings.resolve(
        converted.config.decode, beam=beam, length_penalty=length_penalty, n_best=1
    )

    def text_to_text(translator: Translator) -> object:
        return translator.translate(
            lines,
            beam=settings.beam,
            length_penalty=settings.length_penalty,
            n_best=1,
            batch_tokens=BATCH_TOKENS,
        )

    ways: dict[str, Callable[[], object]] = {
        "direct": direct(converted, lines, settings),
        "ctranslate2": lambda: text_to_text(converted),
        "torch": lambda: text_to_text(own),
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for repeat in range(repeats + 1):
        for name, work in ways.items():
            started = time.perf_counter()
            work()
            if repeat > 0:  # the first round warms up
                seconds[name].append(time.perf_counter() - started)
    found: dict[str, Any] = {
        "lines": len(lines),
        "beam": settings.beam,
        "length_penalty": settings.length_penalty,
        "int8": int8,
    }
    for name, times in seconds.items():
        ratios = [mine / theirs for mine, theirs in zip(times, seconds["direct"], strict=True)]
        found[name] = {
            "seconds": statistics.median(times),
            "times_direct": statistics.median(ratios),
            "spread": [min(ratios), max(ratios)],
        }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--src", type=Path, required=True, help="text to translate")
    parser.add_argument("--beam", type=int, help="the run's own, if not given")
    parser.add_argument("--length-penalty", type=float, help="the run's own, if not given")
    parser.add_argument("--lines", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--int8", action="store_true")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    lines = list(islice(read_lines(options.src), options.lines))
    found = measure(
        options.run,
        lines,
        beam=options.beam,
        length_penalty=options.length_penalty,
        repeats=options.repeats,
        int8=options.int8,
    )
    if options.json:
        print(json.dumps(found, indent=2))
        return
    print(
        f"{found['lines']:,} lines, beam {found['beam']},"
        f" length penalty {found['length_penalty']:g}, {'int8' if options.int8 else 'float32'}"
    )
    for name in ("direct", "ctranslate2", "torch"):
        each = found[name]
        low, high = each["spread"]
        ratio = f"{each['times_direct']:.2f} × direct ({low:.2f}–{high:.2f})"
        print(f"  {name:12} {each['seconds']:7.2f} s  {ratio}")


if __name__ == "__main__":
    main()
