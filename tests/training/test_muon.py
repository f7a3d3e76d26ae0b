import pytest
import torch
from torch.testing import assert_close

from dragoman.training.muon import Muon, orthogonalize

SHAPES = {"square": (12, 12), "tall": (40, 7), "wide": (7, 40), "row": (1, 9), "column": (9, 1)}


def normal(*shape, seed=1, dtype=torch.float32):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype)


def of_rank(rank, *, shape=(12, 15)):
    return normal(shape[0], rank) @ normal(rank, shape[1], seed=2)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_singular_values_come_near_one(shape, scale):
    values = torch.linalg.svdvals(orthogonalize(scale * normal(3, *shape)))
    assert values.min() > 0.6
    assert values.max() < 1.3


@pytest.mark.parametrize("shape", [(12, 15), (15, 12)])
def test_singular_vectors_stay(shape):
    matrix = normal(1, *shape, dtype=torch.float64)
    u, _, vh = torch.linalg.svd(matrix[0], full_matrices=False)
    inside = u.t() @ orthogonalize(matrix)[0] @ vh.t()
    assert_close(inside, torch.diag(inside.diagonal()), rtol=0, atol=1e-10)


def test_what_a_matrix_lacks_in_rank_stays_lacking():
    values = torch.linalg.svdvals(orthogonalize(of_rank(4)[None])[0])
    assert values[:4].min() > 0.6
    assert values[:4].max() < 1.3
    assert values[4:].max() < 1e-2


def test_a_zero_matrix_stays_zero():
    assert torch.equal(orthogonalize(torch.zeros(2, 3, 4)), torch.zeros(2, 3, 4))


def test_matrices_do_not_look_at_each_other():
    matrices = normal(3, 5, 7, dtype=torch.float64)
    each = torch.stack([orthogonalize(matrix[None])[0] for matrix in matrices])
    assert_close(orthogonalize(matrices), each, rtol=0, atol=1e-12)


@pytest.mark.parametrize("weight_decay", [0.0, 0.3])
@pytest.mark.parametrize("shape", [(12, 12), (30, 8), (8, 30)])
def test_several_steps_equal_pytorchs_muon(shape, weight_decay):
    start = normal(*shape)
    mine, theirs = (torch.nn.Parameter(start.clone()) for _ in "ab")
    ours = Muon([mine], weight_decay=weight_decay)
    reference = torch.optim.Muon(
        [theirs], weight_decay=weight_decay, nesterov=True, adjust_lr_fn="match_rms_adamw"
    )
    for step in range(1, 6):
        rate = 0.1 / step
        for parameter, optimizer in ((mine, ours), (theirs, reference)):
            optimizer.param_groups[0]["lr"] = rate
            parameter.grad = normal(*shape, seed=step)
            optimizer.step()
        assert torch.equal(
            ours.state[mine]["momentum_buffer"], reference.state[theirs]["momentum_buffer"]
        )
    moved, expected = mine.detach() - start, theirs.detach() - start
    apart = torch.linalg.matrix_norm(moved - expected) / torch.linalg.matrix_norm(expected)
    assert apart < 0.02  # PyTorch's iterates in bfloat16: eight bits


def test_one_step_agrees_with_hand_arithmetic():
    # A diagonal gradient of equal values: the direction is a multiple s of the identity, where s
    # is what the iteration makes of 1/√2; the weight first decays by lr · decay = 0.05.
    s = 2**-0.5
    for _ in range(5):
        s = 3.4445 * s - 4.7750 * s**3 + 2.0315 * s**5
    matrix = torch.nn.Parameter(torch.full((2, 2), 1.0, dtype=torch.float64))
    matrix.grad = torch.eye(2, dtype=torch.float64) * 123
    optimizer = Muon([matrix], weight_decay=0.5)
    optimizer.param_groups[0]["lr"] = 0.1
    optimizer.step()
    expected = 0.95 - 0.1 * 0.2 * 2**0.5 * s * torch.eye(2, dtype=torch.float64)
    assert_close(matrix.detach(), expected, rtol=0, atol=1e-12)


def test_a_matrix_without_a_gradient_stays():
    moved, kept = torch.nn.Parameter(normal(3, 4)), torch.nn.Parameter(normal(3, 4))
    moved.grad = normal(3, 4, seed=2)
    optimizer = Muon([moved, kept], weight_decay=0.1)
    optimizer.param_groups[0]["lr"] = 0.1
    optimizer.step()
    assert torch.equal(kept, normal(3, 4))
    assert not torch.equal(moved, normal(3, 4))


def test_all_matrices_of_all_shapes_move():
    shapes = [(3, 4), (4, 3), (3, 4), (5, 5)]
    matrices = [torch.nn.Parameter(normal(*shape, seed=i)) for i, shape in enumerate(shapes)]
    alone = [torch.nn.Parameter(m.detach().clone()) for m in matrices]
    for i, (one, other) in enumerate(zip(matrices, alone, strict=True)):
        one.grad, other.grad = (normal(*one.shape, seed=10 + i) for _ in "ab")
    together = Muon(matrices)
    for optimizer in (together, *(Muon([m]) for m in alone)):
        optimizer.param_groups[0]["lr"] = 0.1
        optimizer.step()
    for one, other in zip(matrices, alone, strict=True):
        assert_close(one, other, rtol=0, atol=1e-6)
