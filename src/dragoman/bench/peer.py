"""What a contestant can do: train on given batches, decode given sources.

Each has a file of its own. One that cannot do something gives None, and the table shows a dash.
Models are made from a shape with random weights; what they compute does not matter, only that all
of them have the same sizes and read the same ids.

Letters: B sentences, S source length.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from torch import Tensor

from dragoman.batches.batch import Batch
from dragoman.config import ModelConfig
from dragoman.errors import ConfigError

Weights = Mapping[str, Tensor]
"""The weights of our model, by their names in its ``state_dict``."""

TrainStep = Callable[[], object]
"""Trains on each of its batches once: forward, smoothed loss, backward, Adam."""


class Decode(Protocol):
    """Translates batches of source ids, (B, S) each, PAD on the right."""

    def __call__(
        self, batches: Sequence[Tensor], *, beam: int, max_tokens: int, is_forced: bool
    ) -> list[list[int]]:
        """The ids of each translation, in order, without BOS.

        With ``is_forced`` each has exactly ``max_tokens`` tokens, the last of which may be EOS;
        otherwise it ends by itself, at the latest after so many.
        """


class Peer(Protocol):
    """A way to train and run a Transformer, ours or another's."""

    @property
    def name(self) -> str:
        """What it is called in tables."""

    @property
    def package(self) -> str:
        """The package that has to be installed."""

    def is_installed(self) -> bool:
        """Whether it can be asked for anything here."""

    def train_step(self, shape: ModelConfig, batches: Sequence[Batch]) -> TrainStep | None:
        """Training of a fresh model on these batches; None: it cannot train."""

    def decoder(self, shape: ModelConfig, weights: Weights | None = None) -> Decode | None:
        """Decoding with a fresh model, or with these weights of ours; None: it cannot do that."""


def all_peers() -> list[Peer]:
    """Every contestant that we know, ourselves first.

    >>> all_peers()[0].name
    'dragoman'
    """
    from dragoman.bench.ctranslate2 import CTranslate2
    from dragoman.bench.eole import Eole
    from dragoman.bench.joeynmt import JoeyNMT
    from dragoman.bench.marian import Marian
    from dragoman.bench.ours import Dragoman
    from dragoman.bench.torch_nn import TorchNN

    return [
        Dragoman(),
        TorchNN(),
        Marian(),
        JoeyNMT(),
        Eole(),
        CTranslate2("float32"),
        CTranslate2("int8"),
        Dragoman("int8"),
    ]


def choose_peers(names: Sequence[str], known: Sequence[Peer] | None = None) -> list[Peer]:
    """The contestants of these names, in the order of ``all_peers``; no names: all of them.

    >>> choose_peers(["torch.nn.Transformer"])[0].is_installed()
    True
    """
    known = all_peers() if known is None else known
    unknown = [name for name in names if name not in {peer.name for peer in known}]
    if unknown:
        choices = ", ".join(peer.name for peer in known)
        raise ConfigError(f"no peer is called {', '.join(unknown)}; there are: {choices}")
    return [peer for peer in known if not names or peer.name in names]


def is_plain(shape: ModelConfig) -> bool:
    """Whether this is the paper's model but for the place of its norms: others have it as well.

    >>> is_plain(ModelConfig()), is_plain(ModelConfig(activation="swiglu"))
    (True, False)
    """
    return (
        (shape.activation, shape.positions, shape.tie) == ("relu", "sinusoidal", "all")
        and shape.window is None
        and shape.head_sizes == (shape.d_model // shape.n_heads,) * 2
    )


def is_there(package: str) -> bool:
    """Whether a package can be imported; it is not imported.

    >>> is_there("torch"), is_there("no_such_package")
    (True, False)
    """
    return importlib.util.find_spec(package) is not None


def version_of(peer: Peer) -> str | None:
    """The version of a peer that is installed; None where it is not."""
    if not peer.is_installed():
        return None
    try:
        return importlib.metadata.version(peer.package)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
