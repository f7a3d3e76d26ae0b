"""A saved tokenizer read back from its folder, each fault named with its file."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from dragoman.config import DataConfig, TokenizerKind
from dragoman.errors import ConfigError, TokenizerError
from dragoman.tokenize.pieces import PieceModel
from dragoman.tokenize.subwords import Subwords
from dragoman.tokenize.training import vocabulary_model
from dragoman.tokenize.vocabulary import Vocabulary
from dragoman.tokenize.words import spacy_version

FORMAT = 1
_TYPES = {
    "tokenizer": str,
    "joint_vocab": bool,
    "lowercase": bool,
    "byte_fallback": bool,
    "placeholders": list,
    "src_lang": str,
    "tgt_lang": str,
}
_log = logging.getLogger(__name__)


def settled_config(settings: Mapping[str, Any]) -> DataConfig:
    """The config that holds these settings and nothing else.

    >>> settled_config({"tokenizer": "bpe", "placeholders": ["<NAME>"]}).placeholders
    ('<NAME>',)
    """
    return DataConfig(**{**settings, "placeholders": tuple(settings.get("placeholders", ()))})


def read_settings(path: Path) -> tuple[DataConfig, str | None]:
    """What ``tokenizer.json`` says: the config, and the library whose rules were used."""
    content = _read(path)
    try:
        settings = json.loads(content.decode("utf-8"))
    except ValueError as error:
        raise TokenizerError(f"{path}: damaged ({error})") from None
    if not isinstance(settings, dict) or settings.pop("format", None) != FORMAT:
        raise TokenizerError(
            f"{path}: not a tokenizer of format {FORMAT}, the only one this version reads"
        )
    trained_with = settings.pop("trained_with", None)
    for key, value in settings.items():
        if key not in _TYPES or not isinstance(value, _TYPES[key]):
            raise TokenizerError(f"{path}: {key} = {value!r} is not a setting of a tokenizer")
    kind = settings.get("tokenizer")
    if kind not in get_args(TokenizerKind):
        allowed = ", ".join(get_args(TokenizerKind))
        raise TokenizerError(f"{path}: tokenizer = {kind!r}: must be one of {allowed}")
    try:
        config = settled_config(settings)
    except ConfigError as error:
        raise TokenizerError(f"{path}: {error}") from None
    if kind == "words":
        _warn_of_other_rules(trained_with, path)
    return config, trained_with


def read_models(folder: Path, config: DataConfig) -> tuple[PieceModel, PieceModel]:
    """The piece models of source and target."""
    if not config.joint_vocab:
        return (
            _read_model(folder / "source", config, config.src_lang),
            _read_model(folder / "target", config, config.tgt_lang),
        )
    src_model = _read_model(folder / "joint", config, config.src_lang)
    if isinstance(src_model, Subwords):  # one object is enough for both
        return src_model, src_model
    return src_model, _read_model(folder / "joint", config, config.tgt_lang)


def _read_model(stem: Path, config: DataConfig, lang: str | None) -> PieceModel:
    if config.tokenizer in ("bpe", "unigram"):
        path = stem.with_suffix(Subwords.suffix)
        return Subwords(_read(path), config, name=str(path))
    path = stem.with_suffix(".json")
    return vocabulary_model(config, Vocabulary.from_bytes(_read(path), str(path)), lang=lang)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise TokenizerError(
            f"{path}: cannot be read ({error.strerror}); the tokenizer is not complete"
        ) from None


def _warn_of_other_rules(trained_with: object, path: Path) -> None:
    here = f"spacy {spacy_version()}"
    if trained_with != here:
        _log.warning(
            "%s: trained with %s, used with %s; words may be cut differently",
            path,
            trained_with,
            here,
        )
