"""Functions of many short operations, gone through in one call.

An operation on few numbers takes less time than Python needs to begin it; and two threads that do
such work on two cores wait for each other at each, as Python runs one thread at a time. TorchScript
goes through a whole function without Python. It is to leave PyTorch one day: where a PyTorch does
not have it, the function runs as it is written.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache, wraps
from threading import Lock
from typing import Any, TypeVar, cast

import torch
from torch import Tensor

F = TypeVar("F", bound=Callable[..., Any])

_COMPILING = Lock()  # filters of warnings are one for all threads


def in_one_call(function: F) -> F:
    """The function of a tensor and more, on a CPU compiled where that is possible.

    It must keep to the part of Python that TorchScript knows: no keyword-only arguments, numbers of
    the module as defaults of arguments.

    >>> @in_one_call
    ... def twice(x: Tensor) -> Tensor:
    ...     return x + x
    >>> twice(torch.ones(2)).tolist()
    [2.0, 2.0]
    """

    @wraps(function)
    def call(first: Tensor, *args: Any, **options: Any) -> Any:
        found = compiled(function) if first.device.type == "cpu" else None
        return (found or function)(first, *args, **options)

    return cast("F", call)


def compiled(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """What TorchScript makes of the function; None where it cannot."""
    with _COMPILING:
        return _compile(function)


@cache
def _compile(function: Callable[..., Any]) -> Callable[..., Any] | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made: Callable[..., Any] = torch.jit.script(function)
            return made
    except Exception:  # whatever it stumbles over, there is the function itself
        return None
