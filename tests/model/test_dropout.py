import math

import pytest
import torch

from dragoman.model.dropout import Dropout, dropout

PROBABILITIES = [0.1, 0.3, 0.5]
N = 200_003  # odd: not a multiple of the four elements that share one random number


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(1)


@pytest.mark.parametrize("p", PROBABILITIES)
def test_the_share_of_zeros_is_the_probability(p):
    zeros = int((dropout(torch.ones(N), p, training=True) == 0).sum())
    deviation = math.sqrt(N * p * (1 - p))
    assert abs(zeros - N * p) < 4 * deviation


@pytest.mark.parametrize("p", PROBABILITIES)
def test_the_mean_stays_what_it_was(p):
    mean = dropout(torch.ones(N, dtype=torch.float64), p, training=True).mean().item()
    deviation = math.sqrt(p / (1 - p) / N)
    assert abs(mean - 1) < 4 * deviation


@pytest.mark.parametrize("p", PROBABILITIES)
def test_each_of_four_neighbours_is_dropped_as_often_and_on_its_own(p):
    kept = dropout(torch.ones(N - 3), p, training=True).view(-1, 4) > 0
    n = kept.size(0)
    for i in range(4):
        assert abs(int((~kept[:, i]).sum()) - n * p) < 4 * math.sqrt(n * p * (1 - p))
        for j in range(i):  # both dropped: p squared, as independence has it
            both = int((~kept[:, i] & ~kept[:, j]).sum())
            assert abs(both - n * p * p) < 4 * math.sqrt(n * p * p * (1 - p * p))


@pytest.mark.parametrize("p", [*PROBABILITIES, 0.999])
def test_what_is_kept_is_scaled_by_one_value_so_that_the_expectation_is_exact(p):
    x = torch.arange(1.0, 5002.0, dtype=torch.float64)
    out = dropout(x, p, training=True)
    share_kept = 1 - round(p * 65_536) / 65_536
    kept = out != 0
    torch.testing.assert_close(out[kept], x[kept] / share_kept, rtol=1e-14, atol=0)
    assert share_kept == pytest.approx(1 - p, abs=1 / 65_536)


def test_the_gradient_goes_through_the_same_mask():
    x = torch.randn(37, dtype=torch.float64, requires_grad=True)
    out = dropout(x, 0.5, training=True)
    out.sum().backward()
    assert (x.grad == 0).any()
    assert (x.grad != 0).any()
    torch.testing.assert_close(out, x * x.grad, rtol=0, atol=0)


@pytest.mark.parametrize("shape", [(), (1,), (3,), (4,), (5,), (2, 3), (2, 3, 5, 7), (0, 4)])
def test_any_shape_keeps_its_shape(shape):
    out = dropout(torch.ones(shape), 0.5, training=True)
    assert out.shape == shape
    assert set(out.flatten().tolist()) <= {0.0, 2.0}


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_the_type_stays_what_it_was(dtype):
    assert dropout(torch.ones(6, dtype=dtype), 0.5, training=True).dtype == dtype


def test_a_transposed_tensor_is_dropped_in_place_of_its_elements():
    x = torch.arange(1.0, 16.0).view(3, 5).t()
    out = dropout(x, 0.5, training=True)
    kept = out != 0
    assert torch.equal(out[kept], 2 * x[kept])


def test_the_same_seed_gives_the_same_mask_and_the_next_call_another():
    x = torch.ones(101)
    first, second = dropout(x, 0.5, training=True), dropout(x, 0.5, training=True)
    torch.manual_seed(1)
    again = dropout(x, 0.5, training=True)
    assert torch.equal(first, again)
    assert not torch.equal(first, second)


def test_evaluation_and_probability_zero_give_the_very_tensor():
    x = torch.ones(5)
    assert dropout(x, 0.5, training=False) is x
    assert dropout(x, 0.0, training=True) is x


def test_a_probability_close_to_one_keeps_a_few_and_stays_finite():
    out = dropout(torch.ones(1_000_001), 0.9999, training=True)
    assert out.isfinite().all()
    assert 0 < int((out != 0).sum()) < 200  # 100 expected
    assert dropout(torch.ones(1001), 1.0, training=True).isfinite().all()


def test_the_module_follows_its_mode():
    module = Dropout(0.5)
    x = torch.ones(101)
    assert (module.train()(x) == 0).any()
    assert torch.equal(module.eval()(x), x)
    assert repr(module) == "Dropout(p=0.5)"
