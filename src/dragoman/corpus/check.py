"""A report on a corpus: what is wrong, how often, and where first.

One pass over the pairs; what is remembered is some 25 bytes a pair (a hash of the pair, one of the
source where there are test sets, lengths and line number), so that large corpora can be checked.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dragoman.corpus.clean import CONTROL_CHARACTERS, is_out_of_ratio
from dragoman.corpus.drift import Drift, find_drift
from dragoman.corpus.files import BadEncodingError
from dragoman.corpus.hashes import CHUNK, HashSet, hash_pairs, hash_texts
from dragoman.corpus.pair import Pair
from dragoman.corpus.plain_text import LineCountError
from dragoman.corpus.reading import CorpusSource
from dragoman.corpus.report import KINDS, Example, Finding, Report
from dragoman.errors import DataError

Progress = Callable[[int], None]
_PLACE = re.compile(r"^ *(\S.*?:\d+):", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """Limits of a check, and how many places it names for each kind of finding."""

    max_chars: int = 1000
    max_length_ratio: float = 9.0
    n_examples: int = 5


def check_corpus(
    source: CorpusSource,
    valid: CorpusSource | None = None,
    *,
    tests: Sequence[CorpusSource] = (),
    settings: CheckSettings | None = None,
    on_progress: Progress | None = None,
) -> Report:
    r"""Everything found in a training corpus, and its overlap with validation and test sets.

    An error in a file ends the reading of that corpus and becomes a finding; what stands before it
    is reported too. ``on_progress`` is called with the number of pairs done.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "t.tsv")
    ...     _ = path.write_text("ein Hund\ta dog\n\ta cat\n")
    ...     report = check_corpus(CorpusSource(corpus=(str(path),)))
    >>> [(finding.kind, finding.count) for finding in report.findings]
    [('empty_side', 1)]
    """
    settings = settings or CheckSettings()
    findings = _Findings(settings.n_examples)
    others = [("valid", valid)] if valid else []
    others += [("test", test) for test in tests]
    known, known_sources = HashSet(), HashSet()
    lengths = _Lengths()
    for chunk in _chunks(source, findings):
        for pair in chunk:
            _check_text(pair, settings, findings)
            lengths.add(pair)
        is_new = known.add(hash_pairs(chunk))
        for i in np.flatnonzero(~is_new):
            findings.add("duplicate", chunk[i])
        if others:
            known_sources.add(hash_texts(pair.src for pair in chunk))
        if on_progress:
            on_progress(lengths.count)
    if not lengths.count and not findings.counts:
        findings.add_example("no_pairs", Example(_name(source), "no pairs in it"))
    for drift, example in lengths.drifts():
        findings.add_example("misaligned", example, count=drift.end - drift.start)
    for name, other in others:
        for chunk in _chunks(other, findings):
            _check_overlap(name, chunk, known, known_sources, findings)
    return Report(lengths.count, findings.finished())


class _Findings:
    """Findings as they come: counts by kind, and the first few examples of each."""

    def __init__(self, n_examples: int) -> None:
        self.n_examples = n_examples
        self.counts: Counter[str] = Counter()
        self.examples: dict[str, list[Example]] = {}

    def add(self, kind: str, pair: Pair) -> None:
        self.counts[kind] += 1
        examples = self.examples.setdefault(kind, [])
        if len(examples) < self.n_examples:
            examples.append(Example.of(pair))

    def add_example(self, kind: str, example: Example, *, count: int = 1) -> None:
        self.counts[kind] += count
        self.examples.setdefault(kind, []).append(example)

    def finished(self) -> tuple[Finding, ...]:
        return tuple(
            Finding(kind, self.counts[kind], tuple(self.examples.get(kind, ())[: self.n_examples]))
            for kind in KINDS
            if self.counts[kind]
        )


class _Lengths:
    """Length of both sides and line of every pair, in eight bytes, for the search of drifts."""

    def __init__(self) -> None:
        self.src, self.tgt, self.line = array("H"), array("H"), array("I")
        self.files: list[tuple[str, int]] = []  # (file, index of its first pair)

    @property
    def count(self) -> int:
        return len(self.line)

    def add(self, pair: Pair) -> None:
        if not self.files or self.files[-1][0] != pair.file:
            self.files.append((pair.file, self.count))
        self.src.append(min(len(pair.src), 65_535))
        self.tgt.append(min(len(pair.tgt), 65_535))
        self.line.append(pair.line)

    def drifts(self) -> Iterator[tuple[Drift, Example]]:
        """Each run of lines that are probably misaligned, file by file, with what to say of it."""
        if not self.count:
            return
        ends = [start for _, start in self.files[1:]] + [self.count]
        src, tgt = np.frombuffer(self.src, np.uint16), np.frombuffer(self.tgt, np.uint16)
        for (file, start), end in zip(self.files, ends, strict=True):
            for drift in find_drift(src[start:end], tgt[start:end]):
                first, last = self.line[start + drift.start], self.line[start + drift.end - 1]
                yield drift, Example(f"{file}:{first}", _describe(drift, last))


def _describe(drift: Drift, last_line: int) -> str:
    if drift.shift is None:
        return f"from about here to line {last_line:,} the lengths of the two sides do not agree"
    n, where = abs(drift.shift), "later" if drift.shift > 0 else "earlier"
    side = "source" if drift.shift > 0 else "target"
    return (
        f"from about here to line {last_line:,} the translation stands {n} "
        f"line{'s' if n > 1 else ''} {where}; the {side} side seems to lack {n} here"
    )


def _chunks(source: CorpusSource, findings: _Findings) -> Iterator[list[Pair]]:
    """The pairs in lists; an error of the reader ends them and becomes a finding."""
    pairs = source.pairs()
    chunk: list[Pair] = []
    try:
        for pair in pairs:
            chunk.append(pair)
            if len(chunk) == CHUNK:
                yield chunk
                chunk = []
    except DataError as error:
        findings.add_example(_error_kind(error), _error_example(error, source))
    if chunk:
        yield chunk


def _error_kind(error: DataError) -> str:
    if isinstance(error, LineCountError):
        return "line_counts"
    return "bad_encoding" if isinstance(error, BadEncodingError) else "unreadable"


def _error_example(error: DataError, source: CorpusSource) -> Example:
    """The whole message, and the first place it names."""
    place = _PLACE.search(str(error))
    return Example(place[1] if place else _name(source), str(error))


def _name(source: CorpusSource) -> str:
    return ", ".join([*map(str, source.src + source.tgt), *source.corpus])


def _check_text(pair: Pair, settings: CheckSettings, findings: _Findings) -> None:
    """Add what can be seen in one pair alone."""
    src, tgt = pair.src, pair.tgt
    no_src, no_tgt = not src or src.isspace(), not tgt or tgt.isspace()
    if no_src or no_tgt:
        findings.add("both_empty" if no_src and no_tgt else "empty_side", pair)
        return
    if src == tgt:
        findings.add("copied", pair)
    if CONTROL_CHARACTERS.search(src) or CONTROL_CHARACTERS.search(tgt):
        findings.add("control_characters", pair)
    if "\ufffd" in src or "\ufffd" in tgt:
        findings.add("replacement_character", pair)
    longer, shorter = max(len(src), len(tgt)), min(len(src), len(tgt))
    if longer > settings.max_chars:
        findings.add("too_long", pair)
    if is_out_of_ratio(longer, shorter, settings.max_length_ratio):
        findings.add("length_ratio", pair)


def _check_overlap(
    name: str, chunk: list[Pair], known: HashSet, known_sources: HashSet, findings: _Findings
) -> None:
    """Add the pairs of a held-out set that training sees, whole or by their source alone."""
    whole = known.contains(hash_pairs(chunk))
    by_source = known_sources.contains(hash_texts(pair.src for pair in chunk))
    for i in np.flatnonzero(whole):
        findings.add(f"{name}_overlap", chunk[i])
    for i in np.flatnonzero(by_source & ~whole):
        findings.add(f"{name}_source_overlap", chunk[i])
