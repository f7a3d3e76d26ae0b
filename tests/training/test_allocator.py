import ctypes
import sys

import pytest

from dragoman.training.allocator import keep_large_blocks


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc is on Linux")
def test_glibc_takes_the_wish():
    try:
        ctypes.CDLL("libc.so.6")
    except OSError:
        pytest.skip("no glibc here")
    assert keep_large_blocks(in_one_heap=True)
    assert keep_large_blocks(in_one_heap=True)  # and again


@pytest.mark.parametrize("failure", [OSError, AttributeError])
def test_without_glibc_nothing_happens(monkeypatch, failure):
    def no_library(name):
        raise failure

    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(ctypes, "CDLL", no_library)
    assert not keep_large_blocks(in_one_heap=True)


def test_elsewhere_than_on_linux_nothing_happens(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(ctypes, "CDLL", lambda name: pytest.fail("not to be called"))
    assert not keep_large_blocks(in_one_heap=True)
