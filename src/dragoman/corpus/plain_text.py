"""Pairs from two aligned text files: line n of one is the translation of line n of the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import NoReturn

from dragoman.corpus.files import read_lines
from dragoman.corpus.pair import Pair, excerpt
from dragoman.errors import DataError


class LineCountError(DataError):
    """Two aligned files of different length; the message names the first line without partner."""


def read_pairs(
    src_path: Path | str | Sequence[Path], tgt_path: Path | str | Sequence[Path]
) -> Iterator[Pair]:
    r"""The pairs of two aligned files, or of several on each side, file by file.

    Files may be plain, .gz, .xz or .zst, and each side may differ in that.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     de, en = Path(folder, "t.de"), Path(folder, "t.en")
    ...     _ = de.write_text("ein Hund\nzwei Katzen\n"), en.write_text("a dog\ntwo cats\n")
    ...     [(pair.src, pair.tgt, pair.line) for pair in read_pairs(de, en)]
    [('ein Hund', 'a dog', 1), ('zwei Katzen', 'two cats', 2)]
    """
    src_paths, tgt_paths = _as_list(src_path), _as_list(tgt_path)
    check_sides(src_paths, tgt_paths)
    for src, tgt in zip(src_paths, tgt_paths, strict=True):
        yield from _read_two(src, tgt)


def check_sides(src_paths: Sequence[Path], tgt_paths: Sequence[Path]) -> None:
    """Nothing, or an error where one side has more files than the other."""
    if len(src_paths) != len(tgt_paths):
        raise DataError(
            f"{len(src_paths)} source and {len(tgt_paths)} target files were given:\n"
            f"  source: {', '.join(map(str, src_paths))}\n"
            f"  target: {', '.join(map(str, tgt_paths))}\n"
            "  Give as many files on one side as on the other, in the same order."
        )


def _read_two(src_path: Path, tgt_path: Path) -> Iterator[Pair]:
    src_lines, tgt_lines = read_lines(src_path), read_lines(tgt_path)
    file = str(src_path)
    for line, (src, tgt) in enumerate(zip_longest(src_lines, tgt_lines), 1):
        if src is None:
            _refuse(src_path, tgt_path, line, first=tgt, rest=tgt_lines)
        if tgt is None:
            _refuse(tgt_path, src_path, line, first=src, rest=src_lines)
        yield Pair(src, tgt, file, line)


def _refuse(short: Path, long: Path, line: int, *, first: str, rest: Iterator[str]) -> NoReturn:
    """Raise the error for a file that goes on where its partner has ended."""
    last = line
    try:
        for _ in rest:
            last += 1
    except DataError:
        pass  # what is wrong further on can wait until the line counts agree
    raise LineCountError(
        f"{short.name} ends at line {line - 1:,} but {long.name} goes on to line {last:,}\n"
        f"  {long}:{line}: {excerpt(first)}\n"
        "  Each line must be the translation of the same line in the other file. Add the missing\n"
        "  line, or run `dragoman corpus check` to see where the files drift apart."
    )


def _as_list(paths: Path | str | Sequence[Path]) -> list[Path]:
    return [Path(paths)] if isinstance(paths, Path | str) else [Path(path) for path in paths]
