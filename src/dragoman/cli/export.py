"""``dragoman export``: the model in the format of another program."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dragoman.cli.options import JsonOption, examples
from dragoman.cli.output import human_bytes, print_json, result, say

if TYPE_CHECKING:
    from dragoman.export.folder import Exported

EPILOG = examples(
    "dragoman export runs/deen --to ctranslate2 -o deen-ct2 --quantization int8",
    "dragoman translate deen-ct2 news.de",
    "dragoman export runs/deen --to onnx -o deen-onnx",
    "dragoman export runs/deen --to safetensors -o deen-bundle",
)


class Format(StrEnum):
    """What can be exported to."""

    ctranslate2 = "ctranslate2"
    onnx = "onnx"
    safetensors = "safetensors"


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run or bundle.")],
    to: Annotated[
        Format,
        typer.Option(
            help="ctranslate2: fast, on CPU and GPU; onnx: runs nearly everywhere; safetensors: a"
            " bundle of ours without what a run keeps beside it."
        ),
    ],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="DIR", help="Folder to write.")],
    quantization: Annotated[
        str,
        typer.Option(
            help="How weights are stored. ctranslate2: float32, int8, int8_float32, int16,"
            " float16, bfloat16; onnx: float32, int8; safetensors: float32."
        ),
    ] = "float32",
    force: Annotated[
        bool, typer.Option("--force", help="Replace a folder that is no export, and all in it.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Write a model for CTranslate2 or ONNX, and compare it with ours on 100 sentences.

    The comparison, by tokens and by scores, is told on stderr and kept in DIR/export.json. An
    export that rounds nothing (float32) and does not say the same is an error. What
    `--to ctranslate2` writes can be translated with like a bundle, but for word alignments.
    """
    done = _export(to, run, out, {"quantization": quantization, "force": force})
    if done.comparison is not None:
        say(f"compared: {done.comparison.summary}")
    if as_json:
        print_json(done.to_dict())
    else:
        say(f"{done.format}, {done.quantization}, {human_bytes(done.n_bytes)}")
        result(str(done.folder))


def _export(to: Format, run: Path, out: Path, options: dict[str, Any]) -> Exported:
    if to is Format.ctranslate2:
        from dragoman.export.ctranslate2 import export_ctranslate2

        return export_ctranslate2(run, out, **options)
    if to is Format.onnx:
        from dragoman.export.onnx import export_onnx

        return export_onnx(run, out, **options)
    from dragoman.export.safetensors import export_safetensors

    return export_safetensors(run, out, **options)
