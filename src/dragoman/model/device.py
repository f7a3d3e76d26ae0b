"""Where a model computes."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

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


def check_bf16(device: torch.device) -> None:
    """Refuse bfloat16 where the processor would end the program for it.

    Some virtual machines announce AMX, the matrix unit of newer processors, and stop whoever uses
    it. That shows in a process of its own alone.
    """
    if device.type == "cpu" and "ONEDNN_MAX_CPU_ISA" not in os.environ and not _bf16_survives():
        raise ConfigError(
            "bf16 cannot be used here: this machine announces AMX and stops programs that use it.\n"
            "  Set ONEDNN_MAX_CPU_ISA=AVX512_CORE_FP16 in the environment, or train in fp32."
        )


_TRY = """
import torch
with torch.autocast("cpu", torch.bfloat16):
    torch.nn.functional.linear(torch.ones(32, 32), torch.ones(32, 32), torch.ones(32))
"""


@lru_cache(maxsize=1)
def _bf16_survives() -> bool:
    try:
        has_amx = "amx_bf16" in Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return True  # no Linux; nothing to be found out
    if not has_amx:
        return True
    tried = subprocess.run([sys.executable, "-c", _TRY], capture_output=True, check=False)
    return tried.returncode >= 0  # below 0: ended by a signal
