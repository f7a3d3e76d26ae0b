"""Sets of sentences in eight bytes each, for duplicates and leakage in corpora of any size.

A Python set of strings takes some 200 bytes a pair, a set of ints 60. Here a pair is a 64-bit hash
in a sorted NumPy array: ten million pairs take 80 MB, and two different pairs among them share a
hash with a probability of about one in 400,000.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from dragoman.corpus.pair import Pair

Hashes = NDArray[np.uint64]
CHUNK = 16_384  # pairs looked up together; large enough for NumPy, small enough for memory


def hash_texts(texts: Iterable[str]) -> Hashes:
    """A 64-bit hash of each text, the same on every machine and in every run.

    >>> hash_texts(["a dog", "a cat", "a dog"])[[0, 2]].tolist()
    [14364831733120369406, 14364831733120369406]
    """
    digests = b"".join(blake2b(text.encode(), digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64, copy=False)


def hash_pairs(pairs: Iterable[Pair]) -> Hashes:
    """A 64-bit hash of source and target of each pair; their place does not count."""
    return hash_texts(f"{pair.src}\n{pair.tgt}" for pair in pairs)


class HashSet:
    """A growing set of hashes, kept as a few sorted arrays that double in size.

    >>> seen = HashSet()
    >>> seen.add(hash_texts(["a dog", "a cat", "a dog"])).tolist()
    [True, True, False]
    >>> hash_texts(["a cat", "a cow"])[seen.contains(hash_texts(["a cat", "a cow"]))].size
    1
    """

    def __init__(self) -> None:
        self._runs: list[Hashes] = []

    def __len__(self) -> int:
        return sum(run.size for run in self._runs)

    def contains(self, hashes: Hashes) -> NDArray[np.bool_]:
        """Which of the hashes are in the set."""
        found = np.zeros(hashes.size, dtype=bool)
        for run in self._runs:
            place = np.searchsorted(run, hashes)
            found |= run[np.minimum(place, run.size - 1)] == hashes
        return found

    def add(self, hashes: Hashes) -> NDArray[np.bool_]:
        """Put hashes into the set; which of them were new, the first of equals counting as new."""
        _, first = np.unique(hashes, return_index=True)
        is_new = np.zeros(hashes.size, dtype=bool)
        is_new[first] = True
        is_new &= ~self.contains(hashes)
        if is_new.any():
            self._runs.append(np.sort(hashes[is_new]))
        # Equal sizes are merged, as one carries in addition, so that there are few runs to search.
        while len(self._runs) > 1 and self._runs[-2].size <= 2 * self._runs[-1].size:
            merged = np.concatenate([self._runs.pop(), self._runs.pop()])
            merged.sort(kind="stable")  # linear in time for two sorted runs
            self._runs.append(merged)
        return is_new


def hash_set(pairs: Iterable[Pair]) -> HashSet:
    """The set of all pairs of a corpus, for ``clean(…, exclude=…)``.

    >>> len(hash_set([Pair("a", "b", "f", 1), Pair("a", "b", "f", 2)]))
    1
    """
    found = HashSet()
    pairs = iter(pairs)
    while chunk := list(islice(pairs, CHUNK)):
        found.add(hash_pairs(chunk))
    return found
