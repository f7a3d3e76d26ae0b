"""Writes a store: pairs are appended as they come, and the folder appears only when it is whole.

Everything goes to a folder of a name of its own, which is renamed at the end. Two processes that
write the same store at once never meet: the first to rename wins, the other throws its copy away.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np

from dragoman.batches.store import META, SIDES, VERSION, Store, StoreInfo, id_type
from dragoman.errors import DataError


class StoreWriter:
    """A store in the making; what :meth:`finish` has not been called on leaves nothing behind.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     folder = Path(parent, "store")
    ...     with StoreWriter(folder, src_vocab_size=100, tgt_vocab_size=70_000) as writer:
    ...         writer.append([[5, 6]], [[8]])
    ...         _ = writer.finish(dropped={"too_long": 3})
    ...     sorted(path.name for path in folder.iterdir())
    ['meta.json', 'src.ids.bin', 'src.offsets.bin', 'tgt.ids.bin', 'tgt.offsets.bin']
    """

    def __init__(
        self, folder: Path, *, src_vocab_size: int, tgt_vocab_size: int, has_text: bool = False
    ) -> None:
        self._folder = folder
        self._temporary = folder.with_name(f".{folder.name}.{uuid.uuid4().hex[:12]}.tmp")
        self._info = StoreInfo(
            n_pairs=0,
            src_vocab_size=src_vocab_size,
            tgt_vocab_size=tgt_vocab_size,
            has_text=has_text,
        )
        self._n_pairs = 0
        self._files: dict[str, _CheckedFile] = {}
        with _told_as_data_error(folder):
            self._temporary.mkdir(parents=True)
            for side in SIDES:
                self._open(f"{side}.ids.bin", f"{side}.offsets.bin")
                if has_text:
                    self._open(f"{side}.text.bin", f"{side}.text_offsets.bin")

    def _open(self, values: str, offsets: str) -> None:
        self._files[values] = _CheckedFile(self._temporary / values)
        self._files[offsets] = _CheckedFile(self._temporary / offsets)
        self._files[offsets].write(np.zeros(1, np.int64).tobytes())

    def append(
        self,
        src_ids: Sequence[Sequence[int]],
        tgt_ids: Sequence[Sequence[int]],
        *,
        texts: tuple[Sequence[str], Sequence[str]] | None = None,
    ) -> None:
        """Add pairs at the end; `texts` are their sides as strings, for a store with text."""
        with _told_as_data_error(self._folder):
            for side, rows in zip(SIDES, (src_ids, tgt_ids), strict=True):
                ids = np.fromiter(chain.from_iterable(rows), id_type(self._info, side))
                self._write(f"{side}.ids.bin", f"{side}.offsets.bin", ids, rows)
            for side, lines in zip(SIDES, texts or (), strict=False):
                encoded = [line.encode() for line in lines]
                data = np.frombuffer(b"".join(encoded), np.uint8)
                self._write(f"{side}.text.bin", f"{side}.text_offsets.bin", data, encoded)
        self._n_pairs += len(src_ids)

    def _write(self, values: str, offsets: str, data: Any, rows: Sequence[Sequence[int]]) -> None:
        start = self._files[values].size // data.itemsize
        lengths = np.fromiter(map(len, rows), np.int64, count=len(rows))
        self._files[values].write(data.tobytes())
        self._files[offsets].write((start + np.cumsum(lengths)).tobytes())

    def finish(
        self,
        *,
        dropped: Mapping[str, int] | None = None,
        files: Sequence[Mapping[str, Any]] = (),
        tokenizer: str = "",
    ) -> bool:
        """Make the store appear under its name; False when another process was there first."""
        info = asdict(self._info) | {
            "n_pairs": self._n_pairs,
            "dropped": dict(dropped or {}),
            "files": list(files),
            "tokenizer": tokenizer,
        }
        with _told_as_data_error(self._folder):
            for file in self._files.values():
                file.close()
            checksums = {name: (file.size, file.crc) for name, file in self._files.items()}
            meta = {"version": VERSION, "info": info, "checksums": checksums}
            with (self._temporary / META).open("w", encoding="utf-8") as out:
                json.dump(meta, out, indent=1)
                out.flush()
                os.fsync(out.fileno())
        try:
            self._temporary.rename(self._folder)
        except OSError:  # the name is taken: by a store as good as this one
            if not self._folder.is_dir():
                raise
            return False
        return True

    def __enter__(self) -> StoreWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for file in self._files.values():
            file.close(sync=False)
        shutil.rmtree(self._temporary, ignore_errors=True)


def write_store(
    folder: Path, pairs: Sequence[tuple[Sequence[int], Sequence[int]]], *, vocab_size: int
) -> Store:
    """The store of pairs of ids that are in memory already, such as those of a small task.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     len(write_store(Path(folder, "store"), [([5, 6], [7])], vocab_size=8))
    1
    """
    with StoreWriter(folder, src_vocab_size=vocab_size, tgt_vocab_size=vocab_size) as writer:
        writer.append([src for src, _ in pairs], [tgt for _, tgt in pairs])
        writer.finish()
    return Store.open(folder)


class _CheckedFile:
    """A file being written, with its size and checksum so far."""

    def __init__(self, path: Path) -> None:
        self._file: BinaryIO = path.open("wb")
        self.size = 0
        self.crc = 0

    def write(self, data: bytes) -> None:
        self._file.write(data)
        self.size += len(data)
        self.crc = zlib.crc32(data, self.crc)

    def close(self, *, sync: bool = True) -> None:
        if self._file.closed:
            return
        try:
            if sync:
                self._file.flush()
                os.fsync(self._file.fileno())
        finally:
            self._file.close()


@contextmanager
def _told_as_data_error(folder: Path) -> Iterator[None]:
    """A full disk or a forbidden folder is a user's to mend, and is said so."""
    try:
        yield
    except OSError as error:
        raise DataError(
            f"cannot write the prepared corpus to {folder}: {error.strerror or error}\n"
            "  Free some space there, or name another folder for prepared corpora."
        ) from error
