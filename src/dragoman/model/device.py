"""Where a model computes."""

from __future__ import annotations

import os

import torch

from dragoman.errors import ConfigError


def pick_device(name: str | None) -> torch.device:
    """The device asked for; without a wish the GPU of this process, else the CPU.

    >>> pick_device("cpu")
    device(type='cpu')
    """
    if name in (None, "auto"):
        if torch.cuda.is_available():
            return torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))
        return torch.device("cpu")
    try:
        device = torch.device(str(name))
        torch.empty(0, device=device)  # a device that is not there says so now
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(f"device {name!r} cannot be used here: {reason}") from None
    return device
