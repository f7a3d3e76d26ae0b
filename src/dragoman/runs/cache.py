"""Where prepared corpora and trained tokenizers are kept, so that nothing is done twice."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from dragoman import atomic
from dragoman.batches.prepare import describe_files
from dragoman.config import DataConfig
from dragoman.errors import TokenizerError
from dragoman.runs.sources import Source
from dragoman.tokenize.tokenizer import Tokenizer

# What decides a tokenizer, besides the text it is trained on.
_DECIDING = [
    "tokenizer",
    "vocab_size",
    "joint_vocab",
    "min_frequency",
    "lowercase",
    "byte_fallback",
    "placeholders",
    "src_lang",
    "tgt_lang",
    "max_length_ratio",
    "drop_duplicates",
]


def cache_dir() -> Path:
    """``$DRAGOMAN_CACHE``, or ``dragoman`` in the user's folder for caches."""
    named = os.environ.get("DRAGOMAN_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dragoman"


def tokenizer_key(sources: Sequence[Source], config: DataConfig, *, seed: int) -> str:
    """A name for the tokenizer of this text and these settings: another content, another name."""
    settings = asdict(config)
    decides = {
        "sources": [repr(source) for source in sources],
        "files": [file["sha256"] for source in sources for file in describe_files(source.files())],
        "settings": {key: settings[key] for key in _DECIDING},
        "seed": seed,
    }
    return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()[:24]


def cached_tokenizer(
    key: str,
    pairs: Callable[[], Iterable[Sequence[str]]],
    config: DataConfig,
    *,
    seed: int,
    folder: Path,
) -> Tokenizer:
    """The tokenizer of this name, trained on ``pairs()`` unless it has been before."""
    path = folder / key
    if path.is_dir():
        try:
            return Tokenizer.load(path)
        except TokenizerError:
            shutil.rmtree(path, ignore_errors=True)
    tokenizer = Tokenizer.train(pairs(), config, seed=seed)
    try:
        with atomic.new_folder(path) as inside:
            tokenizer.save(inside)
    except FileExistsError:
        pass  # another process was as far at the same time, with the same result
    return tokenizer
