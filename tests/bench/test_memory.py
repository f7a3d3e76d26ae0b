"""The memory of a process, now and at most."""

import mmap
import sys

import pytest

from dragoman.bench import memory


def take_and_give_back():
    """Use 64 MB of the system itself: an allocator may keep what it was given back."""
    with mmap.mmap(-1, 64 << 20) as block:
        for _ in range(64):
            block.write(b"\1" * (1 << 20))
        return memory.resident_mb()


def test_a_large_block_is_seen_in_the_peak_after_it_is_gone():
    before = memory.resident_mb()
    take_and_give_back()
    assert memory.peak_mb() >= before + 60


@pytest.mark.skipif(sys.platform != "linux", reason="the peak can be forgotten on Linux alone")
def test_a_peak_can_be_forgotten():
    high = take_and_give_back()
    if not memory.forget_peak():
        pytest.skip("this kernel does not let a process forget its peak")
    assert memory.peak_mb() < high - 30


def test_without_proc_the_largest_memory_is_asked_of_the_system(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "_STATUS", tmp_path / "none")
    monkeypatch.setattr(memory, "_CLEAR", tmp_path / "none" / "none")
    assert memory.peak_mb() > 10
    assert memory.resident_mb() == memory.peak_mb()
    assert not memory.forget_peak()
