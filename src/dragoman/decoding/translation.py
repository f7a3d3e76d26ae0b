"""A translation as a user gets it: text, score, pieces, alternatives, alignment, and notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from dragoman.corpus.pair import one_line
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.tokenize.tokenizer import Tokenizer

Links = tuple[tuple[int, int], ...]
Note = Literal["split", "stopped_at_limit", "repetition"]


@dataclass(frozen=True)
class Translation:
    """One text in the other language.

    ``notes`` say what a careful reader should know: ``split``, the line was longer than the model
    can take and was translated in parts; ``stopped_at_limit``, the translation had no more room
    and may lack its end; ``repetition``, it went in circles and was ended. Nothing else is ever
    cut. Of a line in parts, ``log_prob`` and ``score`` are the sums over the parts.

    >>> Translation("A dog runs.", score=-0.5, log_prob=-1.2).is_whole
    True
    """

    text: str
    score: float  # log_prob over the length penalty; the higher the better
    log_prob: float  # log P(translation | source), the end of the sentence counted
    tokens: tuple[str, ...] = ()  # pieces
    ids: tuple[int, ...] = ()
    alignment: Links | None = None  # (source word, target word), from 0; None: not asked for
    alternatives: tuple[Translation, ...] = ()  # the rest of the n-best, best first
    notes: tuple[Note, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether the model said all it wanted to say."""
        return not {"stopped_at_limit", "repetition"} & set(self.notes)

    @property
    def n_best(self) -> tuple[Translation, ...]:
        """This translation and its alternatives, best first."""
        return (self, *self.alternatives)

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, ready for JSON."""
        return asdict(self)


NOTHING = Translation("", score=0.0, log_prob=0.0)
"""The translation of an empty line, which never meets the model."""


def make_translation(
    hypothesis: Hypothesis,
    tokenizer: Tokenizer,
    alignment: Links | None,
    *,
    text: str | None = None,
) -> Translation:
    """The translation that a hypothesis stands for; ``text`` is that of its ids, if it is known."""
    notes: dict[str, tuple[Note, ...]] = {
        "limit": ("stopped_at_limit",),
        "repetition": ("repetition",),
    }
    return Translation(
        # A model that spells in bytes may spell a line end; one line in is one line out.
        text=one_line(tokenizer.decode(hypothesis.ids) if text is None else text),
        score=hypothesis.score,
        log_prob=hypothesis.log_prob,
        tokens=tuple(tokenizer.piece(number) for number in hypothesis.ids),
        ids=hypothesis.ids,
        alignment=alignment,
        notes=notes.get(hypothesis.ending, ()),
    )


def with_alternatives(ranked: Sequence[Translation]) -> Translation:
    """The best of several translations, with the others as its alternatives."""
    return replace(ranked[0], alternatives=tuple(ranked[1:]))


def join(parts: Sequence[Translation], first_words: Sequence[int]) -> Translation:
    """The translation of a line from those of its parts, joined by spaces.

    ``first_words`` are the numbers of the source words that the parts begin with. The k-th
    alternative is made of the k-th alternatives of the parts.
    """
    depth = min(len(part.n_best) for part in parts)
    ranks = [_join_one([part.n_best[k] for part in parts], first_words) for k in range(depth)]
    return with_alternatives(ranks)


def _join_one(parts: Sequence[Translation], first_words: Sequence[int]) -> Translation:
    links: list[tuple[int, int]] | None = [] if parts[0].alignment is not None else None
    n_words = 0
    for part, first_word in zip(parts, first_words, strict=True):
        if links is not None:
            links += [(src + first_word, tgt + n_words) for src, tgt in part.alignment or ()]
        n_words += len(part.text.split())
    notes = dict.fromkeys(note for part in parts for note in part.notes)
    return Translation(
        text=" ".join(part.text for part in parts if part.text),
        score=sum(part.score for part in parts),
        log_prob=sum(part.log_prob for part in parts),
        tokens=tuple(token for part in parts for token in part.tokens),
        ids=tuple(number for part in parts for number in part.ids),
        alignment=None if links is None else tuple(links),
        notes=("split", *notes),
    )
