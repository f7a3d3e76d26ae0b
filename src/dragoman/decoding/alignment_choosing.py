"""How well words are aligned, and which heads of a model align them best.

Letters: S source length, T target length, H heads, I source words, J target words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dragoman.decoding.alignment import (
    AlignmentChoice,
    Array,
    Head,
    Words,
    all_heads,
    cross_attention,
    links_of,
    name_of,
    word_weights,
)
from dragoman.model.transformer import Transformer
from dragoman.tokenize.tokenizer import Tokenizer

Gold = Sequence[Iterable[tuple[int, int]]]
MOST_HEADS = 8  # more than this have not aligned better anywhere


def alignment_error_rate(predicted: Gold, gold: Gold) -> float:
    """AER (Och and Ney, 2003) over all sentences, every gold link being a sure one; 0 is best.

    1 - 2 |predicted and gold| / (|predicted| + |gold|)

    >>> alignment_error_rate([[(0, 0), (1, 2)]], [[(0, 0), (1, 1)]])
    0.5
    """
    right = total = 0
    for found, true in zip(predicted, gold, strict=True):
        found, true = set(found), set(true)
        right += len(found & true)
        total += len(found) + len(true)
    return 1 - 2 * right / total if total else 0.0


def choose_alignment_heads(
    model: Transformer,
    tokenizer: Tokenizer,
    examples: Sequence[tuple[str, str, Iterable[tuple[int, int]]]],
) -> tuple[AlignmentChoice, float]:
    """The heads and the shift with the lowest error rate on gold alignments, and that rate.

    ``examples`` are source, target and links between their words. The best head is taken, then
    others, of whichever layer, are added as long as the mean aligns better.
    """
    sources = tokenizer.encode_batch([src for src, _, _ in examples], "src")
    targets = tokenizer.encode_batch([tgt for _, tgt, _ in examples], "tgt")
    pairs = list(zip(sources, targets, strict=True))
    gold = [tuple(links) for _, _, links in examples]
    heads = all_heads(model.config)
    tables: dict[tuple[Head, bool], list[Array]] = {
        (head, shift): [] for head in heads for shift in (False, True)
    }
    for pair, attention in zip(pairs, cross_attention(model, pairs), strict=True):
        words = Words.of(tokenizer, *pair)
        n_src, n_tgt = len(pair[0]), len(pair[1])
        for (layer, number), shift in tables:
            weights = attention[name_of(layer)][number, int(shift) : int(shift) + n_tgt, :n_src]
            tables[(layer, number), shift].append(word_weights(weights, words) * words.may_link)
    found = []
    for shift in (False, True):
        error, chosen = _grow({head: tables[head, shift] for head in heads}, gold)
        found.append((error, AlignmentChoice(chosen, shift)))
    error, choice = min(found, key=lambda pair: pair[0])
    return choice, error


def _grow(tables: dict[Head, list[Array]], gold: Gold) -> tuple[float, tuple[Head, ...]]:
    """The lowest rate, and the heads with it, found by adding one head at a time."""
    error = 2.0
    heads: tuple[Head, ...] = ()
    total: list[Array] = [0 * table for table in next(iter(tables.values()))]
    while len(heads) < min(MOST_HEADS, len(tables)):
        rates = {
            head: alignment_error_rate(
                [links_of(old + new) for old, new in zip(total, table, strict=True)], gold
            )
            for head, table in tables.items()
            if head not in heads
        }
        best = min(rates, key=lambda head: (rates[head], head))
        if rates[best] >= error:
            break
        error, heads = rates[best], (*heads, best)
        total = [old + new for old, new in zip(total, tables[best], strict=True)]
    return error, tuple(sorted(heads))
