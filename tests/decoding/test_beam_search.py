"""Beam search against every hypothesis there is, against greedy search, and against itself."""

import pytest
import torch

from dragoman.batches.batch import pad_sources
from dragoman.decoding import beam_search as module
from dragoman.decoding.beam_search import beam_search, begin, is_over, reorder
from dragoman.decoding.greedy import greedy_search
from dragoman.decoding.length_penalty import length_penalty
from dragoman.decoding.rules import make_rules
from dragoman.decoding.scoring import score_ids
from dragoman.errors import DragomanError
from dragoman.tokenize.vocabulary import BOS_ID, EOS_ID, PAD_ID

SOURCE = torch.tensor([[5, 6, EOS_ID]])


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0, 2.0])
@pytest.mark.parametrize("max_len", [1, 2, 4])
def test_a_beam_as_wide_as_the_space_finds_the_best_of_all_hypotheses(toy, seed, alpha, max_len):
    scorer = toy(6, seed=seed)  # three words, EOS, and two tokens that are never said
    every = scorer.every_hypothesis((5, 6, EOS_ID), max_len, alpha)
    n_best = min(5, len(every))
    found = beam_search(
        scorer, SOURCE, beam_size=3**max_len, alpha=alpha, n_best=n_best, max_len=max_len
    )[0]
    assert [h.ids for h in found] == [ids for _, ids in every[:n_best]]
    assert [h.score for h in found] == pytest.approx([score for score, _ in every[:n_best]])


def test_several_sentences_at_once_each_find_their_own_best(toy):
    scorer = toy(6, seed=4)
    sources = [[5], [4, 5, 4], [5, 5]]
    found = beam_search(scorer, pad_sources(sources), beam_size=81, max_len=4)
    for source, hypotheses in zip(sources, found, strict=True):
        best = scorer.every_hypothesis((*source, EOS_ID), 4, 0.6)[0]
        assert hypotheses[0].ids == best[1]


def by_the_book(scorer, source, *, beam_size, alpha, max_len):
    """Beam search as one would say it: all continuations listed and sorted, no early end."""
    alive, finished = [(0.0, (BOS_ID,))], []
    for length in range(1, max_len + 1):
        every = []
        for total, said in alive:
            log_probs = torch.log_softmax(scorer.logits(source, said), -1).tolist()
            tokens = [EOS_ID] if length == max_len else range(EOS_ID, scorer.n_tokens)
            every += [(total + log_probs[token], (*said, token)) for token in tokens]
        every.sort(reverse=True)
        for total, said in every[:beam_size]:
            if said[-1] == EOS_ID:
                finished.append((total / length_penalty(float(length), alpha), said[1:-1]))
        alive = [(total, said) for total, said in every if said[-1] != EOS_ID][:beam_size]
    return sorted(finished, reverse=True)


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.5])
@pytest.mark.parametrize("beam_size", [2, 3, 5])
def test_a_narrow_beam_finds_what_the_plain_way_finds(toy, alpha, beam_size):
    for seed in range(12):
        scorer = toy(8, seed=seed, sharpness=1.5)
        rule = {"beam_size": beam_size, "alpha": alpha, "max_len": 7}
        plain = by_the_book(scorer, (5, 6, EOS_ID), **rule)[:2]
        found = beam_search(scorer, SOURCE, n_best=2, **rule)[0]
        assert [h.ids for h in found] == [ids for _, ids in plain]
        assert [h.score for h in found] == pytest.approx([score for score, _ in plain])


@pytest.mark.parametrize("alpha", [0.0, 0.6])
def test_a_narrow_beam_is_no_better_than_the_best_and_often_finds_it(toy, alpha):
    hits = 0
    for seed in range(20):
        scorer = toy(6, seed=seed)
        best, ids = scorer.every_hypothesis((5, 6, EOS_ID), 4, alpha)[0]
        found = beam_search(scorer, SOURCE, beam_size=3, alpha=alpha, max_len=4)[0][0]
        assert found.score <= best + 1e-12
        hits += found.ids == ids
    assert hits >= 15


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_beam_of_one_is_greedy_search(make_model, sources, seed):
    model = make_model(seed=seed)
    src_ids = pad_sources(sources(20, seed=seed))
    by_beam = beam_search(model, src_ids, beam_size=1, max_extra=10)
    by_argmax = greedy_search(model, src_ids, max_extra=10)
    assert [found[0].ids for found in by_beam] == [found.ids for found in by_argmax]
    for (one,), other in zip(by_beam, by_argmax, strict=True):
        assert one.score == pytest.approx(other.score, abs=1e-9)
        assert one.ending == other.ending
    assert len({len(found.ids) for found in by_argmax}) > 2  # control: there was something to say


@pytest.mark.parametrize("beam_size", [2, 5])
@pytest.mark.parametrize("shape", [{}, {"positions": "rotary", "norm": "pre"}, {"window": 2}])
def test_cached_equals_uncached(make_model, uncached, sources, beam_size, shape):
    model = make_model(**shape)
    src_ids = pad_sources(sources(7))
    cached = beam_search(model, src_ids, beam_size=beam_size, n_best=2, max_extra=6)
    again = beam_search(uncached(model), src_ids, beam_size=beam_size, n_best=2, max_extra=6)
    for one, other in zip(cached, again, strict=True):
        assert [h.ids for h in one] == [h.ids for h in other]
        assert [h.score for h in one] == pytest.approx([h.score for h in other], abs=1e-9)


@pytest.mark.parametrize(("double", "within"), [(True, 1e-10), (False, 1e-5)])
def test_log_probs_are_those_of_forced_decoding(make_model, sources, double, within):
    model = make_model(double=double, scale=1.5)
    rows = sources(12)
    found = beam_search(model, pad_sources(rows), n_best=3, max_extra=8)
    pairs = [(row, h.ids) for row, ranked in zip(rows, found, strict=True) for h in ranked]
    forced = [score.log_prob for score in score_ids([model], pairs)]
    assert [h.log_prob for ranked in found for h in ranked] == pytest.approx(forced, abs=within)


@pytest.mark.parametrize("double", [True, False])
def test_a_sentence_is_translated_the_same_alone_and_among_sixty_four(make_model, sources, double):
    model = make_model(double=double)
    rows = sources(64)
    together = beam_search(model, pad_sources(rows), n_best=2, max_extra=10)
    for row, found in zip(rows, together, strict=True):
        alone = beam_search(model, pad_sources([row]), n_best=2, max_extra=10)[0]
        assert [h.ids for h in alone] == [h.ids for h in found]


def test_the_n_best_are_sorted_and_distinct(make_model, sources):
    for ranked in beam_search(make_model(), pad_sources(sources(10)), beam_size=6, n_best=6):
        scores = [h.score for h in ranked]
        assert len(ranked) == 6
        assert scores == sorted(scores, reverse=True)
        assert len({h.ids for h in ranked}) == 6


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.5])
def test_stopping_early_loses_nothing(make_model, sources, alpha, monkeypatch):
    model = make_model(scale=2.0)
    src_ids = pad_sources(sources(16))
    steps = []
    step = model.step
    monkeypatch.setattr(model, "step", lambda ids, cache: steps.append(1) or step(ids, cache))
    early = beam_search(model, src_ids, alpha=alpha, n_best=2, max_extra=12)
    n_early = len(steps)
    never = lambda state, alpha: torch.zeros_like(state.to_beat, dtype=torch.bool)  # noqa: E731
    monkeypatch.setattr(module, "is_over", never)
    late = beam_search(model, src_ids, alpha=alpha, n_best=2, max_extra=12)
    assert [[h.ids for h in ranked] for ranked in early] == [
        [h.ids for h in ranked] for ranked in late
    ]
    assert len(steps) - n_early == 9 + 1 + 12  # control: the second search ran to the end
    assert n_early <= len(steps) - n_early


def test_a_sentence_is_over_when_hope_is_no_better_than_what_was_found():
    state, _ = begin(make_rules(SOURCE, max_extra=16), 2)  # limit 19: the penalty is 4 ** alpha
    assert state.rules.limits.tolist() == [19]
    log_probs = torch.tensor([[-2.0, -3.0]], dtype=torch.float64)

    def over(to_beat):
        changed = module.replace(
            state, log_probs=log_probs, to_beat=torch.tensor([to_beat], dtype=torch.float64)
        )
        return bool(is_over(changed, 0.5))

    # -2 / 4 ** 0.5 = -1 is all that can be hoped for
    assert over(-0.9)
    assert over(-1.0)
    assert not over(-1.1)
    assert not over(-float("inf"))


def test_a_prefix_is_said_first_and_counted_in_the_score(make_model, sources):
    model, rows = make_model(), sources(6)
    prefixes = [[], [7], [8, 9], [4, 4, 4, 4], [], [12]]
    found = beam_search(model, pad_sources(rows), n_best=2, max_extra=6, prefixes=prefixes)
    free = beam_search(model, pad_sources(rows), n_best=2, max_extra=6)
    for row, prefix, ranked, unforced in zip(rows, prefixes, found, free, strict=True):
        for h in ranked:
            assert list(h.ids[: len(prefix)]) == prefix
            assert h.log_prob == pytest.approx(score_ids([model], [(row, h.ids)])[0].log_prob)
        if not prefix:
            assert [h.ids for h in ranked] == [h.ids for h in unforced]
    assert any(h[0].ids != f[0].ids for h, f in zip(found, free, strict=True))  # control


def test_a_prefix_longer_than_the_limit_is_still_completed(make_model):
    found = beam_search(make_model(), SOURCE, max_extra=0, prefixes=[[5] * 9])[0][0]
    assert found.ids == (5,) * 9
    assert found.ending == "limit"


def test_padding_and_bos_are_never_said(make_model):
    model = make_model()
    step = model.step

    def eager(ids, cache):
        logits = step(ids, cache)
        logits[:, (PAD_ID, BOS_ID)] += 50
        return logits

    model.step = eager
    for ranked in beam_search(model, SOURCE, n_best=4, max_extra=5):
        assert not {PAD_ID, BOS_ID} & {i for h in ranked for i in h.ids}


def test_a_translation_without_room_is_ended_and_says_so(toy):
    scorer = toy(6)
    scorer.logits = lambda source, said: torch.tensor([0, 0, -20, 0, 1, 2.0], dtype=torch.float64)
    found = beam_search(scorer, SOURCE, max_extra=2)[0][0]
    assert len(found.ids) == 4  # three source tokens and two more, one of them EOS
    assert found.ending == "limit"


def test_a_translation_that_goes_in_circles_is_ended_and_says_so(toy):
    scorer = toy(6)
    scorer.logits = lambda source, said: torch.tensor([0, 0, -20, 0, 0, 30.0], dtype=torch.float64)
    found = beam_search(scorer, SOURCE, beam_size=2, max_extra=60)[0][0]
    assert found.ending == "repetition"
    assert set(found.ids) == {5}
    assert len(found.ids) == 16


def test_the_cache_is_reordered_only_when_the_order_changes():
    calls = []

    class Cache:
        def reorder(self, rows):
            calls.append(rows.tolist())

        def keep(self, sentences): ...

    reorder(Cache(), torch.tensor([[0, 1], [0, 1]]))
    assert calls == []
    reorder(Cache(), torch.tensor([[0, 1], [1, 1]]))
    assert calls == [[0, 1, 3, 3]]


def test_a_broken_model_is_told_and_does_not_search_for_ever(toy):
    scorer = toy(6)
    scorer.logits = lambda source, said: torch.full((6,), torch.nan, dtype=torch.float64)
    with pytest.raises(DragomanError, match="no usable probabilities"):
        beam_search(scorer, SOURCE)


def test_the_search_may_be_wider_than_the_vocabulary(make_model):
    ranked = beam_search(make_model(), SOURCE, beam_size=40, n_best=3, max_extra=2)[0]
    assert len(ranked) == 3
