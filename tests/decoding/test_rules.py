"""Limits, prefixes, bans: what may be said where."""

import torch

from dragoman.decoding.rules import make_rules
from dragoman.tokenize.vocabulary import BOS_ID, EOS_ID, PAD_ID

SRC = torch.tensor([[5, 6, 7, EOS_ID], [8, EOS_ID, PAD_ID, PAD_ID]])


def allowed(log_probs):
    return [[i for i, x in enumerate(row) if x > -torch.inf] for row in log_probs.tolist()]


def test_limits_are_the_source_and_some_more():
    assert make_rules(SRC, max_extra=3).limits.tolist() == [7, 5]


def test_limits_end_where_positions_do():
    assert make_rules(SRC, max_extra=3, max_len=6).limits.tolist() == [6, 5]


def test_a_prefix_has_room_after_it():
    assert make_rules(SRC, max_extra=3, prefixes=[[9] * 9, []]).limits.tolist() == [13, 5]
    assert make_rules(SRC, max_extra=3, max_len=6, prefixes=[[9] * 9, []]).limits.tolist() == [
        10,
        5,
    ]


def test_padding_and_bos_are_banned_and_the_rest_stays_as_it_is():
    log_probs = torch.log_softmax(torch.arange(12.0).view(2, 6), -1)
    before = log_probs.clone()
    after = make_rules(SRC, max_extra=3).apply(log_probs, 0, None)
    assert allowed(after) == [[2, 3, 4, 5]] * 2
    assert torch.equal(after[:, 2:], before[:, 2:])


def test_at_its_last_position_a_hypothesis_can_only_end():
    rules = make_rules(SRC, max_extra=3)  # limits 7 and 5
    assert allowed(rules.apply(torch.zeros(4, 6), 3, None)) == [[2, 3, 4, 5]] * 4
    assert allowed(rules.apply(torch.zeros(4, 6), 4, None)) == [[2, 3, 4, 5]] * 2 + [[EOS_ID]] * 2


def test_a_row_in_circles_can_only_end():
    marks = torch.tensor([False, True, False, False])
    after = make_rules(SRC, max_extra=3).apply(torch.zeros(4, 6), 0, marks)
    assert allowed(after) == [[2, 3, 4, 5], [EOS_ID], [2, 3, 4, 5], [2, 3, 4, 5]]


def test_a_prefix_leaves_no_choice_and_keeps_its_probability():
    rules = make_rules(SRC, max_extra=3, prefixes=[[4, 5], [3]])
    log_probs = torch.log_softmax(torch.arange(12.0).view(2, 6), -1)
    expected = log_probs.clone()
    first = rules.apply(log_probs.clone(), 0, None)
    assert allowed(first) == [[4], [3]]
    assert first[0, 4] == expected[0, 4]
    assert allowed(rules.apply(log_probs.clone(), 1, None)) == [[5], [2, 3, 4, 5]]
    assert allowed(rules.apply(log_probs.clone(), 2, None)) == [[2, 3, 4, 5]] * 2


def test_a_prefix_is_said_even_in_circles():
    rules = make_rules(SRC, max_extra=3, prefixes=[[4], []])
    after = rules.apply(torch.zeros(2, 6), 0, torch.tensor([True, True]))
    assert allowed(after) == [[4], [EOS_ID]]


def test_rules_follow_the_sentences_that_stay():
    kept = make_rules(SRC, max_extra=3, prefixes=[[4], []]).keep(torch.tensor([1]))
    assert (kept.limits.tolist(), kept.src_lengths.tolist()) == ([5], [2])
    assert kept.forced.tolist() == [[-1]]
    assert BOS_ID not in allowed(kept.apply(torch.zeros(1, 6), 0, None))[0]


def test_before_its_least_length_a_hypothesis_cannot_end_not_even_in_circles():
    rules = make_rules(SRC, max_extra=3, min_len=3)
    marks = torch.tensor([True, False])
    assert allowed(rules.apply(torch.zeros(2, 6), 1, marks)) == [[3, 4, 5]] * 2
    assert allowed(rules.apply(torch.zeros(2, 6), 2, marks)) == [[EOS_ID], [2, 3, 4, 5]]


def test_a_least_length_beyond_the_limit_is_the_limit():
    rules = make_rules(SRC, max_extra=3, max_len=4, min_len=9)
    assert allowed(rules.apply(torch.zeros(2, 6), 3, None)) == [[EOS_ID]] * 2


def test_it_says_for_how_long_nothing_changes():
    rules = make_rules(SRC, max_extra=3, min_len=3, prefixes=[[4], []])  # the first ends at 5
    assert [rules.n_open(position, None) for position in range(5)] == [0, 1, 2, 1, 0]
    assert rules.n_open(2, torch.tensor([False, True])) == 0
