"""One piece of work, described so that any contestant can do it in a process of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import torch

from dragoman.batches.batch import make_batch, pad_sources
from dragoman.bench.engines import TextEngine
from dragoman.bench.peer import Peer, Weights
from dragoman.bench.text import IdPair
from dragoman.bundle import read_bundle
from dragoman.config import ModelConfig

Kind = Literal["train", "decode"]
Found = Sequence[Sequence[int]] | Sequence[Sequence[str]]
Run = Callable[[], Found | None]
"""Does the work once; decoding gives ids, or pieces where it began with text."""


@dataclass(frozen=True)
class Work:
    """Training on batches, or decoding them; ids are without BOS and EOS.

    >>> shape = ModelConfig(d_model=8, n_heads=2, n_layers=1, d_ff=16, vocab_size=9)
    >>> work = Work("decode", shape, [[([5, 6], [7])]], max_tokens=5)
    >>> Work.from_json(work.to_json()) == work
    True
    """

    kind: Kind
    shape: ModelConfig
    batches: list[list[IdPair]]
    beam: int = 1
    max_tokens: int = 20
    is_forced: bool = True  # every translation gets ``max_tokens`` tokens
    bundle: str | None = None  # whose weights to decode with; None: random ones
    texts: list[list[str]] | None = None  # the same batches as text, for who begins with that

    def begin(self, peer: Peer) -> Run | None:
        """All that is made once, then a function that does the work; None: the peer cannot."""
        torch.manual_seed(1)
        if self.kind == "train":
            return self._train(peer)
        if isinstance(peer, TextEngine):
            return self._translate(peer)
        return self._decode(peer)

    def _train(self, peer: Peer) -> Run | None:
        step = peer.train_step(self.shape, [make_batch(pairs) for pairs in self.batches])
        if step is None:
            return None

        def run() -> None:
            step()

        return run

    def _decode(self, peer: Peer) -> Run | None:
        decode = peer.decoder(self.shape, self._weights())
        if decode is None:
            return None
        sources = [pad_sources([src for src, _ in batch]) for batch in self.batches]

        def run() -> Sequence[Sequence[int]]:
            return decode(
                sources, beam=self.beam, max_tokens=self.max_tokens, is_forced=self.is_forced
            )

        return run

    def _translate(self, peer: TextEngine) -> Run | None:
        texts = self.texts
        if self.bundle is None or texts is None:
            return None
        translate = peer.translator(Path(self.bundle))
        return lambda: translate(texts, beam=self.beam)

    def _weights(self) -> Weights | None:
        if self.bundle is None:
            return None
        arrays = read_bundle(Path(self.bundle)).weights
        return {name: torch.from_numpy(array) for name, array in arrays.items()}

    def to_json(self) -> str:
        """The whole of it on one line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str) -> Work:
        """What ``to_json`` wrote."""
        found: dict[str, Any] = json.loads(line)
        found["shape"] = ModelConfig(**found["shape"])
        found["batches"] = [[(src, tgt) for src, tgt in batch] for batch in found["batches"]]
        return cls(**found)
