"""Lines to translate, in chunks: from a file, from a part of a file, or from stdin as they come."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from dragoman.corpus.files import read_lines
from dragoman.errors import ConfigError, DataError, DragomanError

CHUNK_LINES = 1024  # translated together, and written together
BLOCK_SIZE = 1 << 16


@dataclass(frozen=True)
class Lines:
    """Lines ``start`` to ``end`` (counted from 0) of a file; of stdin all there are."""

    path: Path | None  # None: stdin
    start: int = 0
    end: int | None = None
    n_skipped: int = 0  # lines at the beginning that are already done
    identity: str | None = None  # a hash of the text; None: it cannot be read twice

    @property
    def total(self) -> int | None:
        """How many lines there are, those done included; None: nobody knows."""
        return None if self.end is None else self.end - self.start

    def after(self, n_lines: int) -> Lines:
        """The same lines without the first so many."""
        return replace(self, n_skipped=n_lines)

    def chunks(self) -> Iterator[tuple[int, list[str]]]:
        """The number (from 1) of the first line of each chunk, and its lines."""
        if self.path is None:
            chunks, number = stdin_chunks(sys.stdin.buffer), 1
        else:
            first = self.start + self.n_skipped
            chunks, number = in_chunks(islice(read_lines(self.path), first, self.end)), first + 1
        for chunk in chunks:
            yield number, chunk
            number += len(chunk)


def open_lines(file: str, shard: str | None) -> Lines:
    """The lines of a file (``-``: stdin), or of one shard of it.

    A file is read once before anything is translated: a bad line is told before hours of work.
    """
    if file == "-":
        if shard is not None:
            raise ConfigError("--shard needs a file: the lines of stdin cannot be counted first")
        return Lines(None)
    part, n_parts = _parse_shard(shard or "1/1")
    path, digest, n_lines = Path(file), hashlib.sha256(), 0
    for line in read_lines(path):
        digest.update(line.encode() + b"\n")
        n_lines += 1
    start, end = (part - 1) * n_lines // n_parts, part * n_lines // n_parts
    identity = f"{digest.hexdigest()} {start} {end}"
    return Lines(path, start, end, identity=identity)


def _parse_shard(text: str) -> tuple[int, int]:
    first, slash, second = text.partition("/")
    if slash and first.isdecimal() and second.isdecimal() and 1 <= int(first) <= int(second):
        return int(first), int(second)
    raise ConfigError(f"--shard {text}: must be I/N with 1 <= I <= N, such as 2/8")


def in_chunks(lines: Iterable[str], size: int = CHUNK_LINES) -> Iterator[list[str]]:
    """Lines in lists of a size; those before an error are given before it.

    >>> list(in_chunks(["a", "b", "c"], size=2))
    [['a', 'b'], ['c']]
    """
    chunk: list[str] = []
    try:
        for line in lines:
            chunk.append(line)
            if len(chunk) == size:
                yield chunk
                chunk = []
    except DragomanError:
        if chunk:
            yield chunk
        raise
    if chunk:
        yield chunk


def stdin_chunks(stream: BinaryIO) -> Iterator[list[str]]:
    r"""Whole lines as they come: whoever sends one line and waits gets its translation at once.

    >>> import io
    >>> list(stdin_chunks(io.BufferedReader(io.BytesIO(b"ein Hund\r\n\nzwei"))))
    [['ein Hund', ''], ['zwei']]
    """
    held, n_lines = b"", 0
    # `read1` gives what has arrived, and waits only where nothing has.
    while block := stream.read1(BLOCK_SIZE):  # type: ignore[attr-defined]
        if n_lines == 0:
            block = (held + block).removeprefix(b"\xef\xbb\xbf")
            held = b""
        *whole, rest = block.split(b"\n")
        if not whole:
            held += rest
            continue
        whole[0] = held + whole[0]
        held = rest
        for chunk in in_chunks(_decoded(whole, n_lines)):
            yield chunk
            n_lines += len(chunk)
    if held:
        yield list(_decoded([held], n_lines))


def _decoded(lines: list[bytes], n_before: int) -> Iterator[str]:
    for number, line in enumerate(lines, n_before + 1):
        try:
            yield line.removesuffix(b"\r").decode("utf-8")
        except UnicodeDecodeError as error:
            raise DataError(
                f"stdin:{number}: byte {error.start + 1} of the line is"
                f" 0x{line[error.start]:02x}, which is not UTF-8 here\n"
                "  Convert the text first, for example with: iconv -f latin1 -t utf-8"
            ) from None
