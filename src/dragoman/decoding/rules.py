"""What a hypothesis may say next, whatever the search: bans, forced prefixes, where it must end.

PAD and BOS are never said, nor EOS before a least length. A sentence with a prefix says that first.
At its last position, or when it goes in circles, a hypothesis can only end. The probabilities stay
those of the model over the whole vocabulary: a rule takes choices away and makes the others no
likelier, so that every score equals that of forced decoding.

Letters: B sentences, S source length, N hypotheses a sentence, R = B * N rows, V vocabulary,
P longest prefix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from dragoman.tokenize.vocabulary import BOS_ID, EOS_ID, PAD_ID

_FREE = -1  # no token is forced here


@dataclass(frozen=True)
class Rules:
    """The rules of each sentence of a batch.

    >>> rules = make_rules(torch.tensor([[5, 6, 2], [7, 2, 0]]), max_extra=4, prefixes=[[], [9]])
    >>> rules.limits.tolist(), rules.forced.tolist()
    ([7, 6], [[-1], [9]])
    """

    limits: Tensor  # (B,) most tokens of a translation, EOS counted
    src_lengths: Tensor  # (B,) tokens of the source, EOS counted
    forced: Tensor  # (B, P) the prefix of each sentence, then -1
    first_end: int  # the lowest of the limits
    min_len: int = 0  # fewest tokens of a translation, EOS counted

    def keep(self, sentences: Tensor) -> Rules:
        """The rules of these sentences alone."""
        limits = self.limits[sentences]
        first_end = int(limits.min()) if limits.numel() else 0
        src_lengths, forced = self.src_lengths[sentences], self.forced[sentences]
        return Rules(limits, src_lengths, forced, first_end, self.min_len)

    def n_banned(self, position: int) -> int:
        """How many of the first of the vocabulary, PAD, BOS, EOS, may not be said here."""
        return EOS_ID + 1 if position + 1 < self.min_len else BOS_ID + 1

    def are_open(self, position: int, in_circles: Tensor | None) -> bool:
        """Whether every row may say at this position what it will, except what is banned."""
        has_forced = position < self.forced.size(1)
        return in_circles is None and not has_forced and position + 1 < self.first_end

    def n_open(self, position: int, in_circles: Tensor | None) -> int:
        """For how many positions from this one on the rules stay the same and are open."""
        if not self.are_open(position, in_circles):
            return 0
        end = self.first_end - 1
        return (min(end, self.min_len - 1) if position + 1 < self.min_len else end) - position

    def apply(self, logits: Tensor, position: int, in_circles: Tensor | None) -> Tensor:
        """Make what may not follow at this position impossible, in place: (R, V) -> (R, V).

        ``in_circles`` marks rows that have to end, (R,); None: no row does.
        """
        logits.narrow(1, PAD_ID, self.n_banned(position)).fill_(-torch.inf)
        if self.are_open(position, in_circles):
            return logits
        at_end = self.limits <= position + 1  # (B,)
        n_beams = logits.size(0) // at_end.size(0)
        bound = at_end.repeat_interleave(n_beams)  # (R,) rows with one choice
        tokens = torch.full_like(bound, EOS_ID, dtype=torch.long)  # (R,) which it is
        if in_circles is not None and position + 1 >= self.min_len:
            bound = bound | in_circles
        if position < self.forced.size(1):
            forced = self.forced[:, position].repeat_interleave(n_beams)
            bound = bound | (forced != _FREE)
            tokens = torch.where(forced != _FREE, forced, tokens)
        return _allow_only(logits, bound, tokens)


def make_rules(
    src_ids: Tensor,
    *,
    max_extra: int,
    max_len: int | None = None,
    min_len: int = 0,
    prefixes: Sequence[Sequence[int]] | None = None,
) -> Rules:
    """The rules of a batch of sources (B, S).

    A translation has at most ``max_extra`` tokens more than its source, EOS counted in both, or,
    should that be more, than its prefix; and at most ``max_len``, where that leaves room for the
    prefix. It has at least ``min_len``, where it may have as many.
    """
    src_lengths = (src_ids != PAD_ID).sum(1)
    rows = list(prefixes) if prefixes is not None else [[] for _ in range(src_ids.size(0))]
    longest = max(map(len, rows), default=0)
    padded = [[*row, *[_FREE] * (longest - len(row))] for row in rows]
    forced = torch.tensor(padded, dtype=torch.long, device=src_ids.device).view(len(rows), longest)
    n_forced = (forced != _FREE).sum(1)
    limits = torch.maximum(src_lengths, n_forced + 1) + max_extra
    if max_len is not None:
        limits = limits.clamp(max=max_len)
    limits = torch.maximum(limits, n_forced + 1)
    first_end = int(limits.min()) if limits.numel() else 0
    return Rules(limits, src_lengths, forced, first_end, min(min_len, first_end))


def _allow_only(logits: Tensor, rows: Tensor, tokens: Tensor) -> Tensor:
    """Leave marked rows (R,) one token each (R,), in place."""
    kept = logits.gather(1, tokens[:, None])
    logits.masked_fill_(rows[:, None], -torch.inf)
    return logits.scatter_(1, tokens[:, None], kept)
