import pytest
import torch

from dragoman.errors import ConfigError
from dragoman.model.device import check_bf16, pick_device


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


@pytest.mark.parametrize(("survives", "is_told"), [(True, False), (False, False), (False, True)])
def test_bf16_is_refused_where_it_would_end_the_program(monkeypatch, survives, is_told):
    monkeypatch.setattr("dragoman.model.device._bf16_survives", lambda: survives)
    monkeypatch.delenv("ONEDNN_MAX_CPU_ISA", raising=False)
    if is_told:
        monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "AVX2")
    if survives or is_told:
        check_bf16(torch.device("cpu"))
    else:
        with pytest.raises(ConfigError, match="ONEDNN_MAX_CPU_ISA=AVX512_CORE_FP16"):
            check_bf16(torch.device("cpu"))
        check_bf16(torch.device("meta"))  # a GPU has no such trouble
