"""One or more systems judged on the same sentences: what ``dragoman evaluate`` finds out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dragoman.corpus.files import read_lines
from dragoman.corpus.plain_text import read_pairs
from dragoman.errors import DataError
from dragoman.evaluation.accuracy import Accuracy, accuracy
from dragoman.evaluation.error_analysis import analyze_errors
from dragoman.evaluation.report_page import SystemReport, render_report
from dragoman.evaluation.scores import Scores, ScoreSettings, score_corpus
from dragoman.evaluation.significance import Significance, compare_systems


@dataclass(frozen=True)
class Output:
    """What a system made of the test sentences; time and pieces where we saw it at work."""

    name: str
    lines: list[str]
    seconds: float | None = None
    n_pieces: int | None = None


@dataclass(frozen=True)
class JudgedSystem:
    """One system and how good it is."""

    output: Output
    scores: Scores
    accuracy: Accuracy

    def to_dict(self) -> dict[str, Any]:
        """The keys that ``evaluate --json`` promises; ``signature`` is that of BLEU."""
        output = self.output
        speed = None
        if output.seconds is not None and output.n_pieces is not None:
            speed = output.n_pieces / max(output.seconds, 1e-9)
        return {
            "system": output.name,
            "bleu": self.scores.bleu,
            "chrf": self.scores.chrf,
            "ter": self.scores.ter,
            "signature": self.scores.signatures["bleu"],
            "signatures": self.scores.signatures,
            "bleu_detail": self.scores.bleu_detail,
            **asdict(self.accuracy),
            "sentences": len(output.lines),
            "seconds": output.seconds,
            "tokens_per_second": speed,
        }


@dataclass(frozen=True)
class Judgement:
    """All systems, in the order in which they were named."""

    systems: tuple[JudgedSystem, ...]
    significance: Significance | None  # of the later ones against the first

    def to_dict(self) -> dict[str, Any]:
        """The first system's keys, then all systems, then how they compare, if there are more."""
        found = {**self.systems[0].to_dict(), "systems": [s.to_dict() for s in self.systems]}
        if self.significance is not None:
            found["significance"] = asdict(self.significance)
        return found


def judge(
    outputs: Sequence[Output],
    references: Sequence[Sequence[str]],
    *,
    settings: ScoreSettings | None = None,
) -> Judgement:
    """The scores of each output, and paired significance where there are several.

    >>> found = judge([Output("mine", ["a dog runs fast"])], [["a dog runs fast"]])
    >>> found.to_dict()["exact_match"], found.significance
    (1.0, None)
    """
    systems = tuple(
        JudgedSystem(
            output,
            scores=score_corpus(output.lines, references, settings=settings),
            accuracy=accuracy(output.lines, references),
        )
        for output in outputs
    )
    named = [(output.name, output.lines) for output in outputs]
    several = len(outputs) > 1
    return Judgement(
        systems,
        compare_systems(named, references, settings=settings) if several else None,
    )


def error_report(
    judgement: Judgement,
    references: Sequence[Sequence[str]],
    *,
    sources: Sequence[str] | None = None,
    settings: ScoreSettings | None = None,
) -> str:
    """The HTML page that shows where the systems go wrong.

    >>> references = [["a dog runs fast"]]
    >>> page = error_report(judge([Output("mine", ["a cat"])], references), references)
    >>> "Error report: mine" in page
    True
    """
    reports = [
        SystemReport(
            name=system.output.name,
            sentences=len(system.output.lines),
            scores=system.scores,
            analysis=analyze_errors(
                system.output.lines, references, sources=sources, settings=settings
            ),
        )
        for system in judgement.systems
    ]
    return render_report(reports, significance=judgement.significance)


def read_aligned(paths: Sequence[Path], *, limit: int | None = None) -> list[list[str]]:
    r"""The lines of files that must have equally many; the first is what the others are held to.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     de, en = Path(folder, "t.de"), Path(folder, "t.en")
    ...     _ = de.write_text("ein Hund\nzwei Katzen\n"), en.write_text("a dog\ntwo cats\n")
    ...     read_aligned([de, en], limit=1)
    [['ein Hund'], ['a dog']]
    """
    first, *others = paths
    columns = [list(read_lines(first))]
    columns += [[pair.tgt for pair in read_pairs(first, other)] for other in others]
    if not columns[0]:
        raise DataError(f"{first} is empty: there is nothing to score")
    return [lines[:limit] for lines in columns]
