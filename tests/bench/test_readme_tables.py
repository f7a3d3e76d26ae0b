"""``python -m benchmarks`` puts what it measured between two comments of the README."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CASE = {
    "preset": "tiny",
    "order": "like lengths",
    "batches": 4,
    "target_tokens": 15842,
    "padding": 0.016,
    "results": [
        {"peer": "dragoman", "tokens_per_second": 4000.0},
        {
            "peer": "Eole",
            "tokens_per_second": 2000.0,
            "ratio": {"median": 2.0, "low": 1.9, "high": 2.2},
        },
        {"peer": "JoeyNMT", "note": "not installed"},
        {"peer": "CTranslate2 int8", "note": "cannot do this"},
    ],
}
BASE_CASE = CASE | {
    "preset": "base",
    "results": [
        {"peer": "dragoman", "tokens_per_second": 410.0, "memory_mb": {"growth": 1234.5}},
        {"peer": "Eole", "note": "failed: out of memory"},
    ],
}
TRAIN = {
    "text": "Multi30k",
    "vocab_size": 10_000,
    "threads": 2,
    "repeats": 5,
    "versions": {"dragoman": "0.1.0", "Eole": "0.6.4", "JoeyNMT": None},
}
FOUND = {
    "train-tiny": {**TRAIN, "cases": [CASE]},
    "train-base": {**TRAIN, "repeats": 3, "cases": [BASE_CASE]},
    "loop": {"update": 0.995, "batches": 0.001, "logging": 0.002, "rest": 0.002},
    "prepare": {"first": 7.41, "second": 0.38},
    "tokenize": {"bpe": {"ratio": 1.03}, "unigram": {"ratio": 1.021}},
    "batches": {"padding_share": 0.0442, "batches_per_second_prefetch_2": 2059.0},
}


@pytest.fixture
def benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("benchmarks.__main__")


def test_what_was_measured_becomes_tables(benchmarks):
    text = benchmarks.tables(FOUND)
    assert "|  | tiny, like lengths | base, like lengths |" in text
    assert "| dragoman | 4,000 tokens/s | 410 tokens/s |" in text
    assert "| Eole | 2.00× (1.90–2.20) | – |" in text
    assert "| dragoman | – | 1,234 |" in text
    assert "5 or 3 rounds" in text
    assert "CTranslate2 int8" not in text  # it cannot train: no row of dashes
    assert "Versions: dragoman 0.1.0, Eole 0.6.4." in text
    assert "Not measured: JoeyNMT: not installed; Eole: failed: out of memory." in text
    assert "| 0.5% | `python -m benchmarks.loop_profile` |" in text
    assert "7.4 s, the second time 0.4 s" in text
    assert "1.03× (bpe), 1.02× (unigram)" in text
    assert "4.4% of positions; 2,059 batches/s" in text


def test_parts_that_were_not_measured_are_left_out(benchmarks):
    assert "Training" not in benchmarks.tables({"prepare": FOUND["prepare"]})
    assert benchmarks.tables({}) == ""


def test_only_what_stands_between_the_comments_is_replaced(benchmarks, tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{benchmarks.BEGIN}\nold\n{benchmarks.END}\nafter\n")
    assert benchmarks.write_tables("| new |", readme)
    assert benchmarks.write_tables("| newer |", readme)  # again and again
    text = readme.read_text()
    assert text == f"before\n{benchmarks.BEGIN}\n\n| newer |\n\n{benchmarks.END}\nafter\n"


def test_a_readme_without_the_comments_is_left_alone(benchmarks, tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text("nothing\n")
    assert not benchmarks.write_tables("| new |", readme)
    assert readme.read_text() == "nothing\n"
