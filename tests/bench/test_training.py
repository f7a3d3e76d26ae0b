"""``bench train``: the same work for all, in both orders, and ratios that are right."""

import pytest

from dragoman.bench.ours import Dragoman
from dragoman.bench.peer import all_peers
from dragoman.bench.text import Text
from dragoman.bench.torch_nn import TorchNN
from dragoman.bench.training import SIZES, TrainSize, measure_training
from dragoman.presets import MODEL_PRESETS

TEXT = Text("made up", 30, [([5] * n, [6] * (n + 1)) for n in (2, 3, 7, 9) * 4])
SIZE = TrainSize(batch_tokens=40, n_batches=2)


@pytest.fixture
def cases(inline_workers):
    return list(
        measure_training(TEXT, [Dragoman(), TorchNN()], preset="tiny", size=SIZE, repeats=2)
    )


def test_both_orders_train_on_the_same_tokens(cases):
    assert [case["order"] for case in cases] == ["like lengths", "random order"]
    assert len({case["target_tokens"] for case in cases}) == 1
    assert cases[0]["padding"] < cases[1]["padding"]


def test_tokens_a_second_and_ratios_follow_from_the_seconds(cases):
    ours, theirs = cases[0]["results"]
    assert ours["peer"] == "dragoman"
    assert ours["tokens_per_second"] == cases[0]["target_tokens"]  # one second a turn
    assert theirs["tokens_per_second"] == pytest.approx(cases[0]["target_tokens"] / 3, rel=1e-3)
    assert theirs["ratio"] == {"median": 3.0, "low": 3.0, "high": 3.0}
    assert theirs["memory_mb"] == {"growth": 30.0, "peak": 130.0}


def test_who_is_missing_or_does_not_train_is_in_the_results_with_a_note(
    inline_workers, few_installed
):
    [first, _] = measure_training(TEXT, all_peers(), preset="tiny", size=SIZE, repeats=1)
    told = {result["peer"]: result.get("note") for result in first["results"]}
    assert told["dragoman"] is told["torch.nn.Transformer"] is None
    assert told["Hugging Face Marian"] == "not installed"
    assert told["dragoman int8"] == "cannot do this"


def test_each_case_is_told_before_it_is_measured(inline_workers):
    told = []
    options = {"preset": "tiny", "size": SIZE, "repeats": 1}
    cases = measure_training(TEXT, [Dragoman()], **options, on_case=told.append)
    next(cases)
    assert len(told) == 1  # a case is given before the next begins
    next(cases)
    assert told == ["tiny, like lengths", "tiny, random order"]


def test_every_preset_has_a_size_that_ends_in_minutes():
    assert set(SIZES) == set(MODEL_PRESETS)
