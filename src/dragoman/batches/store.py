"""Prepared ids on disk: two memory-mapped arrays a side, so that a corpus may exceed memory.

A store is a folder, written once and never changed:

    src.ids.bin      all source ids one after another, uint16 or uint32 as the vocabulary needs
    src.offsets.bin  int64, one more than there are pairs: pair i is ids[offsets[i]:offsets[i+1]]
    tgt.ids.bin  tgt.offsets.bin
    src.text.bin  src.text_offsets.bin …    the texts too, in UTF-8, where sampling needs them
    meta.json        counts, vocabulary sizes, and size and checksum of each file above

`meta.json` is written last and the folder gets its name only when complete: a store that was cut
short is never taken for a whole one.
"""

from __future__ import annotations

import json
import mmap
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dragoman.errors import DataError

IntArray = NDArray[np.integer[Any]]

SIDES = ("src", "tgt")
META = "meta.json"
VERSION = 1

# Pages that were read stay mapped until the kernel wants them back. A store above this size gives
# them back itself now and then, so that the memory a process seems to use stays small: each row
# that is read maps up to 128 kB around it.
_RELEASE_ABOVE_BYTES = 64 << 20
_RELEASE_EVERY_ROWS = 1024


@dataclass(frozen=True)
class Ragged:
    """Rows of different lengths, end to end.

    >>> rows = Ragged.of([np.array([5, 6]), np.array([7])])
    >>> rows.flat.tolist(), rows.lengths.tolist()
    ([5, 6, 7], [2, 1])
    """

    flat: IntArray
    lengths: IntArray

    @classmethod
    def of(cls, rows: Sequence[IntArray]) -> Ragged:
        lengths = np.fromiter(map(len, rows), np.int64, count=len(rows))
        return cls(np.concatenate(rows) if rows else np.empty(0, np.int64), lengths)


@dataclass(frozen=True, kw_only=True)
class StoreInfo:
    """What `meta.json` says of a store: how it was made and what was left out.

    >>> StoreInfo(n_pairs=2, src_vocab_size=8, tgt_vocab_size=8, dropped={"too_long": 1}).n_read
    3
    """

    n_pairs: int
    src_vocab_size: int
    tgt_vocab_size: int
    has_text: bool = False
    dropped: Mapping[str, int] = field(default_factory=dict)  # reason -> pairs
    files: Sequence[Mapping[str, Any]] = ()  # path, bytes and sha256 of each corpus file
    tokenizer: str = ""  # fingerprint of the tokenizer that made the ids

    @property
    def n_read(self) -> int:
        """Pairs that were read: those kept and those dropped."""
        return self.n_pairs + sum(self.dropped.values())


class DamagedStore(DataError):
    """A folder that is not a whole store: something is missing, cut short or changed."""


class Store:
    """Pairs of ids, read from disk as they are asked for.

    >>> import tempfile
    >>> from dragoman.batches.store_writer import write_store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pairs = [([5, 6], [8]), ([7], [9, 10])]
    ...     store = write_store(Path(folder, "store"), pairs, vocab_size=16)
    ...     len(store), store.src_lengths.tolist(), [side.tolist() for side in store.pair(1)]
    (2, [2, 1], [[7], [9, 10]])
    """

    def __init__(self, folder: Path, info: StoreInfo) -> None:
        self.folder = folder
        self.info = info
        self._ids = {s: _Rows(folder, s, id_type(info, s)) for s in SIDES}
        texts = SIDES if info.has_text else ()
        self._texts = {s: _Rows(folder, f"{s}.text", np.uint8) for s in texts}

    @classmethod
    def open(cls, folder: Path, *, verify: bool = True) -> Store:
        """The store in `folder`; `verify` reads every byte once and compares checksums.

        Raises :class:`DamagedStore` when it is not whole.
        """
        info, files = _read_meta(folder)
        for name, (size, checksum) in files.items():
            path = folder / name
            if not path.is_file() or path.stat().st_size != size:
                raise DamagedStore(f"{path} is missing or not {size:,} bytes long")
            if verify and checksum_of(path) != checksum:
                raise DamagedStore(f"{path} has changed since it was written")
        return cls(folder, info)

    def __len__(self) -> int:
        return self.info.n_pairs

    @property
    def src_lengths(self) -> NDArray[np.int32]:
        """Pieces of each source sentence, EOS not counted."""
        return self._ids["src"].lengths

    @property
    def tgt_lengths(self) -> NDArray[np.int32]:
        """Pieces of each target sentence, EOS not counted."""
        return self._ids["tgt"].lengths

    def pair(self, index: int) -> tuple[IntArray, IntArray]:
        """Source and target ids of one pair."""
        src, tgt = self.gather(np.array([index]))
        return src.flat, tgt.flat

    def gather(self, indices: IntArray) -> tuple[Ragged, Ragged]:
        """Source and target ids of the given pairs, in the order given."""
        return self._ids["src"].gather(indices), self._ids["tgt"].gather(indices)

    def texts(self, indices: IntArray) -> tuple[list[str], list[str]]:
        """Source and target texts of the given pairs; kept only in a store made for sampling."""
        if not self._texts:
            raise DataError(
                f"{self.folder} keeps no text, which sampling needs.\n"
                "  Prepare the corpus again with data.sampling above 0."
            )
        src, tgt = (self._texts[side].strings(indices) for side in SIDES)
        return src, tgt


class _Rows:
    """One side of a store: flat values and the offsets of its rows, both memory-mapped."""

    def __init__(self, folder: Path, name: str, dtype: type[np.generic]) -> None:
        kind = "_offsets" if name.endswith(".text") else ".offsets"
        values = name if name.endswith(".text") else f"{name}.ids"
        self._values, self._map = _mapped(folder / f"{values}.bin", dtype)
        self._offsets, self._offsets_map = _mapped(folder / f"{name}{kind}.bin", np.int64)
        self._rows_since_release = 0

    @property
    def lengths(self) -> NDArray[np.int32]:
        lengths = np.empty(len(self._offsets) - 1, np.int32)
        np.subtract(self._offsets[1:], self._offsets[:-1], out=lengths, casting="unsafe")
        self._release()
        return lengths

    def gather(self, indices: IntArray) -> Ragged:
        starts = self._offsets[indices]
        lengths = self._offsets[indices + 1] - starts
        # Where each id stands: row i starts at starts[i], and its ids follow one another.
        shift = starts - (np.cumsum(lengths) - lengths)
        flat = self._values[np.arange(int(lengths.sum())) + np.repeat(shift, lengths)]
        self._rows_since_release += len(indices)
        if self._rows_since_release >= _RELEASE_EVERY_ROWS:
            self._release()
        return Ragged(flat, lengths)

    def strings(self, indices: IntArray) -> list[str]:
        rows = self.gather(indices)
        ends = np.cumsum(rows.lengths)
        data = rows.flat.tobytes()
        return [data[e - n : e].decode() for e, n in zip(ends, rows.lengths, strict=True)]

    def _release(self) -> None:
        self._rows_since_release = 0
        for mapped in (self._map, self._offsets_map):
            if mapped is not None and len(mapped) > _RELEASE_ABOVE_BYTES:
                advice = getattr(mmap, "MADV_DONTNEED", None)  # not on every system
                if advice is not None:
                    mapped.madvise(advice)


def _mapped(path: Path, dtype: type[np.generic]) -> tuple[NDArray[Any], mmap.mmap | None]:
    """The file as a read-only array; an empty file, which cannot be mapped, as an empty one."""
    if path.stat().st_size == 0:
        return np.empty(0, dtype), None
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return np.frombuffer(mapped, dtype=dtype), mapped


def id_type(info: StoreInfo, side: str) -> type[np.unsignedinteger[Any]]:
    """The smallest type that holds every id of one side."""
    size = info.src_vocab_size if side == "src" else info.tgt_vocab_size
    return np.uint16 if size <= 1 << 16 else np.uint32


def checksum_of(path: Path) -> int:
    """CRC-32 of a file, read piece by piece."""
    checksum = 0
    with path.open("rb") as file:
        while block := file.read(1 << 22):
            checksum = zlib.crc32(block, checksum)
    return checksum


def _read_meta(folder: Path) -> tuple[StoreInfo, dict[str, tuple[int, int]]]:
    """What `meta.json` says, and size and checksum of each file; anything odd is damage."""
    try:
        meta = json.loads((folder / META).read_text(encoding="utf-8"))
        if meta["version"] != VERSION:
            raise DamagedStore(f"{folder} was written by another version")
        files = {name: (int(size), int(crc)) for name, (size, crc) in meta["checksums"].items()}
        return StoreInfo(**meta["info"]), files
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedStore(f"{folder / META} cannot be read: {error}") from error
