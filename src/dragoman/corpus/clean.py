"""The pairs worth training on; what is dropped is counted by reason, and nothing is cut short.

Only what can be seen in the text is judged here. Length in pieces is known after tokenization; the
prepared store counts pairs beyond ``max_length`` under the reason ``too_long`` as well. Pairs whose
target equals their source are kept: names and numbers translate to themselves.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from dragoman.config import DataConfig
from dragoman.corpus.pair import Pair

if TYPE_CHECKING:
    from dragoman.corpus.hashes import HashSet

# Stable names: they are keys of record.json.
REASONS = (
    "empty",
    "control_characters",
    "too_long",
    "length_ratio",
    "in_validation",
    "duplicate",
)
# C0, DEL and C1 without the tab. They are the debris of conversions, and no reader needs them.
CONTROL_CHARACTERS = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f]")
# A side shorter than this counts as this long: "Ja." may well be "Yes, that is how it is."
SHORT_CHARS = 10


@dataclass(slots=True)
class Tally:
    """How many pairs were kept, and how many dropped for each reason; ``clean`` fills it.

    >>> Tally(kept=2, dropped=Counter(empty=1)).to_dict()
    {'kept': 2, 'dropped': {'empty': 1}}
    """

    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    def to_dict(self) -> dict[str, object]:
        """The form of record.json, reasons in the order of ``REASONS``."""
        known = {reason: self.dropped[reason] for reason in REASONS if self.dropped[reason]}
        others = {key: n for key, n in self.dropped.items() if key not in known and n}
        return {"kept": self.kept, "dropped": known | others}


def clean(
    pairs: Iterable[Pair],
    config: DataConfig,
    *,
    tally: Tally,
    exclude: HashSet | None = None,
    max_chars: int | None = None,
) -> Iterator[Pair]:
    """The pairs that are fit for training, in their order; ``tally`` counts as they are taken.

    ``exclude`` holds the pairs of validation and test sets (``hashes.hash_set``), which must not be
    learnt by heart; they are counted as ``in_validation``.

    >>> tally = Tally()
    >>> pairs = [Pair("ein Hund", "a dog", "t.de", 1), Pair("", "a cat", "t.de", 2),
    ...          Pair("ein Hund", "a dog", "t.de", 3)]
    >>> [pair.line for pair in clean(pairs, DataConfig(), tally=tally)]
    [1]
    >>> tally.to_dict()
    {'kept': 1, 'dropped': {'empty': 1, 'duplicate': 1}}
    """
    from dragoman.corpus.hashes import CHUNK, HashSet, hash_pairs

    seen = HashSet()
    pairs = iter(pairs)
    while chunk := list(islice(pairs, CHUNK)):
        good: list[Pair] = []
        for pair in chunk:
            reason = text_fault(pair, config.max_length_ratio, max_chars=max_chars)
            if reason is None:
                good.append(pair)
            else:
                tally.dropped[reason] += 1
        if exclude is not None or config.drop_duplicates:
            hashes = hash_pairs(good)
            if exclude is not None:
                kept = ~exclude.contains(hashes)
                tally.dropped["in_validation"] += int((~kept).sum())
                good, hashes = [p for p, k in zip(good, kept, strict=True) if k], hashes[kept]
            if config.drop_duplicates:
                is_new = seen.add(hashes)
                tally.dropped["duplicate"] += int((~is_new).sum())
                good = [pair for pair, new in zip(good, is_new, strict=True) if new]
        tally.kept += len(good)
        yield from good


def text_fault(pair: Pair, max_length_ratio: float, *, max_chars: int | None = None) -> str | None:
    """The reason to drop a pair that can be seen in its text alone, or None.

    >>> text_fault(Pair("Ja.", "Yes, that is how it is.", "t.de", 1), 2.5) is None
    True
    >>> text_fault(Pair("Ja.", "Yes, that is how it always is.", "t.de", 1), 2.5)
    'length_ratio'
    """
    src, tgt = pair.src, pair.tgt
    if not src or not tgt or src.isspace() or tgt.isspace():
        return "empty"
    if CONTROL_CHARACTERS.search(src) or CONTROL_CHARACTERS.search(tgt):
        return "control_characters"
    longer, shorter = len(src), len(tgt)
    if longer < shorter:
        longer, shorter = shorter, longer
    if max_chars is not None and longer > max_chars:
        return "too_long"
    if is_out_of_ratio(longer, shorter, max_length_ratio):
        return "length_ratio"
    return None


def is_out_of_ratio(longer: int, shorter: int, max_length_ratio: float) -> bool:
    """Whether the lengths of two sentences, in characters, are too far apart.

    >>> is_out_of_ratio(90, 2, 9.0), is_out_of_ratio(91, 2, 9.0), is_out_of_ratio(200, 20, 9.0)
    (False, True, True)
    """
    return longer > max_length_ratio * max(shorter, SHORT_CHARS)
