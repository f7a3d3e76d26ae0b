"""log Σ exp of rows, against PyTorch's own in float64."""

import pytest
import torch
from torch.testing import assert_close

from dragoman.model.log_sums import log_sums, log_sums_of


def random_logits(*shape, scale=3.0, dtype=torch.float32):
    generator = torch.Generator().manual_seed(1)
    return (torch.randn(*shape, generator=generator, dtype=torch.float64) * scale).to(dtype)


@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (5, 10_000), (70, 9_999)])
def test_rows_are_summed_whatever_fits_in_a_cache(shape):
    logits = random_logits(*shape)
    expected = logits.double().logsumexp(-1).float()
    assert_close(log_sums(logits), expected, rtol=0, atol=1e-5)
    assert_close(log_sums(logits, 8), expected, rtol=0, atol=1e-5)  # row by row


def test_numbers_that_float32_cannot_hold_the_exponential_of():
    logits = torch.tensor([[1000.0, 999.0], [-1000.0, -1001.0], [0.5, 0.25], [80.0, -torch.inf]])
    assert_close(log_sums(logits), logits.double().logsumexp(-1).float(), rtol=1e-6, atol=1e-6)


def test_nothing_possible_is_minus_infinity_and_nan_stays_nan():
    logits = torch.tensor([[-torch.inf, -torch.inf], [torch.nan, 1.0]])
    found = log_sums(logits)
    assert found[0] == -torch.inf
    assert found[1].isnan()


def test_no_rows_give_no_sums():
    assert log_sums(torch.empty(0, 5)).shape == (0,)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_the_sum_is_at_least_as_wide_as_float32(dtype):
    logits = random_logits(3, 50, dtype=dtype)
    found = log_sums(logits)
    assert found.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
    assert_close(found.double(), logits.double().logsumexp(-1), rtol=0, atol=1e-5)


def test_the_softmax_gives_the_same_where_it_is_known():
    logits = random_logits(6, 40, scale=30.0)
    probs = torch.softmax(logits, -1)
    expected = logits.double().logsumexp(-1).float()
    assert_close(log_sums_of(logits, probs), expected, rtol=0, atol=1e-4)
