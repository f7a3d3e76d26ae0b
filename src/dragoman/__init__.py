"""Dragoman: the Transformer of *Attention Is All You Need*, as a tool and as a text.

The public names come from their modules when they are first used, so that ``import dragoman``
takes no time and PyTorch is loaded only by what needs it.

>>> import dragoman
>>> dragoman.ModelConfig(d_model=128, n_heads=4).head_sizes
(32, 32)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "Config",
    "DataConfig",
    "DecodeConfig",
    "DecoderOnly",
    "DragomanError",
    "EncoderOnly",
    "Explanation",
    "ModelConfig",
    "Tokenizer",
    "TrainConfig",
    "Transformer",
    "Translation",
    "Translator",
    "__version__",
    "load",
    "reference",
]

if TYPE_CHECKING:
    from dragoman import reference
    from dragoman.config import Config, DataConfig, DecodeConfig, ModelConfig, TrainConfig
    from dragoman.decoding.explanation import Explanation
    from dragoman.decoding.loading import load
    from dragoman.decoding.translation import Translation
    from dragoman.decoding.translator import Translator
    from dragoman.errors import DragomanError
    from dragoman.model.decoder_only import DecoderOnly
    from dragoman.model.encoder_only import EncoderOnly
    from dragoman.model.transformer import Transformer
    from dragoman.tokenize.tokenizer import Tokenizer

_HOMES = {
    "Config": "dragoman.config",
    "DataConfig": "dragoman.config",
    "DecodeConfig": "dragoman.config",
    "DecoderOnly": "dragoman.model.decoder_only",
    "DragomanError": "dragoman.errors",
    "EncoderOnly": "dragoman.model.encoder_only",
    "Explanation": "dragoman.decoding.explanation",
    "ModelConfig": "dragoman.config",
    "Tokenizer": "dragoman.tokenize.tokenizer",
    "TrainConfig": "dragoman.config",
    "Transformer": "dragoman.model.transformer",
    "Translation": "dragoman.decoding.translation",
    "Translator": "dragoman.decoding.translator",
    "load": "dragoman.decoding.loading",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "reference":
        return import_module("dragoman.reference")
    if name not in _HOMES:
        raise AttributeError(f"module 'dragoman' has no attribute {name!r}")
    # Kept, so that the next use finds it without coming here.
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
