"""Whether one system is really better than another: paired bootstrap resampling by sacreBLEU.

The test sentences are drawn anew a thousand times; the p-value says how often a difference as large
as the one seen would come about by the choice of sentences alone. The seed is fixed (12345, or what
``SACREBLEU_SEED`` says), so that the same outputs give the same p-values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dragoman.errors import ConfigError
from dragoman.evaluation.scores import ScoreSettings, make_metrics

N_SAMPLES = 1000


@dataclass(frozen=True)
class Comparison:
    """One score of one system, as resampling sees it."""

    score: float
    mean: float  # over the resamples
    interval: float  # the half width of the 95 % confidence interval around the mean
    p_value: float | None  # against the first system; None for the first itself


@dataclass(frozen=True)
class Significance:
    """How systems compare with the first of them."""

    names: tuple[str, ...]
    comparisons: dict[str, tuple[Comparison, ...]]  # by "bleu", "chrf", "ter"; as names
    signatures: dict[str, str]


def compare_systems(
    systems: Sequence[tuple[str, Sequence[str]]],
    references: Sequence[Sequence[str]],
    *,
    settings: ScoreSettings | None = None,
    n_samples: int = N_SAMPLES,
) -> Significance:
    """The scores of each (name, hypotheses) with confidence, and p-values against the first.

    >>> park, dog = ["a dog runs in the park"] * 9, ["the cat sleeps"] * 9
    >>> found = compare_systems([("good", park), ("bad", dog)], [park], n_samples=99)
    >>> [round(c.score, 3) for c in found.comparisons["chrf"]]
    [100.0, 10.774]
    >>> found.comparisons["chrf"][1].p_value
    0.01
    """
    from sacrebleu.significance import PairedTest

    if len(systems) < 2:
        raise ConfigError("a comparison needs two systems or more")
    metrics = make_metrics(references, settings=settings)
    test = PairedTest(
        [(name, list(lines)) for name, lines in systems],
        metrics,
        references=None,  # the metrics remember them
        test_type="bs",
        n_samples=n_samples,
    )
    signatures, results = test()
    # sacreBLEU files its results under names such as chrF2, in the order of the metrics.
    by_name = dict(zip(metrics, signatures, strict=True))
    same = [list(lines) == list(systems[0][1]) for _, lines in systems]
    return Significance(
        names=tuple(name for name, _ in systems),
        comparisons={
            ours: tuple(map(_comparison, results[theirs], same)) for ours, theirs in by_name.items()
        },
        signatures={ours: str(signatures[theirs]) for ours, theirs in by_name.items()},
    )


def _comparison(result: Any, is_same: bool) -> Comparison:
    """What sacreBLEU found; but one output cannot differ from itself by more than chance."""
    p_value = result.p_value
    return Comparison(
        score=float(result.score),
        mean=float(result.mean),
        interval=float(result.ci),
        p_value=1.0 if is_same and p_value is not None else p_value,
    )
