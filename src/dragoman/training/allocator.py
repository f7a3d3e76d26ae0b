"""Keep large blocks of memory between steps on glibc, in place of giving them back each time.

Every step makes and frees the same large tensors. By default glibc asks the kernel for each and
returns it at once, so that every page is faulted in and zeroed again, step after step. And threads
that work on halves of a batch share one heap, in place of one that each lets grow for itself.
"""

from __future__ import annotations

import ctypes
import sys

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
_KEEP_BYTES = 1 << 30


def keep_large_blocks() -> bool:
    """Whether the allocator took the wish; where there is no glibc nothing happens."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):
        return False
    wishes = ((_M_MMAP_THRESHOLD, _KEEP_BYTES), (_M_TRIM_THRESHOLD, _KEEP_BYTES), (_M_ARENA_MAX, 1))
    return all(mallopt(*wish) for wish in wishes)
