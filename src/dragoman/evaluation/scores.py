"""BLEU, chrF and TER by sacreBLEU, each with the signature that lets others reproduce it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dragoman.config_checks import no_such
from dragoman.errors import ConfigError, DataError

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric

# The ways sacreBLEU knows to cut text into words for BLEU; those by a model download it first.
TOKENIZATIONS = ("13a", "none", "intl", "char", "zh", "ja-mecab", "ko-mecab")
TOKENIZATIONS_BY_MODEL = ("spm", "flores101", "flores200", "spBLEU-1K")


@dataclass(frozen=True)
class ScoreSettings:
    """What may be chosen about the scores; the rest is sacreBLEU's default.

    ``tokenize`` concerns BLEU alone; ``lowercase`` makes BLEU and chrF ignore case, as TER always
    does.

    >>> ScoreSettings(tokenize="13b")
    Traceback (most recent call last):
    ...
    dragoman.errors.ConfigError: --tokenize 13b: no such tokenization; did you mean 13a? \
Known: 13a, none, intl, char, zh, ja-mecab, ko-mecab, spm, flores101, flores200, spBLEU-1K
    """

    tokenize: str = "13a"
    lowercase: bool = False

    def __post_init__(self) -> None:
        known = (*TOKENIZATIONS, *TOKENIZATIONS_BY_MODEL)
        if self.tokenize not in known:
            raise ConfigError(
                f"--tokenize {self.tokenize}: {no_such('tokenization', self.tokenize, known=known)}"
            )


@dataclass(frozen=True)
class Scores:
    """The scores of one system, in percent; of TER less is better."""

    bleu: float
    chrf: float
    ter: float
    signatures: dict[str, str]  # by "bleu", "chrf", "ter"
    bleu_detail: str  # precisions of 1- to 4-grams, brevity penalty, lengths


def score_corpus(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    settings: ScoreSettings | None = None,
) -> Scores:
    """BLEU, chrF2 and TER of translations against one or more sets of references.

    >>> scores = score_corpus(["a dog runs in the park"], [["a dog runs in the park"]])
    >>> round(scores.bleu, 6), scores.chrf, scores.ter
    (100.0, 100.0, 0.0)
    >>> scores.signatures["bleu"].split("|version")[0]
    'nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp'
    """
    if not hypotheses:
        raise DataError("there is nothing to score: no sentence at all")
    found = {
        name: (metric.corpus_score(list(hypotheses), None), str(metric.get_signature()))
        for name, metric in make_metrics(references, settings=settings).items()
    }
    return Scores(
        bleu=float(found["bleu"][0].score),
        chrf=float(found["chrf"][0].score),
        ter=float(found["ter"][0].score),
        signatures={name: signature for name, (_, signature) in found.items()},
        bleu_detail=found["bleu"][0]._verbose,
    )


def make_metrics(
    references: Sequence[Sequence[str]] | None = None, *, settings: ScoreSettings | None = None
) -> dict[str, Metric]:
    """sacreBLEU's three metrics, by our names, which remember these references.

    >>> list(make_metrics([["a dog"]]))
    ['bleu', 'chrf', 'ter']
    """
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.metrics.ter import TER

    settings = settings or ScoreSettings()
    kept = None if references is None else [list(lines) for lines in references]
    try:
        bleu = BLEU(
            tokenize=settings.tokenize,
            lowercase=settings.lowercase,
            force=True,  # what text looks like is told by text_checks, in words that say what to do
            references=kept,
        )
    except (RuntimeError, OSError) as error:  # a package or a model that is not there
        reason = " ".join(str(error).split())
        raise ConfigError(f"--tokenize {settings.tokenize} cannot be used here: {reason}") from None
    return {
        "bleu": bleu,
        "chrf": CHRF(lowercase=settings.lowercase, references=kept),
        "ter": TER(references=kept),
    }


def bleu_score(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """Corpus BLEU in percent, with sacreBLEU's defaults (13a, mixed case).

    >>> round(bleu_score(["a dog runs in the park"], ["a dog runs in the park"]), 6)
    100.0
    """
    from sacrebleu.metrics.bleu import BLEU

    # force: text that looks tokenised is often meant to be, and a training run is no place to ask.
    return float(BLEU(force=True).corpus_score(list(hypotheses), [list(references)]).score)
