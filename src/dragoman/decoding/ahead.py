"""Many steps of a greedy search on a CPU in one call, as long as nobody has to look at them.

Between two steps a greedy search does little: it takes the likeliest token of each row and begins
again. For one sentence of a small model Python needs as long for that as the model for a layer. So
steps that need no decision go in one call (``scripted.py``): until enough rows have ended, a rule
is to be applied, or it is time to look for repetitions. What is said is what it is step by step; a
test holds the two together.

Letters: R rows, D d_model, V vocabulary, k steps.
"""

from __future__ import annotations

from typing import NamedTuple, cast

import torch
from torch import Tensor

from dragoman.decoding.best_tokens import block_width, likeliest_of_rows
from dragoman.decoding.scorer import C, Scorer
from dragoman.model.cache import DecoderCache
from dragoman.model.log_sums import log_sums_of_rows
from dragoman.model.scripted import compiled
from dragoman.model.transformer import Transformer
from dragoman.model.whole_step import WholeStep, step_through
from dragoman.tokenize.vocabulary import EOS_ID


class Said(NamedTuple):
    """What rows have said, step by step."""

    ids: Tensor  # (k, R)
    logits: Tensor  # (k, R) of these tokens
    sums: Tensor  # (k, R) log Σ exp of all logits


def say_ahead(
    scorer: Scorer[C],
    ids: Tensor,
    cache: C,
    *,
    has_ended: list[bool],
    n_steps: int,
    n_banned: int,
    stop_at: int,
) -> Said | None:
    """Up to ``n_steps`` likeliest tokens of each row after ``ids``; None where it goes singly.

    The first ``n_banned`` of the vocabulary are not said. It stops when ``stop_at`` rows have
    ended; those that have already are marked in ``has_ended``, and what they say means nothing.
    """
    run = compiled(run_ahead) if n_steps > 0 else None
    model, kept = cast("object", scorer), cast("object", cache)
    if run is None or not isinstance(model, Transformer) or not isinstance(kept, DecoderCache):
        return None
    output, whole = model.output_rows(), kept.whole_step
    if output is None or kept.n_beams > 1 or not isinstance(whole, WholeStep):
        return None
    said = Said(
        *run(
            ids,
            torch.tensor(has_ended),
            min(n_steps, kept.capacity - kept.length),
            n_banned,
            stop_at,
            output,
            block_width(output.size(1)),
            kept.length,
            *whole.layers(kept),
        )
    )
    kept.length += said.ids.size(0)
    return said


# --- what TorchScript goes through ---------------------------------------------------------------


def run_ahead(
    ids: Tensor,
    has_ended: Tensor,
    n_steps: int,
    n_banned: int,
    stop_at: int,
    output: Tensor,
    width: int,
    length: int,
    embedding: Tensor,
    places: Tensor,
    weights: list[list[Tensor]],
    final_norm: list[Tensor],
    kept: list[tuple[Tensor, Tensor, Tensor, Tensor]],
    memory_bias: Tensor,
    n_heads: int,
    is_pre: bool,
    activation: str,
    eos_id: int = EOS_ID,
) -> tuple[Tensor, Tensor, Tensor]:
    """Tokens, their logits and the sums of all, (k, R) each."""
    said: list[Tensor] = []
    chosen: list[Tensor] = []
    sums: list[Tensor] = []
    for step in range(n_steps):
        hidden = step_through(
            ids,
            None,
            length + step,
            embedding,
            places,
            weights,
            final_norm,
            kept,
            memory_bias,
            n_heads,
            is_pre,
            activation,
        )
        logits = torch.mm(hidden, output)  # (R, V)
        sums.append(log_sums_of_rows(logits))
        logits.narrow(1, 0, n_banned).fill_(-float("inf"))
        ids, best = likeliest_of_rows(logits, width)
        said.append(ids)
        chosen.append(best)
        has_ended = has_ended.logical_or(ids == eos_id)
        if int(has_ended.sum()) >= stop_at:
            break
    return torch.stack(said), torch.stack(chosen), torch.stack(sums)
