"""Forced decoding against the plain forward pass."""

import math

import pytest
import torch

from dragoman.decoding import scoring
from dragoman.decoding.scoring import PairScore, score_ids
from dragoman.tokenize.vocabulary import BOS_ID, EOS_ID


def by_forward(model, src, tgt):
    logits = model(torch.tensor([[*src, EOS_ID]]), torch.tensor([[BOS_ID, *tgt]]))[0]
    return torch.log_softmax(logits, -1)[range(len(tgt) + 1), [*tgt, EOS_ID]].tolist()


def test_every_token_has_the_log_prob_of_the_forward_pass(make_model, sources):
    model = make_model()
    pairs = list(zip(sources(20), sources(20, seed=2), strict=True))
    scores = score_ids([model], pairs, batch_tokens=40)
    for (src, tgt), score in zip(pairs, scores, strict=True):
        assert score.token_log_probs == pytest.approx(by_forward(model, src, tgt), abs=1e-10)


def test_many_tokens_are_scored_a_part_at_a_time(make_model, sources, monkeypatch):
    model, pairs = make_model(), list(zip(sources(9), sources(9, seed=2), strict=True))
    whole = score_ids([model], pairs)
    monkeypatch.setattr(scoring, "TOKENS_AT_ONCE", 3)
    parts = score_ids([model], pairs)
    for one, other in zip(whole, parts, strict=True):
        assert one.token_log_probs == pytest.approx(other.token_log_probs, abs=1e-12)


def test_an_empty_target_is_its_end_alone(make_model):
    model = make_model()
    assert score_ids([model], [([5], [])])[0].token_log_probs == pytest.approx(
        by_forward(model, [5], [])
    )


def test_nothing_to_score_is_nothing(make_model):
    assert score_ids([make_model()], []) == []


def test_perplexity_is_e_to_the_mean_loss():
    score = PairScore((math.log(0.5), math.log(0.125)))
    assert score.log_prob == pytest.approx(math.log(1 / 16))
    assert score.perplexity == pytest.approx(4.0)
    assert PairScore((-1e6,)).perplexity == math.inf
