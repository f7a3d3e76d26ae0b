"""Two gloo processes against one that sees the union of their batches."""

import importlib.util
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from dragoman.training.distributed import (
    World,
    gradient_sync,
    join_world,
    spread,
    whole,
    wrap,
)

SCRIPT = Path(__file__).with_name("two_processes.py")


def load_script():
    spec = importlib.util.spec_from_file_location("two_processes", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_two(task, out_dir):
    """Exit code and output of both processes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    shared = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    processes = [
        subprocess.Popen(
            [sys.executable, "-W", "error", str(SCRIPT), task, str(out_dir)],
            env={**os.environ, **shared, "RANK": str(rank), "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(2)
    ]
    try:
        return [(p.communicate(timeout=240)[0], p.returncode) for p in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """What each of two processes found, and what one found."""
    out_dir = tmp_path_factory.mktemp("two")
    for output, code in run_two("all", out_dir):
        assert code == 0, output
    found = [torch.load(out_dir / f"rank{rank}.pt") for rank in range(2)]
    return *found, load_script().run_all(World())


def assert_same(one, other, *, atol=1e-6):
    assert one.keys() == other.keys()
    for name, tensor in one.items():
        assert_close(tensor, other[name], rtol=0, atol=atol, msg=name)


SCENARIOS = [
    "adam",
    "clipped",
    "accumulated",
    "muon",
    "fsdp",
    "fsdp-accumulated",
    "fsdp-muon",
    "fsdp-untied",
]


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_two_processes_train_as_one_with_the_union_batch(both, name):
    first, second, alone = both
    assert_same(first[name]["weights"], alone[name]["weights"])
    assert_same(first[name]["state"], alone[name]["state"])
    assert_close(
        torch.tensor(first[name]["told"]), torch.tensor(alone[name]["told"]), rtol=1e-8, atol=0
    )
    for key in ("weights", "state"):  # and both have the same, bit for bit
        assert_same(first[name][key], second[name][key], atol=0)


@pytest.mark.slow
def test_the_scenarios_differ(both):
    first, _, _ = both
    others = [first[name]["weights"]["embedding.weight"] for name in ("clipped", "muon")]
    for other in [*others, first["accumulated"]["weights"]["embedding.weight"]]:
        assert not torch.allclose(first["adam"]["weights"]["embedding.weight"], other, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["adam", "muon", "fsdp", "fsdp-muon"])
def test_a_restored_world_goes_on_bit_for_bit(both, name):
    for found in both:
        assert_same(found[f"{name}-restored"]["weights"], found[name]["weights"], atol=0)
        assert_same(found[f"{name}-restored"]["state"], found[name]["state"], atol=0)


@pytest.mark.slow
def test_gradients_are_sent_once_an_update(both):
    for found in both[:2]:
        assert found["adam"]["sent"] > 0
        assert found["accumulated"]["sent"] == found["adam"]["sent"]


@pytest.mark.slow
def test_numbers_and_values_are_exchanged(both):
    for found in both[:2]:
        assert found["shared"] == {"rank": 0}
        assert found["gathered"] == [0, 1]
        assert found["sum"] == [2.0**52 + 1, 2.0]


@pytest.mark.slow
def test_an_error_in_one_process_ends_the_other(tmp_path):
    (first, first_code), (second, second_code) = run_two("fail", tmp_path)
    assert first_code != 0
    assert second_code != 0
    assert "the loss became NaN on rank 1" in second
    assert "the loss became NaN" not in first
    assert list(tmp_path.iterdir()) == []


# --- a world of one -------------------------------------------------------------------------------


def test_alone_a_process_is_the_whole_world(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with join_world("cpu") as world:
        assert (world.rank, world.size, world.is_first) == (0, 1, True)
        assert world.sum([1.5, 2.0]) == [1.5, 2.0]
        assert world.share("word") == "word"
        assert world.gather("word") == ["word"]
        world.wait()


def test_alone_nothing_is_wrapped():
    module = nn.Linear(2, 2)
    assert wrap(module, World(), fsdp=False) is module
    assert wrap(module, World(), fsdp=True) is module
    with gradient_sync(module, enabled=False):
        module(torch.ones(1, 2)).sum().backward()
    assert module.weight.grad is not None


def test_a_whole_tensor_stays_itself():
    tensor = torch.ones(2)
    assert whole(tensor) is tensor
    assert spread(tensor, torch.zeros(2)) is tensor


def test_only_the_first_process_is_first():
    assert World(rank=0, size=2).is_first
    assert not World(rank=1, size=2).is_first
