"""Keep large blocks of memory between steps on glibc, in place of giving them back each time.

Every step makes and frees the same large tensors. By default glibc asks the kernel for each and
returns it at once, so that every page is faulted in and zeroed again, step after step.
"""

from __future__ import annotations

import ctypes
import sys

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
_KEEP_BYTES = 1 << 30


def keep_large_blocks(*, in_one_heap: bool) -> bool:
    """Whether the allocator took the wish; where there is no glibc nothing happens.

    In one heap, threads take less memory together, as training on halves of a batch needs it; with
    one each, none waits for another nor gets what lies in another's cache, as searches do at every
    one of their many short operations.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):
        return False
    wishes = [(_M_MMAP_THRESHOLD, _KEEP_BYTES), (_M_TRIM_THRESHOLD, _KEEP_BYTES)]
    if in_one_heap:
        wishes.append((_M_ARENA_MAX, 1))
    return all(mallopt(*wish) for wish in wishes)
