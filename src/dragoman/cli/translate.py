"""``dragoman translate``: line in, line out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dragoman.cli.engine_options import (
    EngineOption,
    Int8Option,
    ShortlistOption,
    engine_identity,
    engine_keywords,
)
from dragoman.cli.options import JsonOption, examples
from dragoman.cli.output import print_json, say
from dragoman.errors import ConfigError

if TYPE_CHECKING:
    from dragoman.cli.translate_input import Lines
    from dragoman.decoding.sampling import Sampling
    from dragoman.decoding.settings import TranslateOptions
    from dragoman.decoding.translation import Translation
    from dragoman.decoding.translator import Translator

EPILOG = examples(
    "echo 'Ein Hund rennt.' | dragoman translate runs/deen",
    "dragoman translate runs/deen news.de.gz -o news.en",
    "dragoman translate runs/deen news.de --n-best 5 --beam 10",
    "dragoman translate runs/one --ensemble runs/two --ensemble runs/three news.de",
    "dragoman translate runs/deen news.de --sample --temperature 0.8 --top-p 0.9 --seed 7",
    "dragoman translate runs/deen news.de --shard 2/8 -o news.en.2",
    "dragoman translate runs/deen news.de --engine ctranslate2 --int8",
)


def translate(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run or bundle.")],
    file: Annotated[
        str, typer.Argument(metavar="[FILE|-]", help="Text to translate, also .gz .xz .zst; stdin.")
    ] = "-",
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", help="File to write. A stopped translation of a file is continued."
        ),
    ] = None,
    ensemble: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="RUN",
            help="Another run with the same tokenizer to vote along; may be repeated.",
        ),
    ] = None,
    beam: Annotated[int | None, typer.Option(help="Hypotheses kept at each step.")] = None,
    n_best: Annotated[
        int | None,
        typer.Option(
            help="Translations of each line, best first: with more than one, each is printed as"
            " LINE NUMBER, SCORE, TEXT, with tabs between. An empty line has one."
        ),
    ] = None,
    length_penalty: Annotated[
        float | None, typer.Option(help="Alpha of ((5 + length) / 6)^alpha.")
    ] = None,
    max_extra: Annotated[
        int | None, typer.Option(help="Tokens a translation may have beyond its source's.")
    ] = None,
    sample: Annotated[
        bool, typer.Option("--sample", help="Draw by chance instead of searching.")
    ] = False,
    temperature: Annotated[
        float | None, typer.Option(help="With --sample: below 1 sharper, above 1 wilder.")
    ] = None,
    top_k: Annotated[
        int | None, typer.Option(help="With --sample: only the k likeliest tokens.")
    ] = None,
    top_p: Annotated[
        float | None, typer.Option(help="With --sample: only the likeliest that have p together.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="With --sample: the same, the same again.")
    ] = None,
    prefix: Annotated[
        str | None, typer.Option(help="What every translation must begin with.")
    ] = None,
    scores: Annotated[
        bool, typer.Option("--scores", help="Print SCORE, tab, TEXT; higher is better.")
    ] = False,
    alignments: Annotated[
        bool, typer.Option("--alignments", help="Append a tab and word links: 0-0 1-2 …")
    ] = False,
    batch_tokens: Annotated[
        int, typer.Option(min=1, help="Source tokens of a batch, times the beam.")
    ] = 4096,
    shard: Annotated[
        str | None,
        typer.Option(metavar="I/N", help="Only part I of N of the file; parts join to the whole."),
    ] = None,
    engine: EngineOption = None,
    int8: Int8Option = False,
    shortlist: ShortlistOption = False,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, cuda:1, …; chosen.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Translate a file, or what comes in on stdin, line by line and in order.

    An empty line stays empty. A line longer than the model can take is translated in parts. Lines
    that were split, stopped for lack of room, or went in circles are named on stderr.
    """
    from dragoman.cli.translate_input import open_lines
    from dragoman.decoding.loading import load

    if as_json and out is not None:
        raise ConfigError("--json prints on stdout: leave --out away, or send stdout to a file")
    sampling = _sampling(sample, temperature=temperature, top_k=top_k, top_p=top_p, seed=seed)
    how = engine_keywords(engine, int8, shortlist)
    translator = load(run, *(ensemble or ()), device=device, **how)
    lines = open_lines(file, shard)
    options: TranslateOptions = {
        "beam": beam,
        "n_best": n_best,
        "length_penalty": length_penalty,
        "max_extra": max_extra,
        "batch_tokens": batch_tokens,
        "sampling": sampling,
        "alignments": alignments,
    }
    form = _Form(translator, options, prefix, scores=scores)
    form.described |= engine_identity(run, how)
    if as_json:
        found = [t.to_dict() for _, chunk in form.chunks(lines) for t in chunk]
        print_json({"translations": found})
    elif out is None:
        for _, text in form.texts(lines):
            sys.stdout.write(text)
            sys.stdout.flush()
    else:
        _write(out, lines, form, runs=[run, *(ensemble or ())])
    form.tell_notes()


class _Form:
    """Translates lines and writes the translations as was asked for."""

    def __init__(
        self,
        translator: Translator,
        options: TranslateOptions,
        prefix: str | None,
        *,
        scores: bool,
    ) -> None:
        from dragoman.decoding.settings import SearchSettings

        self.translator, self.options, self.prefix, self.scores = (
            translator,
            options,
            prefix,
            scores,
        )
        settings = SearchSettings.resolve(
            translator.config.decode,
            beam=options["beam"],
            n_best=options["n_best"],
            length_penalty=options["length_penalty"],
            max_extra=options["max_extra"],
            sampling=options["sampling"],
        )
        self.n_best = settings.n_best
        self.described: dict[str, Any] = {
            "search": repr(settings),
            "prefix": prefix,
            "scores": scores,
            "alignments": options["alignments"],
        }
        self.noted: dict[str, list[int]] = {}

    def chunks(self, lines: Lines) -> Iterator[tuple[int, list[Translation]]]:
        """The number of the first line of each chunk, and its translations."""
        from dragoman.cli.translate_progress import Meter

        meter = Meter(lines.total, lines.n_skipped)
        try:
            for first, chunk in lines.chunks():
                self.options["first_line"] = first
                self.options["on_progress"] = meter.within_chunk
                if self.prefix is not None:
                    self.options["prefixes"] = [self.prefix] * len(chunk)
                translations = self.translator.translate(chunk, **self.options)
                self._note(translations, first)
                yield first, translations
                meter.chunk_done(len(chunk))
        finally:
            meter.close()

    def texts(self, lines: Lines) -> Iterator[tuple[int, str]]:
        """The number of lines of each chunk, and what is to be written for it."""
        from dragoman.cli.translate_output import render

        for first, translations in self.chunks(lines):
            numbered = enumerate(translations, first)
            parts = [render(t, n, n_best=self.n_best, scores=self.scores) for n, t in numbered]
            yield len(translations), "".join(parts)

    def _note(self, translations: list[Translation], first: int) -> None:
        for number, translation in enumerate(translations, first):
            for note in translation.notes:
                self.noted.setdefault(note, []).append(number)

    def tell_notes(self) -> None:
        """Name the lines whose translations want a second look."""
        meanings = {
            "split": "longer than the model can take and translated in parts",
            "stopped_at_limit": "stopped for lack of room (--max-extra gives more)",
            "repetition": "stopped because they went in circles",
        }
        for note, numbers in self.noted.items():
            shown = ", ".join(map(str, numbers[:10])) + (", …" if len(numbers) > 10 else "")
            lines = "line" if len(numbers) == 1 else "lines"
            say(f"{len(numbers):,} {lines} {meanings[note]}: {shown}")


def _write(out: Path, lines: Lines, form: _Form, *, runs: list[Path]) -> None:
    """Translate into a file that appears when it is complete, and can be continued until then."""
    from dragoman.cli.translate_resume import Partial, identity

    what = {**form.described, "models": [identity(run) for run in runs], "input": lines.identity}
    partial = Partial.open(out, what)
    if partial.n_lines:
        say(f"going on after line {partial.n_lines:,}, which {partial.path} holds already")
    try:
        for n_lines, text in form.texts(lines.after(partial.n_lines)):
            partial.append(text, n_lines)
    except BaseException:
        if partial.n_lines and lines.identity is not None:
            kept = f"{partial.n_lines:,} lines are kept in {partial.path}"
            say(f"stopped; {kept}, and the same command goes on from there")
        raise
    partial.complete()


def _sampling(
    wanted: bool,
    *,
    temperature: float | None,
    top_k: int | None,
    top_p: float | None,
    seed: int | None,
) -> Sampling | None:
    """How to draw, if that was asked for."""
    given = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
    given = {key: value for key, value in given.items() if value is not None}
    if not wanted:
        if given:
            names = ", ".join("--" + key.replace("_", "-") for key in given)
            raise ConfigError(f"{names}: only with --sample, which draws instead of searching")
        return None
    from dragoman.decoding.sampling import Sampling

    return Sampling(**given)  # type: ignore[arg-type]
