"""Our translator from text to text, by each of its engines: beside those who are handed ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from dragoman.batches.batch import Batch
from dragoman.bench.peer import Weights, is_there
from dragoman.config import ModelConfig
from dragoman.decoding.engine import EngineName
from dragoman.decoding.loading import load


class Translate(Protocol):
    """Translates batches of lines."""

    def __call__(self, batches: Sequence[Sequence[str]], *, beam: int) -> list[list[str]]:
        """The pieces of each translation, in order, without EOS."""


@dataclass(frozen=True)
class TextEngine:
    """What ``dragoman translate`` does with lines that are already in memory."""

    engine: EngineName
    int8: bool = False

    @property
    def name(self) -> str:
        options = f"--engine {self.engine}" + (" --int8" if self.int8 else "")
        return f"text to text, {options}"

    @property
    def package(self) -> str:
        return "ctranslate2" if self.engine == "ctranslate2" else "dragoman"

    def is_installed(self) -> bool:
        return self.engine == "torch" or is_there(self.package)

    def train_step(self, shape: ModelConfig, batches: Sequence[Batch]) -> None:
        return None

    def decoder(self, shape: ModelConfig, weights: Weights | None = None) -> None:
        return None  # it takes text, and a bundle

    def translator(self, bundle: Path) -> Translate:
        """Translation of batches of lines with this bundle."""
        found = load(bundle, device="cpu", engine=self.engine, int8=self.int8)

        def translate(batches: Sequence[Sequence[str]], *, beam: int) -> list[list[str]]:
            pieces: list[list[str]] = []
            for texts in batches:
                # One call, one batch: no contestant has larger ones.
                made = found.translate(texts, beam=beam, length_penalty=0.0, batch_tokens=1_000_000)
                pieces += [list(each.tokens) for each in made]
            return pieces

        return translate


def text_engines() -> list[TextEngine]:
    """Every engine, in float32 and in int8.

    >>> [each.name for each in text_engines()][1]
    'text to text, --engine torch --int8'
    """
    engines: tuple[EngineName, ...] = ("torch", "ctranslate2")
    return [TextEngine(engine, int8) for engine in engines for int8 in (False, True)]
