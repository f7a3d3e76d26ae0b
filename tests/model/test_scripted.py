"""Functions in one call: that they are compiled indeed, and what happens where they cannot be."""

import pytest
import torch

from dragoman.decoding.beam_search import continue_best, parent_rows
from dragoman.decoding.best_tokens import compare_all, compare_blocks, find_likeliest
from dragoman.model.log_sums import log_sums
from dragoman.model.scripted import compiled, in_one_call
from dragoman.model.whole_encoder import read_through
from dragoman.model.whole_step import step_through

FUNCTIONS = [
    compare_all,
    compare_blocks,
    continue_best,
    find_likeliest,
    log_sums,
    parent_rows,
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_is_to_go_in_one_call_does(function):
    assert compiled(function.__wrapped__) is not None


@pytest.mark.parametrize("function", [read_through, step_through])
def test_so_do_the_layers(function):
    assert compiled(function) is not None


def test_what_cannot_be_compiled_runs_as_it_is_written():
    def odd(x, *more):
        return x + len(more)

    assert compiled(odd) is None
    assert in_one_call(odd)(torch.ones(1), 5, 6).tolist() == [3.0]


def test_options_may_be_named():
    logits = torch.randn(4, 1000, generator=torch.Generator().manual_seed(1))
    assert torch.allclose(log_sums(logits, cached=2000), logits.logsumexp(-1))
