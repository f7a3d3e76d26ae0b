"""The ``dragoman`` command: its sub-commands, its errors and its exit codes.

0    done
1    failed while working (no space, no permission, a run that could not go on, a bug of ours)
2    bad usage or bad input: the message says what to change
130  interrupted by Ctrl-C
"""

from __future__ import annotations

import io
import logging
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated

import typer

from dragoman import __version__
from dragoman.cli import (
    average,
    bench,
    corpus,
    demo,
    evaluate,
    explain,
    export,
    info,
    runs,
    score,
    serve,
    train,
    translate,
)
from dragoman.cli.options import examples
from dragoman.cli.output import result, say
from dragoman.errors import DragomanError

INTERRUPTED = 130

app = typer.Typer(
    name="dragoman",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    # Plain help: it comes at once, and square brackets in it stay what they are.
    rich_markup_mode=None,
    epilog=examples(
        "dragoman demo",
        "dragoman train --src train.de --tgt train.en --out runs/deen",
        "dragoman translate runs/deen input.de -o output.en",
    ),
)
app.command(epilog=demo.EPILOG)(demo.demo)
app.add_typer(corpus.app, name="corpus")
app.command(epilog=train.EPILOG)(train.train)
app.command(epilog=translate.EPILOG)(translate.translate)
app.command(epilog=evaluate.EPILOG)(evaluate.evaluate)
app.command(epilog=score.EPILOG)(score.score)
app.command(epilog=explain.EPILOG)(explain.explain)
app.command(epilog=serve.EPILOG)(serve.serve)
app.command(epilog=export.EPILOG)(export.export)
app.command(epilog=average.EPILOG)(average.average)
app.command(epilog=runs.EPILOG)(runs.runs)
app.command(epilog=info.EPILOG)(info.info)
app.add_typer(bench.app, name="bench")


def _print_version(wanted: bool) -> None:
    if wanted:
        result(f"dragoman {__version__}")
        raise typer.Exit


@app.callback()
def dragoman(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error; may stand anywhere.")
    ] = False,
) -> None:
    """Train, run and understand the Transformer of 'Attention Is All You Need'."""


def main(args: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code; errors are told on stderr.

    >>> main(["--version"])
    dragoman 0.1.0
    0
    """
    debug, rest = _take_debug(sys.argv[1:] if args is None else args)
    _use_utf8()
    _show_logs(logging.DEBUG if debug else logging.INFO)
    try:
        code = _run(rest)
        sys.stdout.flush()
    except Exception as error:
        if debug:
            traceback.print_exception(error)
        _drop_unwritten()
        message, code = _explain(error)
        if message:
            say(message)
    return code


def _run(args: Sequence[str]) -> int:
    """The exit code of one command; what it raises because of the user comes through."""
    try:
        typer.main.get_command(app).main(args=list(args), prog_name="dragoman")
    except SystemExit as end:
        if end.code == INTERRUPTED:
            say("interrupted")
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def _explain(error: Exception) -> tuple[str, int]:
    """What to tell about an error, and the exit code."""
    if isinstance(error, DragomanError):
        return f"{error.kind}: {error}", error.exit_code
    if isinstance(error, BrokenPipeError):
        return "", 1  # who was reading has seen enough
    if isinstance(error, OSError):
        place = f": {error.filename}" if error.filename else ""
        reason = error.strerror or str(error)
        is_input = isinstance(error, FileNotFoundError | IsADirectoryError | NotADirectoryError)
        return f"error: {reason}{place}", 2 if is_input else 1
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return "error: out of memory; try a smaller --batch-tokens or train.batch_tokens", 1
    return (
        f"internal error: {type(error).__name__}: {error}\n"
        "  This is a bug in Dragoman. Run the same command with --debug to see where it happened,"
        " and please report it.",
        1,
    )


def _take_debug(args: Sequence[str]) -> tuple[bool, list[str]]:
    """Whether ``--debug`` stands among the options, and the rest of the arguments."""
    options = list(args)
    end = options.index("--") if "--" in options else len(options)
    rest = [arg for arg in options[:end] if arg != "--debug"] + options[end:]
    return len(rest) < len(options), rest


def _use_utf8() -> None:
    """Speak UTF-8 whatever the locale says: a translation must not fail for a letter."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")


def _show_logs(level: int) -> None:
    """Send what the library logs to stderr, as plain lines."""
    logger = logging.getLogger("dragoman")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    logger.handlers = [handler]
    logger.setLevel(level)
    logger.propagate = False


def _drop_unwritten() -> None:
    """Forget output that cannot be written, so that Python does not try again on its way out."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
