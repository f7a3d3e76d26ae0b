"""The converted model of a bundle, made once and kept in the bundle's folder.

``RUN/ctranslate2-int8/`` and its like hold what ``write_model`` makes of the bundle, with a
fingerprint of what it was made from: a bundle whose weights have changed is converted again. Where
the folder cannot be written to, the conversion lasts for this process alone.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import logging
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dragoman import __version__, atomic
from dragoman.bundle import CONFIG, TOKENIZER, WEIGHTS, Bundle, read_bundle, read_config
from dragoman.decoding.ctranslate2_conversion import (
    NOTE,
    REVISION,
    Quantization,
    check_convertible,
    ctranslate2,
    write_model,
)
from dragoman.tokenize.tokenizer import Tokenizer

logger = logging.getLogger(__name__)


def converted(path: Path, quantization: Quantization) -> Path:
    """The folder with the model of a bundle as CTranslate2 reads it, converted if need be."""
    check_convertible(read_config(path).model, quantization)
    folder = path / f"ctranslate2-{quantization}"
    made_from = fingerprint(path)
    if _made_from(folder) == made_from:
        return folder
    logger.info("converting %s for CTranslate2 (%s)", path, quantization)
    bundle = read_bundle(path)
    try:
        with replacing_folder(folder) as temporary:
            _convert(bundle, temporary, quantization, made_from)
        return folder
    except OSError as error:
        logger.info("%s cannot be kept (%s): it lasts for this time", folder, error.strerror)
    return _for_this_process(bundle, quantization, made_from)


def fingerprint(path: Path) -> str:
    """A hash of all that decides a conversion: weights, configuration, tokenizer, versions."""
    versions = f"{__version__} {REVISION} {ctranslate2().__version__}"
    digest = hashlib.sha256(versions.encode())
    for file in (path / CONFIG, path / WEIGHTS, *sorted((path / TOKENIZER).rglob("*"))):
        if file.is_file():
            with file.open("rb") as opened:
                digest.update(hashlib.file_digest(opened, "sha256").digest())
    return digest.hexdigest()


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """A temporary folder to fill; it takes the place of ``path`` and of all in it, at the end.

    >>> target = Path(tempfile.mkdtemp()) / "model"
    >>> for word in ("old", "new"):
    ...     with replacing_folder(target) as temporary:
    ...         _ = (temporary / word).write_text(word)
    >>> [file.name for file in target.iterdir()]
    ['new']
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as staging:
        new, old = Path(staging, "new"), Path(staging, "old")
        new.mkdir()
        yield new
        atomic.sync_tree(new)
        if path.exists():
            path.rename(old)
        new.rename(path)
    atomic.sync(path.parent)


def _convert(bundle: Bundle, folder: Path, quantization: Quantization, made_from: str) -> None:
    write_model(
        folder,
        config=bundle.config,
        weights=bundle.weights,
        tokenizer=Tokenizer.load(bundle.tokenizer_dir),
        quantization=quantization,
        note={"made_from": made_from},
    )


def _made_from(folder: Path) -> str | None:
    """The fingerprint of what a conversion was made from; None where there is none."""
    try:
        note = json.loads((folder / NOTE).read_text(encoding="utf-8"))
        return str(note["made_from"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _for_this_process(bundle: Bundle, quantization: Quantization, made_from: str) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="dragoman-ctranslate2-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _convert(bundle, folder, quantization, made_from)
    return folder
