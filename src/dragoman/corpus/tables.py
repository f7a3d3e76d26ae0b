"""Pairs from tables: tab-separated values, and JSON objects one a line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dragoman.corpus.files import read_lines
from dragoman.corpus.languages import find_language
from dragoman.corpus.pair import Pair, excerpt, one_line
from dragoman.errors import DataError

# Names a column may have, after the languages themselves.
COLUMN_NAMES = (("src", "tgt"), ("source", "target"))
Row = Mapping[str, Any]


def read_tsv(
    path: Path, *, src_lang: str | None = None, tgt_lang: str | None = None
) -> Iterator[Pair]:
    r"""The pairs of a file with a tab between source and target, and nothing quoted.

    Without a header there must be exactly two columns, source first. With a first line that names
    ``src`` and ``tgt``, ``source`` and ``target``, or the two languages asked for, the columns may
    stand in any order among others.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "t.tsv")
    ...     _ = path.write_text("id\ten\tde\n7\ta dog\tein Hund\n")
    ...     [pair[:2] for pair in read_tsv(path, src_lang="de", tgt_lang="en")]
    [('ein Hund', 'a dog')]
    """
    file = str(path)
    src, tgt, n_columns = 0, 1, 2
    for line, text in enumerate(read_lines(path), 1):
        cells = text.split("\t")
        if line == 1 and (names := find_columns(cells, src_lang, tgt_lang)):
            src, tgt, n_columns = cells.index(names[0]), cells.index(names[1]), len(cells)
            continue
        if len(cells) != n_columns:
            raise DataError(
                f"{file}:{line}: {len(cells)} columns where there should be {n_columns}\n"
                f"  {excerpt(text)}\n"
                "  A line is source, tab, target. With more columns, the first line must name "
                "them:\n  src and tgt, or the languages given by --src-lang and --tgt-lang."
            )
        yield Pair(cells[src], cells[tgt], file, line)


def read_jsonl(
    path: Path, *, src_lang: str | None = None, tgt_lang: str | None = None
) -> Iterator[Pair]:
    r"""The pairs of a file with one JSON object a line.

    The object holds ``src`` and ``tgt``, or ``source`` and ``target``, or the two languages, either
    itself or one level down under ``translation``. A line break inside a text becomes a space; an
    empty line is passed over.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "t.jsonl")
    ...     _ = path.write_text('{"translation": {"de": "ein Hund", "en": "a dog"}}\n')
    ...     [pair[:2] for pair in read_jsonl(path, src_lang="de", tgt_lang="en")]
    [('ein Hund', 'a dog')]
    """
    file = str(path)
    take: Callable[[Row, str], tuple[str, str]] | None = None
    for line, text in enumerate(read_lines(path), 1):
        if not text.strip():
            continue
        row = _parse(text, f"{file}:{line}")
        if take is None:
            take = row_reader(row, src_lang, tgt_lang, place=f"{file}:{line}")
        src, tgt = take(row, f"{file}:{line}")
        if "\\u" in text:
            _check_surrogates(src + tgt, f"{file}:{line}")
        yield Pair(src, tgt, file, line)


def find_columns(
    names: Sequence[str], src_lang: str | None, tgt_lang: str | None
) -> tuple[str, str] | None:
    """The names of the source and target columns, as they are written, or None.

    >>> find_columns(["id", "en-GB", "de"], "de", "en")
    ('de', 'en-GB')
    >>> find_columns(["Source", "Target"], None, None)
    ('Source', 'Target')
    """
    wanted = list(COLUMN_NAMES)
    if src_lang and tgt_lang:
        src, tgt = find_language(src_lang, names), find_language(tgt_lang, names)
        if src is not None and tgt is not None and src != tgt:
            return src, tgt
    lower = {name.strip().lower(): name for name in reversed(names)}
    return next(((lower[s], lower[t]) for s, t in wanted if s in lower and t in lower), None)


def row_reader(
    row: Row, src_lang: str | None, tgt_lang: str | None, *, place: str
) -> Callable[[Row, str], tuple[str, str]]:
    """A function from a row and its place to (source, target), made by looking at the first row."""
    inner = row.get("translation")
    names = find_columns(list(row), src_lang, tgt_lang)
    nested = names is None and isinstance(inner, Mapping)
    if nested:
        names = find_columns(list(inner), src_lang, tgt_lang)  # type: ignore[arg-type]
    if names is None:
        keys = list(inner) if isinstance(inner, Mapping) else list(row)
        raise DataError(
            f"{place}: no source and target among the keys {', '.join(map(repr, keys))}\n"
            "  Name them src and tgt, or say which languages to take with --src-lang and "
            "--tgt-lang."
        )
    src_name, tgt_name = names

    def take(row: Row, place: str) -> tuple[str, str]:
        try:
            texts = row["translation"] if nested else row
            src, tgt = texts[src_name], texts[tgt_name]
        except (KeyError, TypeError):
            raise DataError(
                f"{place}: has no {src_name!r} and {tgt_name!r}, which the first row has"
            ) from None
        if not isinstance(src, str) or not isinstance(tgt, str):
            raise DataError(f"{place}: {src_name!r} and {tgt_name!r} must both be text")
        return one_line(src), one_line(tgt)

    return take


def _parse(text: str, place: str) -> Row:
    try:
        row = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise DataError(
            f"{place}: not JSON: {error}\n  {excerpt(text)}\n  Each line must be one JSON object."
        ) from None
    if not isinstance(row, Mapping):
        raise DataError(f"{place}: not a JSON object: {excerpt(text)}")
    return row


def _check_surrogates(text: str, place: str) -> None:
    r"""JSON can spell half a character (``\ud83d`` alone), which no UTF-8 file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = ascii(text[error.start])
        raise DataError(
            f"{place}: {half} is half of a surrogate pair and no character\n"
            "  Write the character itself, or both halves."
        ) from None
