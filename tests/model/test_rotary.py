import math

import pytest
import torch
from torch.testing import assert_close

from dragoman.model.rotary import Rotation, rotary_angles


def at(*positions, d_k=4):
    return Rotation.at(torch.tensor(positions), d_k, torch.float64)


def test_angles_are_the_position_times_a_frequency_of_each_pair():
    # d_k = 4: the two pairs turn by 1 and by 10000^(-2/4) = 0.01 radians a position
    angles = rotary_angles(torch.tensor([0, 1, 7]), d_k=4)
    expected = torch.tensor([[0, 0], [1, 0.01], [7, 0.07]], dtype=torch.float64)
    assert_close(angles, expected, rtol=0, atol=1e-15)


def test_neighbouring_coordinates_are_turned_as_a_pair():
    x = torch.tensor([1.0, 0.0, 0.0, 1.0], dtype=torch.float64).view(1, 1, 1, 4)
    expected = [math.cos(7), math.sin(7), -math.sin(0.07), math.cos(0.07)]
    assert_close(at(7)(x).flatten(), torch.tensor(expected, dtype=torch.float64))


def test_position_zero_turns_nothing(random):
    x = random(2, 3, 1, 4)
    assert torch.equal(at(0)(x), x)


def test_lengths_are_kept(random):
    x = random(2, 3, 5, 4)
    turned = at(0, 1, 2, 3, 4)(x)
    assert turned.shape == x.shape
    assert_close(turned.norm(dim=-1), x.norm(dim=-1), rtol=0, atol=1e-12)
    assert not torch.allclose(turned[:, :, 1:], x[:, :, 1:])  # control: something was turned


def test_the_product_of_query_and_key_depends_on_their_distance_alone(random):
    q, k = random(1, 1, 1, 4, seed=1), random(1, 1, 1, 4, seed=2)

    def product(query_at, key_at):
        return (at(query_at)(q) * at(key_at)(k)).sum()

    assert_close(product(3, 1), product(2003, 2001), rtol=0, atol=1e-10)
    assert not torch.isclose(product(3, 1), product(3, 2))  # control: the distance is felt


def test_a_gradient_is_turned_back_by_the_same_angle(random):
    x = random(1, 1, 2, 4).requires_grad_()
    assert torch.autograd.gradcheck(at(3, 5), x)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_numbers_of_16_bits_stay_what_they_are(random, dtype):
    x = random(2, 3, 2, 4)
    turned = Rotation.at(torch.tensor([3, 5]), 4, dtype)(x.to(dtype))
    assert turned.dtype == dtype
    assert_close(turned.double(), at(3, 5)(x), rtol=0, atol=0.03)
