"""Who finds the translations: our own search on PyTorch, or another engine that has the model.

The Translator cuts lines in jobs and jobs in batches, and makes text of what is found; all of that
is the same whoever searches. An engine takes ids and gives hypotheses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from dragoman.batches.batch import pad_sources
from dragoman.decoding.ensemble import Ensemble
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.scorer import Scorer
from dragoman.decoding.scoring import PairScore, score_ids
from dragoman.decoding.settings import SearchSettings
from dragoman.decoding.shortlist import Shortlist
from dragoman.decoding.shortlist_scorer import Candidates, Narrow
from dragoman.model.transformer import Transformer

Ids = Sequence[int]
EngineName = Literal["torch", "ctranslate2"]


class Engine(Protocol):
    """What the Translator asks for; ids come and go without BOS and EOS."""

    @property
    def max_positions(self) -> int | None:
        """The longest sentence that the model can take, EOS counted; None: any."""

    @property
    def takes_two(self) -> bool:
        """Whether two batches at once, each on half of the cores, are done sooner than in turn."""

    def search(
        self,
        sources: Sequence[Ids],
        settings: SearchSettings,
        *,
        prefixes: Sequence[Ids] | None,
        keys: Sequence[tuple[int, ...]],
    ) -> list[list[Hypothesis]]:
        """The translations of each source, best first; ``keys`` tell apart what is drawn."""

    def score(self, pairs: Sequence[tuple[Ids, Ids]], *, batch_tokens: int) -> list[PairScore]:
        """How likely each target is, given its source."""


@dataclass(frozen=True)
class TorchEngine:
    """Our own search with one model, or with several as an ensemble.

    >>> from dragoman.config import DecodeConfig, ModelConfig
    >>> shape = ModelConfig(d_model=8, n_heads=2, n_layers=1, d_ff=16, vocab_size=11)
    >>> engine = TorchEngine((Transformer(shape).eval(),))
    >>> settings = SearchSettings.resolve(DecodeConfig(), n_best=2)
    >>> [found] = engine.search([[5, 6]], settings, prefixes=None, keys=[(1,)])
    >>> len(found)
    2
    """

    models: Sequence[Transformer]
    shortlist: Shortlist | None = None

    @property
    def max_positions(self) -> int | None:
        """The shortest table of learned positions; None where no model has one."""
        shapes = [model.config for model in self.models]
        ends = [shape.max_positions for shape in shapes if shape.positions == "learned"]
        return min(ends, default=None)

    @property
    def takes_two(self) -> bool:
        """Whether the search runs on a CPU."""
        return self.models[0].output_weight.device.type == "cpu"

    def search(
        self,
        sources: Sequence[Ids],
        settings: SearchSettings,
        *,
        prefixes: Sequence[Ids] | None,
        keys: Sequence[tuple[int, ...]],
    ) -> list[list[Hypothesis]]:
        """The translations of each source, best first."""
        src_ids = pad_sources([list(ids) for ids in sources])
        device = self.models[0].output_weight.device
        src_ids = src_ids.to(device)
        if self.shortlist is None:
            scorer = _one_or_all(self.models)
            return settings.search(scorer, src_ids, prefixes=prefixes, keys=keys)
        among = Candidates.of(self.shortlist, sources, prefixes, device)
        scorer = _one_or_all([Narrow(model, among) for model in self.models])
        begun = None if prefixes is None else [among.numbers(prefix) for prefix in prefixes]
        found = settings.search(scorer, src_ids, prefixes=begun, keys=keys)
        return [[among.named(hypothesis) for hypothesis in ranked] for ranked in found]

    def score(self, pairs: Sequence[tuple[Ids, Ids]], *, batch_tokens: int) -> list[PairScore]:
        """How likely each target is, given its source."""
        return score_ids(self.models, pairs, batch_tokens=batch_tokens)


def _one_or_all(scorers: Sequence[Scorer[Any]]) -> Scorer[Any]:
    return scorers[0] if len(scorers) == 1 else Ensemble(scorers)
