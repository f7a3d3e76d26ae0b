import pytest
import torch

from dragoman.model.packing import Packing

IDS = torch.tensor([[7, 8, 9, 3], [5, 0, 0, 0], [6, 4, 0, 0]])  # B=3 L=4


def test_a_batch_without_padding_needs_no_packing():
    assert Packing.of(IDS[:1], pad_id=0) is None
    assert Packing.of(IDS[:0], pad_id=0) is None  # nor does an empty one


def test_real_tokens_come_out_in_order_of_sentence_and_position():
    packing = Packing.of(IDS, pad_id=0)
    assert packing.pack(IDS).tolist() == [7, 8, 9, 3, 5, 6, 4]
    assert packing.positions().tolist() == [0, 1, 2, 3, 0, 0, 1]


def test_vectors_are_packed_whole():
    x = torch.arange(24.0).view(3, 4, 2)
    packed = Packing.of(IDS, pad_id=0).pack(x)
    assert packed.tolist() == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [16, 17], [18, 19]]


def test_padding_after_packing_gives_the_batch_with_zeros_for_padding():
    x = torch.arange(1.0, 25.0).view(3, 4, 2)
    packing = Packing.of(IDS, pad_id=0)
    assert torch.equal(packing.pad(packing.pack(x)), x * (IDS != 0)[:, :, None])


def test_padding_is_told_as_a_share_of_the_rectangle():
    assert Packing.of(IDS, pad_id=0).padding == pytest.approx(5 / 12)


def test_another_pad_id_packs_other_tokens():
    assert Packing.of(IDS, pad_id=8).pack(IDS).tolist() == [7, 9, 3, 5, 0, 0, 0, 6, 4, 0, 0]


def test_a_batch_of_nothing_but_padding_packs_to_nothing():
    packing = Packing.of(torch.zeros(2, 3, dtype=torch.long), pad_id=0)
    assert packing.padding == 1
    assert packing.pack(torch.ones(2, 3, 4)).shape == (0, 4)
    assert torch.equal(packing.pad(torch.ones(0, 4)), torch.zeros(2, 3, 4))


def test_gradients_pass_through_packing_and_padding_to_the_real_tokens_alone():
    packing = Packing.of(IDS, pad_id=0)
    x = torch.zeros(3, 4, 2, requires_grad=True)
    weights = torch.arange(1.0, 25.0).view(3, 4, 2)
    (packing.pad(packing.pack(x)) * weights).sum().backward()
    assert torch.equal(x.grad, weights * (IDS != 0)[:, :, None])
