"""``dragoman runs``: the runs below a folder side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dragoman.cli.options import JsonOption, examples
from dragoman.cli.output import human_count, print_json, result, say, table
from dragoman.errors import DataError

EPILOG = examples("dragoman runs", "dragoman runs experiments --json")


def runs(
    folder: Annotated[Path, typer.Argument(help="Where to look.")] = Path("runs"),
    json: JsonOption = False,
) -> None:
    """List the runs at or below a folder with their size, time and validation scores."""
    from dragoman.runs.listing import list_runs

    if not folder.is_dir():
        raise DataError(
            f"no such folder: {folder}\n  Runs are where `dragoman train --out` put them."
        )
    found = list_runs(folder)
    if json:
        print_json({"runs": [run.to_dict() for run in found]})
        return
    if not found:
        say(f"no runs below {folder}")
        return
    rows = [("run", "steps", "params", "minutes", "tok/s", "val loss", "val BLEU", "")]
    for run in found:
        rows.append(
            (
                str(run.path),
                f"{run.steps:,}",
                "" if run.params is None else human_count(run.params),
                _number(run.minutes, ".1f"),
                _number(run.tokens_per_second, ",.0f"),
                _number(run.val_loss, ".4f"),
                _number(run.val_bleu, ".2f"),
                run.state,
            )
        )
    result(table(rows))


def _number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)
