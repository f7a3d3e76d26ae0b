"""The set of hashes against Python's own set."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.corpus.hashes import HashSet, hash_pairs, hash_set, hash_texts
from dragoman.corpus.pair import Pair

chunks = st.lists(st.lists(st.integers(0, 40), max_size=30), max_size=20)


@settings(deadline=None, max_examples=100)
@given(chunks=chunks, wanted=st.lists(st.integers(0, 60), max_size=30))
def test_it_says_what_a_python_set_says(chunks: list[list[int]], wanted: list[int]) -> None:
    ours, theirs = HashSet(), set()
    for chunk in chunks:
        is_new = ours.add(np.array(chunk, dtype=np.uint64))
        for value, new in zip(chunk, is_new.tolist(), strict=True):
            assert new == (value not in theirs)
            theirs.add(value)
    assert len(ours) == len(theirs)
    found = ours.contains(np.array(wanted, dtype=np.uint64))
    assert found.tolist() == [value in theirs for value in wanted]


def test_the_runs_stay_few() -> None:
    ours = HashSet()
    rng = np.random.default_rng(1)
    for _ in range(500):
        ours.add(rng.integers(0, 2**63, size=20).astype(np.uint64))
    assert len(ours) == 10_000
    assert len(ours._runs) <= 14


def test_a_hash_is_the_same_on_every_machine() -> None:
    # BLAKE2b with 8 bytes, little endian: the value of `b2sum -l 64` read backwards
    assert hash_texts(["a dog"]).tolist() == [14364831733120369406]


def test_source_and_target_do_not_run_into_each_other() -> None:
    one, other = Pair("ab", "c", "f", 1), Pair("a", "bc", "f", 2)
    assert len(hash_set([one, other])) == 2
    assert hash_pairs([one]).tolist() == hash_pairs([one._replace(line=9)]).tolist()
