"""What CTranslate2 has found, on its way to being a hypothesis of ours.

It knows neither our limit of a single sentence nor the guard against repetition: what went too far
is ended here, where our search would have ended it, and has to be scored anew.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from dragoman.decoding.hypothesis import Ending
from dragoman.decoding.repetition import AT_LEAST, LONGEST_BLOCK, goes_in_circles, is_time_to_look
from dragoman.tokenize.vocabulary import BOS_ID, PAD_ID

UNSAID = (PAD_ID, BOS_ID)


@dataclass(frozen=True)
class Found:
    """A hypothesis on its way: what was said, and what that is worth, if it is known."""

    ids: tuple[int, ...]
    log_prob: float | None
    ending: Ending = "eos"


def says_unsaid(ids: tuple[int, ...]) -> bool:
    """Whether a hypothesis says what is never said.

    >>> says_unsaid((7, PAD_ID)), says_unsaid((7, 8))
    (True, False)
    """
    return PAD_ID in ids or BOS_ID in ids


def cut_short(found: Found, *, limit: int, src_length: int) -> Found:
    """The hypothesis, ended where our search would have ended it; ``limit`` counts EOS.

    >>> cut_short(Found((5, 6, 7), -1.0), limit=3, src_length=1)
    Found(ids=(5, 6), log_prob=None, ending='limit')
    """
    ids = found.ids[: limit - 1]
    where = _circle(ids, src_length)
    if where is not None:
        return Found(ids[:where], None, "repetition")
    log_prob = found.log_prob if len(ids) == len(found.ids) else None
    return Found(ids, log_prob, "limit" if len(ids) + 1 >= limit else "eos")


def _circle(ids: tuple[int, ...], src_length: int) -> int | None:
    """After how many tokens it is seen that a hypothesis goes in circles; None: it does not."""
    for n_said in filter(is_time_to_look, range(AT_LEAST, len(ids) + 1)):
        # Who says a short block again and again has few different tokens; most are let go here.
        if len(set(ids[n_said - AT_LEAST : n_said])) > LONGEST_BLOCK:
            continue
        if bool(goes_in_circles(torch.tensor([ids[:n_said]]), torch.tensor([src_length]))):
            return n_said
    return None
