"""Greedy search by the model's own forward pass, and the walk that sampling shares."""

import pytest
import torch

from dragoman.batches.batch import pad_sources
from dragoman.decoding.greedy import greedy, greedy_search
from dragoman.decoding.length_penalty import length_penalty
from dragoman.decoding.scoring import score_ids
from dragoman.errors import DragomanError
from dragoman.tokenize.vocabulary import BOS_ID, EOS_ID, PAD_ID

SOURCE = torch.tensor([[5, 6, EOS_ID]])


def by_hand(model, row, limit):
    """The likeliest token each time, with the whole beginning read again."""
    said = [BOS_ID]
    while len(said) < limit:
        logits = model(torch.tensor([[*row, EOS_ID]]), torch.tensor([said]))[0, -1]
        logits[[PAD_ID, BOS_ID]] = -torch.inf
        if (token := int(logits.argmax())) == EOS_ID:
            break
        said.append(token)
    return said[1:]


def test_greedy_takes_the_likeliest_token_each_time(make_model, sources):
    model, rows = make_model(), sources(20)
    found = greedy(model, pad_sources(rows), max_extra=6)
    assert found == [by_hand(model, row, len(row) + 1 + 6) for row in rows]
    assert len({len(ids) for ids in found}) > 2  # control: sentences end at different times


@pytest.mark.parametrize("double", [True, False])
def test_a_sentence_is_translated_the_same_alone_and_among_others(make_model, sources, double):
    model, rows = make_model(double=double), sources(64)
    together = greedy(model, pad_sources(rows), max_extra=10)
    assert together == [greedy(model, pad_sources([row]), max_extra=10)[0] for row in rows]


# A random model of width 12 makes much of each rounding: in float32 a token can be off by 1e-5.
@pytest.mark.parametrize(("double", "each"), [(True, 1e-12), (False, 2e-5)])
def test_log_prob_and_score_are_those_of_forced_decoding(make_model, sources, double, each):
    model, rows = make_model(double=double), sources(10)
    found = greedy_search(model, pad_sources(rows), alpha=0.8, max_extra=6)
    for row, hypothesis in zip(rows, found, strict=True):
        forced = score_ids([model], [(row, hypothesis.ids)])[0]
        near = each * forced.n_tokens
        assert hypothesis.log_prob == pytest.approx(forced.log_prob, rel=0, abs=near)
        penalty = length_penalty(float(forced.n_tokens), 0.8)
        assert hypothesis.score == pytest.approx(forced.log_prob / penalty, rel=0, abs=near)


def test_a_prefix_is_said_first(make_model, sources):
    rows = sources(3)
    prefixes = [[7, 8], [], [9]]
    found = greedy_search(make_model(), pad_sources(rows), max_extra=6, prefixes=prefixes)
    assert [list(h.ids[: len(p)]) for h, p in zip(found, prefixes, strict=True)] == prefixes


def test_endings_say_why_a_translation_ends(toy):
    scorer = toy(6)
    logits = torch.tensor([0, 0, -9, 0, 0, 9.0], dtype=torch.float64)
    scorer.logits = lambda source, said: logits
    assert greedy_search(scorer, SOURCE, max_extra=3)[0].ending == "limit"
    circling = greedy_search(scorer, SOURCE, max_extra=40)[0]
    assert (circling.ending, len(circling.ids)) == ("repetition", 16)
    scorer.logits = lambda source, said: logits.flip(0)[[0, 1, 0, 3, 4, 5]]
    assert greedy_search(scorer, SOURCE, max_extra=3)[0].ending == "eos"


def test_a_broken_model_is_told(toy):
    scorer = toy(6)
    scorer.logits = lambda source, said: torch.full((6,), torch.nan, dtype=torch.float64)
    with pytest.raises(DragomanError, match="no usable probabilities"):
        greedy(scorer, SOURCE)
