"""A bundle: the folder that is a whole model, read and written as NumPy arrays, without torch.

    config.toml          the four tables of the configuration
    tokenizer/           whatever the tokenizer saves of itself
    model.safetensors    the weights, always float32 (NumPy has no bfloat16 to read them with)
    record.json          how the model came to be

Nothing in it is code, and nothing of it is executed on loading. A run is a bundle with more files
beside these four, which reading ignores and writing leaves alone.

A new bundle appears by one rename of its folder. In an existing folder each part is exchanged by a
rename of its own. While a run trains, configuration and tokenizer stay the same, so that a reader
sees the old model or the new one, whole. Should they change too, a reader could come between two
renames; the weights carry a note of what they belong to, and such a reader gets an error, never a
mixture.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dragoman import atomic
from dragoman.config import Config, ModelConfig
from dragoman.config_loading import (
    config_from_dict,
    config_from_toml,
    config_to_dict,
    config_to_toml,
)
from dragoman.errors import BundleError, ConfigError

CONFIG, TOKENIZER, WEIGHTS, RECORD = "config.toml", "tokenizer", "model.safetensors", "record.json"
PARTS = (CONFIG, TOKENIZER, WEIGHTS, RECORD)


@dataclass(frozen=True)
class Bundle:
    """What a bundle holds.

    >>> folder = Path(tempfile.mkdtemp()) / "mine"
    >>> config = Config(model=ModelConfig(d_model=2, n_heads=1, vocab_size=5))
    >>> weights = {"embedding.weight": np.ones((5, 2), np.float32)}
    >>> write_bundle(folder, config=config, weights=weights,
    ...              save_tokenizer=lambda inside: None, record={"seed": 1})
    >>> bundle = read_bundle(folder)
    >>> bundle.config == config, bundle.weights["embedding.weight"].shape, bundle.record
    (True, (5, 2), {'seed': 1})
    """

    path: Path
    config: Config
    weights: dict[str, NDArray[np.float32]]
    tokenizer_dir: Path
    record: dict[str, Any]


def is_bundle(folder: Path) -> bool:
    """Whether this is a folder that holds, or is meant to hold, a model.

    >>> is_bundle(Path("no/such/folder"))
    False
    """
    return (folder / CONFIG).is_file()


def read_bundle(folder: Path) -> Bundle:
    """All that a bundle or run holds; what is missing or damaged is named."""
    _require_parts(folder)
    config = read_config(folder)
    weights, notes = _read_weights(folder / WEIGHTS)
    _check_notes(folder, config, notes)
    return Bundle(
        path=folder,
        config=config,
        weights=weights,
        tokenizer_dir=folder / TOKENIZER,
        record=_read_record(folder / RECORD),
    )


def read_config(folder: Path) -> Config:
    """The configuration of a bundle or run, without the rest."""
    path = folder / CONFIG
    if not path.is_file():
        _require_parts(folder)
    try:
        return config_from_toml(path.read_text(encoding="utf-8"), str(path))
    except UnicodeDecodeError:
        raise BundleError(f"{path} is damaged: not UTF-8") from None
    except ConfigError as error:
        raise BundleError(
            f"{path} cannot be used:\n  {error}\n"
            "  A newer version of Dragoman may have made it, or a hand changed it."
        ) from None


def write_bundle(
    folder: Path,
    *,
    config: Config,
    weights: Mapping[str, NDArray[Any]],
    save_tokenizer: Callable[[Path], None],
    record: Mapping[str, Any],
) -> None:
    """Make ``folder`` hold this model, so that it is never seen half written.

    ``save_tokenizer`` is called with an empty folder to fill. Other files of an existing folder
    stay as they are.
    """

    def fill(inside: Path) -> None:
        (inside / TOKENIZER).mkdir()
        save_tokenizer(inside / TOKENIZER)
        (inside / CONFIG).write_text(config_to_toml(config), encoding="utf-8")
        model_note = json.dumps(config_to_dict(config)["model"])
        notes = {"model": model_note, "tokenizer": _hash_folder(inside / TOKENIZER)}
        _write_weights(inside / WEIGHTS, weights, notes=notes)
        # safetensors makes a file for its owner alone; a model may be read by whom the rest may be.
        (inside / WEIGHTS).chmod((inside / CONFIG).stat().st_mode)
        atomic.write_json(inside / RECORD, record)

    if folder.exists() and not folder.is_dir():
        raise BundleError(f"{folder} is a file; a bundle is a folder. Choose another name.")
    if not folder.exists():
        with atomic.new_folder(folder) as temporary:
            fill(temporary)
        return
    with tempfile.TemporaryDirectory(prefix=".new-bundle-", dir=folder) as staging:
        fill(Path(staging))
        atomic.sync_tree(Path(staging))
        _exchange(Path(staging), folder)


def _exchange(staging: Path, folder: Path) -> None:
    """Move the parts that differ into place, the weights after what they belong to."""
    if _hash_folder(staging / TOKENIZER) != _hash_folder(folder / TOKENIZER):
        if (folder / TOKENIZER).exists():
            os.rename(folder / TOKENIZER, staging / "old-tokenizer")
        os.rename(staging / TOKENIZER, folder / TOKENIZER)
    for part in (CONFIG, WEIGHTS, RECORD):
        os.replace(staging / part, folder / part)
    atomic.sync(folder)


# --- parts ---------------------------------------------------------------------------------------


def _require_parts(folder: Path) -> None:
    """Raise, saying what there is, unless the four parts are in the folder."""
    if folder.is_file():
        raise BundleError(f"{folder} is a file; give the folder that holds {', '.join(PARTS)}")
    if not folder.is_dir():
        raise BundleError(f"no such bundle or run: {folder}")
    missing = [part for part in PARTS if not (folder / part).exists()]
    if not missing:
        return
    names = sorted(f"{p.name}/" if p.is_dir() else p.name for p in folder.iterdir())
    there = ", ".join(name for name in names if not name.startswith(".")) or "nothing"
    message = f"{folder} is not a whole bundle: {', '.join(missing)} missing, {there} there"
    if (folder / "checkpoints").is_dir():
        message += (
            "\n  It looks like a run that has not ended; go on with `dragoman train --resume`."
        )
    raise BundleError(message)


def _write_weights(
    path: Path, weights: Mapping[str, NDArray[Any]], *, notes: dict[str, str]
) -> None:
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    for name, array in weights.items():
        if not np.issubdtype(array.dtype, np.floating):
            raise BundleError(f"the weight {name} is {array.dtype}; weights are floating numbers")
    tensors = {name: np.ascontiguousarray(w, dtype=np.float32) for name, w in weights.items()}
    try:
        save_file(tensors, path, metadata={"format": "np", **notes})
    except SafetensorError as error:
        # Said in its words alone; the caller asks an OSError for its number.
        number = re.search(r"os error (\d+)", str(error))
        code = int(number[1]) if number else errno.EIO
        raise OSError(code, os.strerror(code), str(path)) from error


def _read_weights(path: Path) -> tuple[dict[str, NDArray[np.float32]], dict[str, str]]:
    """The arrays of a weights file, and the notes on what they belong to."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as file:
            weights = {
                name: file.get_tensor(name).astype(np.float32, copy=False)
                for name in file.keys()  # noqa: SIM118 - it is no dict
            }
            return weights, file.metadata() or {}
    except (SafetensorError, OSError, TypeError, ValueError) as error:
        raise BundleError(
            f"{path} is damaged: {error}\n  Copy the bundle again, or take a checkpoint of its run."
        ) from None


def _check_notes(folder: Path, config: Config, notes: Mapping[str, str]) -> None:
    """Raise if the weights belong to another model or tokenizer than those beside them."""
    wrong = []
    if "model" in notes and _noted_shape(notes["model"]) != _shape(config.model):
        wrong.append(f"another [model] table than {folder / CONFIG}")
    if "tokenizer" in notes and notes["tokenizer"] != _hash_folder(folder / TOKENIZER):
        wrong.append(f"another tokenizer than {folder / TOKENIZER}")
    if wrong:
        raise BundleError(
            f"{folder / WEIGHTS} was made with {' and '.join(wrong)}.\n"
            "  The bundle was being replaced, or a part of it was changed: read it again, or copy"
            " it anew."
        )


def _shape(model: ModelConfig) -> ModelConfig:
    """What the weights must agree with; dropout leaves no trace in them and may be changed."""
    return replace(model, dropout=0.0, attention_dropout=0.0, feed_forward_dropout=None)


def _noted_shape(note: str) -> ModelConfig | None:
    """The shape that a note tells of; None where it makes no sense here."""
    try:
        return _shape(config_from_dict({"model": json.loads(note)}).model)
    except (ValueError, ConfigError):
        return None


def _read_record(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BundleError(f"{path} is damaged: {error}") from None
    if not isinstance(record, dict):
        raise BundleError(f"{path} is damaged: not a JSON object")
    return record


def _hash_folder(folder: Path) -> str:
    """One hash of the names and contents of all files below; '' where there is no folder."""
    if not folder.is_dir():
        return ""
    total = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        total.update(path.relative_to(folder).as_posix().encode() + b"\0")
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()
