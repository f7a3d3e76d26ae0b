"""``dragoman bench``: our speed and memory beside those of others, in one run, as ratios."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from dragoman.cli.bench_output import (
    common_facts,
    count_cores,
    prepare_text,
    read_peers,
    read_presets,
    say_case,
    show,
)
from dragoman.cli.options import JsonOption, examples
from dragoman.cli.output import print_json, result, say, table
from dragoman.errors import ConfigError

if TYPE_CHECKING:
    from dragoman.bench.peer import Peer
    from dragoman.bench.work import Kind

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Measure speed and memory beside torch.nn.Transformer and every installed peer.",
)

PresetsOption = Annotated[
    str, typer.Option("--presets", metavar="NAMES", help="Sizes, such as tiny,base.")
]
PeerOption = Annotated[
    list[str] | None,
    typer.Option(
        "--peer", metavar="NAME", help="Measure this one; may be repeated. Without it, all."
    ),
]
RepeatsOption = Annotated[int, typer.Option(min=1, help="Rounds that count, after a warm-up.")]
ThreadsOption = Annotated[
    int | None, typer.Option(min=1, help="Threads of each process; all cores if not given.")
]
SrcOption = Annotated[
    Path | None,
    typer.Option("--src", metavar="FILE", help="Source text; without it a corpus that is there."),
]
TgtOption = Annotated[
    Path | None, typer.Option("--tgt", metavar="FILE", help="Target text, line by line.")
]
VocabOption = Annotated[
    int, typer.Option("--vocab", min=100, metavar="V", help="Pieces of the BPE vocabulary.")
]


@app.command(
    epilog=examples(
        "dragoman bench train",
        "dragoman bench train --presets tiny --threads 1 --json",
        "dragoman bench train --peer dragoman --peer torch.nn.Transformer",
    )
)
def train(
    presets: PresetsOption = "tiny,base",
    peer: PeerOption = None,
    repeats: RepeatsOption = 5,
    threads: ThreadsOption = None,
    src: SrcOption = None,
    tgt: TgtOption = None,
    vocab: VocabOption = 10_000,
    batch_tokens: Annotated[
        int | None, typer.Option(min=1, help="Target tokens of a batch; by preset if not given.")
    ] = None,
    batches: Annotated[
        int | None, typer.Option(min=1, help="Batches of a turn; by preset if not given.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Train on the same batches of real text, in float32, and compare target tokens a second.

    Batches of like lengths, as our loader makes them, then the same sentences in random order.
    """
    from dragoman.bench.training import SIZES, TrainSize, measure_training

    names, peers = read_presets(presets), read_peers(peer)
    text = prepare_text(src, tgt, vocab_size=vocab)
    n_threads = threads or count_cores()
    sizes = {
        name: TrainSize(batch_tokens or SIZES[name].batch_tokens, batches or SIZES[name].n_batches)
        for name in names
    }
    cases = chain.from_iterable(
        measure_training(
            text,
            peers,
            preset=name,
            size=size,
            repeats=repeats,
            threads=n_threads,
            on_case=say_case,
        )
        for name, size in sizes.items()
    )
    facts = common_facts(
        "train",
        peers,
        threads=n_threads,
        repeats=repeats,
        text=text.name,
        vocab_size=text.vocab_size,
    )
    show(facts, cases, as_json=as_json)


@app.command(
    epilog=examples(
        "dragoman bench decode",
        "dragoman bench decode --presets tiny --repeats 1 --sentences 4",
        "dragoman bench decode --real runs/deen --src test.de --sentences 200",
    )
)
def decode(
    presets: PresetsOption = "tiny,base",
    peer: PeerOption = None,
    repeats: RepeatsOption = 5,
    threads: ThreadsOption = None,
    src: SrcOption = None,
    tgt: TgtOption = None,
    vocab: VocabOption = 10_000,
    sentences: Annotated[
        int | None, typer.Option(min=1, help="Sentences to decode; by preset if not given.")
    ] = None,
    tokens: Annotated[int, typer.Option(min=1, help="Tokens that every sentence gets.")] = 20,
    real: Annotated[
        Path | None,
        typer.Option(
            "--real",
            metavar="RUN",
            help="Translate the lines of --src with this model, each to its own end.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Decode the same sources: in batches of 32 greedily and with a beam of 5, and one by one.

    Every sentence gets the same number of tokens, so that nobody wins by stopping early.
    """
    names, peers = read_presets(presets), read_peers(peer)
    n_threads = threads or count_cores()
    if real is not None:
        _decode_real(
            real,
            src,
            sentences=sentences,
            peers=peers,
            repeats=repeats,
            threads=n_threads,
            as_json=as_json,
        )
        return
    from dragoman.bench.decoding import measure_decoding

    text = prepare_text(src, tgt, vocab_size=vocab)
    cases = chain.from_iterable(
        measure_decoding(
            text,
            peers,
            preset=name,
            n_sentences=sentences,
            n_tokens=tokens,
            repeats=repeats,
            threads=n_threads,
            on_case=say_case,
        )
        for name in names
    )
    facts = common_facts(
        "decode",
        peers,
        threads=n_threads,
        repeats=repeats,
        text=text.name,
        vocab_size=text.vocab_size,
    )
    show(facts, cases, as_json=as_json)


@app.command(
    epilog=examples(
        "dragoman bench scaling -o scaling.png",
        "dragoman bench scaling --axis length --kind train --points 4",
    )
)
def scaling(
    axis: Annotated[
        list[str] | None,
        typer.Option(help="length, batch, vocabulary, d_model or layers; may be repeated."),
    ] = None,
    kind: Annotated[
        Literal["train", "decode", "both"], typer.Option(help="What is done at each point.")
    ] = "both",
    points: Annotated[
        int | None, typer.Option(min=2, help="Only the first points of each curve.")
    ] = None,
    repeats: RepeatsOption = 3,
    threads: ThreadsOption = None,
    picture: Annotated[
        Path | None, typer.Option("-o", metavar="FILE", help="Draw the curves (.png, .svg, .pdf).")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure how our time and memory grow, and fit the exponents.

    Against sentence length, batch, vocabulary, width and layers; one grows, the others stay.
    """
    from dragoman.bench.report import curve_rows
    from dragoman.bench.scaling import AXES, measure_scaling

    if picture is not None:
        from dragoman.pictures.style import check_format

        check_format(picture)
    n_threads = threads or count_cores()
    kinds = ["train", "decode"] if kind == "both" else [kind]
    curves = measure_scaling(
        kinds=cast("list[Kind]", kinds),
        axes=axis or list(AXES),
        points=points,
        repeats=repeats,
        threads=n_threads,
        on_curve=say_case,
    )
    if picture is not None:
        from dragoman.bench.scaling_picture import draw_scaling

        draw_scaling(curves, picture)
        say(f"drawn: {picture}")
    listed = [curve.to_dict() for curve in curves]
    if as_json:
        facts = {"threads": n_threads, "repeats": repeats, "precision": "float32"}
        print_json({"what": "scaling", **facts, "curves": listed})
    else:
        result(f"exponents of growth, {n_threads} threads, float32")
        result(table(curve_rows(listed)))


def _decode_real(
    bundle: Path,
    src: Path | None,
    *,
    sentences: int | None,
    peers: Sequence[Peer],
    repeats: int,
    threads: int,
    as_json: bool,
) -> None:
    """The part of ``decode`` that uses a trained model."""
    from itertools import islice

    from dragoman.bench.decoding import measure_real
    from dragoman.corpus.files import read_lines

    if src is None:
        raise ConfigError("--real needs lines to translate: give them with --src")
    texts = list(islice(read_lines(src), sentences))
    cases = measure_real(bundle, texts, peers, repeats=repeats, threads=threads, on_case=say_case)
    facts = common_facts(
        "decode", peers, threads=threads, repeats=repeats, text=src.name, vocab_size=None
    )
    show({**facts, "bundle": str(bundle)}, cases, as_json=as_json)
