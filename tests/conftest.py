"""What every test may rely on."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator

import pytest

# Some virtual machines announce AMX and stop whoever uses it; before torch is imported, this keeps
# bfloat16 from it.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16")


@pytest.fixture(autouse=True)
def logging_as_it_was() -> Iterator[None]:
    """The command line sets the package's logger up for a process; a test must not keep that."""
    logger = logging.getLogger("dragoman")
    before = (logger.handlers, logger.level, logger.propagate)
    yield
    logger.handlers, logger.level, logger.propagate = before
