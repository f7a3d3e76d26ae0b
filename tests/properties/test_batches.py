"""What holds of batches whatever the corpus, the budget, the seed and the number of ranks."""

import itertools
import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.batches.bucketing import SOURCE_BUDGET, plan_by_length, plan_epoch
from dragoman.batches.loader import Batches, BatchSettings
from dragoman.batches.store_writer import write_store

LENGTHS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=120)
BUDGETS = st.integers(1, 300)
SEEDS = st.integers(0, 2**32)


def _all_ranks(pairs, world_size, **options):
    src, tgt = np.array(pairs).T
    return [
        plan_epoch(src, tgt, world_size=world_size, rank=r, **options) for r in range(world_size)
    ]


@settings(deadline=None, max_examples=150)
@given(LENGTHS, BUDGETS, SEEDS, st.integers(0, 9), st.integers(1, 6), st.integers(1, 4))
def test_every_pair_comes_once_an_epoch_whatever_the_world(
    pairs, batch_tokens, seed, epoch, world_size, accumulate
):
    world_size = min(world_size, len(pairs))
    plans = _all_ranks(
        pairs,
        world_size,
        batch_tokens=batch_tokens,
        seed=seed,
        epoch=epoch,
        accumulate=accumulate,
    )
    batches = list(itertools.chain(*plans))
    assert sorted(np.concatenate(batches)) == list(range(len(pairs)))
    assert all(len(batch) for batch in batches)
    assert len({len(plan) for plan in plans}) == 1


@settings(deadline=None, max_examples=100)
@given(LENGTHS, BUDGETS, SEEDS)
def test_only_a_single_pair_exceeds_the_budget(pairs, batch_tokens, seed):
    (plan,) = _all_ranks(pairs, 1, batch_tokens=batch_tokens, seed=seed, epoch=0)
    src, tgt = np.array(pairs).T + 1
    for batch in plan:
        n_rows = len(batch)
        within = n_rows * tgt[batch].max() <= batch_tokens
        within &= n_rows * src[batch].max() <= SOURCE_BUDGET * batch_tokens
        assert within or n_rows == 1


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 40), max_size=60), BUDGETS)
def test_decoding_takes_every_sentence_once(lengths, batch_tokens):
    plan = plan_by_length(np.array(lengths, np.int64), batch_tokens)
    assert sorted(itertools.chain(*(b.tolist() for b in plan))) == list(range(len(lengths)))


@settings(deadline=None, max_examples=25)
@given(
    st.lists(
        st.tuples(
            st.lists(st.integers(4, 30), max_size=6), st.lists(st.integers(4, 30), max_size=6)
        ),
        min_size=2,
        max_size=30,
    ),
    st.integers(1, 40),
    SEEDS,
    st.integers(0, 40),
    st.integers(0, 3),
    st.integers(1, 2),
)
def test_restoring_anywhere_yields_what_never_stopping_would_have(
    pairs, batch_tokens, seed, n_before, prefetch, world_size
):
    options = BatchSettings(
        batch_tokens=batch_tokens, seed=seed, world_size=world_size, rank=world_size - 1
    )
    with tempfile.TemporaryDirectory() as folder:
        store = write_store(Path(folder, "s"), pairs, vocab_size=32)
        with Batches(store, options, prefetch=prefetch) as straight:
            for _ in range(n_before):
                next(straight)
            saved = straight.position
            expected = [_content(next(straight)) for _ in range(8)]
        with Batches(store, options, position=saved, prefetch=prefetch) as resumed:
            assert [_content(next(resumed)) for _ in range(8)] == expected


def _content(batch):
    tensors = (batch.src_ids, batch.tgt_in, batch.tgt_out)
    return (batch.indices.tolist(), *(tensor.tolist() for tensor in tensors))
