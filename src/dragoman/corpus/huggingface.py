"""Pairs from a data set of the Hugging Face hub, or of a local folder in its format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dragoman.corpus.pair import Pair
from dragoman.corpus.tables import row_reader
from dragoman.errors import DataError, MissingExtraError


class DatasetName(NamedTuple):
    """A data set, its configuration and its split."""

    name: str
    config: str | None
    split: str


def parse_name(text: str) -> DatasetName:
    """The parts of ``name[:config][@split]``; the split is ``train`` where none is named.

    >>> parse_name("wmt14:de-en@validation")
    DatasetName(name='wmt14', config='de-en', split='validation')
    """
    rest, _, split = text.partition("@")
    name, _, config = rest.partition(":")
    if not name:
        raise DataError(f"{text!r} names no data set; write hf:name, hf:name:config@split")
    return DatasetName(name, config or None, split or "train")


def read_dataset(
    text: str, *, src_lang: str | None = None, tgt_lang: str | None = None
) -> Iterator[Pair]:
    """The pairs of a data set given as ``name[:config][@split]``, streamed as they are needed.

    A row is read like a line of JSONL: ``{"translation": {"de": …, "en": …}}``, or columns named
    by language, ``src``/``tgt`` or ``source``/``target``. The place of a pair is its row.

    >>> next(read_dataset(""))
    Traceback (most recent call last):
    dragoman.errors.DataError: '' names no data set; write hf:name, hf:name:config@split
    """
    name, config, split = parse_name(text)
    try:
        import datasets
    except ImportError:
        raise MissingExtraError("datasets", "hf", f"reading hf:{text}") from None
    file = f"hf:{text}"
    try:
        rows = datasets.load_dataset(name, config, split=split, streaming=True)
    except Exception as error:  # the package raises of every kind: network, names, formats
        reason = str(error).strip().split("\n")[0]
        raise DataError(
            f"{file}: cannot be loaded: {type(error).__name__}: {reason}\n"
            "  Check the name, the configuration (hf:name:config), the split (hf:name@split) and "
            "the network."
        ) from error
    take = None
    for line, row in enumerate(rows, 1):
        place = f"{file}:{line}"
        take = take or row_reader(row, src_lang, tgt_lang, place=place)
        src, tgt = take(row, place)
        yield Pair(src, tgt, file, line)
