"""A corpus turned into a store once, and found again as long as nothing has changed.

The folder of a store is named by a hash of everything that decides its content: the source as it
describes itself, the bytes of its files, the tokenizer and the settings. So there is no question
whether a store is out of date: another content has another name.
"""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from dragoman.batches.store import VERSION, DamagedStore, Store
from dragoman.batches.store_writer import StoreWriter
from dragoman.config import DataConfig
from dragoman.corpus.clean import Tally, clean
from dragoman.corpus.hashes import hash_set
from dragoman.corpus.pair import Pair
from dragoman.errors import DataError

_log = logging.getLogger(__name__)

CHUNK = 10_000  # pairs that are encoded together: enough to keep all cores busy
SHORT_PIECES = 4  # a side shorter than this counts as this long where lengths are compared
_ATTEMPTS = 5
_ABANDONED_AFTER_SECONDS = 24 * 3600

Progress = Callable[[int, int | None], None]


class Source(Protocol):
    """Where pairs come from: read anew at each call, and the files that they are read from.

    Its ``repr`` says all that decides the pairs besides the files, as that of a dataclass does.
    """

    def pairs(self) -> Iterable[Pair]: ...
    def files(self) -> Sequence[Path]: ...


class Encoder(Protocol):
    """What preparing asks of a tokenizer."""

    @property
    def src_vocab_size(self) -> int: ...
    @property
    def tgt_vocab_size(self) -> int: ...
    def fingerprint(self) -> str: ...
    def encode_batch(
        self, texts: Sequence[str], side: Literal["src", "tgt"]
    ) -> list[list[int]]: ...


def prepare(
    source: Source,
    tokenizer: Encoder,
    config: DataConfig,
    *,
    cache_dir: Path,
    exclude: Sequence[Source] = (),
    on_progress: Progress | None = None,
) -> Store:
    """The store of a corpus: the one in `cache_dir` if nothing has changed, else a new one.

    Pairs are cleaned (:func:`dragoman.corpus.clean.clean`; those of `exclude`, such as the
    validation set, are left out) and encoded. A pair of which a side has more than `max_length`
    pieces is dropped as "too_long", never cut short. Counts by reason are in `store.info`.
    `on_progress` is called with the pairs read so far and their number, where it is known. Several
    processes may prepare the same corpus at once.

    >>> import tempfile
    >>> from dragoman.corpus.reading import CorpusSource
    >>> from dragoman.tokenize.tokenizer import Tokenizer
    >>> config = DataConfig(tokenizer="symbols", max_length=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "corpus.tsv")
    ...     _ = path.write_text("1 2\\t2 1\\n1 2 3 4\\t4 3 2 1\\n3\\t\\n", encoding="utf-8")
    ...     corpus = CorpusSource(corpus=(str(path),))
    ...     tokenizer = Tokenizer.train(corpus.pairs(), config, seed=1)
    ...     store = prepare(corpus, tokenizer, config, cache_dir=Path(folder, "prepared"))
    ...     len(store), dict(store.info.dropped)
    (1, {'empty': 1, 'too_long': 1})
    """
    files = describe_files(source.files())
    key = _key(source, tokenizer, config, files=files, exclude=exclude)
    folder = cache_dir / key
    for attempt in range(_ATTEMPTS):  # more than two only where others remove what we have written
        if (store := _reuse(folder)) is not None:
            if attempt == 0:
                _log.info("%s pairs were prepared before: %s", f"{len(store):,}", folder)
            return store
        _remove_abandoned(cache_dir)
        _build(
            folder,
            source,
            tokenizer=tokenizer,
            config=config,
            exclude=exclude,
            on_progress=on_progress,
            files=files,
        )
    raise DataError(
        f"{folder} is damaged again as soon as it is written.\n"
        "  Check the disk, or name another folder for prepared corpora."
    )


def describe_files(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """Path, size and SHA-256 of each file, as `record.json` keeps them.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "a.txt")
    ...     _ = path.write_text("a")
    ...     describe_files([path])[0]["sha256"][:8]
    'ca978112'
    """
    described = []
    for path in paths:
        try:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise DataError(f"cannot read {path}: {error.strerror or error}") from error
        described.append({"path": str(path), "bytes": path.stat().st_size, "sha256": digest})
    return described


def _key(
    source: Source,
    tokenizer: Encoder,
    config: DataConfig,
    *,
    files: Sequence[Mapping[str, Any]],
    exclude: Sequence[Source],
) -> str:
    """The name of a store: a hash of all that decides its content."""
    decides = {
        "version": VERSION,
        "source": _described(source),
        "files": [entry["sha256"] for entry in files],
        "exclude": [
            (_described(other), [entry["sha256"] for entry in describe_files(other.files())])
            for other in exclude
        ],
        "tokenizer": tokenizer.fingerprint(),
        "max_length": config.max_length,
        "max_length_ratio": config.max_length_ratio,
        "drop_duplicates": config.drop_duplicates,
        "has_text": config.sampling > 0,
    }
    return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()[:24]


def _described(source: Source) -> str:
    """What the source says of itself; if only where it stands in memory, nothing is reused."""
    described = repr(source)
    # An address says nothing of the content, and may come again with another.
    return uuid.uuid4().hex if " at 0x" in described else described


def _reuse(folder: Path) -> Store | None:
    """The store that is there already, if it is whole; one that is not is put out of the way."""
    if not folder.exists():
        return None
    try:
        store = Store.open(folder)
    except DamagedStore as damage:
        _log.warning("prepared corpus is damaged and is made anew: %s", damage)
        aside = folder.with_name(f".{folder.name}.{uuid.uuid4().hex[:12]}.tmp")
        try:
            folder.rename(aside)
        except FileNotFoundError:  # another process was faster
            return None
        shutil.rmtree(aside, ignore_errors=True)
        return None
    return store


def _build(
    folder: Path,
    source: Source,
    *,
    tokenizer: Encoder,
    config: DataConfig,
    exclude: Sequence[Source],
    on_progress: Progress | None,
    files: Sequence[Mapping[str, Any]],
) -> None:
    """Read, clean, encode and write the whole corpus, a chunk at a time."""
    tally = Tally()
    left_out = hash_set(chain.from_iterable(other.pairs() for other in exclude))
    pairs = clean(source.pairs(), config, tally=tally, exclude=left_out if exclude else None)
    has_text = config.sampling > 0
    sizes = {"src_vocab_size": tokenizer.src_vocab_size, "tgt_vocab_size": tokenizer.tgt_vocab_size}
    with StoreWriter(folder, **sizes, has_text=has_text) as writer:
        n_kept = 0
        while chunk := list(islice(pairs, CHUNK)):
            ids = [
                tokenizer.encode_batch([pair.src for pair in chunk], "src"),
                tokenizer.encode_batch([pair.tgt for pair in chunk], "tgt"),
            ]
            kept = _keep(*ids, config=config, dropped=tally.dropped)
            texts = ([chunk[i].src for i in kept], [chunk[i].tgt for i in kept])
            src_ids, tgt_ids = ([side[i] for i in kept] for side in ids)
            writer.append(src_ids, tgt_ids, texts=texts if has_text else None)
            n_kept += len(kept)
            if on_progress is not None:
                on_progress(n_kept + tally.dropped.total(), None)
        if n_kept == 0:
            raise _nothing_left(tally.dropped)
        writer.finish(dropped=+tally.dropped, files=files, tokenizer=tokenizer.fingerprint())


def _keep(
    src_ids: list[list[int]],
    tgt_ids: list[list[int]],
    *,
    config: DataConfig,
    dropped: Counter[str],
) -> list[int]:
    """Which pairs of a chunk stay; the others are counted by reason."""
    lengths = [np.fromiter(map(len, ids), np.int64, len(ids)) for ids in (src_ids, tgt_ids)]
    shorter, longer = np.minimum(*lengths), np.maximum(*lengths)
    is_kept = np.ones(len(shorter), dtype=bool)
    for reason, is_at_fault in (
        ("empty", shorter == 0),  # nothing but what the tokenizer takes for space
        ("too_long", longer > config.max_length),
        ("length_ratio", longer > config.max_length_ratio * np.maximum(shorter, SHORT_PIECES)),
    ):
        dropped[reason] += int((is_kept & is_at_fault).sum())
        is_kept &= ~is_at_fault
    return np.flatnonzero(is_kept).tolist()


def _nothing_left(dropped: Mapping[str, int]) -> DataError:
    reasons = ", ".join(f"{reason} {n:,}" for reason, n in sorted(dropped.items()) if n)
    return DataError(
        f"no pair of the corpus is left to train on (dropped: {reasons or 'none; it is empty'}).\n"
        "  Run `dragoman corpus check`, or raise data.max_length and data.max_length_ratio."
    )


def _remove_abandoned(cache_dir: Path) -> None:
    """Clear away what builders that were killed have left, once it is surely nobody's."""
    for folder in cache_dir.glob(".*.tmp"):
        try:
            newest = max(path.stat().st_mtime for path in (folder, *folder.iterdir()))
        except OSError:  # it went away while we looked
            continue
        if time.time() - newest > _ABANDONED_AFTER_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)
