"""Paired bootstrap: the numbers of sacreBLEU's command, and the cases where it would mislead."""

import random
import subprocess
import sys

import pytest

from dragoman.errors import ConfigError
from dragoman.evaluation.significance import compare_systems

WORDS = ("a", "dog", "cat", "runs", "sleeps", "in", "the", "park", "green", "old", "man", "reads")


def corpus(seed, n=60):
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.randint(4, 12))) for _ in range(n)]


def worse(lines, share, seed):
    """The same lines with a share of the words changed."""
    rng = random.Random(seed)
    return [
        " ".join(rng.choice(WORDS) if rng.random() < share else word for word in line.split())
        for line in lines
    ]


REFERENCES = corpus(1)
GOOD, BAD = worse(REFERENCES, 0.1, 2), worse(REFERENCES, 0.5, 3)
LITTLE_BETTER = worse(REFERENCES, 0.45, 4)


def test_p_values_and_intervals_equal_those_of_the_sacrebleu_command(tmp_path):
    for name, lines in (("ref", REFERENCES), ("good", LITTLE_BETTER), ("bad", BAD)):
        (tmp_path / name).write_text("".join(f"{x}\n" for x in lines))
    options = ["-m", "bleu", "chrf", "--paired-bs", "--paired-bs-n", "200", "-f", "text", "-w", "6"]
    done = subprocess.run(
        [sys.executable, "-m", "sacrebleu", "ref", "-i", "good", "bad", *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    systems = [("good", LITTLE_BETTER), ("bad", BAD)]  # near, so that p is no round number
    found = compare_systems(systems, [REFERENCES], n_samples=200)
    for name in ("bleu", "chrf"):
        for mine in found.comparisons[name]:
            assert f"{mine.score:.6f} ({mine.mean:.6f} ± {mine.interval:.6f})" in done.stdout
        assert f"(p = {found.comparisons[name][1].p_value:.4f})" in done.stdout


def test_a_clear_difference_is_significant_and_a_small_one_is_not():
    nearly = [*GOOD[:-1], BAD[-1]]
    found = compare_systems(
        [("good", GOOD), ("bad", BAD), ("nearly", nearly)], [REFERENCES], n_samples=200
    )
    first, bad, small = found.comparisons["bleu"]
    assert first.p_value is None
    assert bad.p_value < 0.01
    assert small.p_value > 0.05
    assert found.names == ("good", "bad", "nearly")


def test_a_system_does_not_differ_from_itself():
    found = compare_systems([("a", GOOD), ("b", list(GOOD))], [REFERENCES], n_samples=50)
    assert {name: both[1].p_value for name, both in found.comparisons.items()} == {
        "bleu": 1.0,
        "chrf": 1.0,
        "ter": 1.0,
    }


def test_the_same_outputs_give_the_same_p_values():
    systems = [("good", GOOD), ("bad", BAD)]
    first = compare_systems(systems, [REFERENCES], n_samples=50)
    assert first == compare_systems(systems, [REFERENCES], n_samples=50)
    assert "bs:50|seed:12345" in first.signatures["bleu"]


def test_one_system_alone_cannot_be_compared():
    with pytest.raises(ConfigError, match="two systems"):
        compare_systems([("a", GOOD)], [REFERENCES])
