import time

import pytest
import torch
from torch.testing import assert_close

from dragoman.batches.batch import make_batch
from dragoman.model.dropout import keep_mask
from dragoman.training.distributed import World
from dragoman.training.halves import train_in_halves
from dragoman.training.optimizer import Optimizers
from dragoman.training.step import WIDE, Objective, seed_step, update

PAIRS = [([4, 5, 6], [7, 8]), ([5], [9, 4, 4, 6]), ([6, 7], [5]), ([8, 9, 4, 5, 6], [7, 8, 9])]


@pytest.fixture(autouse=True)
def restore_threads():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture
def weights_after(make_model, make_train):
    """A function: the weights after three updates on so many threads."""

    def train(threads, *, dropout=0.0, **options):
        torch.set_num_threads(threads)
        torch.manual_seed(1)
        model, config = make_model(dropout=dropout), make_train(**options)
        objective, optimizers = Objective(model, config).train(), Optimizers(model, config)
        batch = make_batch(PAIRS)
        for step in (1, 2, 3):
            seed_step(1, step, 0)
            update(
                objective,
                optimizers,
                [batch],
                config=config,
                world=World(),
                n_tokens=batch.n_tokens,
                learning_rate=0.01,
            )
        return model.state_dict()

    return train


def test_an_update_in_halves_is_that_of_the_whole_batch(weights_after):
    one, two = weights_after(1), weights_after(2)
    # Gradients that should be 0 are noise, which Adam makes large: 1e-6 against steps of 1e-2.
    assert_close(two, one, rtol=0, atol=1e-6)


@pytest.mark.parametrize("options", [{"dropout": 0.3}, {"source_masking": 0.4}, {"r_drop": 1.0}])
def test_an_update_in_halves_is_the_same_every_time(weights_after, options):
    first = weights_after(2, **options)
    for _ in range(5):
        assert_close(weights_after(2, **options), first, rtol=0, atol=0)


def test_the_halves_draw_numbers_of_their_own():
    torch.set_num_threads(2)
    torch.manual_seed(3)
    masks = train_in_halves(
        lambda part: keep_mask(torch.Size([64]), 0.5, torch.float32), make_batch(PAIRS)
    )
    assert len(masks) == 2
    assert not torch.equal(*masks)


def test_a_single_pair_or_a_single_thread_is_one_piece():
    torch.set_num_threads(2)
    assert len(train_in_halves(lambda part: torch.zeros(()), make_batch(PAIRS[:1]))) == 1
    torch.set_num_threads(1)
    assert len(train_in_halves(lambda part: torch.zeros(()), make_batch(PAIRS))) == 1


def test_each_half_has_half_of_the_threads_and_the_rest_comes_back():
    torch.set_num_threads(4)
    seen = train_in_halves(lambda part: torch.tensor(torch.get_num_threads()), make_batch(PAIRS))
    assert [int(n) for n in seen] == [2, 2]
    assert torch.get_num_threads() == 4


@pytest.mark.parametrize("which", [0, 1])
def test_a_failing_half_fails_the_update_and_the_other_is_not_left_working(which):
    torch.set_num_threads(2)
    begun, done = [], []

    def train(part):
        if int(part.indices[0]) == which:
            raise ValueError("broken")
        begun.append(part)
        time.sleep(0.05)
        done.append(part)
        return torch.zeros(())

    with pytest.raises(ValueError, match="broken"):
        train_in_halves(train, make_batch(PAIRS))
    assert len(begun) == len(done)
    assert torch.get_num_threads() == 2


@pytest.mark.parametrize(("width", "n_pieces"), [(12, 2), (WIDE, 1)])
def test_only_narrow_models_train_in_halves(make_model, make_train, monkeypatch, width, n_pieces):
    torch.set_num_threads(2)
    config = make_train()
    objective = Objective(make_model(d_model=width, n_heads=2), config).train()
    seen = []
    forward = Objective.forward

    def spy(self, batch, vocabulary_share):
        seen.append(batch)
        return forward(self, batch, vocabulary_share)

    monkeypatch.setattr(Objective, "forward", spy)
    batch = make_batch(PAIRS)
    update(
        objective,
        Optimizers(objective.model, config),
        [batch],
        config=config,
        world=World(),
        n_tokens=batch.n_tokens,
        learning_rate=0.01,
    )
    assert len(seen) == n_pieces
