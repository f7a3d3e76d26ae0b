import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.decoding.best_tokens import SMALL, best_continuations, likeliest


def sorted_out(log_probs, so_far, n_best):
    """The same by sorting everything."""
    n_sentences, n_beams = so_far.shape
    totals = log_probs.view(n_sentences, n_beams, -1).double() + so_far[:, :, None]
    values, places = totals.flatten(1).sort(dim=-1, descending=True)
    size = log_probs.size(1)
    return values[:, :n_best], places[:, :n_best] // size, places[:, :n_best] % size


@settings(deadline=None, max_examples=60)
@given(
    size=st.sampled_from([3, SMALL, SMALL + 1, 320, 383, 1000]),
    n_sentences=st.integers(1, 3),
    n_beams=st.integers(1, 5),
    n_best=st.integers(1, 12),
    seed=st.integers(0, 1000),
)
def test_the_best_are_those_that_sorting_everything_finds(size, n_sentences, n_beams, n_best, seed):
    generator = torch.Generator().manual_seed(seed)
    log_probs = torch.randn(n_sentences * n_beams, size, generator=generator, dtype=torch.float64)
    so_far = torch.randn(n_sentences, n_beams, generator=generator, dtype=torch.float64)
    n_best = min(n_best, n_beams * size)
    for found, expected in zip(
        best_continuations(log_probs, so_far, n_best),
        sorted_out(log_probs, so_far, n_best),
        strict=True,
    ):
        assert torch.equal(found, expected)


@pytest.mark.parametrize("size", [SMALL, SMALL + 1, 1000])
def test_the_best_may_all_be_in_one_block_or_at_the_very_end(size):
    log_probs = torch.zeros(2, size)
    log_probs[0, -3:] = torch.tensor([1.0, 2.0, 3.0])
    log_probs[1, :2] = torch.tensor([2.5, 1.5])
    values, beams, tokens = best_continuations(log_probs, torch.zeros(1, 2), n_best=5)
    assert values.tolist() == [[3.0, 2.5, 2.0, 1.5, 1.0]]
    assert beams.tolist() == [[0, 1, 0, 1, 0]]
    assert tokens.tolist() == [[size - 1, 0, size - 2, 1, size - 3]]


@settings(deadline=None, max_examples=60)
@given(
    size=st.sampled_from([3, SMALL, SMALL + 1, 320, 383, 1000]),
    n_rows=st.integers(1, 9),
    n_values=st.sampled_from([1, 3, 10**6]),  # few values: many tokens are equally likely
    seed=st.integers(0, 1000),
)
def test_the_likeliest_is_the_first_of_the_best(size, n_rows, n_values, seed):
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randint(n_values, (n_rows, size), generator=generator).float()
    logits[:, 0] = -torch.inf
    ids, best = likeliest(logits)
    assert torch.equal(ids, logits.argmax(-1))
    assert torch.equal(best, logits.amax(-1))


def test_places_that_nobody_has_taken_come_last():
    log_probs = torch.zeros(2, 1000)
    so_far = torch.tensor([[0.0, -torch.inf]], dtype=torch.float64)
    _, beams, _ = best_continuations(log_probs, so_far, n_best=10)
    assert beams.tolist() == [[0] * 10]


@pytest.mark.parametrize("size", [SMALL + 1, 1009])  # primes: no block divides them
def test_where_one_token_alone_is_possible_the_others_are_still_tokens(size):
    log_probs = torch.full((2, size), -torch.inf)
    log_probs[:, 2] = 0.0
    values, _, tokens = best_continuations(log_probs, torch.zeros(1, 2), n_best=4)
    assert tokens[0, :2].tolist() == [2, 2]
    assert values[0, 2:].tolist() == [-torch.inf] * 2
    assert int(tokens.max()) < size
