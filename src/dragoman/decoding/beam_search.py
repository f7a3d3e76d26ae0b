"""Beam search (6.1): the N best beginnings of each sentence, grown one token at a time.

One step, for all sentences at once:

1. ``propose``: of all continuations of a sentence's N beginnings, the best 2 N. At most N of them
   say EOS, one for each beginning, so at least N can go on.
2. ``Finished.add``: a continuation by EOS that is among the best N is a finished hypothesis, if it
   scores better than what it would drive out of the n_best kept.
3. ``grow``: the best N that do not say EOS are the new beginnings.
4. ``is_over``: a sentence ends when none of its beginnings can still become better than its n_best
   finished ones. It leaves the batch when enough others have ended with it.

Beginnings are compared by log-probability, finished hypotheses by score (``length_penalty.py``). A
beam of one has nothing to compare: it ends with its first EOS and is greedy search.

Letters: B sentences, S source length, N beams, R = B * N rows, V vocabulary, t tokens so far.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from dragoman.decoding.best_tokens import best_continuations
from dragoman.decoding.hypothesis import Ending, Hypothesis, no_usable_probabilities
from dragoman.decoding.length_penalty import best_attainable, length_penalty
from dragoman.decoding.repetition import goes_in_circles, is_time_to_look
from dragoman.decoding.rules import Rules, make_rules
from dragoman.decoding.scorer import C, Scorer
from dragoman.model.log_sums import log_sums
from dragoman.model.scripted import in_one_call
from dragoman.tokenize.vocabulary import BOS_ID, EOS_ID

# Sentences that have ended are taken out when they are so large a share of the batch: copying the
# cache costs, and a step on few rows costs nearly as much as one on a few more.
SHRINK_FROM = 0.25


@dataclass(frozen=True)
class BeamState:
    """The beginnings of all sentences that are still searched, after t steps.

    Beginnings of a sentence stand in falling order of log-probability; a place that none has taken
    has -inf, and so has every place of a sentence that has ended.
    """

    sentences: Tensor  # (B,) which sentences of the caller these are
    ids: Tensor  # (B, N, t)
    log_probs: Tensor  # (B, N)
    in_circles: Tensor | None  # (R,) rows that have to end now; None where nobody looked
    to_beat: Tensor  # (B,) score of the last of the n_best finished; -inf where there are fewer
    rules: Rules

    @property
    def length(self) -> int:
        """t, the number of tokens so far."""
        return self.ids.size(2)


@dataclass(frozen=True)
class Proposals:
    """The best continuations of each sentence, best first."""

    log_probs: Tensor  # (B, 2 N)
    parents: Tensor  # (B, 2 N) which beginning is continued, 0 … N - 1
    tokens: Tensor  # (B, 2 N)


OnStep = Callable[[BeamState, Proposals, BeamState], None]
"""Sees each step: the beginnings before it, what was proposed, the beginnings after it."""


@dataclass
class Finished:
    """The n_best finished hypotheses of every sentence of the batch."""

    n_best: int
    alpha: float
    found: list[list[Hypothesis]] = field(default_factory=list)

    def add(self, state: BeamState, proposals: Proposals) -> Tensor:
        """Take in what ends at this step; what is to beat from now on: (B,)."""
        n_beams, length = state.ids.size(1), state.length + 1
        scores = proposals.log_probs[:, :n_beams] / length_penalty(float(length), self.alpha)
        ends = (proposals.tokens[:, :n_beams] == EOS_ID) & (scores > state.to_beat[:, None])
        places = ends.nonzero().tolist()
        if not places:
            return state.to_beat
        to_beat = state.to_beat.clone()
        for row, rank in places:
            parent = int(proposals.parents[row, rank])
            hypothesis = Hypothesis(
                ids=tuple(state.ids[row, parent].tolist()),
                log_prob=float(proposals.log_probs[row, rank]),
                score=float(scores[row, rank]),
                ending=_ending(state, row, parent),
            )
            kept = self.found[int(state.sentences[row])]
            insort(kept, hypothesis, key=lambda h: -h.score)
            del kept[self.n_best :]
            if len(kept) == self.n_best:
                to_beat[row] = kept[-1].score
        return to_beat


@torch.inference_mode()
def beam_search(
    scorer: Scorer[C],
    src_ids: Tensor,
    *,
    beam_size: int = 4,
    alpha: float = 0.6,
    n_best: int = 1,
    max_extra: int = 50,
    max_len: int | None = None,
    min_len: int = 0,
    prefixes: Sequence[Sequence[int]] | None = None,
    on_step: OnStep | None = None,
) -> list[list[Hypothesis]]:
    """The n_best translations of each source, best first: (B, S) -> B lists.

    ``max_extra``, ``max_len``, ``min_len`` and ``prefixes`` are those of ``make_rules``.

    >>> from dragoman.config import ModelConfig
    >>> from dragoman.model.transformer import Transformer
    >>> config = ModelConfig(d_model=8, n_heads=2, n_layers=1, d_ff=16, vocab_size=11)
    >>> found = beam_search(Transformer(config).eval(), torch.tensor([[5, 6, 2]]), n_best=2)
    >>> len(found[0]), found[0][0].score >= found[0][1].score
    (2, True)
    """
    rules = make_rules(
        src_ids, max_extra=max_extra, max_len=max_len, min_len=min_len, prefixes=prefixes
    )
    finished = Finished(n_best, alpha, [[] for _ in range(src_ids.size(0))])
    cache = scorer.start(src_ids, n_beams=beam_size, capacity=int(rules.limits.max()))
    state, ids = begin(rules, beam_size)
    while True:
        proposals = propose(state, scorer.step(ids, cache))
        before = state
        state, parents = grow(state, proposals, to_beat=finished.add(state, proposals))
        if on_step is not None:
            on_step(before, proposals, state)
        over = is_over(state, alpha)
        n_over = int(over.sum())
        if n_over == over.numel() or state.length >= int(rules.limits.max()):
            break
        reorder(cache, parents)
        state = replace(state, log_probs=state.log_probs.masked_fill(over[:, None], -torch.inf))
        if n_over >= SHRINK_FROM * over.numel():
            kept = (~over).nonzero().squeeze(1)
            cache.keep(kept)
            state = keep(state, kept)
        ids = state.ids[:, :, -1].flatten()
    if not all(finished.found):
        raise no_usable_probabilities()
    return finished.found


def begin(rules: Rules, n_beams: int) -> tuple[BeamState, Tensor]:
    """The state before the first step, and the ids of that step: one empty beginning a sentence."""
    n_sentences, device = rules.limits.size(0), rules.limits.device
    # Sums in float64, so that a long sentence is worth the same however it was added up.
    nothing = torch.full((n_sentences,), -torch.inf, dtype=torch.float64, device=device)
    log_probs = nothing[:, None].repeat(1, n_beams)
    log_probs[:, 0] = 0.0
    state = BeamState(
        sentences=torch.arange(n_sentences, device=device),
        ids=torch.empty(n_sentences, n_beams, 0, dtype=torch.long, device=device),
        log_probs=log_probs,
        in_circles=None,
        to_beat=nothing,
        rules=rules,
    )
    return state, torch.full((n_sentences * n_beams,), BOS_ID, device=device)


def propose(state: BeamState, logits: Tensor) -> Proposals:
    """The best 2 N continuations of each sentence, given the logits of one token: (R, V)."""
    # What makes logits log-probabilities is the same for a whole row, so the row's beginning bears
    # it, and nothing is subtracted from the vocabulary.
    so_far = state.log_probs - log_sums(logits).view(state.log_probs.shape)  # (B, N)
    logits = state.rules.apply(logits, state.length, state.in_circles)
    return Proposals(*best_continuations(logits, so_far, 2 * state.log_probs.size(1)))


def grow(state: BeamState, proposals: Proposals, *, to_beat: Tensor) -> tuple[BeamState, Tensor]:
    """The state one token later, and the beginning that each new one continues: (B, N)."""
    log_probs, parents, ids = continue_best(
        proposals.log_probs, proposals.parents, proposals.tokens, state.ids
    )
    in_circles = None
    if is_time_to_look(ids.size(2)):
        src_lengths = state.rules.src_lengths.repeat_interleave(ids.size(1))
        in_circles = goes_in_circles(ids.flatten(0, 1), src_lengths)
    grown = replace(state, ids=ids, log_probs=log_probs, in_circles=in_circles, to_beat=to_beat)
    return grown, parents


@in_one_call
def continue_best(
    log_probs: Tensor, parents: Tensor, tokens: Tensor, ids: Tensor, eos_id: int = EOS_ID
) -> tuple[Tensor, Tensor, Tensor]:
    """The best N of (B, 2 N) that do not say EOS, and what they say: (B, N), (B, N), (B, N, t + 1).

    ``ids``, (B, N, t), are the beginnings that they continue.
    """
    open_ = log_probs.masked_fill(tokens == eos_id, -math.inf)
    best, places = open_.topk(ids.size(1), dim=-1)  # (B, N)
    parents, tokens = parents.gather(1, places), tokens.gather(1, places)
    before = ids.gather(1, parents[:, :, None].expand_as(ids))
    return best, parents, torch.cat([before, tokens[:, :, None]], dim=2)


def is_over(state: BeamState, alpha: float) -> Tensor:
    """Which sentences no beginning can make better any more: (B,) bool."""
    hope = best_attainable(state.log_probs[:, 0], state.rules.limits, alpha)
    over = hope <= state.to_beat
    if state.ids.size(1) == 1:
        over = over | (state.to_beat > -torch.inf)  # the one place of the beam has been taken
    return over


def keep(state: BeamState, sentences: Tensor) -> BeamState:
    """The state of these sentences alone."""
    in_circles = state.in_circles
    if in_circles is not None:
        in_circles = in_circles.view(state.log_probs.shape)[sentences].flatten()
    return BeamState(
        sentences=state.sentences[sentences],
        ids=state.ids[sentences],
        log_probs=state.log_probs[sentences],
        in_circles=in_circles,
        to_beat=state.to_beat[sentences],
        rules=state.rules.keep(sentences),
    )


def reorder(cache: C, parents: Tensor) -> None:
    """Let the cache follow the beginnings to their new places: (B, N)."""
    rows, is_new = parent_rows(parents)
    if is_new:
        cache.reorder(rows)


@in_one_call
def parent_rows(parents: Tensor) -> tuple[Tensor, bool]:
    """The rows of these beginnings, (B, N) -> (R,), and whether any has a new place."""
    n_sentences, n_beams = parents.shape
    every = torch.arange(n_sentences * n_beams, device=parents.device)
    first = torch.arange(n_sentences, device=parents.device)[:, None] * n_beams
    rows = (first + parents).flatten()  # (R,)
    return rows, not torch.equal(rows, every)


def _ending(state: BeamState, row: int, parent: int) -> Ending:
    """Why this beginning ends now."""
    if state.in_circles is not None and bool(
        state.in_circles.view(state.log_probs.shape)[row, parent]
    ):
        return "repetition"
    return "limit" if state.length + 1 >= int(state.rules.limits[row]) else "eos"
