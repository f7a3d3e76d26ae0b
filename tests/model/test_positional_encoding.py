import math

import pytest
import torch
from torch.testing import assert_close

from dragoman.errors import InputTooLongError
from dragoman.model.positional_encoding import (
    LearnedPositions,
    SinusoidalPositions,
    sinusoidal_encoding,
)


def test_small_encoding_agrees_with_hand_arithmetic():
    # D = 4: the two waves advance by 1 and by 10000^(-2/4) = 0.01 radians a position
    expected = [[math.sin(p), math.cos(p), math.sin(p / 100), math.cos(p / 100)] for p in range(4)]
    encoding = sinusoidal_encoding(4, 4)
    assert encoding.dtype == torch.float64
    assert_close(encoding, torch.tensor(expected, dtype=torch.float64), rtol=0, atol=1e-15)


def test_any_coordinate_is_the_formula_of_the_paper():
    encoding = sinusoidal_encoding(3000, 12)
    for position, i in [(1, 0), (17, 2), (2999, 5)]:
        angle = position / 10_000 ** (2 * i / 12)
        assert encoding[position, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-11)
        assert encoding[position, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-11)


@pytest.mark.parametrize("offset", [1, 5, 100])
def test_a_shift_of_position_is_one_rotation_for_all_positions(offset):
    # the paper: PE(pos + k) is a linear function of PE(pos), the same wherever pos is
    encoding = sinusoidal_encoding(500, 12).view(500, 6, 2)  # (L, D / 2, sine and cosine)
    angle = offset / 10_000 ** (torch.arange(0, 12, 2, dtype=torch.float64) / 12)
    sin, cos = angle.sin(), angle.cos()
    turn = torch.stack((torch.stack((cos, sin), -1), torch.stack((-sin, cos), -1)), -2)  # (6, 2, 2)
    shifted = torch.einsum("pij,lpj->lpi", turn, encoding[: 500 - offset])
    assert_close(shifted, encoding[offset:], rtol=0, atol=1e-10)


@pytest.mark.parametrize("length", [1, 2, 255, 256, 257, 3000])
def test_the_table_grows_to_any_length(length):
    table = SinusoidalPositions(12)(length, torch.empty(0, dtype=torch.float64))
    assert torch.equal(table, sinusoidal_encoding(length, 12))


def test_the_table_comes_in_the_type_asked_for():
    table = SinusoidalPositions(12)(5, torch.empty(0, dtype=torch.float32))
    assert torch.equal(table, sinusoidal_encoding(5, 12).float())


def test_sinusoidal_positions_have_no_parameters_and_no_state():
    assert SinusoidalPositions(12).state_dict() == {}


def test_learned_positions_give_their_first_rows():
    positions = LearnedPositions(9, 12)
    torch.nn.init.normal_(positions.weight)
    assert torch.equal(positions(5, positions.weight), positions.weight[:5])
    assert torch.equal(positions(9, positions.weight), positions.weight)


def test_learned_positions_past_their_table_say_what_to_do():
    positions = LearnedPositions(9, 12)
    with pytest.raises(InputTooLongError) as caught:
        positions(10, positions.weight)
    message = str(caught.value)
    assert "10 tokens" in message
    assert "up to 9" in message
    assert "max_positions" in message
