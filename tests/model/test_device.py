import pytest
import torch

from dragoman.errors import ConfigError
from dragoman.model.device import pick_device


@pytest.mark.parametrize("name", ["cuda:99", "gpu", "tpu"])
def test_a_device_that_is_not_there_is_named(name):
    with pytest.raises(ConfigError, match=f"device '{name}' cannot be used here"):
        pick_device(name)


@pytest.mark.parametrize("name", [None, "auto"])
def test_without_a_gpu_the_cpu_is_picked(monkeypatch, name):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert pick_device(name) == torch.device("cpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setenv("LOCAL_RANK", "3")
    assert pick_device(name) == torch.device("cuda", 3)


def test_the_cpu_can_be_asked_for():
    assert pick_device("cpu") == torch.device("cpu")
