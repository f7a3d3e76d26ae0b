import contextlib
import os
import signal
import threading

import pytest

from dragoman.training.interrupt import StopRequest

SIGNALS = [signal.SIGINT, signal.SIGTERM]


def send(number):
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_asks_the_run_to_stop(number):
    with StopRequest().on_signals() as stop:
        assert not stop.asked
        send(number)
        assert stop.asked


@pytest.mark.parametrize("second", SIGNALS)
@pytest.mark.parametrize("first", SIGNALS)
def test_a_second_signal_stops_at_once(first, second):
    with StopRequest().on_signals() as stop:
        send(first)
        with pytest.raises(KeyboardInterrupt):
            send(second)
        assert stop.asked


@pytest.mark.parametrize("fails", [False, True])
def test_the_handlers_from_before_come_back(fails):
    def mine(number, frame):
        pass

    before = {number: signal.signal(number, mine) for number in SIGNALS}
    try:
        with contextlib.suppress(ZeroDivisionError), StopRequest().on_signals():
            assert all(signal.getsignal(number) is not mine for number in SIGNALS)
            if fails:
                raise ZeroDivisionError
        assert all(signal.getsignal(number) is mine for number in SIGNALS)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_outside_the_main_thread_signals_are_left_alone():
    before = [signal.getsignal(number) for number in SIGNALS]
    inside = []

    def work():
        with StopRequest().on_signals() as stop:
            inside.extend(signal.getsignal(number) for number in SIGNALS)
            inside.append(stop.asked)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert inside == [*before, False]
