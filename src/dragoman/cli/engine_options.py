"""The options of who computes, alike in every command that translates."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer


class EngineName(StrEnum):
    """Who can compute."""

    torch = "torch"
    ctranslate2 = "ctranslate2"


EngineOption = Annotated[
    EngineName | None,
    typer.Option(
        help="Who computes: torch, or ctranslate2, for which a run is converted once and the"
        " conversion kept in its folder. Without it: torch, or what an export was made for."
    ),
]
Int8Option = Annotated[
    bool,
    typer.Option(
        "--int8",
        help="Compute with 8-bit integers: faster with wide models, less exact.",
    ),
]
ShortlistOption = Annotated[
    bool,
    typer.Option(
        "--shortlist",
        help="Search among the words that the source may bring about, by the list that training"
        " has made: faster, nearly as exact.",
    ),
]


def engine_keywords(engine: EngineName | None, int8: bool, shortlist: bool) -> dict[str, Any]:
    """The keywords of ``load`` that these options stand for.

    >>> engine_keywords(EngineName.torch, True, False)
    {'engine': 'torch', 'int8': True, 'shortlist': False}
    """
    name = None if engine is None else engine.value
    return {"engine": name, "int8": int8, "shortlist": shortlist}


def engine_identity(run: Path, keywords: dict[str, Any]) -> dict[str, Any]:
    """What of the engine decides translations: a stopped one goes on only with the same.

    >>> engine_identity(Path("run"), {"engine": None, "int8": False})
    {}
    """
    note = run / "export.json"  # names what an export was made from
    made = {"export": note.read_text(encoding="utf-8")} if note.is_file() else {}
    return {key: value for key, value in keywords.items() if value} | made
