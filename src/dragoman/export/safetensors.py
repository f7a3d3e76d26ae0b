"""Export to safetensors: a bundle of its own, without what a run keeps beside it.

The weights of a bundle are in this format as they are; any program that reads safetensors reads
them, and the names are those of ``dragoman.model``.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from dragoman.bundle import read_bundle, write_bundle
from dragoman.errors import BundleError, ConfigError
from dragoman.export.folder import Exported, size_of


def export_safetensors(
    path: Path, out: Path, *, quantization: str = "float32", force: bool = False
) -> Exported:
    """Write the bundle that a run holds as a folder of its own; weights are copied bit for bit."""
    if quantization != "float32":
        raise ConfigError(f"--quantization {quantization}: a bundle of ours holds float32 alone")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        hint = " (--force is for exports alone)" if force else ""
        raise BundleError(f"{out} exists: choose another name, or remove it first{hint}")
    bundle = read_bundle(path)
    write_bundle(
        out,
        config=bundle.config,
        weights=bundle.weights,
        save_tokenizer=lambda inside: _copy(bundle.tokenizer_dir, inside),
        record=bundle.record,
    )
    return Exported(out, "safetensors", quantization, size_of(out), None)


def _copy(tokenizer: Path, inside: Path) -> None:
    shutil.copytree(tokenizer, inside, dirs_exist_ok=True)
