import pytest
import torch
from torch.testing import assert_close

from dragoman.errors import BundleError
from dragoman.training.averaging import average_weights, choose_last
from dragoman.training.checkpoint import Checkpoint, checkpoint_path, save_checkpoint
from dragoman.training.state import TrainState


def save(run_dir, step, **weights):
    save_checkpoint(run_dir, Checkpoint(weights, {}, TrainState(step=step)))


def test_the_mean_agrees_with_hand_arithmetic(tmp_path):
    for step, value in ((10, 1.0), (20, 2.0), (30, 6.0), (40, 100.0)):
        save(tmp_path, step, a=torch.tensor([value, -value]), b=torch.tensor(value * 10))
    mean = average_weights(tmp_path, [10, 20, 30])
    assert mean["a"].tolist() == [3.0, -3.0]
    assert mean["b"].item() == 30.0


def test_the_mean_of_one_is_itself_bit_for_bit(tmp_path):
    weight = torch.randn(50, generator=torch.Generator().manual_seed(1))
    save(tmp_path, 10, a=weight)
    assert torch.equal(average_weights(tmp_path, [10])["a"], weight)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_types_are_kept(tmp_path, dtype):
    for step, value in ((10, 1.0), (20, 2.0)):
        save(tmp_path, step, a=torch.tensor([value], dtype=dtype))
    mean = average_weights(tmp_path, [10, 20])["a"]
    assert mean.dtype == dtype
    assert mean.item() == 1.5


def test_the_sum_is_wider_than_the_weights(tmp_path):
    # In float16 65504 + 65504 is infinite.
    for step in (10, 20):
        save(tmp_path, step, a=torch.tensor([65504.0], dtype=torch.float16))
    assert_close(average_weights(tmp_path, [10, 20])["a"].float(), torch.tensor([65504.0]))


def test_the_newest_are_chosen(tmp_path):
    for step in (10, 20, 30):
        save(tmp_path, step, a=torch.ones(1))
    assert choose_last(tmp_path, 2) == [20, 30]
    assert choose_last(tmp_path, 9) == [10, 20, 30]


def test_a_missing_checkpoint_is_named(tmp_path):
    save(tmp_path, 10, a=torch.ones(1))
    with pytest.raises(BundleError, match="step-00000020"):
        average_weights(tmp_path, [10, 20])


def test_a_damaged_checkpoint_is_named(tmp_path):
    save(tmp_path, 10, a=torch.ones(1))
    (checkpoint_path(tmp_path, 10) / "model.safetensors").write_bytes(b"")
    with pytest.raises(BundleError, match="model.safetensors is damaged"):
        average_weights(tmp_path, [10])


def test_moments_are_not_needed(tmp_path):
    save(tmp_path, 10, a=torch.ones(1))
    (checkpoint_path(tmp_path, 10) / "optimizer.safetensors").unlink()
    assert average_weights(tmp_path, [10])["a"].item() == 1


def test_nothing_to_average_is_an_error(tmp_path):
    with pytest.raises(BundleError, match="nothing to average"):
        average_weights(tmp_path, [])
    with pytest.raises(BundleError, match="no checkpoints in"):
        choose_last(tmp_path, 3)
