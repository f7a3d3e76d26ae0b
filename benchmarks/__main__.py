"""``python -m benchmarks``: every measurement of the README's tables, and the tables themselves.

    python -m benchmarks [--only train-tiny,decode-base,…] [--threads N] [--repeats N]

What was measured is kept in ``benchmarks/results.json``, part by part, so that one part can be
measured again without the others. The tables go between two comments in the README:

    <!-- speed: written by `make bench` -->
    <!-- end of speed -->

Where these are missing, the tables are printed alone.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import batches_speed, loop_profile, prepare_speed, tokenize_speed
from dragoman.bench.report import curve_rows, markdown, matrix, memory_matrix, notes

HERE = Path(__file__).resolve().parent
RESULTS, README = HERE / "results.json", HERE.parent / "README.md"
PICTURE = HERE.parent / "docs" / "scaling.png"
BEGIN, END = "<!-- speed: written by `make bench` -->", "<!-- end of speed -->"


def command(*args: str) -> dict[str, Any]:
    """What a ``dragoman bench`` command finds."""
    full = [sys.executable, "-m", "dragoman", "bench", *args, "--json"]
    done = subprocess.run(full, stdout=subprocess.PIPE, text=True, check=True, cwd=HERE.parent)
    return json.loads(done.stdout)


def parts(options: argparse.Namespace) -> dict[str, Callable[[], dict[str, Any]]]:
    """Every part by name, with what measures it."""
    common = ["--repeats", str(options.repeats)]
    if options.threads:
        common += ["--threads", str(options.threads)]
    return {
        "train-tiny": lambda: command("train", "--presets", "tiny", *common),
        "train-base": lambda: command("train", "--presets", "base", *common),
        "decode-tiny": lambda: command("decode", "--presets", "tiny", *common),
        "decode-base": lambda: command("decode", "--presets", "base", *common),
        "scaling": lambda: command("scaling", *common, "-o", str(PICTURE)),
        "loop": lambda: loop_profile.measure(60),
        "prepare": prepare_speed.measure,
        "tokenize": tokenize_speed.measure,
        "batches": batches_speed.measure,
    }


def tables(found: dict[str, Any]) -> str:
    """What was measured, in Markdown."""
    blocks = []
    for kind in ("train", "decode"):
        measured = [found[part] for part in (f"{kind}-tiny", f"{kind}-base") if part in found]
        if measured:
            blocks += _contest(kind, measured)
    if "scaling" in found:
        blocks += [
            "**Growth** (`dragoman bench scaling`): exponents of time and memory.",
            markdown(curve_rows(found["scaling"]["curves"])),
            "![How time and memory grow](docs/scaling.png)",
        ]
    rows = _other_rows(found)
    if rows:
        blocks.append(markdown([("what", "result", "command"), *rows]))
    return "\n\n".join(blocks)


def _contest(kind: str, measured: Sequence[dict[str, Any]]) -> list[str]:
    """One table of a kind: a row for each peer, a column for each case."""
    first, cases = measured[0], [case for found in measured for case in found["cases"]]
    rounds = " or ".join(dict.fromkeys(str(found["repeats"]) for found in measured))
    blocks = [
        f"**{'Training' if kind == 'train' else 'Decoding'}** (`dragoman bench {kind}`):"
        f" {first['text']}, {first['vocab_size']:,} pieces, {first['threads']} threads, float32,"
        f" {rounds} rounds in turn. Our speed, then how many times theirs it is, spread in"
        " brackets.",
        markdown(matrix(cases)),
    ]
    if kind == "train":
        blocks += ["Memory of the same, MB beyond the imports:", markdown(memory_matrix(cases))]
    versions = [f"{name} {version}" for name, version in first["versions"].items() if version]
    missing = [note for note in notes(cases) if "cannot" not in note]
    blocks.append("Versions: " + ", ".join(versions) + ".")
    return blocks + ([f"Not measured: {'; '.join(missing)}."] if missing else [])


def _other_rows(found: dict[str, Any]) -> list[tuple[str, ...]]:
    """The measurements of the scripts beside this one."""
    rows: list[tuple[str, ...]] = []
    if "loop" in found:
        outside = 1 - found["loop"]["update"]
        what = "share of the training loop outside model, loss and optimizer"
        rows.append((what, f"{outside:.1%}", "`python -m benchmarks.loop_profile`"))
    if "prepare" in found:
        first, second = found["prepare"]["first"], found["prepare"]["second"]
        text = f"{first:.1f} s, the second time {second:.1f} s"
        what = "preparing the corpus, tokenizer training included"
        rows.append((what, text, "`python -m benchmarks.prepare_speed`"))
    if "tokenize" in found:
        ratios = [
            f"{found['tokenize'][kind]['ratio']:.2f}× ({kind})" for kind in ("bpe", "unigram")
        ]
        what = "encoding beside plain SentencePiece calls"
        rows.append((what, ", ".join(ratios), "`python -m benchmarks.tokenize_speed`"))
    if "batches" in found:
        share = found["batches"]["padding_share"]
        speed = found["batches"]["batches_per_second_prefetch_2"]
        text = f"{share:.1%} of positions; {speed:,.0f} batches/s"
        what = "padding at 4,096 target tokens; batches alone"
        rows.append((what, text, "`python -m benchmarks.batches_speed`"))
    return rows


def write_tables(text: str, readme: Path = README) -> bool:
    """Put the tables into the README; False where it has no place for them."""
    before = readme.read_text(encoding="utf-8")
    if BEGIN not in before or END not in before:
        return False
    head, rest = before.split(BEGIN, 1)
    _, tail = rest.split(END, 1)
    readme.write_text(f"{head}{BEGIN}\n\n{text}\n\n{END}{tail}", encoding="utf-8")
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="parts to measure, with commas; all if empty")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    all_parts = parts(options)
    wanted = [name for name in options.only.split(",") if name] or list(all_parts)
    unknown = [name for name in wanted if name not in all_parts]
    if unknown:
        parser.error(f"no part is called {', '.join(unknown)}; there are {', '.join(all_parts)}")
    found = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for name in wanted:
        print(f"--- {name}", file=sys.stderr, flush=True)
        found[name] = all_parts[name]()
        RESULTS.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    text = tables(found)
    print(text)
    if not write_tables(text):
        print(f"{README.name} has no place for the tables: {BEGIN} … {END}", file=sys.stderr)


if __name__ == "__main__":
    main()
