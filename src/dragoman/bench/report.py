"""What was measured, in rows for a reader: of text on a terminal, of Markdown in the README."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dragoman.bench.contest import OURS

NONE = "–"
Rows = list[tuple[str, ...]]


def case_title(case: Mapping[str, Any]) -> str:
    """What a case is, in words."""
    if "order" in case:
        return (
            f"{case['preset']}, {case['order']}: {case['target_tokens']:,} target tokens in"
            f" {case['batches']} batches, {case['padding']:.0%} padding"
        )
    of = f"{case['preset']}, " if "preset" in case else ""
    forced = f" of {case['tokens']} tokens" if "tokens" in case else ""
    return f"{of}{case['case']}: {case['sentences']:,} sentences{forced}"


def case_rows(case: Mapping[str, Any]) -> Rows:
    """The results of a case below a header; a dash for what there is not."""
    one_at_a_time = case.get("batch_size") == 1
    compared = any("same_as_ours" in result for result in case["results"])
    header = ["", "ms/sentence" if one_at_a_time else "tokens/s", "ours / theirs", "memory, MB"]
    rows = [tuple([*header, "the same"] if compared else header)]
    for result in case["results"]:
        speed = result.get("ms_per_sentence" if one_at_a_time else "tokens_per_second")
        cells = [
            result["peer"],
            NONE if speed is None else number(speed),
            ratio_text(result.get("ratio")),
            _memory(result.get("memory_mb")),
        ]
        if compared:
            same = result.get("same_as_ours")
            cells.append(NONE if same is None else f"{same:.1%}")
        rows.append(tuple(cells))
    return rows


def matrix(cases: Sequence[Mapping[str, Any]]) -> Rows:
    """All cases side by side: our speed in each, and how many times that of each peer it is.

    >>> ours = {"peer": "dragoman", "tokens_per_second": 6000.0}
    >>> eole = {"peer": "Eole", "ratio": {"median": 2.0, "low": 1.9, "high": 2.2}}
    >>> matrix([{"preset": "tiny", "order": "like lengths", "results": [ours, eole]}])[1:]
    [('dragoman', '6,000 tokens/s'), ('Eole', '2.00× (1.90–2.20)')]
    """

    def cell(case: Mapping[str, Any], result: Mapping[str, Any]) -> str:
        if result["peer"] != OURS:
            return ratio_text(result.get("ratio"))
        if case.get("batch_size") == 1:
            return f"{number(result['ms_per_sentence'])} ms/sentence"
        return f"{number(result['tokens_per_second'])} tokens/s"

    return _by_peer(cases, cell)


def memory_matrix(cases: Sequence[Mapping[str, Any]]) -> Rows:
    """All cases side by side: what the memory of each process grew by."""

    def cell(case: Mapping[str, Any], result: Mapping[str, Any]) -> str:
        memory = result.get("memory_mb")
        return NONE if memory is None else f"{memory['growth']:,.0f}"

    return _by_peer(cases, cell)


def _by_peer(
    cases: Sequence[Mapping[str, Any]],
    cell: Callable[[Mapping[str, Any], Mapping[str, Any]], str],
) -> Rows:
    """A row for each peer that has a result, a column for each case."""
    rows: Rows = [
        ("", *(f"{case['preset']}, {case.get('order') or case['case']}" for case in cases))
    ]
    by_case = [{result["peer"]: result for result in case["results"]} for case in cases]
    for peer in dict.fromkeys(name for found in by_case for name in found):
        cells = []
        for case, found in zip(cases, by_case, strict=True):
            result = found.get(peer)
            cells.append(NONE if result is None or "note" in result else cell(case, result))
        if any(text != NONE for text in cells):
            rows.append((peer, *cells))
    return rows


def notes(cases: Sequence[Mapping[str, Any]]) -> list[str]:
    """Why some results are missing, each said once.

    >>> case = {"results": [{"peer": "Eole", "note": "not installed"}]}
    >>> notes([case, case])
    ['Eole: not installed']
    """
    found = [
        f"{result['peer']}: {result['note']}"
        for case in cases
        for result in case["results"]
        if result.get("note")
    ]
    return list(dict.fromkeys(found))


def ratio_text(ratio: Mapping[str, float] | None) -> str:
    """A ratio with its spread.

    >>> ratio_text({"median": 1.534, "low": 1.4, "high": 12.71})
    '1.53× (1.40–12.7)'
    """
    if ratio is None:
        return NONE
    median, low, high = (number(ratio[name]) for name in ("median", "low", "high"))
    return f"{median}× ({low}–{high})"


def number(value: float) -> str:
    """A number with three digits or more.

    >>> number(3.14159), number(31.4159), number(31415.9)
    ('3.14', '31.4', '31,416')
    """
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _memory(memory: Mapping[str, float] | None) -> str:
    """The growth after the imports, and the whole in brackets."""
    return NONE if memory is None else f"{memory['growth']:,.0f} ({memory['peak']:,.0f})"


def curve_rows(curves: Sequence[Mapping[str, Any]]) -> Rows:
    """The exponents of all curves, with the ranges that they were fitted to."""
    rows: Rows = [("", "range", "time, all", "upper half", "memory, all", "upper half")]
    for curve in curves:
        values = curve["values"]
        cells = [f"{curve['kind']}, {curve['axis']}", f"{values[0]:,}–{values[-1]:,}"]
        for quantity in ("time_growth", "memory_growth"):
            for part in ("all", "upper half"):
                fit = curve[quantity].get(part)
                cells.append(NONE if fit is None else f"x^{fit['exponent']:.2f}")
        rows.append(tuple(cells))
    return rows


def markdown(rows: Rows) -> str:
    """Rows as a table of Markdown, the first of them its header.

    >>> print(markdown([("", "tokens/s"), ("dragoman", "9")]))
    |  | tokens/s |
    |---|---:|
    | dragoman | 9 |
    """
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    rule = "|---|" + "---:|" * (len(rows[0]) - 1)
    return "\n".join([lines[0], rule, *lines[1:]])
