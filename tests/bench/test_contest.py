"""Who took part, who could not and why, and what came of it: with clocks that are known."""

from types import SimpleNamespace

import pytest

from dragoman.bench import contest
from dragoman.bench.contest import (
    BRIEF,
    CANNOT,
    NOT_INSTALLED,
    Guarded,
    Outcome,
    describe,
    hold,
)
from dragoman.bench.ctranslate2 import CTranslate2
from dragoman.bench.eole import Eole
from dragoman.bench.ours import Dragoman
from dragoman.bench.torch_nn import TorchNN
from dragoman.bench.work import Work
from dragoman.bench.worker import Memory, WorkerError
from dragoman.config import ModelConfig

SHAPE = ModelConfig(d_model=16, n_heads=2, n_layers=1, d_ff=8, vocab_size=20)
WORK = Work("decode", SHAPE, [[([5, 6], [7]), ([8], [9, 10])]], max_tokens=4)


def test_everybody_who_is_there_has_an_outcome(inline_workers):
    entries = {peer.name: (peer, WORK) for peer in (Dragoman(), TorchNN())}
    outcomes = hold(entries, repeats=3, threads=1)
    assert outcomes["dragoman"].seconds == (1.0, 1.0, 1.0)
    assert outcomes["torch.nn.Transformer"].seconds == (3.0, 3.0, 3.0)
    assert {out.n_tokens for out in outcomes.values()} == {8}
    assert outcomes["dragoman"].memory == Memory(100.0, 130.0)


def test_what_was_decoded_is_handed_over_on_request(inline_workers):
    entries = {"dragoman": (Dragoman(), WORK)}
    assert hold(entries, repeats=1, threads=1)["dragoman"].found == ()
    found = hold(entries, repeats=1, threads=1, want_found=True)["dragoman"].found
    assert [len(ids) for ids in found] == [4, 4]


def test_who_is_not_installed_is_named_as_such(inline_workers, few_installed):
    outcomes = hold({"Eole": (Eole(), WORK)}, repeats=1, threads=1)
    assert outcomes["Eole"] == Outcome(note=NOT_INSTALLED)


def test_who_cannot_do_the_work_is_named_as_such(inline_workers):
    train = Work("train", SHAPE, WORK.batches)
    outcomes = hold({"int8": (Dragoman("int8"), train)}, repeats=1, threads=1)
    assert outcomes["int8"].note == CANNOT


@pytest.mark.parametrize("fails_in", ["is_ready", "run"])
def test_who_fails_takes_no_other_with_it(inline_workers, monkeypatch, fails_in):
    class Breaking(contest.Worker):
        def __getattribute__(self, name):
            if name == fails_in and object.__getattribute__(self, "peer").name != "dragoman":
                raise WorkerError("out of luck")
            return object.__getattribute__(self, name)

    monkeypatch.setattr(contest, "Worker", Breaking)
    entries = {peer.name: (peer, WORK) for peer in (TorchNN(), Dragoman())}
    outcomes = hold(entries, repeats=2, threads=1)
    assert outcomes["torch.nn.Transformer"] == Outcome(note="failed: out of luck")
    assert outcomes["dragoman"].seconds == (1.0, 1.0)
    assert list(outcomes) == list(entries)


def test_a_result_has_speed_ratio_and_memory():
    ours = Outcome((1.0, 2.0, 1.0), Memory(100, 150))
    theirs = Outcome((2.0, 3.0, 4.0), Memory(100, 175.25))
    found = describe("Eole", theirs, ours, n_tokens=600, n_sentences=30)
    assert found == {
        "peer": "Eole",
        "seconds": {"median": 3.0, "low": 2.0, "high": 4.0},
        "tokens_per_second": 200.0,
        "ms_per_sentence": 100.0,
        "ratio": {"median": 2.0, "low": 1.5, "high": 4.0},
        "memory_mb": {"growth": 75.2, "peak": 175.2},
    }


def test_we_have_no_ratio_to_ourselves():
    ours = Outcome((1.0,), Memory(1, 2))
    assert "ratio" not in describe("dragoman", ours, ours, n_tokens=1, n_sentences=1)


def test_without_us_there_is_no_ratio():
    theirs = Outcome((1.0,), Memory(1, 2))
    assert "ratio" not in describe("Eole", theirs, None, n_tokens=1, n_sentences=1)


def test_a_result_that_is_none_has_its_note_alone():
    found = describe("Eole", Outcome(note=CANNOT), None, n_tokens=1, n_sentences=1)
    assert found == {"peer": "Eole", "note": CANNOT}


def test_an_engine_that_only_decodes_does_not_train():
    assert CTranslate2("int8").train_step(SHAPE, []) is None


@pytest.mark.parametrize(("runs", "expected"), [([BRIEF / 2, 0.25], 0.25), ([BRIEF, 9.0], BRIEF)])
def test_a_brief_run_is_done_once_more_as_it_began_cold(runs, expected):
    worker = SimpleNamespace(run=iter(runs).__next__)
    assert Guarded(worker).run() == expected
