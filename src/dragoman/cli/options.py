"""Options that several commands share, so that they read and work alike everywhere."""

from __future__ import annotations

from typing import Annotated

import typer

SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="TABLE.KEY=VALUE",
        help="Set any key of the configuration, such as model.norm=pre; may be repeated.",
    ),
]

JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else there.")
]


def examples(*commands: str) -> str:
    """The end of a command's ``--help``: commands to copy, one a line.

    >>> print(examples("dragoman info base").replace(chr(8), "(as it is)"))
    Examples:
    <BLANKLINE>
    (as it is)
      dragoman info base
    """
    # \b on a line of its own keeps the help formatter from joining the lines below it.
    return "Examples:\n\n\b\n" + "\n".join(f"  {command}" for command in commands)
