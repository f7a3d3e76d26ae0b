"""``dragoman train``: everything from raw text to a bundle."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from dragoman.cli.options import JsonOption, SetOption, examples
from dragoman.cli.output import print_json, result, say
from dragoman.errors import ConfigError, DataError

if TYPE_CHECKING:
    from dragoman.runs.setup import TrainRequest
    from dragoman.runs.sources import Source
    from dragoman.runs.training_run import Outcome

EPILOG = examples(
    "dragoman train --src train.de --tgt train.en --out runs/deen",
    "dragoman train --corpus memory.tmx --src-lang de --tgt-lang en --minutes 10 --out runs/tm",
    "dragoman train settings.toml --src a.en --tgt a.de --out runs/ende",
    "dragoman train --task copy --out runs/copy",
    "dragoman train --src a.de --tgt a.en --out runs/deen --resume",
    "torchrun --nproc-per-node 2 -m dragoman train --src a.de --tgt a.en --out runs/deen",
)

INTERRUPTED = 130
TASK_PAIRS = 20_000  # training pairs made for a built-in task, unless asked otherwise
TASK_VALID_PAIRS = 500


def train(
    config: Annotated[Path | None, typer.Argument(help="A TOML file of settings.")] = None,
    src: Annotated[
        list[Path] | None, typer.Option("--src", help="Source text; may be repeated.")
    ] = None,
    tgt: Annotated[
        list[Path] | None, typer.Option("--tgt", help="Target text, line by line the same.")
    ] = None,
    corpus: Annotated[
        list[str] | None,
        typer.Option(help="TSV, JSONL, TMX, PO or XLIFF file, a folder of them, or hf:NAME."),
    ] = None,
    valid_src: Annotated[list[Path] | None, typer.Option(help="Source to validate on.")] = None,
    valid_tgt: Annotated[list[Path] | None, typer.Option(help="Target to validate on.")] = None,
    valid_corpus: Annotated[
        list[str] | None, typer.Option(help="The same as --corpus, to validate on.")
    ] = None,
    src_lang: Annotated[str | None, typer.Option(help="Language code of the source.")] = None,
    tgt_lang: Annotated[str | None, typer.Option(help="Language code of the target.")] = None,
    task: Annotated[
        str | None, typer.Option(help="A built-in corpus in place of files: copy, grammar, …")
    ] = None,
    pairs: Annotated[
        int, typer.Option(help="Training pairs to make for --task.", min=1)
    ] = TASK_PAIRS,
    out: Annotated[Path, typer.Option("--out", help="Folder of the run.")] = Path("runs/latest"),
    preset: Annotated[str | None, typer.Option(help="tiny, small, base or big.")] = None,
    steps: Annotated[int | None, typer.Option(help="Updates, at most.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Passes over the corpus, at most.")] = None,
    minutes: Annotated[
        float | None, typer.Option(help="Time to train; the schedule is fitted to it.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of everything random.")] = None,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, cuda:1, …; chosen.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    init: Annotated[
        Path | None, typer.Option(help="Bundle to start from: fine-tuning, its tokenizer kept.")
    ] = None,
    sets: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Train a model on sentence pairs, or on a built-in task, and leave a bundle in --out."""
    from dragoman.config_loading import load_config
    from dragoman.runs.setup import TrainRequest

    flags: dict[str, Any] = {
        "train.steps": steps,
        "train.epochs": epochs,
        "train.minutes": minutes,
        "train.seed": seed,
        "data.src_lang": src_lang or _language(src),
        "data.tgt_lang": tgt_lang or _language(tgt),
    }
    loaded = load_config(config, preset=preset, overrides=sets or (), flags=flags)
    train_pairs, valid_pairs = _sources(
        task,
        pairs,
        seed=loaded.config.train.seed,
        train=(src or [], tgt or [], corpus or []),
        valid=(valid_src or [], valid_tgt or [], valid_corpus or []),
        languages=(loaded.config.data.src_lang, loaded.config.data.tgt_lang),
    )
    request = TrainRequest(
        out=out,
        loaded=loaded,
        train=train_pairs,
        valid=valid_pairs,
        task=task,
        resume=resume,
        init=init,
        device=device,
    )
    _run(request, json)


def _run(request: TrainRequest, json: bool) -> None:
    from dragoman.cli.progress import make_reporter
    from dragoman.runs.training_run import train as train_run

    reporter = make_reporter()
    try:
        outcome = train_run(request, reporter)
    finally:
        reporter.close()
    if outcome.is_first:
        _tell_end(outcome, json)


def _tell_end(outcome: Outcome, json: bool) -> None:
    """Say how it ended and what can be done next."""
    if outcome.reason == "interrupted":
        stopped(outcome, f"Go on with the same command and --resume (--out {outcome.out}).")
    if json:
        print_json(outcome.record)
        return
    reasons = {
        "steps": "all steps are done",
        "epochs": "all epochs are done",
        "minutes": "the time is up",
        "patience": "validation no longer gets better",
    }
    best = outcome.record["chosen"]
    bleu = best.get("val_bleu")
    score = f", validation loss {best['val_loss']:.4f}" + (
        "" if bleu is None else f", BLEU {bleu:.2f}"
    )
    say(f"{reasons[outcome.reason]}: step {outcome.state.step:,}{score}")
    result(str(outcome.out))


def stopped(outcome: Outcome, advice: str) -> NoReturn:
    """Say that a run was stopped by a signal, and end with the exit code of that."""
    say(f"interrupted after step {outcome.state.step:,}; everything is saved.\n  {advice}")
    raise typer.Exit(INTERRUPTED)


Files = tuple[list[Path], list[Path], list[str]]


def _sources(
    task: str | None,
    n_pairs: int,
    *,
    seed: int,
    train: Files,
    valid: Files,
    languages: tuple[str | None, str | None],
) -> tuple[Source, Source | None]:
    """Where training and validation pairs come from."""
    from dragoman.corpus.reading import CorpusSource

    if task is not None:
        if any(train) or any(valid):
            raise ConfigError("--task makes its own corpus: leave --src, --tgt and --corpus out")
        return _task_sources(task, n_pairs, seed)
    if not any(train):
        raise DataError(
            "no corpus was named\n"
            "  Give --src and --tgt, or --corpus, or a built-in task such as --task copy."
        )
    sources = [
        CorpusSource(tuple(src), tuple(tgt), tuple(corpus), *languages)
        for src, tgt, corpus in (train, valid)
    ]
    for source in sources:
        if not source.is_empty:
            source.check()
    return sources[0], None if sources[1].is_empty else sources[1]


def _task_sources(task: str, n_pairs: int, seed: int) -> tuple[Source, Source]:
    from dragoman.config_checks import no_such
    from dragoman.corpus.tasks import TASKS
    from dragoman.runs.sources import TaskSource

    if task not in TASKS:
        raise ConfigError(f"--task {task}: {no_such('task', task, known=TASKS)}")
    return (
        TaskSource(task, n_pairs, "train", seed),
        TaskSource(task, TASK_VALID_PAIRS, "valid", seed),
    )


def _language(paths: list[Path] | None) -> str | None:
    """The language that file names tell by their suffix, as in train.de.gz; None if they do not."""
    from dragoman.corpus.files import without_compression

    codes = {without_compression(path).suffix[1:].lower() for path in paths or ()}
    code = codes.pop() if len(codes) == 1 else ""
    return (
        code
        if code.isalpha() and 2 <= len(code) <= 3 and code not in ("src", "tgt", "txt")
        else None
    )
