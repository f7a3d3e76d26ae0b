import pytest
import torch
from torch import nn
from torch.testing import assert_close

from dragoman.model.sublayer import residual


def double(x):
    return 2 * x


def minus_one(x):
    return x - 1


@pytest.mark.parametrize(("order", "expected"), [("post", 3 * 5.0 - 1), ("pre", 5.0 + 2 * 4.0)])
def test_the_norm_stands_after_the_sum_or_before_the_sublayer(order, expected):
    # with "x - 1" in place of the norm: post (5 + 2·5) - 1 = 14, pre 5 + 2·(5 - 1) = 13
    x = torch.tensor([5.0])
    out = residual(x, double, norm=minus_one, order=order, dropout_p=0.0)
    assert out.item() == expected


@pytest.mark.parametrize("order", ["post", "pre"])
def test_dropout_falls_on_the_sublayer_and_never_on_the_residual(order):
    torch.manual_seed(1)
    x = torch.ones(101)
    out = residual(x, double, norm=nn.Identity(), order=order, dropout_p=0.5)
    assert set(out.tolist()) == {1.0, 1.0 + 2 * 2.0}


def test_post_norm_gives_rows_of_mean_zero_and_variance_one(random):
    x = 3 * random(2, 5, 12) + 7
    norm = nn.LayerNorm(12, dtype=torch.float64, eps=0.0)
    out = residual(x, double, norm=norm, order="post", dropout_p=0.0)
    assert_close(out.mean(-1), torch.zeros(2, 5, dtype=torch.float64))
    assert_close(out.var(-1, correction=0), torch.ones(2, 5, dtype=torch.float64))
