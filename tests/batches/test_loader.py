"""The stream of batches: positions, prefetching, sampling, a thread that ends."""

import gc
import itertools
import json
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from dragoman.batches.loader import Batches, BatchSettings, Position, validation_batches
from dragoman.batches.store import Store
from dragoman.batches.store_writer import StoreWriter, write_store
from dragoman.errors import DataError

SETTINGS = BatchSettings(batch_tokens=24, seed=3)


@pytest.fixture
def store(tmp_path):
    rng = np.random.default_rng(5)
    pairs = [
        (rng.integers(4, 99, rng.integers(1, 9)).tolist(), rng.integers(4, 99, 3).tolist())
        for _ in range(40)
    ]
    return write_store(tmp_path / "s", pairs, vocab_size=100)


def _threads():
    return [t for t in threading.enumerate() if t.name == "dragoman-batches"]


def _take(batches, count):
    return [batch.indices.tolist() for batch in itertools.islice(batches, count)]


def test_an_epoch_holds_every_pair_once_and_the_next_follows(store):
    with Batches(store, SETTINGS) as batches:
        first = next(batches)
        epoch = [first.indices.tolist(), *_take(batches, batches.n_batches - 1)]
        assert sorted(itertools.chain(*epoch)) == list(range(40))
        assert batches.position == Position(epoch=1, batch=0)
        first = next(batches)
        second = [first.indices.tolist(), *_take(batches, batches.n_batches - 1)]
    assert sorted(itertools.chain(*second)) == list(range(40))
    assert second != epoch


def test_a_batch_holds_the_ids_of_the_store(store):
    with Batches(store, SETTINGS) as batches:
        batch = next(batches)
    for row, index in enumerate(batch.indices):
        src, _ = store.pair(index)
        assert batch.src_ids[row, : len(src)].tolist() == src.tolist()


@pytest.mark.parametrize("prefetch", [0, 3])
def test_the_position_is_that_of_the_next_batch_not_of_what_was_prefetched(store, prefetch):
    with Batches(store, SETTINGS, prefetch=prefetch) as batches:
        assert batches.position == Position(0, 0)
        next(batches)
        next(batches)
        assert batches.position == Position(0, 2)


def test_prefetching_changes_no_batch(store):
    with Batches(store, SETTINGS, prefetch=3) as ahead, Batches(store, SETTINGS, prefetch=0) as now:
        assert _take(ahead, 25) == _take(now, 25)


def test_going_on_from_a_position_gives_the_batches_that_would_have_come(store):
    with Batches(store, SETTINGS) as batches:
        _take(batches, 4)
        saved = json.dumps(batches.position.to_json())
        expected = _take(batches, 20)
    position = Position.from_json(json.loads(saved))
    with Batches(store, SETTINGS, position=position) as resumed:
        assert _take(resumed, 20) == expected


def test_a_position_past_the_end_of_its_epoch_is_refused(store):
    with (
        Batches(store, SETTINGS, position=Position(0, 10_000)) as batches,
        pytest.raises(DataError, match="batch 10,000 is asked for.*\n.*has changed"),
    ):
        next(batches)


def test_ranks_share_an_epoch(store):
    seen = []
    for rank in range(2):
        settings = BatchSettings(batch_tokens=24, seed=3, world_size=2, rank=rank)
        with Batches(store, settings) as batches:
            first = next(batches)
            seen += first.indices.tolist()
            seen += itertools.chain(*_take(batches, batches.n_batches - 1))
    assert sorted(seen) == list(range(40))


def test_an_error_in_the_background_reaches_the_consumer(store, monkeypatch):
    def broken(*_):
        raise RuntimeError("disk is gone")

    monkeypatch.setattr(Store, "gather", broken)
    with (
        Batches(store, SETTINGS) as batches,
        pytest.raises(RuntimeError, match="disk is gone"),
    ):
        next(batches)


def test_closing_ends_the_thread_and_the_stream(store):
    batches = Batches(store, SETTINGS)
    next(batches)
    assert _threads()  # control
    batches.close()
    assert not _threads()
    assert list(batches) == []
    batches.close()  # once more does no harm


def test_a_forgotten_loader_ends_its_thread(store):
    batches = Batches(store, SETTINGS)
    next(batches)
    del batches
    gc.collect()
    for _ in range(50):
        if not _threads():
            break
        time.sleep(0.1)
    assert not _threads()


def test_a_program_that_ends_without_closing_ends_cleanly(store):
    program = (
        "import pathlib, sys\n"
        "from dragoman.batches.loader import Batches, BatchSettings\n"
        "from dragoman.batches.store import Store\n"
        "batches = Batches(Store.open(pathlib.Path(sys.argv[1])),"
        " BatchSettings(batch_tokens=24, seed=3))\n"
        "next(batches)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, str(store.folder)],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_validation_batches_hold_every_pair_once_in_a_fixed_order(store):
    first = [b.indices.tolist() for b in validation_batches(store, batch_tokens=24)]
    again = [b.indices.tolist() for b in validation_batches(store, batch_tokens=24)]
    assert first == again
    assert sorted(itertools.chain(*first)) == list(range(40))


def test_validation_batches_are_shared_by_ranks(store):
    shares = [
        b.indices.tolist()
        for rank in range(3)
        for b in validation_batches(store, batch_tokens=24, world_size=3, rank=rank)
    ]
    assert sorted(itertools.chain(*shares)) == list(range(40))


class RandomLetters:
    """Cuts a text in letters or pairs of letters, as chance will have it."""

    def sample_batch(self, texts, side, *, alpha, seed):
        rng = np.random.default_rng(seed)
        return [
            [
                4 + (ord(c) + (side == "tgt")) % 90
                for c in text
                for _ in range(1 + (rng.random() < alpha))
            ]
            for text in texts
        ]


@pytest.fixture
def text_store(tmp_path):
    lines = ["abc", "de", "fghi", "jk", "lmnop", "q"] * 3
    ids = [[4 + ord(c) % 90 for c in line] for line in lines]
    with StoreWriter(
        tmp_path / "t", src_vocab_size=100, tgt_vocab_size=100, has_text=True
    ) as writer:
        writer.append(ids, ids, texts=(lines, lines))
        writer.finish()
    return Store.open(tmp_path / "t")


def _sampled(store, position=None, rank=0):
    settings = BatchSettings(
        batch_tokens=12, seed=3, sampling=0.5, tokenizer=RandomLetters(), world_size=2, rank=rank
    )
    return Batches(store, settings, position=position)


def test_sampling_cuts_the_text_anew_each_epoch(text_store):
    with _sampled(text_store) as batches:
        epochs = []
        for _ in range(2):
            first = next(batches)
            all_of_it = [first, *itertools.islice(batches, batches.n_batches - 1)]
            epochs.append(sum(batch.n_tokens for batch in all_of_it))
    assert epochs[0] != epochs[1]


def test_sampling_goes_on_exactly_from_a_position(text_store):
    with _sampled(text_store) as batches:
        next(batches)
        saved = batches.position
        expected = [next(batches).src_ids.tolist() for _ in range(6)]
    with _sampled(text_store, saved) as resumed:
        assert [next(resumed).src_ids.tolist() for _ in range(6)] == expected


def test_sampling_without_a_tokenizer_is_refused(text_store):
    with pytest.raises(DataError, match="needs the tokenizer"):
        Batches(text_store, BatchSettings(batch_tokens=12, seed=3, sampling=0.5))
