"""What a check of a corpus found: findings by kind, each with its count and first places."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from dragoman.corpus.pair import Pair, excerpt

Severity = Literal["error", "warning", "note"]

# kind -> (severity, what it means and what to do), in the order of the report
KINDS: dict[str, tuple[Severity, str]] = {
    "line_counts": ("error", "the two sides differ in the number of lines"),
    "bad_encoding": ("error", "a line is not valid UTF-8"),
    "unreadable": ("error", "the corpus cannot be read to its end"),
    "no_pairs": ("error", "there is not a single pair"),
    "misaligned": ("warning", "lines that are very likely not translations of each other"),
    "both_empty": ("warning", "both sides are empty; training drops such a pair"),
    "empty_side": ("warning", "one side is empty; training drops such a pair"),
    "control_characters": ("warning", "control characters; training drops such a pair"),
    "replacement_character": ("warning", "U+FFFD, the trace of an earlier wrong conversion"),
    "too_long": ("warning", "longer than the limit in characters"),
    "length_ratio": ("warning", "one side is many times longer; training drops such a pair"),
    "valid_overlap": (
        "warning",
        "validation pairs that are also in training; scores are flattered",
    ),
    "test_overlap": ("warning", "test pairs that are also in training; scores are flattered"),
    "duplicate": ("note", "exact repetitions of an earlier pair; training keeps the first"),
    "copied": ("note", "source and target are the same"),
    "valid_source_overlap": ("note", "validation sources that are also in training"),
    "test_source_overlap": ("note", "test sources that are also in training"),
}


@dataclass(frozen=True, slots=True)
class Example:
    """One place where something was found, and what stands there."""

    place: str
    text: str

    @classmethod
    def of(cls, pair: Pair) -> Example:
        """The place and both texts of a pair, shortened."""
        return cls(pair.place, f"{excerpt(pair.src, 60)} | {excerpt(pair.tgt, 60)}")


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of trouble: how often, and where first."""

    kind: str
    count: int
    examples: tuple[Example, ...]

    @property
    def severity(self) -> Severity:
        """``error`` stops a training, ``warning`` deserves a look, ``note`` is often harmless."""
        return KINDS[self.kind][0]

    @property
    def meaning(self) -> str:
        """What the kind stands for."""
        return KINDS[self.kind][1]

    @property
    def message(self) -> str:
        """The first example, or the meaning where none was kept."""
        return self.examples[0].text if self.examples else self.meaning


@dataclass(frozen=True, slots=True)
class Report:
    """Everything a check found, in the order of weight.

    >>> report = Report(2, (Finding("copied", 1, (Example("t.de:2", '"OK" | "OK"'),)),))
    >>> report.is_usable
    True
    >>> print("\\n".join(report.lines()))
    2 pairs read
    note: 1 copied: source and target are the same
      t.de:2: "OK" | "OK"
    """

    pairs: int
    findings: tuple[Finding, ...]

    @property
    def is_usable(self) -> bool:
        """Whether a training could use the corpus: no finding is an error."""
        return all(finding.severity != "error" for finding in self.findings)

    def count(self, kind: str) -> int:
        """How often a kind of trouble was found."""
        return sum(finding.count for finding in self.findings if finding.kind == kind)

    def lines(self) -> Iterator[str]:
        """The report as plain text."""
        yield f"{self.pairs:,} pairs read"
        for finding in self.findings:
            name = finding.kind.replace("_", " ")
            yield f"{finding.severity}: {finding.count:,} {name}: {finding.meaning}"
            for example in finding.examples:
                whole = example.place in example.text  # the message of an error names its place
                text = example.text if whole else f"{example.place}: {example.text}"
                yield from (f"  {line}" for line in text.split("\n"))
            # The count of misaligned lines is one of lines, and their examples are runs of them.
            if finding.count > len(finding.examples) and finding.kind != "misaligned":
                yield f"  … and {finding.count - len(finding.examples):,} more"
        if not self.findings:
            yield "nothing to complain about"

    def to_dict(self) -> dict[str, object]:
        """The report for ``--json``."""
        return {
            "pairs": self.pairs,
            "ok": self.is_usable,
            "findings": [
                {
                    "kind": finding.kind,
                    "severity": finding.severity,
                    "count": finding.count,
                    "meaning": finding.meaning,
                    "examples": [{"place": e.place, "text": e.text} for e in finding.examples],
                }
                for finding in self.findings
            ],
        }
