"""Where an export goes, what it takes along from the bundle, and what it says of itself."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.bundle import CONFIG, RECORD, TOKENIZER, WEIGHTS, Bundle
from dragoman.decoding.ctranslate2_conversion import NOTE
from dragoman.errors import BundleError
from dragoman.export.comparison import Comparison


@dataclass(frozen=True)
class Exported:
    """What was written."""

    folder: Path
    format: str
    quantization: str
    n_bytes: int
    comparison: Comparison | None  # None: there was nothing to compare

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, ready for JSON."""
        return {
            "out": str(self.folder),
            "format": self.format,
            "quantization": self.quantization,
            "bytes": self.n_bytes,
            "comparison": None if self.comparison is None else self.comparison.to_dict(),
        }


def check_place(folder: Path, *, force: bool = False) -> None:
    """Raise where an export must not go.

    An earlier export is replaced. Anything else is replaced only by ``force``, and a run or bundle
    not even then.

    >>> check_place(Path("no/such/folder"))
    """
    if not folder.exists() or (folder / NOTE).is_file():
        return
    if not folder.is_dir():
        raise BundleError(f"{folder} is a file; an export is a folder. Choose another name.")
    if (folder / WEIGHTS).exists() or (folder / "checkpoints").exists():
        raise BundleError(f"{folder} holds a model of ours, which an export would replace.")
    if any(folder.iterdir()) and not force:
        raise BundleError(
            f"{folder} exists and is no export: choose another name, or replace all that is in it"
            " with --force"
        )


def copy_parts(bundle: Bundle, folder: Path) -> None:
    """Put the configuration, the tokenizer and the record of the bundle into an export."""
    for part in (CONFIG, RECORD):
        shutil.copyfile(bundle.path / part, folder / part)
    shutil.copytree(bundle.tokenizer_dir, folder / TOKENIZER)


def size_of(folder: Path) -> int:
    """The bytes of all files below."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
