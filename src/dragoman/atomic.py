"""Files and folders that are there whole or not at all, also after a crash or on a full disk.

New content goes to a temporary name beside its place, is flushed to the disk, and takes the place
by one rename. Whatever fails before that rename leaves what was there, and no litter.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary name to write a file to; it takes the place of ``path`` when the block ends.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "numbers.txt"
    >>> with replacing(target) as temporary:
    ...     _ = temporary.write_text("1 2 3")
    >>> target.read_text()
    '1 2 3'
    """
    temporary = _beside(path)
    try:
        yield temporary
        sync(temporary)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync(path.parent)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A temporary folder to fill; it becomes ``path``, which must not exist, when the block ends.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "bundle"
    >>> with new_folder(target) as temporary:
    ...     _ = (temporary / "a.txt").write_text("a")
    >>> [file.name for file in target.iterdir()]
    ['a.txt']
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = _beside(path)
    temporary.mkdir()
    try:
        yield temporary
        sync_tree(temporary)
        # A rename would silently take the place of an empty folder.
        if path.exists():
            raise FileExistsError(f"{path} has come to exist meanwhile")
        os.rename(temporary, path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    sync(path.parent)


def write_bytes(path: Path, data: bytes) -> None:
    """Make ``data`` the whole content of a file."""
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def write_text(path: Path, text: str) -> None:
    """Make ``text`` the whole content of a file, in UTF-8 and with its line ends as they are.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "word.txt"
    >>> write_text(target, "Straße")
    >>> target.read_text(encoding="utf-8")
    'Straße'
    """
    write_bytes(path, text.encode("utf-8"))


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Make one JSON object, indented for readers, the whole content of a file."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def sync(path: Path) -> None:
    """Have the system put a file, or the entries of a folder, on the disk now."""
    if path.is_dir() and os.name == "nt":
        return  # Windows keeps no handle of a folder; its renames are journalled
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_tree(folder: Path) -> None:
    """Have the system put a folder and all in it on the disk now."""
    for path in [*folder.rglob("*"), folder]:
        sync(path)


def _beside(path: Path) -> Path:
    """A name next to ``path``, on the same file system, that nobody else uses."""
    return path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}.tmp")
