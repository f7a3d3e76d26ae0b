"""How much memory this process has taken, now and at most."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


def resident_mb() -> float:
    """The memory that is held now; the largest so far where the system does not say.

    >>> 0 < resident_mb() <= peak_mb()
    True
    """
    return _status("VmRSS") or peak_mb()


def peak_mb() -> float:
    """The largest memory held so far, or since ``forget_peak``."""
    held = _status("VmHWM")
    if held is not None:
        return held
    # Kilobytes, but bytes on macOS.
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1 << 20) if sys.platform == "darwin" else most / 1024


def forget_peak() -> bool:
    """Begin to look for the peak anew, where the system can do that (Linux); whether it could."""
    try:
        _CLEAR.write_text("5")
    except OSError:
        return False
    return True


def _status(key: str) -> float | None:
    """A line of ``/proc/self/status`` in MB (of 2**20 bytes); None where there is none."""
    try:
        lines = _STATUS.read_text().split("\n")
    except OSError:
        return None
    for line in lines:
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) / 1024
    return None
