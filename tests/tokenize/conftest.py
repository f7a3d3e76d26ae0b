"""A little corpus of two languages, and a tokenizer of every kind trained on it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from dragoman.config import DataConfig
from dragoman.tokenize.tokenizer import Tokenizer

PAIRS = [
    ("Ein Hund rennt über die Wiese.", "A dog runs across the meadow."),
    ("Zwei Hunde schlafen im Garten.", "Two dogs sleep in the garden."),
    ("Die Katze schläft nicht.", "The cat does not sleep."),
    ("Eine Frau liest ein Buch, und ein Mann kocht.", "A woman reads a book, and a man cooks."),
    ("Der Mann liest, während die Frau kocht.", "The man reads while the woman cooks."),
    ("Im Garten rennt eine Katze.", "A cat runs in the garden."),
]


@pytest.fixture
def pairs() -> list[tuple[str, str]]:
    return list(PAIRS)


@cache
def _trained(settings: tuple[tuple[str, Any], ...]) -> Tokenizer:
    return Tokenizer.train(PAIRS, DataConfig(**dict(settings)), seed=1)


@pytest.fixture
def trained() -> Callable[..., Tokenizer]:
    """Train on the little corpus with these settings; the same settings are trained once."""
    return lambda **settings: _trained(tuple(sorted(settings.items())))
