"""Ctrl-C and SIGTERM ask a run to stop after the step under way; a second one stops it at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class StopRequest:
    """Whether someone has asked the run to stop.

    >>> StopRequest().asked
    False
    """

    def __init__(self) -> None:
        self.asked = False

    @contextmanager
    def on_signals(self) -> Iterator[StopRequest]:
        """Listen to SIGINT and SIGTERM inside the block; elsewhere than in the main thread, not."""
        if threading.current_thread() is not threading.main_thread():
            yield self
            return
        signals = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self._ask) for number in signals}
        try:
            yield self
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
