"""The short reading of an explanation on a terminal: translation, doubts, alignment, attention."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from dragoman.decoding.explanation import Explanation
from dragoman.pictures.explained import name_heads
from dragoman.pictures.style import THEMES

UNSURE = 0.5  # a piece that is said with less probability is named
FEWEST = 0.05  # of attention, to be worth a number
NOTES = {
    "stopped_at_limit": "stopped for lack of room",
    "repetition": "stopped because it went in circles",
}


def print_reading(explanation: Explanation) -> None:
    """Write the reading to stdout, in colour on a terminal."""
    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    for line in reading(explanation, console.width):
        console.print(line)


def reading(explanation: Explanation, width: int) -> Iterator[Text]:
    """The lines of the reading, the table no wider than so many columns."""
    beam = explanation.beam
    yield Text(explanation.source.text)
    yield Text(explanation.target.text, style="bold")
    how = "greedy" if beam.size == 1 else f"beam {beam.size}"
    numbers = f"score {explanation.score:.3f}, log P {explanation.log_prob:.3f}, {how}"
    yield Text(f"{numbers}, length penalty {beam.length_penalty:g}", style="dim")
    if explanation.heads_off:
        off = ", ".join(f"{name}:{head}" for name, head in explanation.heads_off)
        yield Text(f"without {off}", style="dim")
    for note in explanation.notes:
        yield Text(NOTES.get(note, note), style="yellow")
    yield from _ranked(explanation)
    yield from _doubts(explanation)
    yield from _alignment(explanation)
    yield from _table(explanation, width)


def _ranked(explanation: Explanation) -> Iterator[Text]:
    if len(explanation.n_best) > 1:
        yield Text()
        yield Text("next best")
        for other in explanation.n_best[1:]:
            yield Text(f"  {other.score:.3f}  {other.text}")


def _doubts(explanation: Explanation) -> Iterator[Text]:
    """The pieces that were not likely, with what was."""
    log_probs = explanation.token_log_probs
    unsure = [t for t, log_prob in enumerate(log_probs) if math.exp(log_prob) < UNSURE]
    if unsure:
        yield Text()
        yield Text("unsure")
    for t in unsure:
        others = [a for a in explanation.alternatives[t] if a.piece != explanation.target.pieces[t]]
        likelier = ", ".join(f"{_plain(a.piece)} {a.probability:.2f}" for a in others[:3])
        piece = _plain(explanation.target.pieces[t])
        yield Text(f"  {piece} {math.exp(log_probs[t]):.2f}, or {likelier}")


def _alignment(explanation: Explanation) -> Iterator[Text]:
    if not explanation.alignment:
        return
    src, tgt = explanation.source.words, explanation.target.words
    links = [f"{tgt[j]} ← {src[i]}" for i, j in explanation.alignment]
    yield Text()
    yield Text("alignment")
    yield Text("  " + ", ".join(links))


def _table(explanation: Explanation, width: int) -> Iterator[Text]:
    """Percent of the attention of each target word, in as many tables as the width asks for."""
    if 0 in explanation.word_attention.shape:
        return
    yield Text()
    heads = name_heads(explanation.model["alignment_heads"])
    yield Text(f"attention in percent, by the heads that align: {heads}")
    rows = explanation.target.words
    margin = max(map(cell_len, rows)) + 3  # two before the word and one after it
    for columns in _blocks(explanation.source.words, width - margin):
        words = [explanation.source.words[column] for column in columns]
        if columns[0]:
            yield Text()
        yield Text(" " * margin + " ".join(set_cell_size(w, _width(w)) for w in words), style="dim")
        for row, word in enumerate(rows):
            line = Text(set_cell_size(f"  {word}", margin))
            for column, over in zip(columns, words, strict=True):
                weight = float(explanation.word_attention[row, column])
                line.append_text(_cell(weight, _width(over))).append(" ")
            yield line


def _blocks(words: Sequence[str], width: int) -> Iterator[list[int]]:
    """The numbers of the words that fit beside each other, block by block."""
    block: list[int] = []
    used = 0
    for number, word in enumerate(words):
        needed = _width(word) + 1
        if block and used + needed > width:
            yield block
            block, used = [], 0
        block.append(number)
        used += needed
    yield block


def _width(word: str) -> int:
    return max(3, cell_len(word))


def _cell(weight: float, width: int) -> Text:
    if weight < FEWEST:
        return Text("·".center(width), style="dim")
    colors = THEMES["light"].weights
    rank = min(len(colors) - 1, round(weight * (len(colors) - 1)))
    ink = "white" if rank >= 3 else "black"
    return Text(f"{100 * weight:.0f}".center(width), style=f"{ink} on {colors[max(1, rank)]}")


def _plain(piece: str) -> str:
    return piece.replace("▁", " ").strip() or "␣"
