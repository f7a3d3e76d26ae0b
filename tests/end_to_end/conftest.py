"""Runs of the command line in processes of their own, as a user starts them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., subprocess.CompletedProcess[str]]
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a user: a cache of its own, one thread a process, no terminal."""
    cache = tmp_path_factory.mktemp("cache")
    return {**os.environ, "DRAGOMAN_CACHE": str(cache), "OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="session")
def dragoman(environment: dict[str, str]) -> Command:
    """Calls ``dragoman`` with arguments and gives what it printed; fails on another exit code."""

    def call(
        *args: object, code: int = 0, stdin: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "dragoman", *map(str, args)]
        done = subprocess.run(
            command, env=environment, input=stdin, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done.stderr
        return done

    return call


@pytest.fixture(scope="session")
def torchrun(environment: dict[str, str]) -> Callable[..., list[str]]:
    """The command line that starts dragoman in several processes on a free port."""

    def command(n: int, *args: object) -> list[str]:
        launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
        return [*launcher, f"--nproc-per-node={n}", "-m", "dragoman", *map(str, args)]

    return command


@pytest.fixture(scope="session")
def multi30k() -> Path:
    folder = ROOT.parent / "shared" / "data" / "multi30k"
    if not folder.is_dir():
        pytest.skip(f"Multi30k is not at {folder}")
    return folder
