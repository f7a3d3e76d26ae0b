"""Runs of misaligned lines: found where they are, and not where they are not."""

from pathlib import Path

import numpy as np
import pytest

from dragoman.corpus.drift import find_drift
from dragoman.corpus.plain_text import read_pairs

MULTI30K = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "multi30k"


@pytest.fixture(scope="module")
def lengths() -> tuple[np.ndarray, np.ndarray]:
    """Lengths in characters of Multi30k's training pairs, German and English."""
    if not MULTI30K.is_dir():
        pytest.skip("Multi30k is not at hand")
    pairs = list(read_pairs(MULTI30K / "train.de.gz", MULTI30K / "train.en.gz"))
    return np.array([len(p.src) for p in pairs]), np.array([len(p.tgt) for p in pairs])


def made_lengths(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Log-normal lengths whose logarithms have a correlation of about 0.8."""
    rng = np.random.default_rng(seed)
    common, a, b = rng.normal(size=(3, n))
    src, tgt = (np.exp(4 + 0.5 * (0.9 * common + 0.44 * own)) for own in (a, b))
    return src.astype(int), tgt.astype(int)


def without(lens: np.ndarray, *lines: int) -> np.ndarray:
    """Some lines lost, and the end padded so that the counts agree again."""
    return np.append(np.delete(lens, lines), [60] * len(lines))


def test_real_text_in_order_raises_no_alarm(lengths) -> None:
    src, tgt = lengths
    assert find_drift(src, tgt) == []
    for start in range(0, 29_000, 1_000):
        assert find_drift(src[start : start + 300], tgt[start : start + 300]) == []


@pytest.mark.parametrize("line", [3_000, 14_500, 28_800])
def test_a_line_lost_in_real_text_is_found_within_a_few_lines(lengths, line: int) -> None:
    src, tgt = lengths
    (drift,) = find_drift(src, without(tgt, line))
    assert abs(drift.start - line) <= 10
    assert (drift.end, drift.shift) == (29_000, -1)
    (drift,) = find_drift(without(src, line), tgt)
    assert abs(drift.start - line) <= 10
    assert (drift.end, drift.shift) == (29_000, 1)


def test_a_line_lost_and_another_gained_later_make_one_run(lengths) -> None:
    src, tgt = lengths
    (drift,) = find_drift(src, np.insert(np.delete(tgt, 5_000), 5_200, 60))
    assert drift.start == pytest.approx(5_000, abs=10)
    assert drift.end == pytest.approx(5_200, abs=10)


def test_two_lines_lost_apart_make_two_runs_of_growing_shift(lengths) -> None:
    src, tgt = lengths
    first, second = find_drift(src, without(tgt, 5_000, 9_000))
    assert (first.shift, second.shift) == (-1, -2)
    assert first.end == second.start == pytest.approx(9_000, abs=10)


def test_a_shift_too_large_to_try_is_seen_as_no_fit(lengths) -> None:
    src, tgt = lengths
    first = find_drift(src, without(tgt, *range(9_000, 9_020)))[0]
    assert first.shift is None
    assert first.start == pytest.approx(9_000, abs=100)


@pytest.mark.parametrize("seed", range(10))
def test_made_corpora_of_every_size_raise_no_alarm_in_order_or_shuffled(seed: int) -> None:
    for n in (0, 1, 10, 60, 100, 333, 5_000):
        src, tgt = made_lengths(n, seed)
        assert find_drift(src, tgt) == []
        assert find_drift(src, np.random.default_rng(seed).permutation(tgt)) == []


@pytest.mark.parametrize("seed", range(5))
def test_a_lost_line_is_found_in_made_corpora(seed: int) -> None:
    src, tgt = made_lengths(2_000, seed)
    (drift,) = find_drift(src, without(tgt, 900))
    assert drift.start == pytest.approx(900, abs=30)
    assert drift.shift == -1


def test_lines_of_equal_or_growing_length_raise_no_alarm() -> None:
    assert find_drift(np.full(500, 7), np.full(500, 9)) == []
    assert find_drift(np.arange(1000), np.arange(1000)) == []
    assert find_drift(np.arange(1000), np.zeros(1000, dtype=int)) == []


def test_a_part_of_looser_translation_raises_no_alarm() -> None:
    src, tgt = made_lengths(4_000, seed=1)
    rng = np.random.default_rng(2)
    part = slice(1_000, 2_000)
    tgt[part] = (tgt[part] * np.exp(rng.normal(scale=0.35, size=1_000))).astype(int)
    logs = np.log1p(src[part]), np.log1p(tgt[part])
    assert np.corrcoef(*logs)[0, 1] < 0.7  # control: it is looser than the rest, with 0.8
    assert find_drift(src, tgt) == []
