"""How a shortlist is made: which target pieces go with a source piece, by IBM's first model.

The model says that each target piece was brought about by one piece of its source, and by which
piece how likely: t(target | source). Neither is known at first. Expectation: each target piece is
divided among the pieces of its source in proportion to t. Maximization: t is what was divided.
A few rounds are enough to tell translations from pieces that only stand in the same sentences.

Letters: L links, one for each pair of a target and a source piece of one sentence pair; C distinct
pairs of pieces among them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dragoman.batches.store import Ragged, Store
from dragoman.decoding.shortlist import Ids, Shortlist

LEAST_VOCABULARY = 1000  # below it, the output matrix is no burden
MOST_LINKS = 8_000_000  # enough pairs to learn from, and some seconds of work
ROUNDS = 5
N_FREQUENT = 500
N_EACH = 50
LEAST_PROBABILITY = 1e-3


def build_shortlist(store: Store) -> Shortlist:
    """The shortlist of a prepared corpus, or of evenly spaced pairs of a large one."""
    n_links = store.src_lengths.astype(np.int64) * store.tgt_lengths
    spacing = max(1, -(-int(n_links.sum()) // MOST_LINKS))
    src, tgt = store.gather(np.arange(0, len(store), spacing))
    n_sources, n_targets = store.info.src_vocab_size, store.info.tgt_vocab_size
    pieces, sources, probabilities = translation_table(src, tgt, n_targets)
    counts = np.bincount(tgt.flat, minlength=n_targets)
    # The likeliest of each source piece first, then the first N_EACH of them.
    order = np.lexsort((pieces, -probabilities, sources))
    pieces, sources, probabilities = pieces[order], sources[order], probabilities[order]
    first = np.searchsorted(sources, np.arange(n_sources + 1))  # (V + 1,)
    rank = np.arange(len(sources)) - first[sources]
    is_kept = (rank < N_EACH) & (probabilities >= LEAST_PROBABILITY)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(sources[is_kept], minlength=n_sources))])
    return Shortlist(
        frequent=np.argsort(-counts, kind="stable")[:N_FREQUENT].astype(np.int64),
        offsets=offsets.astype(np.int64),
        pieces=pieces[is_kept].astype(np.int64),
        n_targets=n_targets,
    )


def translation_table(
    src: Ragged, tgt: Ragged, n_targets: int
) -> tuple[Ids, Ids, NDArray[np.float64]]:
    """Target pieces, source pieces and t(target | source) of all that stand together: (C,) each.

    >>> src, tgt = Ragged.of([[5, 6], [5]]), Ragged.of([[7, 8], [7]])
    >>> targets, sources, t = translation_table(src, tgt, n_targets=9)
    >>> [(int(s), int(g)) for g, s, p in zip(targets, sources, t) if p > 0.5]
    [(5, 7), (6, 8)]
    """
    source_ids, target_number = _links(src, tgt)
    codes = source_ids * n_targets + tgt.flat[target_number]  # (L,)
    distinct, which = np.unique(codes, return_inverse=True)  # (C,), (L,)
    sources, targets = distinct // n_targets, distinct % n_targets
    t: NDArray[np.float64] = np.ones(len(distinct))
    for _ in range(ROUNDS):
        shares = t[which] / np.bincount(target_number, t[which])[target_number]  # (L,)
        divided = np.bincount(which, shares, minlength=len(distinct))  # (C,)
        t = divided / np.bincount(sources, divided)[sources]
    return targets, sources, t


def _links(src: Ragged, tgt: Ragged) -> tuple[Ids, Ids]:
    """The source piece, and the number of the target piece in ``tgt.flat``, of every link: (L,)."""
    sentence = np.repeat(np.arange(len(tgt.lengths)), tgt.lengths)  # of each target piece
    n_sources = src.lengths[sentence]
    target_number = np.repeat(np.arange(len(tgt.flat)), n_sources)
    starts = (np.cumsum(src.lengths) - src.lengths)[sentence]
    within = np.arange(len(target_number)) - np.repeat(np.cumsum(n_sources) - n_sources, n_sources)
    return src.flat[np.repeat(starts, n_sources) + within].astype(np.int64), target_number
