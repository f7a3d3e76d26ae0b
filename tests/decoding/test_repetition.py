"""When a hypothesis goes in circles, and when it may repeat itself."""

import pytest
import torch

from dragoman.decoding.repetition import goes_in_circles, is_time_to_look


def circles(ids, src_length):
    return bool(goes_in_circles(torch.tensor([ids]), torch.tensor([src_length])))


@pytest.mark.parametrize("block", [[7], [7, 8], [7, 8, 9], [1, 2, 3, 4, 5, 6, 7, 8]])
def test_a_block_said_over_and_over_is_found(block):
    ids = [20, 21, *(block * 32)[:32]]
    assert circles(ids, 10)
    assert not circles([*ids, 22], 10)  # control: it has found its way again


def test_a_repetition_no_longer_than_the_source_is_allowed():
    assert not circles([7] * 20, 21)
    assert circles([7] * 20, 20)


def test_a_short_repetition_is_allowed_whatever_the_source():
    assert not circles([5, 6] + [7] * 15, 1)
    assert circles([5, 6] + [7] * 16, 1)


def test_a_long_block_said_three_times_is_no_circle():
    block = [4, 5, 6, 7, 8, 9, 10, 11]
    assert not circles(block * 3, 4)
    assert circles(block * 4, 4)


def test_blocks_longer_than_eight_tokens_are_not_looked_for():
    assert not circles(list(range(4, 13)) * 6, 4)


def test_each_row_is_judged_by_itself():
    ids = torch.tensor([[7] * 16, list(range(16)), [7] * 16])
    found = goes_in_circles(ids, torch.tensor([3, 3, 30]))
    assert found.tolist() == [True, False, False]


def test_nothing_is_looked_at_before_it_can_be_a_circle():
    assert [n for n in range(40) if is_time_to_look(n)] == [16, 24, 32]
