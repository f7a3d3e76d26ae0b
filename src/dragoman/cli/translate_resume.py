"""A file that grows under a temporary name, can be continued, and takes its name when complete.

Beside ``OUT`` stand ``OUT.part`` with what is translated so far and ``OUT.part.json`` with how much
of it is good, and of what: a changed model, input or setting starts from the beginning.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman import atomic
from dragoman.bundle import CONFIG, TOKENIZER, WEIGHTS
from dragoman.errors import DataError


@dataclass
class Partial:
    """The part of an output that is there."""

    out: Path
    what: Mapping[str, Any]  # all that decides the translations
    n_lines: int = 0  # lines of the input that are translated
    n_bytes: int = 0  # length of what was written for them

    @property
    def path(self) -> Path:
        """The file that grows."""
        return self.out.with_name(self.out.name + ".part")

    @property
    def note(self) -> Path:
        """The file that says how much of it is good."""
        return self.out.with_name(self.out.name + ".part.json")

    @classmethod
    def open(cls, out: Path, what: Mapping[str, Any]) -> Partial:
        """What is there of an output already, if it is of the same translation; else nothing."""
        if out.is_dir():
            raise DataError(f"{out} is a folder; --out names a file")
        if not out.absolute().parent.is_dir():
            raise DataError(f"the folder {out.parent} of --out does not exist")
        partial = cls(out, what)
        n_lines, n_bytes = partial._stored()
        if n_lines:
            partial.n_lines, partial.n_bytes = n_lines, n_bytes
            os.truncate(partial.path, n_bytes)  # a chunk that was cut short is done again
        else:
            partial.path.write_bytes(b"")
            partial.note.unlink(missing_ok=True)
        return partial

    def append(self, text: str, n_lines: int) -> None:
        """Write what so many lines became, so that it lasts."""
        data = text.encode("utf-8")
        with self.path.open("ab") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        self.n_lines += n_lines
        self.n_bytes += len(data)
        if self.what.get("input") is not None:  # stdin cannot be taken up again
            progress = {"lines": self.n_lines, "bytes": self.n_bytes}
            atomic.write_json(self.note, {"what": self.what, **progress})

    def complete(self) -> None:
        """Give the file its name."""
        os.replace(self.path, self.out)
        self.note.unlink(missing_ok=True)

    def _stored(self) -> tuple[int, int]:
        """Lines and bytes that are good for this translation."""
        try:
            stored = json.loads(self.note.read_text(encoding="utf-8"))
            n_lines, n_bytes = int(stored["lines"]), int(stored["bytes"])
            same = stored["what"] == json.loads(json.dumps(self.what))
            is_there = self.path.stat().st_size >= n_bytes
        except (OSError, ValueError, KeyError, TypeError):
            return 0, 0
        return (n_lines, n_bytes) if same and is_there else (0, 0)


def identity(run: Path) -> str:
    """A hash of all in a bundle that decides its translations."""
    digest = hashlib.sha256()
    paths = [run / CONFIG, run / WEIGHTS, *sorted((run / TOKENIZER).rglob("*"))]
    for path in paths:
        if path.is_file():
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()
