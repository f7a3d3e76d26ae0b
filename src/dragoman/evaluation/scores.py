"""BLEU by sacreBLEU, whose numbers others can reproduce."""

from __future__ import annotations

from collections.abc import Sequence


def bleu_score(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """Corpus BLEU in percent, with sacreBLEU's defaults (13a, mixed case).

    >>> round(bleu_score(["a dog runs in the park"], ["a dog runs in the park"]), 6)
    100.0
    """
    from sacrebleu.metrics.bleu import BLEU

    # force: text that looks tokenised is often meant to be, and a training run is no place to ask.
    return float(BLEU(force=True).corpus_score(list(hypotheses), [list(references)]).score)
