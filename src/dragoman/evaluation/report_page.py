"""The error report: one HTML file that needs nothing else, in light or dark, in any script.

Every text of the corpus is escaped on its way in, and a content policy in the page forbids scripts
and requests altogether. ``dir="auto"`` lets each sentence run in its own direction.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dragoman.evaluation.error_analysis import ErrorAnalysis
from dragoman.evaluation.mistakes import Line
from dragoman.evaluation.report_style import STYLE
from dragoman.evaluation.scores import Scores
from dragoman.evaluation.significance import Significance
from dragoman.evaluation.text_words import Stretch, differences

METRICS = (("bleu", "BLEU"), ("chrf", "chrF2"), ("ter", "TER"))
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True)
class SystemReport:
    """One system as the page shows it."""

    name: str
    sentences: int
    scores: Scores
    analysis: ErrorAnalysis


def render_report(
    systems: Sequence[SystemReport], *, significance: Significance | None = None
) -> str:
    """The page about one or more systems that translated the same text.

    >>> from dragoman.evaluation.error_analysis import analyze_errors
    >>> from dragoman.evaluation.scores import score_corpus
    >>> hyps, refs = ["a <script>"], [["a dog"]]
    >>> page = render_report(
    ...     [SystemReport("mine", 1, score_corpus(hyps, refs), analyze_errors(hyps, refs))])
    >>> page.startswith("<!doctype html>"), "<script>" in page, "&lt;script&gt;" in page
    (True, False, True)
    """
    title = "Error report: " + ", ".join(system.name for system in systems)
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta http-equiv="Content-Security-Policy"'
            " content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>",
            f"<h1>{escape(title)}</h1>",
            _summary(systems, significance),
            *(_system(system, number) for number, system in enumerate(systems, 1)),
            "</main>\n</body>\n</html>\n",
        ]
    )


def escape(text: str) -> str:
    """Text that HTML shows as it is; control characters become visible.

    >>> escape("<b> \\x1b[0m")
    '&lt;b&gt; ␛[0m'
    """
    return html.escape(_CONTROLS.sub(lambda found: _picture(found[0]), text))


def _picture(control: str) -> str:
    code = ord(control)
    return chr(0x2400 + code) if code < 0x20 else "\N{SYMBOL FOR DELETE}"


# --- sections ------------------------------------------------------------------------------------


def _summary(systems: Sequence[SystemReport], significance: Significance | None) -> str:
    rows = []
    for i, system in enumerate(systems):
        cells = [f'<a href="#system-{i + 1}">{escape(system.name)}</a>', f"{system.sentences:,}"]
        for key, _ in METRICS:
            score = f"{getattr(system.scores, key):.2f}"
            if significance is not None:
                found = significance.comparisons[key][i]
                p_value = "" if found.p_value is None else f", p = {found.p_value:.3f}"
                score += f" <small>({found.mean:.2f} ± {found.interval:.2f}{p_value})</small>"
            cells.append(score)
        rows.append(cells)
    signatures = significance.signatures if significance else systems[0].scores.signatures
    notes = "".join(
        f"<dt>{name}</dt><dd><code>{escape(signatures[key])}</code></dd>" for key, name in METRICS
    )
    caption = "Scores in percent; of TER less is better."
    if significance is not None:
        caption += (
            " In brackets: mean and 95 % confidence interval by paired bootstrap resampling,"
            f" p-value against {escape(systems[0].name)}."
        )
    head = ["System", "Sentences", *(name for _, name in METRICS)]
    return _table(head, rows, caption=caption) + f"\n<dl>{notes}</dl>"


def _system(system: SystemReport, number: int) -> str:
    analysis = system.analysis
    return "\n".join(
        [
            f'<section id="system-{number}">\n<h2>{escape(system.name)}</h2>',
            f"<p>BLEU in detail: <code>{escape(system.scores.bleu_detail)}</code></p>",
            _lengths(analysis),
            _recalls(analysis),
            _findings(analysis, system.sentences),
            _worst(analysis),
            "</section>",
        ]
    )


def _lengths(analysis: ErrorAnalysis) -> str:
    of = "source" if analysis.by_source else "reference"
    rows = [
        [b.label, f"{b.sentences:,}", _bar(b.bleu), _bar(b.chrf), f"{b.length_ratio:.2f}"]
        for b in analysis.lengths
    ]
    head = ["Words", "Sentences", "BLEU", "chrF2", "Length ratio"]
    caption = (
        f"Sentences by the number of words in the {of}. Length ratio: words of the output for each"
        " word of the first reference."
    )
    return "<h3>By length</h3>" + _table(head, rows, caption=caption)


def _recalls(analysis: ErrorAnalysis) -> str:
    rows = [
        [recall.label, f"{recall.words:,}", _bar(100 * recall.found / recall.words)]
        for recall in analysis.recalls
        if recall.words
    ]
    caption = (
        "Of the words of the first reference, how many the output of the same line has, by how"
        " often the word occurs in the whole file of that reference."
    )
    head = ["The word occurs", "Words", "Found, %"]
    return "<h3>Rare words</h3>" + _table(head, rows, caption=caption)


def _findings(analysis: ErrorAnalysis, n_sentences: int) -> str:
    parts = ["<h3>Kinds of mistakes</h3>"]
    if analysis.copied_words is not None:
        share = 100 * analysis.copied_words / max(1, analysis.output_words)
        parts.append(
            f"<p><b>Copied:</b> {analysis.copied_words:,} of {analysis.output_words:,} words of the"
            f" output ({share:.1f} %) stand in the source and in no reference.</p>"
        )
    for finding in analysis.findings:
        share = 100 * finding.count / max(1, n_sentences)
        lines = "line" if finding.count == 1 else "lines"
        said = (
            f"<b>{finding.title}:</b> {finding.count:,} {lines} ({share:.1f} %): {finding.meaning}."
        )
        if not finding.examples:
            parts.append(f"<p>{said}</p>")
            continue
        parts.append(
            f"<details><summary>{said}</summary>{_side_by_side(finding.examples)}</details>"
        )
    return "\n".join(parts)


def _worst(analysis: ErrorAnalysis) -> str:
    if not analysis.worst:
        return "<h3>Worst sentences</h3>\n<p>Every output equals its reference.</p>"
    return (
        f"<h3>The {len(analysis.worst)} worst sentences</h3>\n"
        "<p>By chrF2 of the single sentence. In the output, <del>words that the reference does not"
        " have here</del>; in the reference, <ins>words that the output does not have here</ins>."
        "</p>\n" + _side_by_side(analysis.worst)
    )


def _side_by_side(lines: Sequence[Line]) -> str:
    has_source = lines[0].src is not None
    head = ["Line", "chrF2", *(["Source"] if has_source else []), "Output", "Reference"]
    rows = []
    for line in lines:
        hyp, ref = differences(line.hyp, line.ref)
        texts = [escape(line.src)] if line.src is not None else []
        texts += [_marked(hyp, "del") or "<i>empty</i>", _marked(ref, "ins") or "<i>empty</i>"]
        numbers = [f"{line.number:,}", f"{line.chrf:.1f}"]
        rows.append(numbers + [f'<div dir="auto">{text}</div>' for text in texts])
    return _table(head, rows, kind="pairs")


# --- parts ---------------------------------------------------------------------------------------


def _marked(stretches: Iterable[Stretch], tag: str) -> str:
    """A sentence with what its partner lacks in this tag; the space before it stays outside."""
    parts = []
    for text, is_shared in stretches:
        words = text.lstrip(" ")
        space = text[: len(text) - len(words)]
        shown = escape(words)
        parts.append(space + (shown if is_shared else f"<{tag}>{shown}</{tag}>"))
    return "".join(parts)


def _bar(percent: float) -> str:
    """A number with a bar of its length behind it."""
    width = min(100.0, max(0.0, percent))
    return f'<span class="bar" style="--share: {width:.1f}%">{percent:.1f}</span>'


def _table(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = "", kind: str = "numbers"
) -> str:
    """Rows of cells that are HTML already; the first cell of each is its heading."""
    top = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    body = "\n".join(
        f'<tr><th scope="row">{first}</th>'
        + "".join(f"<td>{cell}</td>" for cell in cells)
        + "</tr>"
        for first, *cells in rows
    )
    said = f"<caption>{caption}</caption>" if caption else ""
    return (
        f'<div class="scroll"><table class="{kind}">{said}\n<thead><tr>{top}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )
