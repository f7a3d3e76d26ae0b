"""Contestants without processes and without clocks: what is measured is known beforehand."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.bench import contest
from dragoman.bench.engines import text_engines
from dragoman.bench.peer import all_peers, choose_peers
from dragoman.bench.work import Work
from dragoman.bench.worker import Memory
from dragoman.runs.sources import TaskSource

SECONDS = {"dragoman": 1.0, "torch.nn.Transformer": 3.0}  # every other takes 2


class InlineWorker:
    """Does the work in this process, and says that it took what the table above says."""

    def __init__(self, peer: str, work: Work, *, threads: int) -> None:
        [self.peer] = choose_peers([peer], [*all_peers(), *text_engines()])
        self.work, self.threads, self.n_tokens = work, threads, None

    def __enter__(self) -> InlineWorker:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def is_ready(self) -> bool:
        self._run = self.work.begin(self.peer)
        return self._run is not None

    def run(self) -> float:
        self._found = self._run()
        self.n_tokens = None if self._found is None else sum(map(len, self._found))
        return SECONDS.get(self.peer.name, 2.0)

    def found(self):
        return self._found

    def finish(self) -> Memory:
        return Memory(before_mb=100.0, peak_mb=130.0)


@pytest.fixture
def inline_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contest, "Worker", InlineWorker)


@pytest.fixture
def few_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody but ourselves and PyTorch is there, whatever is."""
    for module in ("marian", "joeynmt", "eole", "ctranslate2", "engines"):
        monkeypatch.setattr(f"dragoman.bench.{module}.is_there", lambda package: False)


@pytest.fixture(scope="session")
def sides(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two files of 60 sentences of the built-in grammar."""
    folder = tmp_path_factory.mktemp("sides")
    pairs = list(TaskSource("grammar", 60, "train", 1).pairs())
    (folder / "s.de").write_text("".join(f"{pair.src}\n" for pair in pairs), encoding="utf-8")
    (folder / "s.en").write_text("".join(f"{pair.tgt}\n" for pair in pairs), encoding="utf-8")
    return folder / "s.de", folder / "s.en"
