"""A contestant in a process of its own, which works when it is told to.

So no contestant has the memory, the threads or the allocator of another, its peak memory is its
own, and one that crashes takes no other with it. Between its turns a worker waits for a line on its
standard input and uses no processor. What it is to do stands in a file; then, a line each way:

                ->  {"ready": true}, or false where the contestant cannot do this
    "run"       ->  {"seconds": …, "tokens": …}
    "found"     ->  {"found": …}, what the last run decoded
    "end"       ->  {"before_mb": …, "peak_mb": …}
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from dragoman.bench.work import Work
from dragoman.config import ModelConfig
from dragoman.errors import DragomanError


class WorkerError(DragomanError):
    """A contestant that failed; the message is the last that it said."""

    kind = "bench error"


@dataclass(frozen=True)
class Memory:
    """Megabytes (2**20 bytes) of a process: after its imports, and at most."""

    before_mb: float
    peak_mb: float

    @property
    def growth_mb(self) -> float:
        """What the work itself took."""
        return max(0.0, self.peak_mb - self.before_mb)


class Worker:
    """The parent's end: starts the process, hands it the work, asks for runs."""

    def __init__(self, peer: str, work: Work, *, threads: int) -> None:
        self.peer = peer
        self.n_tokens: int | None = None  # that the last run decoded
        self._folder = tempfile.TemporaryDirectory()
        order = Path(self._folder.name) / "order.jsonl"
        who = json.dumps({"peer": peer, "threads": threads})
        order.write_text(f"{who}\n{work.to_json()}\n", encoding="utf-8")
        self._errors = (Path(self._folder.name) / "stderr").open("w+", encoding="utf-8")
        # Not MKL_NUM_THREADS: it takes the word from those who share work out among workers.
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(order)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            encoding="utf-8",
            env={**os.environ, **dict.fromkeys(names, str(threads))},
        )

    def is_ready(self) -> bool:
        """Wait until all is prepared; False where the contestant cannot do this work."""
        return bool(self._hear()["ready"])

    def run(self) -> float:
        """Do the work once; the seconds it took."""
        answer = self._ask("run")
        self.n_tokens = answer["tokens"]
        return float(answer["seconds"])

    def found(self) -> list[list[int | str]]:
        """What the last run decoded."""
        answer: list[list[int | str]] = self._ask("found")["found"]
        return answer

    def finish(self) -> Memory:
        """End the process; the memory that it took."""
        answer = self._ask("end")
        return Memory(answer["before_mb"], answer["peak_mb"])

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            if stream is not None:
                stream.close()
        self._folder.cleanup()

    def _ask(self, question: str) -> dict[str, Any]:
        self._tell(question)
        return self._hear()

    def _tell(self, line: str) -> None:
        if self._process.stdin is None:
            raise WorkerError(f"{self.peer}: there is no way to reach it")
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise WorkerError(f"{self.peer}: {self._last_words()}") from None

    def _hear(self) -> dict[str, Any]:
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            raise WorkerError(f"{self.peer}: {self._last_words()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _last_words(self) -> str:
        """The last line of its standard error, which tells what went wrong."""
        self._process.wait()
        self._errors.seek(0)
        said = [line for line in self._errors.read().split("\n") if line.strip()]
        return said[-1] if said else f"ended with exit code {self._process.returncode}"


# --- the child's end -----------------------------------------------------------------------------

_LITTLE = ModelConfig(d_model=16, n_heads=2, n_layers=1, d_ff=16, vocab_size=32)


def serve(order: Path, lines: IO[str], answers: IO[str]) -> None:
    """Prepare the work of an order, and do it as often as the parent asks for it."""
    import torch

    from dragoman.bench.engines import text_engines
    from dragoman.bench.memory import forget_peak, peak_mb, resident_mb
    from dragoman.bench.peer import all_peers, choose_peers

    def answer(**found: object) -> None:
        answers.write(json.dumps(found) + "\n")
        answers.flush()

    first_line, second_line, _ = order.read_text(encoding="utf-8").split("\n")
    who, work = json.loads(first_line), Work.from_json(second_line)
    torch.set_num_threads(who["threads"])
    [peer] = choose_peers([who["peer"]], [*all_peers(), *text_engines()])
    # Everything is imported and used once before the memory is looked at.
    little = Work(work.kind, _LITTLE, [[([5, 6], [7, 8])]], beam=work.beam, max_tokens=3)
    first = little.begin(peer)
    if first is not None:
        first()
    forget_peak()
    before = resident_mb()
    run = work.begin(peer)
    answer(ready=run is not None)
    if run is None:
        return
    found = None
    for line in lines:
        match line.strip():
            case "run":
                started = time.perf_counter()
                found = run()
                seconds = time.perf_counter() - started
                answer(seconds=seconds, tokens=None if found is None else sum(map(len, found)))
            case "found":
                answer(found=found)
            case "end":
                answer(before_mb=before, peak_mb=peak_mb())
                return


if __name__ == "__main__":
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as own:
        os.dup2(2, 1)  # whatever libraries print goes to where it does no harm
        serve(Path(sys.argv[1]), sys.stdin, own)
