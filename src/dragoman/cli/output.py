"""Where the words of a command go: results to stdout, everything else to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any


def result(text: str) -> None:
    """Write a result, and a line end, to stdout."""
    print(text)


def print_json(value: Mapping[str, Any]) -> None:
    """Write one JSON object to stdout; a command with ``--json`` writes nothing else there."""
    print(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def say(text: str) -> None:
    """Write a line to stderr: progress, notes, warnings, errors."""
    print(text, file=sys.stderr, flush=True)


def is_terminal() -> bool:
    """Whether somebody watches stderr, so that a bar is better than plain lines."""
    return sys.stderr.isatty()


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows as aligned, indented text: the first column to the left, the others to the right.

    >>> print(table([("encoder", "1,000"), ("output", "90")]))
      encoder  1,000
      output      90
    """
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        cells = [first.ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  " + "  ".join(cells).rstrip())
    return "\n".join(lines)


def human_count(number: float) -> str:
    """A large number with three figures or more, as papers write it.

    >>> human_count(63_082_496), human_count(512)
    ('63.1 M', '512')
    """
    for unit, name in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= unit:
            return f"{number / unit:.1f} {name}"
    return f"{number:g}"


def human_bytes(n_bytes: int) -> str:
    """A size as a person would say it.

    >>> human_bytes(3 * 2**20), human_bytes(999)
    ('3.0 MiB', '999 B')
    """
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:.1f} {name}"
    return f"{n_bytes} B"
