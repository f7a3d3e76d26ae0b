"""``dragoman explain``: one sentence looked at, and the pictures of the paper's ideas."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dragoman.cli.options import JsonOption, examples
from dragoman.cli.output import print_json, say
from dragoman.errors import ConfigError, DataError

if TYPE_CHECKING:
    from dragoman.decoding.explanation import Explanation
    from dragoman.decoding.heads import Head
    from dragoman.pictures.style import Theme

EPILOG = examples(
    "dragoman explain runs/deen 'Ein Hund rennt.'",
    "dragoman explain runs/deen 'Ein Hund rennt.' -o dog.html",
    "dragoman explain runs/deen 'Ein Hund rennt.' -o dog.png --kind encoder --layer 2 --head 0",
    "dragoman explain runs/deen 'Ein Hund rennt.' -o beam.svg --what beam --beam 8",
    "dragoman explain runs/deen 'Ein Hund rennt.' --head-off decoder.2.cross:0",
    "dragoman explain --what positions -o positions.png",
    "dragoman explain runs/one runs/two --what curves -o curves.png",
)
OF_A_SENTENCE = ("attention", "heads", "causal", "beam", "flow")
WITHOUT_A_RUN = ("positions", "masks", "causal", "schedules", "smoothing")
CURVES = "curves"
KINDS = ("encoder", "decoder", "cross")
PAGE = ".html"


def explain(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN TEXT",
            help="A run or bundle, and one sentence (- reads it from stdin). For --what curves,"
            " one or more runs; for pictures of ideas, nothing.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", help="A page with everything (.html), or a picture (.png, .svg, .pdf)."
        ),
    ] = None,
    what: Annotated[
        str | None,
        typer.Option(
            "--what",
            "--picture",
            help="Of a sentence: attention, heads, causal, beam, flow. Of runs: curves. Of ideas,"
            " without a run: positions, masks, causal, schedules, smoothing.",
        ),
    ] = None,
    kind: Annotated[
        str | None, typer.Option(help="Whose attention: encoder, decoder or cross; cross.")
    ] = None,
    layer: Annotated[
        int | None, typer.Option(help="Its layer, from 0; the heads that align words, or the last.")
    ] = None,
    head: Annotated[int | None, typer.Option(help="Its head, from 0; the mean.")] = None,
    head_off: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME:HEAD",
            help="Do without a head, such as decoder.2.cross:0; may be repeated.",
        ),
    ] = None,
    beam: Annotated[int | None, typer.Option(help="Hypotheses kept at each step.")] = None,
    length_penalty: Annotated[
        float | None, typer.Option(help="Alpha of ((5 + length) / 6)^alpha.")
    ] = None,
    prefix: Annotated[
        str | None, typer.Option(help="What the translation must begin with.")
    ] = None,
    effects: Annotated[
        bool,
        typer.Option(
            "--effects",
            help="With --json: also what each head is worth, and how each alternative goes on.",
        ),
    ] = False,
    dark: Annotated[bool, typer.Option("--dark", help="Light on dark.")] = False,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, cuda:1, …; chosen.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show how a sentence is translated: attention, alignment, alternatives and beam.

    Without -o a short reading is printed. Layers and heads are counted from 0, as in the names:
    encoder.0.self, decoder.2.cross.
    """
    theme: Theme = "dark" if dark else "light"
    given = arguments or []
    _check(what, kind=kind, out=out, as_json=as_json)
    if what == CURVES:
        _draw_curves([Path(run) for run in given], _needed(out, what), theme)
        return
    if what in WITHOUT_A_RUN and not given:
        _draw_idea(what, _needed(out, what), theme)
        return
    run, text = _run_and_text(given, what)
    from dragoman.decoding.loading import load

    explanation = load(run, device=device).explain(
        text,
        beam=beam,
        length_penalty=length_penalty,
        prefix=prefix,
        heads_off=_heads(head_off or []),
        effects=effects or (out is not None and out.suffix == PAGE),
    )
    if out is not None:
        _write(explanation, out, what=what, view=(kind, layer, head), theme=theme)
        say(f"written: {out}")
    if as_json:
        print_json(explanation.to_json())
    elif out is None:
        from dragoman.cli.explain_reading import print_reading

        print_reading(explanation)


def _check(what: str | None, *, kind: str | None, out: Path | None, as_json: bool) -> None:
    """Refuse what cannot be drawn before a model is loaded."""
    from dragoman.config_checks import no_such

    known = list(dict.fromkeys([*OF_A_SENTENCE, CURVES, *WITHOUT_A_RUN]))
    if what is not None and what not in known:
        raise ConfigError(f"--what {what}: {no_such('picture', what, known=known)}")
    if kind is not None and kind not in KINDS:
        raise ConfigError(f"--kind {kind}: {no_such('kind', kind, known=KINDS)}")
    if out is None and what is not None and not as_json:
        _needed(out, what)
    if out is None or (out.suffix == PAGE and what is None):
        return
    if out.suffix == PAGE:
        raise ConfigError(f"{out}: a page shows everything; leave --what away, or name a picture")
    from dragoman.pictures.style import FORMATS

    if out.suffix.lower() not in FORMATS:
        raise ConfigError(
            f"{out}: what is it to be? A page ends with {PAGE}, a picture with"
            f" {', '.join(FORMATS[:-1])} or {FORMATS[-1]}"
        )


def _needed(out: Path | None, what: str) -> Path:
    if out is None:
        raise ConfigError(f"--what {what}: name the picture with -o, such as -o {what}.png")
    return out


def _run_and_text(arguments: list[str], what: str | None) -> tuple[Path, str]:
    if len(arguments) != 2:
        raise typer.BadParameter(
            f"a run and one sentence in quotes are needed, not {len(arguments)} arguments"
            + ("" if what is None or what not in WITHOUT_A_RUN else ", or none at all"),
            param_hint="RUN TEXT",
        )
    run, text = arguments
    if text != "-":
        return Path(run), text
    lines = [line for line in sys.stdin.read().split("\n") if line.strip()]
    if len(lines) != 1:
        raise DataError(f"stdin has {len(lines):,} lines: an explanation is of one sentence")
    return Path(run), lines[0]


def _heads(words: list[str]) -> list[Head]:
    """The heads that ``NAME:HEAD`` name."""
    heads = []
    for word in words:
        name, _, number = word.rpartition(":")
        if not name or not number.isdecimal():
            raise ConfigError(f"--head-off {word}: must be NAME:HEAD, such as decoder.2.cross:0")
        heads.append((name, int(number)))
    return heads


def _write(
    explanation: Explanation, out: Path, *, what: str | None, view: tuple[Any, ...], theme: Theme
) -> None:
    if out.suffix == PAGE:
        from dragoman.pictures.page import write_page

        write_page(explanation.to_json(), out)
        return
    from dragoman.pictures.explained import View, draw_explanation

    chosen: Any = what or "attention"
    draw_explanation(explanation, out, what=chosen, view=View(*view), theme=theme)


def _draw_curves(runs: list[Path], out: Path, theme: Theme) -> None:
    """The training curves of one run, or of several together."""
    from dragoman.pictures.curves import draw_runs, draw_training
    from dragoman.training.metrics import METRICS, read_metrics

    if not runs:
        raise typer.BadParameter("at least one run is needed", param_hint="RUN")
    for run in runs:
        if not (run / METRICS).is_file():
            raise DataError(f"{run / METRICS}: no such file; curves are drawn of training runs")
    if len(runs) == 1:
        draw_training(read_metrics(runs[0]), out, title=runs[0].resolve().name, theme=theme)
    else:
        draw_runs({str(run): read_metrics(run) for run in runs}, out, theme=theme)
    say(f"written: {out}")


def _draw_idea(what: str, out: Path, theme: Theme) -> None:
    """A picture that needs no model."""
    from dragoman.pictures.masks import draw_causal, draw_masks
    from dragoman.pictures.positions import draw_positions
    from dragoman.pictures.schedules import draw_schedules
    from dragoman.pictures.smoothing import draw_smoothing

    draw: dict[str, Any] = {
        "positions": draw_positions,
        "masks": draw_masks,
        "causal": draw_causal,
        "schedules": draw_schedules,
        "smoothing": draw_smoothing,
    }
    draw[what](out, theme=theme)
    say(f"written: {out}")
