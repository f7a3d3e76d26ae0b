"""Lines of a UTF-8 text file, plain or compressed, with errors that name file, line and byte.

Three rules keep both sides of a corpus in step: lines end at ``\\n`` and nowhere else (a "line
separator" inside a sentence is a character like any other), a ``\\r`` before it and a byte-order
mark at the start are no part of the text, and a byte that is not UTF-8 stops the reading.
"""

from __future__ import annotations

import difflib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from dragoman.errors import DataError

BLOCK_SIZE = 1 << 20
COMPRESSIONS = (".gz", ".xz", ".zst")
_UTF8_MARK = b"\xef\xbb\xbf"


class BadEncodingError(DataError):
    """A byte that is not UTF-8; the message names file, line and byte."""


class _DamagedError(Exception):
    """A compressed file that ends too early or does not decompress."""


def without_compression(path: Path) -> Path:
    """The path without the suffix of a compression: the name that tells the format.

    >>> without_compression(Path("memory.tmx.gz")).name
    'memory.tmx'
    """
    return path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path


def read_lines(path: Path, *, encoding: str = "utf-8") -> Iterator[str]:
    r"""The lines of a text file, without their ends, read and decoded in large blocks.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.de"
    ...     _ = path.write_bytes(b"\xef\xbb\xbfein Hund\r\nzwei\xe2\x80\xa8Katzen\n")
    ...     list(read_lines(path))
    ['ein Hund', 'zwei\u2028Katzen']
    """
    n_lines = 0
    try:
        for block in _whole_lines(_blocks(path)):
            try:
                lines = _split(block.decode(encoding))
            except UnicodeDecodeError as error:
                # What stands before the bad line is good, and is given before the error.
                good, bad_start = _cut_before(block, error.start)
                if bad_start:
                    yield from _split(good.decode(encoding))
                n_lines += block.count(b"\n", 0, bad_start)
                raise _bad_byte(path, n_lines + 1, block[bad_start:], error, bad_start) from None
            yield from lines
            n_lines += len(lines)
    except _DamagedError as error:
        raise DataError(
            f"{path}:{n_lines}: the last good line, because the file is {error}\n"
            "  Copy or download the file again, whole."
        ) from None


def read_blocks(path: Path) -> Iterator[bytes]:
    """The decompressed bytes of a file, in blocks."""
    try:
        yield from _blocks(path)
    except _DamagedError as error:
        raise DataError(f"{path} is {error}\n  Copy or download the file again, whole.") from None


def check_is_file(path: Path) -> None:
    """Nothing, or a DataError which names the files that are there instead."""
    if path.is_dir():
        raise DataError(f"{path} is a folder, and a file is needed here.")
    if path.exists():
        return
    folder = path.parent
    if not folder.is_dir():
        raise DataError(f"no such file: {path}\n  The folder {folder} does not exist either.")
    names = sorted(entry.name for entry in folder.iterdir() if entry.is_file())
    near = difflib.get_close_matches(path.name, names, n=3, cutoff=0.5) or names[:5]
    there = f"In {folder} there is: {', '.join(near)}" if near else f"{folder} holds no file."
    raise DataError(f"no such file: {path}\n  {there}")


def _blocks(path: Path) -> Iterator[bytes]:
    """Decompressed blocks as they come, none of them empty."""
    import lzma
    import zlib

    check_is_file(path)
    suffix = path.suffix.lower()
    try:
        with path.open("rb") as raw:
            if suffix == ".zst":
                yield from _zst_blocks(raw)
                return
            stream = _decompressed(raw, suffix)
            # `read1` gives what there is, so that the data before a damage is not lost with it.
            while block := stream.read1(BLOCK_SIZE):
                yield block
    except EOFError:
        raise _DamagedError("cut short: its compressed data stops before the end.") from None
    except (zlib.error, lzma.LZMAError) as error:
        raise _DamagedError(f"damaged, or not a {suffix} file: {error}.") from None
    except OSError as error:
        if suffix == ".gz" and error.errno is None:  # gzip.BadGzipFile: header or checksum
            raise _DamagedError(f"damaged, or not a .gz file: {error}.") from None
        raise DataError(f"cannot read {path}: {error.strerror}") from None


def _decompressed(raw: io.BufferedReader, suffix: str) -> io.BufferedReader:
    """A stream of plain bytes over a plain, gzip or xz file."""
    if suffix == ".gz":
        import gzip

        return cast(io.BufferedReader, gzip.GzipFile(fileobj=raw))
    if suffix == ".xz":
        import lzma

        return cast(io.BufferedReader, lzma.LZMAFile(raw))
    return raw


def _zst_blocks(raw: IO[bytes]) -> Iterator[bytes]:
    """Blocks of a Zstandard file of one or more frames.

    Done with decompression objects because the package's own stream reader takes a file that is cut
    short for a whole one.
    """
    import zstandard

    frame = None
    try:
        while data := raw.read(BLOCK_SIZE // 4):
            while data:
                frame = frame or zstandard.ZstdDecompressor().decompressobj()
                if block := frame.decompress(data):
                    yield block
                data = frame.unused_data if frame.eof else b""
                if frame.eof:
                    frame = None
    except zstandard.ZstdError as error:
        raise _DamagedError(f"damaged, or not a .zst file: {error}.") from None
    if frame is not None:
        raise EOFError


def _whole_lines(blocks: Iterator[bytes]) -> Iterator[bytes]:
    r"""The same bytes cut at line ends; the ``\n`` at each cut is left out."""
    held: list[bytes] = []  # a list, so that a line longer than many blocks is joined only once
    mark = _UTF8_MARK
    for block in blocks:
        end = block.rfind(b"\n")
        if end < 0:
            held.append(block)
            continue
        held.append(block[:end])
        yield b"".join(held).removeprefix(mark)
        mark = b""
        held = [block[end + 1 :]]
    if rest := b"".join(held).removeprefix(mark):
        yield rest


def _split(text: str) -> list[str]:
    lines = text.split("\n")
    if "\r" in text:
        lines = [line[:-1] if line.endswith("\r") else line for line in lines]
    return lines


def _cut_before(block: bytes, position: int) -> tuple[bytes, int]:
    """The whole lines before the line that holds a position, and where that line starts."""
    start = block.rfind(b"\n", 0, position) + 1
    return block[: max(0, start - 1)], start


def _bad_byte(
    path: Path, line: int, data: bytes, error: UnicodeDecodeError, offset: int
) -> BadEncodingError:
    """The error for a byte that is not UTF-8, with advice by the look of the line."""
    text = data.split(b"\n", 1)[0]
    byte = error.object[error.start]
    column = error.start - offset
    guess = "utf-16" if text[:2] in (b"\xff\xfe", b"\xfe\xff") else "latin1"
    shown = text[max(0, column - 20) : column + 20].decode("latin1")
    return BadEncodingError(
        f"{path}:{line}: byte {column + 1} of the line is 0x{byte:02x}, which is not "
        f"{error.encoding.upper()} here\n"
        f"  …{''.join(c if c.isprintable() else '�' for c in shown)}…\n"
        f"  If the file is in another encoding, convert it first, for example:\n"
        f"  iconv -f {guess} -t utf-8 {path.name} > {path.stem}.utf8{path.suffix}"
    )
