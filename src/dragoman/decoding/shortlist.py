"""A lexical shortlist (beyond the paper): which target pieces a source piece may bring about.

Most of a vocabulary cannot be in the translation of a sentence, and to score it takes a good part
of the time. The list, made at training time from the corpus (``shortlist_building.py``), has for
each source piece its likeliest target pieces, and those so frequent that any sentence may have
them. With it, a translation is searched among the pieces of its own source alone, so it does not
depend on the sentences beside it; probabilities are those among these pieces.

    shortlist.safetensors    frequent: (F,) · offsets: (V + 1,) · pieces: (E,), rows of ``offsets``
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dragoman import atomic
from dragoman.errors import BundleError
from dragoman.tokenize.vocabulary import SPECIAL_PIECES

FILE = "shortlist.safetensors"
Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Shortlist:
    """The candidates of every source piece.

    >>> some = Shortlist(frequent=np.array([4]), offsets=np.array([0, 0, 0, 0, 0, 0, 2]),
    ...                  pieces=np.array([7, 6]), n_targets=9)
    >>> some.candidates([5]).tolist()
    [0, 1, 2, 3, 4, 6, 7]
    """

    frequent: Ids  # (F,)
    offsets: Ids  # (V + 1,) where the pieces of each source piece begin; V of the source
    pieces: Ids  # (E,)
    n_targets: int  # pieces of the target vocabulary

    def candidates(self, source: Sequence[int]) -> Ids:
        """What a translation of these source pieces may say, in rising order, special ids first."""
        rows = [self.pieces[self.offsets[i] : self.offsets[i + 1]] for i in set(source)]
        specials = np.arange(len(SPECIAL_PIECES))
        return np.unique(np.concatenate([specials, self.frequent, *rows]))

    def save(self, folder: Path) -> None:
        """Write it into a bundle."""
        from safetensors.numpy import save

        arrays = {"frequent": self.frequent, "offsets": self.offsets, "pieces": self.pieces}
        notes = {"n_targets": str(self.n_targets)}
        atomic.write_bytes(folder / FILE, save(arrays, metadata=notes))

    @classmethod
    def load(cls, folder: Path, *, n_sources: int, n_targets: int) -> Shortlist:
        """That of a bundle with these vocabularies."""
        from safetensors import SafetensorError, safe_open

        path = folder / FILE
        if not path.is_file():
            raise BundleError(
                f"{folder} has no {FILE}: translate without --shortlist.\n"
                "  Training makes one where the target vocabulary has 1,000 pieces or more."
            )
        try:
            with safe_open(path, framework="numpy") as file:
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
                notes = file.metadata() or {}
            found = cls(**arrays, n_targets=int(notes["n_targets"]))
        except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
            raise BundleError(f"{path} is damaged: {error}") from None
        if (len(found.offsets) - 1, found.n_targets) != (n_sources, n_targets):
            raise BundleError(f"{path} belongs to another model: its vocabularies are others")
        return found
