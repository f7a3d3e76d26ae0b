"""Seconds from raw text to a prepared corpus, tokenizer included, the first and second time.

python -m benchmarks.prepare_speed [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path

from benchmarks.loop_profile import corpus
from dragoman.config_loading import load_config
from dragoman.runs.setup import TrainRequest, set_up
from dragoman.training.distributed import World
from dragoman.training.reporting import Silence


def measure() -> dict[str, float]:
    """Seconds of the first and of the second preparation with an empty cache."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DRAGOMAN_CACHE"] = folder
        request = TrainRequest(out=Path(folder) / "run", loaded=load_config(), train=corpus())
        for name in ("first", "second"):
            started = time.perf_counter()
            set_up(request, World(), Silence())
            found[name] = round(time.perf_counter() - started, 2)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measure()
    if options.json:
        print(json.dumps(found))
        return
    print("preparing the corpus, tokenizer training included:")
    print(f"  {found['first']:.2f} s the first time, {found['second']:.2f} s the second")


if __name__ == "__main__":
    main()
