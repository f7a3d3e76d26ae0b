"""Token-budget batches: budget, little padding, seeds, shares of ranks."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from dragoman.batches.bucketing import (
    SOURCE_BUDGET,
    padding_share,
    plan_by_length,
    plan_epoch,
    plan_in_order,
)
from dragoman.errors import DataError

MULTI30K = Path(__file__).resolve().parents[3] / "shared" / "data" / "multi30k"


@pytest.fixture(scope="module")
def lengths():
    """Lengths of 5,000 made-up pairs, spread much as those of image captions."""
    rng = np.random.default_rng(7)
    src = np.clip(rng.normal(15, 5, 5000), 2, 60).astype(np.int32)
    tgt = np.clip(src * rng.normal(1.05, 0.2, 5000), 1, 70).astype(np.int32)
    return src, tgt


def _plan(lengths, **changes):
    return plan_epoch(*lengths, **({"batch_tokens": 1024, "seed": 1, "epoch": 0} | changes))


def _positions(batch, side):
    return len(batch) * (side[batch].max() + 1)


def test_no_batch_has_more_target_positions_than_the_budget(lengths):
    assert max(_positions(batch, lengths[1]) for batch in _plan(lengths)) <= 1024


def test_long_sources_are_bounded_too():
    src, tgt = np.full(100, 99), np.full(100, 1)
    plan = _plan((src, tgt), batch_tokens=100)
    assert max(_positions(batch, src) for batch in plan) <= SOURCE_BUDGET * 100


def test_most_batches_are_nearly_full(lengths):
    fill = [_positions(batch, lengths[1]) / 1024 for batch in _plan(lengths)]
    assert np.median(fill) > 0.95


def test_a_pair_longer_than_the_budget_is_a_batch_of_its_own():
    lengths = np.array([5, 500, 5, 5])
    plan = _plan((lengths, lengths), batch_tokens=64)
    assert [1] in [batch.tolist() for batch in plan]
    assert sorted(np.concatenate(plan)) == [0, 1, 2, 3]


def test_pairs_of_one_length_fill_batches_to_the_brim():
    lengths = np.full(10, 7)  # 8 positions with EOS: four rows in 32
    assert sorted(len(batch) for batch in _plan((lengths, lengths), batch_tokens=32)) == [2, 4, 4]


def test_a_batch_ends_where_more_pairs_would_bring_more_padding_than_tokens():
    # all 51 rows would fit in the budget, but 45 of them would be padded for the sake of six
    lengths = np.array([3] * 45 + [4] * 6)
    plan = _plan((lengths, lengths), batch_tokens=256)
    assert sorted(len(batch) for batch in plan) == [6, 45]


def test_the_same_seed_gives_the_same_epoch(lengths):
    first, again = _plan(lengths), _plan(lengths)
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))


@pytest.mark.parametrize("change", [{"seed": 2}, {"epoch": 1}])
def test_another_seed_or_epoch_groups_the_pairs_anew(lengths, change):
    def groups(plan):
        return {frozenset(batch.tolist()) for batch in plan}

    first, other = groups(_plan(lengths)), groups(_plan(lengths, **change))
    assert len(first & other) < 0.1 * len(first)


def test_batches_do_not_come_in_order_of_length_or_cost(lengths):
    plan = _plan(lengths)
    longest = [lengths[0][batch].max() for batch in plan]
    cost = [_positions(batch, lengths[0]) + _positions(batch, lengths[1]) for batch in plan]
    for measure in (longest, cost):
        rank = np.argsort(np.argsort(measure))
        assert abs(np.corrcoef(rank, np.arange(len(plan)))[0, 1]) < 0.3


def test_ranks_have_equal_numbers_of_batches_and_share_all_pairs(lengths):
    plans = [_plan(lengths, world_size=3, rank=rank, accumulate=4) for rank in range(3)]
    assert len({len(plan) for plan in plans}) == 1
    assert len(plans[0]) % 4 == 0
    together = np.concatenate([batch for plan in plans for batch in plan])
    assert np.array_equal(np.sort(together), np.arange(5000))


def test_batches_of_one_step_cost_all_ranks_about_the_same(lengths):
    def costs(rank):
        plan = _plan(lengths, world_size=4, rank=rank)
        return np.array([_positions(b, lengths[0]) + _positions(b, lengths[1]) for b in plan])

    by_rank = np.stack([costs(rank) for rank in range(4)])  # (rank, step)
    waiting = 1 - by_rank.mean(axis=0) / by_rank.max(axis=0)
    assert waiting.mean() < 0.03
    shuffled = np.random.default_rng(1).permutation(by_rank.reshape(-1)).reshape(4, -1)
    assert (1 - shuffled.mean(axis=0) / shuffled.max(axis=0)).mean() > 0.04  # control


def test_fewer_pairs_than_ranks_are_refused():
    with pytest.raises(DataError, match="2 pairs, which 3 processes cannot share"):
        _plan((np.array([1, 2]), np.array([1, 2])), world_size=3)


def test_a_rank_outside_the_world_is_refused(lengths):
    with pytest.raises(DataError, match="rank 2"):
        _plan(lengths, world_size=2, rank=2)


def test_long_pairs_hardly_more_than_ranks_are_shared_evenly_all_the_same():
    lengths = np.full(5, 100)
    plans = [_plan((lengths, lengths), batch_tokens=8, world_size=4, rank=r) for r in range(4)]
    assert [len(plan) for plan in plans] == [1, 1, 1, 1]
    assert sorted(np.concatenate([plan[0] for plan in plans])) == [0, 1, 2, 3, 4]


def test_lengths_beyond_sixteen_bits_are_planned():
    lengths = np.array([40_000, 3, 40_000, 3])
    plan = _plan((lengths, lengths), batch_tokens=90_000)
    assert sorted(np.concatenate(plan)) == [0, 1, 2, 3]


def test_empty_sentences_are_planned():
    lengths = np.array([0, 0, 3])
    assert sorted(np.concatenate(_plan((lengths, lengths), batch_tokens=2))) == [0, 1, 2]


def test_validation_batches_are_the_same_each_time_and_cover_all(lengths):
    first = plan_in_order(*lengths, batch_tokens=1024)
    again = plan_in_order(*lengths, batch_tokens=1024)
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert np.array_equal(np.sort(np.concatenate(first)), np.arange(5000))


def test_no_pairs_give_no_validation_batches():
    nothing = np.empty(0, np.int32)
    assert plan_in_order(nothing, nothing, batch_tokens=8) == []


def test_decoding_batches_hold_the_longest_first_within_budget(lengths):
    src = lengths[0]
    plan = plan_by_length(src, 512)
    assert np.all(np.diff(src[np.concatenate(plan)]) <= 0)
    assert max(len(batch) * src[batch].max() for batch in plan) <= 512
    assert np.array_equal(np.sort(np.concatenate(plan)), np.arange(5000))


def test_decoding_batches_take_empty_and_overlong_sentences():
    assert [b.tolist() for b in plan_by_length(np.array([0, 99, 0]), 4)] == [[1], [0, 2]]
    assert plan_by_length(np.empty(0, np.int64), 4) == []


def test_padding_share_by_hand():
    # batch one: 2 rows × (4 + 4) positions, 4 + 4 + 2 + 4 real; batch two has none
    src, tgt = np.array([3, 3, 6]), np.array([1, 3, 6])
    assert padding_share([np.array([0, 1]), np.array([2])], src, tgt) == pytest.approx(2 / 30)
    assert padding_share([], src, tgt) == 0


@pytest.mark.parametrize("direction", ["en-de", "de-en"])
def test_padding_of_multi30k_is_under_five_percent_at_4096_target_tokens(direction):
    if not MULTI30K.is_dir():
        pytest.skip("Multi30k is not at ../shared/data/multi30k")
    # words and punctuation spread as pieces do; the benchmark measures it with real subwords
    sides = [
        _word_counts(MULTI30K / f"train.lc.norm.tok.{lang}.gz") for lang in direction.split("-")
    ]
    for epoch in range(2):
        plan = plan_epoch(*sides, batch_tokens=4096, seed=1, epoch=epoch)
        assert padding_share(plan, *sides) < 0.05
        source_padded = [batch for batch in plan if np.ptp(sides[0][batch]) > 0]
        assert len(source_padded) < 0.35 * len(plan)


def _word_counts(path):
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        return np.array([len(line.split()) for line in lines])
