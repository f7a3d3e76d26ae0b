"""``dragoman evaluate``: how good translations are, and whether one system is really better."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dragoman.cli.counter import Counter
from dragoman.cli.engine_options import EngineOption, Int8Option, ShortlistOption, engine_keywords
from dragoman.cli.options import JsonOption, examples
from dragoman.cli.output import print_json, result, say, table
from dragoman.errors import ConfigError

if TYPE_CHECKING:
    from dragoman.evaluation.judging import JudgedSystem, Judgement, Output
    from dragoman.evaluation.scores import ScoreSettings
    from dragoman.evaluation.significance import Significance

EPILOG = examples(
    "dragoman evaluate runs/deen --src test.de --ref test.en",
    "dragoman evaluate runs/deen --src test.de --ref test.en --beam 5 --report errors.html",
    "dragoman evaluate runs/old runs/new --src test.de --ref test.en --json",
    "dragoman evaluate --hyp output.en --ref test.en --tokenize none",
)
NAMES = (("bleu", "BLEU"), ("chrf", "chrF2"), ("ter", "TER"))
NOTES = {
    "split": "were longer than the model can take and were translated in parts",
    "stopped_at_limit": "reached the limit of length and may lack their end",
    "repetition": "went in circles and were ended",
}


def evaluate(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="RUN", help="Runs or bundles; the first is the baseline."),
    ] = None,
    src: Annotated[
        Path | None, typer.Option("--src", metavar="FILE", help="Text to translate.")
    ] = None,
    ref: Annotated[
        list[Path] | None,
        typer.Option("--ref", metavar="FILE", help="Right translations; repeat for several sets."),
    ] = None,
    hyp: Annotated[
        list[Path] | None,
        typer.Option("--hyp", metavar="FILE", help="Score this output too; may be repeated."),
    ] = None,
    beam: Annotated[
        int | None, typer.Option(min=1, help="Width of the search; the bundle's own if not given.")
    ] = None,
    length_penalty: Annotated[
        float | None,
        typer.Option(help="Alpha of the length penalty; the bundle's own if not given."),
    ] = None,
    tokenize: Annotated[
        str,
        typer.Option(help="How BLEU finds words: 13a, none, intl, char, zh, ja-mecab, ko-mecab, …"),
    ] = "13a",
    lowercase: Annotated[
        bool,
        typer.Option("--lowercase", help="Ignore case in BLEU and chrF too; TER always does."),
    ] = False,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Take only the first lines of every file.")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE.html", help="Write a page that shows where it goes wrong."),
    ] = None,
    batch_tokens: Annotated[
        int, typer.Option(min=1, help="Source tokens translated at a time, times the beam.")
    ] = 4096,
    engine: EngineOption = None,
    int8: Int8Option = False,
    shortlist: ShortlistOption = False,
    device: Annotated[
        str | None, typer.Option(help="cpu, cuda, cuda:1, …; a GPU if there is one.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Translate and score by BLEU, chrF and TER, each with the signature that reproduces it.

    More than one system: paired bootstrap resampling against the first. Exact match and token
    accuracy are for tasks with one right answer. With --json the keys on top are those of the
    first system; "systems" has all of them, "significance" the p-values, "signature" is BLEU's.
    """
    from dragoman.evaluation.judging import error_report, judge
    from dragoman.evaluation.scores import ScoreSettings

    settings = ScoreSettings(tokenize, lowercase)
    _check_request(runs or [], src, ref or [], hyp=hyp or [], report=report, settings=settings)
    texts = _read(src, ref or [], hyp or [], limit=limit)
    search = {"beam": beam, "length_penalty": length_penalty, "batch_tokens": batch_tokens}
    how = {"device": device, **engine_keywords(engine, int8, shortlist)}
    outputs = [_translate(run, texts.sources or [], search, how) for run in runs or []]
    outputs += texts.outputs
    _warn(outputs, texts, tokenize)
    judgement = judge(outputs, texts.references, settings=settings)
    if report is not None:
        from dragoman import atomic

        page = error_report(judgement, texts.references, sources=texts.sources, settings=settings)
        atomic.write_text(report, page)
        say(f"error report: {report}")
    if as_json:
        print_json(judgement.to_dict())
    else:
        result(_report(judgement))


@dataclass(frozen=True)
class _Texts:
    """All that was read, line by line in step."""

    sources: list[str] | None
    references: list[list[str]]
    reference_names: list[str]
    outputs: list[Output]


def _check_request(
    runs: Sequence[Path],
    src: Path | None,
    refs: Sequence[Path],
    *,
    hyp: Sequence[Path],
    report: Path | None,
    settings: ScoreSettings,
) -> None:
    """Find out what cannot work before anything is translated."""
    from dragoman.bundle import read_config
    from dragoman.evaluation.scores import make_metrics

    if not refs:
        raise ConfigError("no reference to score against: give --ref FILE")
    if not runs and not hyp:
        raise ConfigError("nothing to evaluate: name a run or bundle, or an output by --hyp FILE")
    if runs and src is None:
        raise ConfigError(f"{runs[0]} needs a text to translate: give --src FILE")
    for run in runs:
        read_config(run)
    make_metrics(settings=settings)
    if report is not None:
        if report.is_dir():
            raise ConfigError(f"--report {report} is a folder; give a file, such as errors.html")
        report.parent.mkdir(parents=True, exist_ok=True)


def _read(
    src: Path | None, refs: Sequence[Path], hyps: Sequence[Path], *, limit: int | None
) -> _Texts:
    from dragoman.evaluation.judging import Output, read_aligned

    paths = [*([] if src is None else [src]), *refs, *hyps]
    columns = read_aligned(paths, limit=limit)
    sources = None if src is None else columns.pop(0)
    outputs = map(Output, map(str, hyps), columns[len(refs) :])
    return _Texts(sources, columns[: len(refs)], list(map(str, refs)), list(outputs))


def _translate(
    run: Path, sources: Sequence[str], search: dict[str, Any], how: dict[str, Any]
) -> Output:
    """The run's translations, with the time they took; loading the model is not counted."""
    from dragoman.decoding.loading import load
    from dragoman.evaluation.judging import Output

    translator = load(run, **how)
    with Counter(f"sentences translated by {run}", len(sources)) as counter:
        started = time.monotonic()
        found = translator.translate(list(sources), **search, on_progress=counter)
        seconds = time.monotonic() - started
    for note, meaning in NOTES.items():
        if n_lines := sum(note in translation.notes for translation in found):
            say(f"note: {n_lines:,} of {len(sources):,} sentences {meaning} ({run})")
    return Output(
        name=str(run),
        lines=[translation.text for translation in found],
        seconds=seconds,
        n_pieces=sum(len(translation.tokens) for translation in found),
    )


def _warn(outputs: Sequence[Output], texts: _Texts, tokenize: str) -> None:
    from dragoman.evaluation.text_checks import check_texts

    named = {output.name: output.lines for output in outputs}
    named |= dict(zip(texts.reference_names, texts.references, strict=True))
    for warning in check_texts(named, tokenize=tokenize):
        say(warning)


# --- for readers ---------------------------------------------------------------------------------


def _report(judgement: Judgement) -> str:
    parts = [_system(system) for system in judgement.systems]
    if judgement.significance is not None:
        parts.append(_comparison(judgement.significance))
    return "\n\n".join(parts)


def _system(system: JudgedSystem) -> str:
    found = system.to_dict()
    scores = [(name, f"{found[key]:.2f}") for key, name in NAMES]
    lines = [
        f"{line}  {system.scores.signatures[key]}"
        for line, (key, _) in zip(table(scores).split("\n"), NAMES, strict=True)
    ]
    lines.insert(1, f"         {system.scores.bleu_detail}")
    work = f"  {found['sentences']:,} sentences"
    if found["seconds"] is not None:
        speed = f"{found['tokens_per_second']:,.0f} output tokens/s"
        work += f" translated in {found['seconds']:.1f} s, {speed}"
    exact, right = 100 * found["exact_match"], 100 * found["token_accuracy"]
    accuracy = f"  exact match {exact:.2f} %, token accuracy {right:.2f} %"
    return "\n".join([found["system"], *lines, accuracy, work])


def _comparison(significance: Significance) -> str:
    rows = [("", *(name for _, name in NAMES))]
    for i, system in enumerate(significance.names):
        cells = []
        for key, _ in NAMES:
            found = significance.comparisons[key][i]
            p_value = "" if found.p_value is None else f", p {found.p_value:.3f}"
            cells.append(f"{found.mean:.2f} ± {found.interval:.2f}{p_value}")
        rows.append((system, *cells))
    return (
        f"Paired bootstrap against {significance.names[0]}: mean, 95 % confidence, p-value\n"
        f"{table(rows)}\n  {significance.signatures['bleu']}"
    )
