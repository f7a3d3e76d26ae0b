from __future__ import annotations

import json
from contextlib import contextmanager

import pytest
import torch

from dragoman.config import Config, DataConfig, TrainConfig
from dragoman.config_loading import load_config
from dragoman.corpus.reading import CorpusSource
from dragoman.errors import ConfigError
from dragoman.runs import back_translation, training_run
from dragoman.runs.back_translation import BothDirections, Together
from dragoman.runs.setup import TrainRequest
from dragoman.runs.training_run import train
from dragoman.training.checkpoint import checkpoint_path, load_weights
from dragoman.training.metrics import read_metrics

SMALL = ["data.tokenizer=symbols", "model.d_model=8", "model.n_heads=2", "model.d_ff=8"]
SMALL += ["model.n_layers=1", "train.batch_tokens=250", "train.log_every=1", "train.steps=6"]
SMALL += ["train.validate_every=3", "train.warmup_steps=2", "train.average=0", "model.dropout=0.2"]
SMALL += ["train.back_translation=0.5", "data.valid_size=20", "train.vocabulary_share=0.5"]


@pytest.fixture(autouse=True)
def small_shards(monkeypatch):
    monkeypatch.setattr(back_translation, "SHARD_PAIRS", 50)


@pytest.fixture
def corpus(tmp_path) -> CorpusSource:
    """Two hundred pairs whose target is the source backwards, so that sides can be told apart."""
    path = tmp_path / "corpus.tsv"
    rows = [f"{n % 7} {n % 11} {n} x".split() for n in range(200)]
    text = "".join(f"{' '.join(row)}\t{' '.join(reversed(row))}\n" for row in rows)
    path.write_text(text, encoding="utf-8")
    return CorpusSource(corpus=(str(path),))


def request(corpus, out, *overrides, **more) -> TrainRequest:
    loaded = load_config(overrides=[*SMALL, *overrides])
    return TrainRequest(out=out, loaded=loaded, train=corpus, **more)


def back_translations(run) -> list[tuple[str, str]]:
    paths = sorted((run / "back_translations").glob("*.jsonl"))
    rows = [json.loads(line) for path in paths for line in path.read_text().splitlines()]
    return [(row["src"], row["tgt"]) for row in rows]


def test_both_directions_are_the_pairs_and_the_pairs_turned_round(make_source):
    source = BothDirections(make_source([("a", "b"), ("c", "d")]))
    assert [pair[:2] for pair in source.pairs()] == [("a", "b"), ("c", "d"), ("b", "a"), ("d", "c")]


def test_two_sources_together_have_the_pairs_and_files_of_both(make_source, corpus):
    both = Together(make_source([("a", "b")]), corpus)
    assert len(list(both.pairs())) == 201
    assert both.files() == corpus.files()


def test_every_target_is_translated_back_but_for_what_is_held_out(corpus, tmp_path):
    out = train(request(corpus, tmp_path / "run")).out
    made = back_translations(out)
    assert len(made) == 180  # 20 of the 200 are held out
    assert {tgt for _, tgt in made} < {pair.tgt for pair in corpus.pairs()}
    found = training_run.load(out / "first").translate([tgt for _, tgt in made])
    assert [translation.text for translation in found] == [src for src, _ in made]


def test_the_run_learns_from_the_corpus_and_its_back_translations(corpus, tmp_path):
    outcome = train(request(corpus, tmp_path / "run"))
    sentences = outcome.record["data"]["sentences"]
    assert sentences["kept"] + sum(sentences["dropped"].values()) == 2 * 180
    assert sentences["kept"] > 180
    names = [file["path"] for file in outcome.record["data"]["files"]]
    assert sum("back_translations" in name for name in names) == 4


def test_the_run_begins_with_what_the_first_model_has_learnt(corpus, tmp_path):
    long_first = ["train.back_translation=30", "train.steps=2", "train.validate_every=60"]
    out = train(request(corpus, tmp_path / "run", *long_first, "train.vocabulary_share=1")).out
    first, own = (
        [line["loss"] for line in read_metrics(run) if "loss" in line]
        for run in (out / "first", out)
    )
    assert first[0] - first[-1] > 0.5  # control: there was something to learn
    assert own[0] < first[0] - 0.5


def test_the_first_model_has_its_share_of_the_steps_and_is_counted(corpus, tmp_path):
    outcome = train(request(corpus, tmp_path / "run"))
    first = json.loads((outcome.out / "first" / "record.json").read_text())
    assert (first["steps"], outcome.record["steps"]) == (3, 6)
    assert first["data"]["sentences"]["kept"] == 2 * 180
    own = [line for line in read_metrics(outcome.out) if "loss" in line]
    assert outcome.record["tokens"] > first["tokens"] > 0
    assert own[0]["seconds"] > first["seconds"] > 0
    assert outcome.record["first"]["steps"] == 3
    assert outcome.record["first"]["translation_seconds"] > 0
    assert outcome.record["first"]["seconds"] == pytest.approx(first["seconds"], abs=1e-3)


def test_a_run_stopped_again_and_again_is_the_run_that_was_not(corpus, tmp_path, monkeypatch):
    straight, stopped = tmp_path / "straight", tmp_path / "stopped"
    train(request(corpus, straight))
    places = set()
    monkeypatch.setattr(training_run, "StopRequest", Impatient)
    for _ in range(50):
        resume = stopped.exists()
        outcome = train(request(corpus, stopped, resume=resume))
        if outcome.reason != "interrupted":
            break
        n_translated = len(list((stopped / "back_translations").glob("*.jsonl")))
        is_in_run = (stopped / "checkpoints").exists()
        places.add("run" if is_in_run else "back_translations" if n_translated else "first")
    assert places == {"first", "back_translations", "run"}
    assert back_translations(stopped) == back_translations(straight)
    weights = [load_weights(checkpoint_path(run, 6)) for run in (straight, stopped)]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
    losses = [
        [line["loss"] for line in read_metrics(run) if "loss" in line]
        for run in (straight, stopped)
    ]
    assert losses[0] == losses[1]


class Impatient:
    """Asks to stop at every third look."""

    def __init__(self) -> None:
        self.n_looks = 0

    @property
    def asked(self) -> bool:
        self.n_looks += 1
        return self.n_looks > 2

    @contextmanager
    def on_signals(self):
        yield self


def test_minutes_are_shared_by_the_first_model_and_the_run(corpus, tmp_path):
    loaded = load_config(
        overrides=[s for s in SMALL if "steps=" not in s], flags={"train.minutes": 0.02}
    )
    outcome = train(TrainRequest(out=tmp_path / "run", loaded=loaded, train=corpus))
    first = json.loads((outcome.out / "first" / "record.json").read_text())
    assert first["config"]["train"]["minutes"] == pytest.approx(0.02 / 3)
    assert outcome.reason == "minutes"


def test_two_vocabularies_are_refused():
    with pytest.raises(ConfigError, match=r"back_translation = 0\.5.*data\.joint_vocab = true"):
        Config(data=DataConfig(joint_vocab=False), train=TrainConfig(back_translation=0.5))
