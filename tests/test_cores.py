import threading
import time

import pytest
import torch

from dragoman.cores import two_at_once


@pytest.fixture(autouse=True)
def restore_threads():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("n_items", [0, 1, 2, 7])
def test_results_come_in_order_whoever_is_done_first(threads, n_items):
    torch.set_num_threads(threads)

    def work(n):
        time.sleep(0.005 * (n % 3))
        return n, torch.get_num_threads()

    found = list(two_at_once(work, range(n_items)))
    each = max(1, threads // 2) if n_items > 1 else threads
    assert found == [(n, each) for n in range(n_items)]
    assert torch.get_num_threads() == threads


def test_two_work_at_the_same_time():
    torch.set_num_threads(2)
    meeting = threading.Barrier(2, timeout=10)
    assert len(list(two_at_once(lambda n: meeting.wait(), [1, 2]))) == 2


def test_a_failure_is_told_and_what_comes_later_is_not_begun():
    torch.set_num_threads(2)
    begun = []

    def work(n):
        begun.append(n)
        time.sleep(0.01)
        if n == 1:
            raise ValueError("broken")
        return n

    with pytest.raises(ValueError, match="broken"):
        list(two_at_once(work, range(1000)))
    assert len(begun) < 1000
    assert torch.get_num_threads() == 2


def test_who_stops_listening_gets_the_threads_back():
    torch.set_num_threads(2)
    results = two_at_once(lambda n: n, range(1000))
    assert next(results) == 0
    results.close()
    assert torch.get_num_threads() == 2
