"""``dragoman demo``: train on the built-in corpus, show what was learnt, say what to try next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dragoman.cli.options import JsonOption, examples
from dragoman.cli.output import print_json, result, say

if TYPE_CHECKING:
    from dragoman.runs.demo import Judged

EPILOG = examples("dragoman demo", "dragoman demo --minutes 1 --out runs/quick")
N_SHOWN = 10


def demo(
    minutes: Annotated[float, typer.Option(help="Time to train.", min=0.05)] = 4.0,
    out: Annotated[Path, typer.Option("--out", help="Folder of the run.")] = Path("runs/demo"),
    json: JsonOption = False,
) -> None:
    """Train German to English on a built-in corpus for a few minutes and translate with it."""
    from dragoman.bundle import is_bundle
    from dragoman.cli.progress import make_reporter
    from dragoman.cli.train import stopped
    from dragoman.runs.demo import judge_demo, train_demo

    reporter = make_reporter()
    resume = is_bundle(out)
    say(f"training German to English for {minutes:g} minutes; the run goes to {out}")
    try:
        outcome = train_demo(out, minutes=minutes, reporter=reporter, resume=resume)
    finally:
        reporter.close()
    if outcome.reason == "interrupted":
        stopped(outcome, "Go on with `dragoman demo` and the same --out.")
    judged = judge_demo(out)
    numbers: dict[str, Any] = {
        "bleu": judged.bleu,
        "exact_match": judged.exact_match,
        "alignment_error_rate": judged.alignment_error_rate,
        "sentences": len(judged.examples),
        "steps": outcome.state.step,
        "seconds": outcome.state.seconds,
        "picture": str(judged.picture),
        "run": str(out),
    }
    if json:
        print_json(numbers)
    else:
        _show(judged, numbers, out)


def _show(judged: Judged, numbers: dict[str, Any], out: Path) -> None:
    result("\nSentences that the model has never seen:\n")
    shown = list(zip(judged.examples, judged.translations, strict=True))[:N_SHOWN]
    for example, translation in shown:
        result(f"  {example.src}")
        is_right = translation.text == example.tgt
        result(f"    {translation.text}   ({translation.score:.2f})")
        result("    = the reference\n" if is_right else f"    reference: {example.tgt}\n")
    result(
        f"BLEU {numbers['bleu']:.1f}, {numbers['exact_match']:.1%} exactly as the reference, "
        f"alignment error rate {numbers['alignment_error_rate']:.3f} "
        f"on {numbers['sentences']:,} unseen sentences"
    )
    result(f"attention of one sentence: {judged.picture}")
    result(
        "\nTry next:\n"
        f"  echo 'Der Hund sieht die Katze .' | dragoman translate {out}\n"
        f"  dragoman info {out}\n"
        "  dragoman train --src your.de --tgt your.en --out runs/mine"
    )
