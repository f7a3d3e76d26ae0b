"""How one call translates: the keywords of ``Translator.translate``, with the bundle's defaults."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

from torch import Tensor

from dragoman.config import DecodeConfig
from dragoman.decoding.beam_search import beam_search
from dragoman.decoding.greedy import greedy_search
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.sampling import Sampling, sample
from dragoman.decoding.scorer import C, Scorer
from dragoman.errors import ConfigError

OnProgress = Callable[[int, int], None]
"""Called now and then with the number of lines translated, and of all."""


class TranslateOptions(TypedDict, total=False):
    """The keywords of ``Translator.translate``; each is explained there."""

    beam: int | None
    n_best: int | None
    length_penalty: float | None
    max_extra: int | None
    batch_tokens: int
    prefixes: Sequence[str | None] | None
    sampling: Sampling | None
    alignments: bool
    first_line: int
    on_progress: OnProgress | None


@dataclass(frozen=True)
class SearchSettings:
    """What is searched for, and how."""

    beam: int
    n_best: int
    length_penalty: float
    max_extra: int
    max_len: int | None = None  # what the model's positions can tell apart, if they end
    min_len: int = 0  # tokens of a translation at least, EOS counted; for greedy and beam search
    sampling: Sampling | None = None

    @classmethod
    def resolve(
        cls,
        defaults: DecodeConfig,
        *,
        beam: int | None = None,
        n_best: int | None = None,
        length_penalty: float | None = None,
        max_extra: int | None = None,
        max_len: int | None = None,
        sampling: Sampling | None = None,
    ) -> SearchSettings:
        """The given values, and the bundle's where none is given; refused where they cannot work.

        A beam that was not asked for is widened to ``n_best``; an ``n_best`` that was not asked for
        is as small as the beam.

        >>> SearchSettings.resolve(DecodeConfig(), n_best=7).beam
        7
        """
        if beam is None:
            beam = max(defaults.beam, n_best or 1)
        if n_best is None:
            n_best = max(1, min(defaults.n_best, beam))
        settings = cls(
            beam=beam,
            n_best=n_best,
            length_penalty=defaults.length_penalty if length_penalty is None else length_penalty,
            max_extra=defaults.max_extra if max_extra is None else max_extra,
            max_len=max_len,
            sampling=sampling,
        )
        # Samples are independent of each other and need no beam.
        checked = settings if sampling is None else replace(settings, beam=max(beam, n_best))
        try:
            DecodeConfig(
                beam=checked.beam,
                n_best=checked.n_best,
                length_penalty=checked.length_penalty,
                max_extra=checked.max_extra,
            )
        except ConfigError as error:
            raise ConfigError(str(error).replace("decode.", "")) from None
        return settings

    @property
    def rows(self) -> int:
        """Hypotheses of one sentence that are in the batch at the same time."""
        return self.beam if self.sampling is None else self.n_best

    def search(
        self,
        scorer: Scorer[C],
        src_ids: Tensor,
        *,
        prefixes: Sequence[Sequence[int]] | None,
        keys: Sequence[tuple[int, ...]],
    ) -> list[list[Hypothesis]]:
        """The translations of each source, best first (samples too): (B, S) -> B lists."""
        if self.sampling is not None:
            found = sample(
                scorer,
                src_ids,
                self.sampling,
                keys=keys,
                n_each=self.n_best,
                alpha=self.length_penalty,
                max_extra=self.max_extra,
                max_len=self.max_len,
                prefixes=prefixes,
            )
            return [sorted(each, key=lambda h: -h.score) for each in found]
        if self.beam == 1:
            single = greedy_search(
                scorer,
                src_ids,
                alpha=self.length_penalty,
                max_extra=self.max_extra,
                max_len=self.max_len,
                min_len=self.min_len,
                prefixes=prefixes,
            )
            return [[hypothesis] for hypothesis in single]
        return beam_search(
            scorer,
            src_ids,
            beam_size=self.beam,
            alpha=self.length_penalty,
            n_best=self.n_best,
            max_extra=self.max_extra,
            max_len=self.max_len,
            min_len=self.min_len,
            prefixes=prefixes,
        )
