"""What must hold for any search: exactness where it can be checked, and independence of company.

Scorers are tables of chances drawn by hypothesis, small enough that every hypothesis can be listed.
"""

import itertools
import zlib

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.batches.batch import pad_sources
from dragoman.config import ModelConfig
from dragoman.decoding.beam_search import beam_search
from dragoman.decoding.greedy import greedy_search
from dragoman.decoding.length_penalty import length_penalty
from dragoman.decoding.sampling import Sampling, sample
from dragoman.decoding.scoring import score_ids
from dragoman.model.transformer import Transformer
from dragoman.tokenize.vocabulary import BOS_ID, EOS_ID

seeded = settings(deadline=None, max_examples=25, derandomize=True)
N_WORDS = 2  # ids 3 and 4
sentences = st.lists(st.integers(4, 12), min_size=1, max_size=7)
batches = st.lists(sentences, min_size=1, max_size=6)


class Table:
    """Chances of the next token that depend on all tokens before it."""

    def __init__(self, seed):
        self.seed = seed

    def start(self, src_ids, *, n_beams, capacity):
        return Said([()] * (src_ids.size(0) * n_beams), n_beams)

    def step(self, ids, cache):
        cache.rows = [(*row, i) for row, i in zip(cache.rows, ids.tolist(), strict=True)]
        return torch.stack([self.logits(row) for row in cache.rows])

    def logits(self, said):
        key = zlib.crc32(repr((self.seed, said)).encode())
        generator = torch.Generator().manual_seed(key)
        return 2 * torch.randn(3 + N_WORDS, generator=generator, dtype=torch.float64)

    def score(self, ids, alpha):
        said, total = (BOS_ID,), 0.0
        for token in (*ids, EOS_ID):
            total += float(torch.log_softmax(self.logits(said), -1)[token])
            said = (*said, token)
        return total / length_penalty(len(ids) + 1.0, alpha)


class Said:
    def __init__(self, rows, n_beams):
        self.rows, self.n_beams = rows, n_beams

    def reorder(self, rows):
        self.rows = [self.rows[i] for i in rows.tolist()]

    def keep(self, sentences):
        n = self.n_beams
        self.rows = [self.rows[s * n + i] for s in sentences.tolist() for i in range(n)]


def make_model(seed, double=True):
    torch.manual_seed(seed)
    shape = ModelConfig(d_model=12, n_heads=3, n_layers=1, d_ff=11, vocab_size=13, tie="none")
    model = Transformer(shape).eval().requires_grad_(False)
    model.output.weight.mul_(3.0)
    return model.double() if double else model


@seeded
@given(
    seed=st.integers(0, 10_000),
    alpha=st.floats(0, 2),
    max_len=st.integers(1, 5),
    n_best=st.integers(1, 4),
)
def test_a_beam_as_wide_as_the_space_lists_the_best_hypotheses(seed, alpha, max_len, n_best):
    scorer = Table(seed)
    every = itertools.chain.from_iterable(
        itertools.product((3, 4), repeat=n) for n in range(max_len)
    )
    ranked = sorted(((scorer.score(ids, alpha), ids) for ids in every), reverse=True)[:n_best]
    found = beam_search(
        scorer,
        torch.tensor([[4, EOS_ID]]),
        beam_size=max(n_best, N_WORDS**max_len),
        alpha=alpha,
        n_best=n_best,
        max_len=max_len,
    )[0]
    assert [h.ids for h in found] == [ids for _, ids in ranked]
    assert all(abs(h.score - score) < 1e-9 for h, (score, _) in zip(found, ranked, strict=True))


@seeded
@given(seed=st.integers(0, 10_000), alpha=st.floats(0, 2), beam=st.integers(1, 4))
def test_a_wide_beam_is_never_beaten_by_a_narrow_one(seed, alpha, beam):
    src = torch.tensor([[4, EOS_ID]])
    narrow = beam_search(Table(seed), src, beam_size=beam, alpha=alpha, max_len=5)[0][0]
    exact = beam_search(Table(seed), src, beam_size=32, alpha=alpha, max_len=5)[0][0]
    assert narrow.score <= exact.score + 1e-12


@seeded
@given(rows=batches, seed=st.integers(0, 50), beam=st.integers(1, 5), double=st.booleans())
def test_batch_mates_change_nothing(rows, seed, beam, double):
    model = make_model(seed, double)
    together = beam_search(model, pad_sources(rows), beam_size=beam, max_extra=6)
    alone = [beam_search(model, pad_sources([r]), beam_size=beam, max_extra=6)[0] for r in rows]
    assert [[h.ids for h in ranked] for ranked in together] == [
        [h.ids for h in ranked] for ranked in alone
    ]


@seeded
@given(rows=batches, seed=st.integers(0, 50))
def test_a_beam_of_one_is_greedy(rows, seed):
    model = make_model(seed)
    beams = beam_search(model, pad_sources(rows), beam_size=1, max_extra=6)
    walked = greedy_search(model, pad_sources(rows), max_extra=6)
    assert [ranked[0].ids for ranked in beams] == [h.ids for h in walked]


@seeded
@given(rows=batches, seed=st.integers(0, 50), temperature=st.floats(0.2, 3))
def test_every_score_is_that_of_forced_decoding(rows, seed, temperature):
    model, src_ids = make_model(seed), pad_sources(rows)
    keys = [(i,) for i in range(len(rows))]
    searched = beam_search(model, src_ids, n_best=3, max_extra=4)
    drawn = sample(model, src_ids, Sampling(temperature), keys=keys, n_each=2, max_extra=4)
    for found in (searched, drawn):
        pairs = [(row, h.ids) for row, ranked in zip(rows, found, strict=True) for h in ranked]
        forced = [score.log_prob for score in score_ids([model], pairs)]
        given = [h.log_prob for ranked in found for h in ranked]
        assert all(abs(a - b) < 1e-9 for a, b in zip(given, forced, strict=True))


@seeded
@given(rows=batches, seed=st.integers(0, 50), data=st.data())
def test_prefixes_are_kept_and_their_best_completion_is_found(rows, seed, data):
    model = make_model(seed)
    some = st.lists(st.integers(4, 12), max_size=3)
    prefixes = [data.draw(some) for _ in rows]
    found = beam_search(model, pad_sources(rows), max_extra=4, prefixes=prefixes)
    free = beam_search(model, pad_sources(rows), max_extra=4)
    for prefix, ranked, unforced in zip(prefixes, found, free, strict=True):
        assert list(ranked[0].ids[: len(prefix)]) == prefix
        if not prefix:
            assert ranked[0].ids == unforced[0].ids
