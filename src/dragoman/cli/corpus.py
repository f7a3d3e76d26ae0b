"""``dragoman corpus``: report on a corpus, count it, or write one of the built-in ones to files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dragoman.cli.counter import Counter
from dragoman.cli.options import JsonOption, examples
from dragoman.cli.output import print_json, result, say, table
from dragoman.errors import DataError

if TYPE_CHECKING:
    from dragoman.corpus.reading import CorpusSource
    from dragoman.corpus.stats import CorpusStats
    from dragoman.corpus.tasks import Split

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Check a corpus, count it, or write a built-in one to files.",
)

SrcOption = Annotated[
    list[Path] | None,
    typer.Option("--src", metavar="FILE", help="Source text, a sentence a line; may be repeated."),
]
TgtOption = Annotated[
    list[Path] | None,
    typer.Option("--tgt", metavar="FILE", help="Target text, line by line; may be repeated."),
]
CorpusOption = Annotated[
    list[str] | None,
    typer.Option(
        "--corpus",
        metavar="PATH",
        help="TSV, JSONL, TMX, PO or XLIFF, a folder of these, or hf:NAME; may be repeated.",
    ),
]
SrcLangOption = Annotated[
    str | None, typer.Option("--src-lang", metavar="CODE", help="Language of the source.")
]
TgtLangOption = Annotated[
    str | None, typer.Option("--tgt-lang", metavar="CODE", help="Language of the target.")
]


@app.command(
    epilog=examples(
        "dragoman corpus check --src train.de --tgt train.en",
        "dragoman corpus check --src train.de --tgt train.en --test-src test.de --test-tgt test.en",
        "dragoman corpus check --corpus memory.tmx --src-lang de --tgt-lang en --json",
    )
)
def check(
    src: SrcOption = None,
    tgt: TgtOption = None,
    corpus: CorpusOption = None,
    src_lang: SrcLangOption = None,
    tgt_lang: TgtLangOption = None,
    valid_src: Annotated[
        list[Path] | None, typer.Option(help="Validation source, to look for overlap.")
    ] = None,
    valid_tgt: Annotated[list[Path] | None, typer.Option(help="Validation target.")] = None,
    test_src: Annotated[
        list[Path] | None, typer.Option(help="Test source, to look for overlap.")
    ] = None,
    test_tgt: Annotated[list[Path] | None, typer.Option(help="Test target.")] = None,
    max_chars: Annotated[
        int, typer.Option(min=1, help="Report sentences of more characters than this.")
    ] = 1000,
    max_length_ratio: Annotated[
        float, typer.Option(min=1.0, help="Report pairs whose lengths differ more than this.")
    ] = 9.0,
    show: Annotated[int, typer.Option(min=1, help="Places to name for each finding.")] = 5,
    as_json: JsonOption = False,
) -> None:
    """Report what is wrong with a corpus, by file and line.

    Exit code 2 means that it cannot be used as it is; warnings and notes leave it at 0.
    """
    from dragoman.corpus.check import CheckSettings, check_corpus

    source = _source(src, tgt, corpus, src_lang=src_lang, tgt_lang=tgt_lang)
    settings = CheckSettings(max_chars, max_length_ratio, show)
    with Counter("pairs checked") as progress:
        report = check_corpus(
            source,
            _source(valid_src, valid_tgt) if valid_src or valid_tgt else None,
            tests=[_source(test_src, test_tgt)] if test_src or test_tgt else [],
            settings=settings,
            on_progress=progress,
        )
    if as_json:
        print_json(report.to_dict())
    else:
        result("\n".join(report.lines()))
    for finding in report.findings:
        if finding.severity == "error":
            first = finding.message.split("\n")[0]
            say(f"{DataError.kind}: {first}")
    if not report.is_usable:
        raise typer.Exit(2)


@app.command(epilog=examples("dragoman corpus stats --src train.de --tgt train.en --json"))
def stats(
    src: SrcOption = None,
    tgt: TgtOption = None,
    corpus: CorpusOption = None,
    src_lang: SrcLangOption = None,
    tgt_lang: TgtLangOption = None,
    as_json: JsonOption = False,
) -> None:
    """Count pairs, words and characters, and say how long the sentences are."""
    from dragoman.corpus.stats import corpus_stats

    source = _source(src, tgt, corpus, src_lang=src_lang, tgt_lang=tgt_lang)
    with Counter("pairs counted") as progress:
        counted = corpus_stats(source, on_progress=progress)
    if as_json:
        print_json(counted.to_dict())
    else:
        result(_stats_text(counted))


@app.command(
    epilog=examples(
        "dragoman corpus make grammar --out data --pairs 50000",
        "dragoman corpus make sort --out data --option max_length=12",
    )
)
def make(
    task: Annotated[str, typer.Argument(help="grammar, copy, reverse, sort, numbers, dates, …")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder to write to.")],
    pairs: Annotated[int, typer.Option(min=0, help="Pairs for training.")] = 10_000,
    valid: Annotated[int, typer.Option(min=0, help="Pairs for validation.")] = 500,
    test: Annotated[int, typer.Option(min=0, help="Pairs for testing.")] = 500,
    unseen: Annotated[
        int, typer.Option(min=0, help="Test pairs of combinations that training never shows.")
    ] = 0,
    seed: Annotated[int, typer.Option(min=0, help="The same seed writes the same files.")] = 1,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="An option of the task; may be repeated."),
    ] = None,
    force: Annotated[bool, typer.Option(help="Replace files that are there already.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Write a built-in corpus to text files, with gold alignments and trees where it has them."""
    from dragoman.corpus.making import write_task

    sizes: dict[Split, int] = {"train": pairs, "valid": valid, "test": test, "unseen": unseen}
    with Counter("pairs written") as progress:
        files = write_task(
            task,
            out,
            sizes=sizes,
            seed=seed,
            options=dict(_key_value(text) for text in option or []),
            replace=force,
            on_progress=progress,
        )
    if as_json:
        listed = {str(path): n for path, n in files.items()}
        print_json({"task": task, "seed": seed, "sizes": sizes, "files": listed})
    else:
        result(table([(str(path), f"{n:,} lines") for path, n in files.items()]))


def _source(
    src: list[Path] | None,
    tgt: list[Path] | None,
    corpus: list[str] | None = None,
    *,
    src_lang: str | None = None,
    tgt_lang: str | None = None,
) -> CorpusSource:
    from dragoman.corpus.reading import CorpusSource

    source = CorpusSource(
        tuple(src or ()), tuple(tgt or ()), tuple(corpus or ()), src_lang, tgt_lang
    )
    source.check()
    return source


def _key_value(text: str) -> tuple[str, Any]:
    """An option of a task; its value is a number, true, false or a word."""
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise DataError(f"--option {text}: must have the form KEY=VALUE, as in max_length=12")
    if value in ("true", "false"):
        return key, value == "true"
    for number in (int, float):
        try:
            return key, number(value)
        except ValueError:
            continue
    return key, value


def _stats_text(counted: CorpusStats) -> str:
    src, tgt = counted.src, counted.tgt
    rows = [
        ("", "source", "target"),
        ("characters", f"{src.characters:,}", f"{tgt.characters:,}"),
        ("words", f"{src.words:,}", f"{tgt.words:,}"),
        ("distinct words", f"{src.distinct_words:,}", f"{tgt.distinct_words:,}"),
        ("distinct characters", f"{src.distinct_characters:,}", f"{tgt.distinct_characters:,}"),
    ]
    for name, value in src.words_per_sentence.items():
        label = "words a sentence, mean" if name == "mean" else f"  quantile {name}"
        rows.append((label, f"{value:,.1f}", f"{tgt.words_per_sentence[name]:,.1f}"))
    return (
        f"{counted.pairs:,} pairs, {counted.duplicates:,} of them exact duplicates\n"
        f"{table(rows)}\n"
        f"target characters for each of the source: {counted.length_ratio:.3f}"
    )
