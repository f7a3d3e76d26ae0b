"""The penalty by hand, and that the bound is one."""

import pytest
import torch

from dragoman.decoding.length_penalty import best_attainable, length_penalty


def test_the_penalty_is_the_formula_of_the_paper():
    assert length_penalty(1.0, 0.6) == 1.0
    assert length_penalty(13.0, 1.0) == pytest.approx(3.0)
    assert length_penalty(25.0, 0.6) == pytest.approx(5.0**0.6)


def test_no_alpha_is_no_penalty():
    assert length_penalty(40.0, 0.0) == 1.0


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0, 3.0])
def test_no_continuation_scores_above_the_bound(alpha):
    generator = torch.Generator().manual_seed(1)
    log_prob, limit, length = torch.tensor([-3.0]), torch.tensor([30]), 7
    bound = float(best_attainable(log_prob, limit, alpha))
    for _ in range(200):
        more = int(torch.randint(1, 24, (1,), generator=generator))
        total = -3.0 - float(torch.rand(1, generator=generator)) * 0.01 * more
        assert total / length_penalty(float(length + more), alpha) <= bound


def test_the_bound_is_reached_where_the_rest_is_certain():
    bound = float(best_attainable(torch.tensor([-3.0]), torch.tensor([13]), 1.0))
    assert bound == pytest.approx(-1.0)
