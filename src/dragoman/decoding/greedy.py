"""One token after the other, never looking back: greedy search, and its walk, used by sampling too.

Letters: B sentences, S source length, N walks of a sentence, R = B * N rows, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from dragoman.decoding.beam_search import SHRINK_FROM
from dragoman.decoding.hypothesis import Ending, Hypothesis, no_usable_probabilities
from dragoman.decoding.length_penalty import length_penalty
from dragoman.decoding.repetition import goes_in_circles, is_time_to_look
from dragoman.decoding.rules import Rules, make_rules
from dragoman.decoding.scorer import C, Scorer
from dragoman.model.log_sums import log_sums
from dragoman.tokenize.vocabulary import BOS_ID, EOS_ID

Choose = Callable[[Tensor, Tensor, int], Tensor]
"""Picks the next token: logits (R, V), numbers of the walks (R,), position -> (R,)."""


def greedy(scorer: Scorer[C], src_ids: Tensor, *, max_extra: int = 50) -> list[list[int]]:
    """The target ids of each source, without BOS and EOS: (B, S) -> B lists.

    A translation has at most ``max_extra`` tokens more than its source, EOS counted in both.

    >>> from dragoman.config import ModelConfig
    >>> from dragoman.model.transformer import Transformer
    >>> config = ModelConfig(d_model=8, n_heads=2, n_layers=1, d_ff=16, vocab_size=11)
    >>> found = greedy(Transformer(config).eval(), torch.tensor([[5, 6, 2]]), max_extra=4)
    >>> len(found), len(found[0]) < 7
    (1, True)
    """
    return [list(found.ids) for found in greedy_search(scorer, src_ids, max_extra=max_extra)]


def greedy_search(
    scorer: Scorer[C],
    src_ids: Tensor,
    *,
    alpha: float = 0.6,
    max_extra: int = 50,
    max_len: int | None = None,
    prefixes: Sequence[Sequence[int]] | None = None,
) -> list[Hypothesis]:
    """The translation of each source by the likeliest token at every step: (B, S) -> B."""
    rules = make_rules(src_ids, max_extra=max_extra, max_len=max_len, prefixes=prefixes)
    found = walk(scorer, src_ids, _likeliest, rules=rules, alpha=alpha)
    return [hypotheses[0] for hypotheses in found]


def _likeliest(logits: Tensor, walks: Tensor, position: int) -> Tensor:
    return logits.argmax(-1)


@dataclass(frozen=True)
class _Walks:
    """The rows that are still on their way."""

    numbers: Tensor  # (R,) which walks these are, sentence by sentence
    done: Tensor  # (R,) those that have ended and wait for others to leave with them
    rules: Rules

    def keep(self, sentences: Tensor, n_each: int) -> _Walks:
        """These sentences alone."""
        rows = (
            sentences[:, None] * n_each + torch.arange(n_each, device=sentences.device)
        ).flatten()
        return _Walks(self.numbers[rows], self.done[rows], self.rules.keep(sentences))


@torch.inference_mode()
def walk(
    scorer: Scorer[C],
    src_ids: Tensor,
    choose: Choose,
    *,
    rules: Rules,
    alpha: float,
    n_each: int = 1,
) -> list[list[Hypothesis]]:
    """``n_each`` translations of each source, in the order of their numbers: (B, S) -> B lists."""
    n_rows, device = src_ids.size(0) * n_each, src_ids.device
    cache = scorer.start(src_ids, n_beams=n_each, capacity=int(rules.limits.max()))
    said = torch.full((n_rows, int(rules.limits.max())), EOS_ID, device=device)
    log_probs = torch.zeros(n_rows, dtype=torch.float64, device=device)
    circled = torch.zeros(n_rows, dtype=torch.bool, device=device)
    all_rows = torch.arange(n_rows, device=device)
    walks = _Walks(all_rows, circled.clone(), rules)
    ids, in_circles = torch.full_like(all_rows, BOS_ID), None
    for position in range(said.size(1)):
        logits = scorer.step(ids, cache)  # (R, V)
        sums = log_sums(logits)  # (R,)
        ids = choose(walks.rules.apply(logits, position, in_circles), walks.numbers, position)
        gained = logits.gather(1, ids[:, None]).squeeze(1).double() - sums
        log_probs[walks.numbers] += gained.masked_fill(walks.done, 0.0)
        said[walks.numbers, position] = ids.masked_fill(walks.done, EOS_ID)
        if in_circles is not None:
            circled[walks.numbers] |= in_circles & ~walks.done
        walks = replace(walks, done=walks.done | (ids == EOS_ID))
        over = walks.done.view(-1, n_each).all(1)  # (B,)
        n_over = int(over.sum())
        if n_over == over.numel():
            break
        if n_over >= SHRINK_FROM * over.numel():
            kept = (~over).nonzero().squeeze(1)
            cache.keep(kept)
            ids = ids.view(-1, n_each)[kept].flatten()
            walks = walks.keep(kept, n_each)
        in_circles = _in_circles(said[walks.numbers, : position + 1], walks, n_each)
    limits = rules.limits.repeat_interleave(n_each).tolist()
    found = _hypotheses(said, log_probs, circled, limits=limits, alpha=alpha)
    return [found[i : i + n_each] for i in range(0, n_rows, n_each)]


def _in_circles(said: Tensor, walks: _Walks, n_each: int) -> Tensor | None:
    """Which rows have to end; None where it is not time to look."""
    if not is_time_to_look(said.size(1)):
        return None
    return goes_in_circles(said, walks.rules.src_lengths.repeat_interleave(n_each))


def _hypotheses(
    said: Tensor, log_probs: Tensor, circled: Tensor, *, limits: list[int], alpha: float
) -> list[Hypothesis]:
    """What each walk has said, (R, T), with what it is worth."""
    if not bool(torch.isfinite(log_probs).all()):
        raise no_usable_probabilities()
    found = []
    rows = zip(said.tolist(), log_probs.tolist(), circled.tolist(), limits, strict=True)
    for ids, log_prob, was_circling, limit in rows:
        length = ids.index(EOS_ID) + 1
        ending: Ending = "eos"
        if was_circling:
            ending = "repetition"
        elif length >= limit:
            ending = "limit"
        score = log_prob / length_penalty(float(length), alpha)
        found.append(Hypothesis(tuple(ids[: length - 1]), log_prob, score, ending))
    return found
