"""Sentences a second of `dragoman serve`: 64 clients at once against the same calls one by one.

python -m benchmarks.server_load RUN [FILE] [--sentences N] [--clients N] [--json]

Both ways send the same sentences to the same server, one a request, and every answer of the first
must equal that of the second. FILE has one sentence a line; without it the built-in German is used.
"""

from __future__ import annotations

import argparse
import http.client
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from dragoman.corpus.tasks import generate

HEADERS = {"Content-Type": "application/json"}


@contextmanager
def server(run: str, *, engine: str) -> Iterator[tuple[str, int]]:
    """A server of the run on a free port: its address."""
    command = [sys.executable, "-m", "dragoman", "serve", run, "--port", "0", "--json"]
    process = subprocess.Popen([*command, "--engine", engine], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise SystemExit("the server did not start")
        host, _, port = json.loads(line)["url"].removeprefix("http://").rpartition(":")
        yield host, int(port)
    finally:
        process.terminate()
        process.wait()


class Client:
    """Translates over connections that stay open, one a thread."""

    def __init__(self, address: tuple[str, int], beam: int | None) -> None:
        self.address, self.beam = address, beam
        self.own = threading.local()

    def translate(self, text: str) -> str:
        """The translation of one sentence."""
        if not hasattr(self.own, "connection"):
            self.own.connection = http.client.HTTPConnection(*self.address, timeout=600)
        body = json.dumps({"text": text, "beam": self.beam}).encode()
        self.own.connection.request("POST", "/api/translate", body, HEADERS)
        answer = self.own.connection.getresponse()
        found = json.loads(answer.read())
        if answer.status != 200:
            raise SystemExit(f"{answer.status}: {found}")
        return str(found["translations"][0]["text"])


def measure(client: Client, texts: Sequence[str], n_clients: int) -> dict[str, float | int]:
    """Sentences a second of both ways, and how many answers differ."""
    for text in texts[:8]:
        client.translate(text)  # the first calls of a process are slower
    started = time.perf_counter()
    alone = [client.translate(text) for text in texts]
    serial = time.perf_counter() - started
    with ThreadPoolExecutor(n_clients) as clients:
        started = time.perf_counter()
        together = list(clients.map(client.translate, texts))
        concurrent = time.perf_counter() - started
    return {
        "sentences": len(texts),
        "clients": n_clients,
        "serial_per_second": round(len(texts) / serial, 1),
        "concurrent_per_second": round(len(texts) / concurrent, 1),
        "ratio": round(serial / concurrent, 2),
        "different_answers": sum(a != b for a, b in zip(alone, together, strict=True)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", help="a run or bundle")
    parser.add_argument("file", nargs="?", type=Path, help="sentences, one a line")
    parser.add_argument("--sentences", type=int, default=512)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--beam", type=int)
    parser.add_argument("--engine", default="torch")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.file is None:
        texts = [e.src for e in generate("grammar", options.sentences, split="test", seed=1)]
    else:
        with options.file.open(encoding="utf-8") as lines:
            texts = [line.rstrip("\n") for line in islice(lines, options.sentences)]
    with server(options.run, engine=options.engine) as address:
        found = measure(Client(address, options.beam), texts, options.clients)
    if options.json:
        print(json.dumps(found))
        return
    print(f"{found['sentences']} sentences, one a request, {options.engine}:")
    print(f"  one after the other  {found['serial_per_second']:>8} sentences/s")
    print(
        f"  {found['clients']:>3} clients at once  {found['concurrent_per_second']:>8} sentences/s"
    )
    print(f"  ratio {found['ratio']}, {found['different_answers']} answers differ")


if __name__ == "__main__":
    main()
