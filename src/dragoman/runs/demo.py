"""The demo: German to English on the built-in grammar, from nothing to a model one can look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman.config_loading import load_config
from dragoman.corpus.tasks import Example, generate
from dragoman.decoding.alignment_choosing import alignment_error_rate, choose_alignment_heads
from dragoman.decoding.loading import load
from dragoman.decoding.translation import Translation
from dragoman.evaluation.scores import bleu_score
from dragoman.pictures.explained import draw_explanation
from dragoman.runs.setup import TrainRequest
from dragoman.runs.sources import TaskSource
from dragoman.runs.training_run import Outcome, train
from dragoman.training.reporting import Reporter

TASK = "grammar"
TRAINING_PAIRS = 60_000
VALIDATION_PAIRS = 300
TEST_PAIRS = 1000
SEED = 1
# Sentences made by a grammar need no more than two layers, and each is seen so few times that
# nothing is learnt by heart: what that saves goes into more updates.
SETTINGS = {"model.n_layers": 2, "model.dropout": 0.0, "train.vocabulary_share": 0.1}
PICTURE = "attention.png"
# The verb of the subordinate clause stands at its end in German, after its subject in English.
SENTENCE = "Ich glaube , dass der alte Mann heute seine kleine Schwester besuchen wird ."


@dataclass(frozen=True, kw_only=True)
class Judged:
    """What the model makes of sentences it has never seen."""

    examples: Sequence[Example]
    translations: Sequence[Translation]
    bleu: float
    exact_match: float
    alignment_error_rate: float
    picture: Path


def train_demo(
    out: Path,
    *,
    minutes: float | None = None,
    steps: int | None = None,
    reporter: Reporter,
    resume: bool = False,
) -> Outcome:
    """Train the demo's model for so many minutes, or so many steps."""
    limits = {"train.minutes": minutes, "train.steps": steps}
    request = TrainRequest(
        out=out,
        loaded=load_config(flags={**limits, "train.seed": SEED, **SETTINGS}),
        train=TaskSource(TASK, TRAINING_PAIRS, "train", SEED),
        valid=TaskSource(TASK, VALIDATION_PAIRS, "valid", SEED),
        task=TASK,
        resume=resume,
    )
    return train(request, reporter)


def judge_demo(out: Path) -> Judged:
    """Choose the heads that align on validation data, then translate and align the test data."""
    translator = load(out)
    known = list(generate(TASK, VALIDATION_PAIRS, split="valid", seed=SEED))
    choice, _ = choose_alignment_heads(
        translator.model,
        translator.tokenizer,
        [(example.src, example.tgt, example.alignment or ()) for example in known],
    )
    choice.save(out)
    translator = load(out)
    examples = list(generate(TASK, TEST_PAIRS, split="test", seed=SEED))
    translations = translator.translate([example.src for example in examples], alignments=True)
    references = [example.tgt for example in examples]
    right = [t.text == reference for t, reference in zip(translations, references, strict=True)]
    # Links are judged where both sides have the same words: elsewhere there is no gold for them.
    links = [t.alignment or () for t, is_right in zip(translations, right, strict=True) if is_right]
    gold = [e.alignment or () for e, is_right in zip(examples, right, strict=True) if is_right]
    draw_explanation(translator.explain(SENTENCE), out / PICTURE)
    return Judged(
        examples=examples,
        translations=translations,
        bleu=bleu_score([t.text for t in translations], references),
        exact_match=sum(right) / len(right),
        alignment_error_rate=alignment_error_rate(links, gold),
        picture=out / PICTURE,
    )
