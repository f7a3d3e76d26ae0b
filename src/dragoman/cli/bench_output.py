"""What the commands of ``dragoman bench`` share: what is measured, and how it is shown."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dragoman.cli.output import print_json, result, say, table
from dragoman.errors import ConfigError

if TYPE_CHECKING:
    from dragoman.bench.peer import Peer
    from dragoman.bench.text import Text


def read_presets(names: str) -> list[str]:
    """The presets of a list with commas; one that does not exist is refused."""
    from dragoman.config_checks import no_such
    from dragoman.presets import MODEL_PRESETS

    chosen = [name.strip() for name in names.split(",") if name.strip()]
    for name in chosen:
        if name not in MODEL_PRESETS:
            raise ConfigError(f"--presets: {no_such('preset', name, known=MODEL_PRESETS)}")
    return chosen


def read_peers(names: list[str] | None) -> list[Peer]:
    """The peers of these names, or all."""
    from dragoman.bench.peer import choose_peers

    return choose_peers(names or [])


def prepare_text(src: Path | None, tgt: Path | None, *, vocab_size: int) -> Text:
    """The text to measure with, which is told."""
    from dragoman.bench.text import read_text

    text = read_text(src, tgt, vocab_size=vocab_size)
    say(f"{text.name}: {len(text.pairs):,} pairs, {text.vocab_size:,} pieces")
    return text


def count_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def say_case(name: str) -> None:
    """Tell what is measured next."""
    say(f"measuring {name} …")


def common_facts(
    what: str,
    peers: Sequence[Peer],
    *,
    threads: int,
    repeats: int,
    text: str,
    vocab_size: int | None,
) -> dict[str, Any]:
    """What holds for all cases, by its JSON keys."""
    from dragoman.bench.peer import version_of

    return {
        "what": what,
        "text": text,
        "vocab_size": vocab_size,
        "threads": threads,
        "precision": "float32",
        "repeats": repeats,
        "versions": {peer.name: version_of(peer) for peer in peers},
    }


def show(facts: dict[str, Any], cases: Iterable[dict[str, Any]], *, as_json: bool) -> None:
    """Each case as soon as it is measured, or one JSON object of all.

    What was measured is not lost if somebody stops the rest.
    """
    from dragoman.bench.report import case_rows, case_title, notes

    done: list[dict[str, Any]] = []
    if as_json:
        try:
            done.extend(cases)
        finally:
            print_json({**facts, "cases": done})
        return
    result(f"{facts['text']}, {facts['threads']} threads, float32, {facts['repeats']} rounds")
    for case in cases:
        result(f"\n{case_title(case)}")
        result(table(case_rows(case)))
        done.append(case)
    missing = notes(done)
    if missing:
        result("\n– " + "\n– ".join(missing))
