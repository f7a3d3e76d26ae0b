"""``dragoman average``: one model from several checkpoints of a run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from dragoman.cli.options import JsonOption, examples
from dragoman.cli.output import print_json, result, say
from dragoman.errors import BundleError, ConfigError

EPILOG = examples(
    "dragoman average runs/deen --last 5",
    "dragoman average runs/deen --best 3 -o runs/deen-best3",
)
DEFAULT_LAST = 5  # as the paper does for its base models


def average(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run with its checkpoints.")],
    last: Annotated[
        int | None,
        typer.Option(metavar="K", min=1, help=f"The newest K checkpoints; {DEFAULT_LAST}."),
    ] = None,
    best: Annotated[
        int | None,
        typer.Option(metavar="K", min=1, help="The K checkpoints that validated best."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="A new bundle; without it the run's model is replaced."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write the mean of a run's checkpoints as its model, or as a new bundle.

    Checkpoints stay as they are, so that another mean can be taken at any time.
    """
    from dragoman.bundle import read_config, write_bundle
    from dragoman.training.averaging import average_weights

    if last is not None and best is not None:
        raise ConfigError("--last and --best choose different checkpoints: give one of them")
    config = read_config(run)
    _check_place(out)
    steps = _choose_last(run, last) if best is None else _choose_best(run, best)
    weights = average_weights(run, steps)
    # This mean has not been validated: without the nulls the best step's scores would pass for its.
    chosen = {"from": "average", "steps": steps, "val_loss": None, "val_bleu": None}
    record = {**_read_record(run), "chosen": chosen}
    write_bundle(
        out or run,
        config=config,
        weights={name: weight.float().numpy() for name, weight in weights.items()},
        save_tokenizer=lambda inside: _copy_tokenizer(run, inside),
        record=record,
    )
    named = ", ".join(f"{step:,}" for step in steps)
    say(f"the mean of {len(steps)} checkpoints (steps {named}) is the model of {out or run}")
    if as_json:
        print_json({"out": str(out or run), "steps": steps})
    else:
        result(str(out or run))


def _choose_last(run: Path, k: int | None) -> list[int]:
    """The newest steps; as many as are asked for, or what there is up to the default."""
    from dragoman.training.averaging import choose_last
    from dragoman.training.checkpoint import list_steps

    if k is None:
        return choose_last(run, DEFAULT_LAST)
    steps = choose_last(run, max(k, 1))
    if len(steps) < k:
        _refuse(run, k, list_steps(run), what="checkpoints")
    return steps


def _choose_best(run: Path, k: int) -> list[int]:
    """The steps that validated best among those that still have a checkpoint, in their order."""
    from dragoman.training.averaging import choose_last
    from dragoman.training.checkpoint import list_steps, load_newest

    choose_last(run, 1)  # says so where there is no checkpoint at all
    newest = load_newest(run)
    state = newest.state if newest is not None else None
    ranked = list(dict.fromkeys(state.best_steps(len(state.validations)))) if state else []
    there = set(list_steps(run))
    kept = [step for step in ranked if step in there]
    if len(kept) < k:
        _refuse(run, k, sorted(kept), what="validated checkpoints")
    gone = [step for step in ranked[: ranked.index(kept[k - 1])] if step not in there]
    if gone:
        named = ", ".join(f"{step:,}" for step in gone)
        say(
            f"steps {named} validated better than some that are taken, but their checkpoints were"
            " not kept;\n  train.keep_best sets how many are."
        )
    return sorted(kept[:k])


def _refuse(run: Path, k: int, steps: Sequence[int], *, what: str) -> NoReturn:
    named = ", ".join(f"{step:,}" for step in steps)
    there = f"{run} has {len(steps)} (steps {named})" if steps else f"{run} has none"
    hint = "train.keep_last, train.keep_best and train.checkpoint_every set how many are kept."
    raise BundleError(f"{k} {what} were asked for, and {there}.\n  {hint}")


def _check_place(out: Path | None) -> None:
    if out is not None and out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BundleError(f"{out} exists already: choose another name, or remove it first")


def _copy_tokenizer(run: Path, inside: Path) -> None:
    from dragoman.bundle import TOKENIZER

    if not (run / TOKENIZER).is_dir():
        raise BundleError(f"{run / TOKENIZER} is missing: {run} is not a whole run")
    shutil.copytree(run / TOKENIZER, inside, dirs_exist_ok=True)


def _read_record(run: Path) -> dict[str, Any]:
    """The run's record; a run that was stopped before it could write one has none."""
    from dragoman.bundle import RECORD

    path = run / RECORD
    if not path.is_file():
        return {}
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BundleError(f"{path} is damaged: {error}") from None
    return record
