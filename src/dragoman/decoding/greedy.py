"""One token after the other, never looking back: greedy search, and its walk, used by sampling too.

Letters: B sentences, S source length, N walks of a sentence, R = B * N rows, V vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from dragoman.decoding.ahead import Said, say_ahead
from dragoman.decoding.beam_search import SHRINK_FROM
from dragoman.decoding.best_tokens import likeliest
from dragoman.decoding.hypothesis import Ending, Hypothesis, no_usable_probabilities
from dragoman.decoding.length_penalty import length_penalty
from dragoman.decoding.repetition import goes_in_circles, is_time_to_look, until_next_look
from dragoman.decoding.rules import Rules, make_rules
from dragoman.decoding.scorer import C, Scorer
from dragoman.model.log_sums import log_sums
from dragoman.tokenize.vocabulary import BOS_ID, EOS_ID

Choose = Callable[["Options"], tuple[Tensor, Tensor]]
"""Picks the next token of every row, and says its logit: (R,), (R,)."""


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
    min_len: int = 0,
    prefixes: Sequence[Sequence[int]] | None = None,
) -> list[Hypothesis]:
    """The translation of each source by the likeliest token at every step: (B, S) -> B."""
    rules = make_rules(
        src_ids, max_extra=max_extra, max_len=max_len, min_len=min_len, prefixes=prefixes
    )
    found = walk(scorer, src_ids, _likeliest, rules=rules, alpha=alpha, looks_ahead=True)
    return [hypotheses[0] for hypotheses in found]


def _likeliest(options: Options) -> tuple[Tensor, Tensor]:
    if options.rules.are_open(options.position, options.in_circles):
        # The model hardly ever wants what nobody may say: look first, and forbid it then.
        ids, logits = likeliest(options.logits)
        if min(ids.tolist()) >= options.rules.n_banned(options.position):
            return ids, logits
    return likeliest(options.allowed())


@dataclass(frozen=True)
class Options:
    """What rows may say next."""

    logits: Tensor  # (R, V) the model's own
    position: int
    numbers: Tensor  # (R,) which walks these are
    rules: Rules
    in_circles: Tensor | None  # (R,) those that have to end; None: nobody has

    def allowed(self) -> Tensor:
        """The logits, in place, with -inf for what may not be said: (R, V)."""
        return self.rules.apply(self.logits, self.position, self.in_circles)


@dataclass
class _Walk:
    """A translation on its way."""

    number: int
    ids: list[int] = field(default_factory=list)  # at last EOS
    log_prob: float = 0.0
    was_circling: bool = False

    @property
    def is_done(self) -> bool:
        return bool(self.ids) and self.ids[-1] == EOS_ID

    def say(self, token: int, log_prob: float, *, is_circling: bool) -> None:
        """One token more; nothing where it has ended and waits for others to leave with it."""
        if not self.is_done:
            self.ids.append(token)
            self.log_prob += log_prob
            self.was_circling = is_circling


@torch.inference_mode()
def walk(
    scorer: Scorer[C],
    src_ids: Tensor,
    choose: Choose,
    *,
    rules: Rules,
    alpha: float,
    n_each: int = 1,
    looks_ahead: bool = False,
) -> list[list[Hypothesis]]:
    """``n_each`` translations of each source, in the order of their numbers: (B, S) -> B lists.

    Who ``looks_ahead`` chooses the likeliest token, several steps at once where no rule changes.

    What was said is kept in lists, not in tensors: the few operations on a handful of numbers that
    it would take cost more than those that go through the vocabulary.
    """
    limits, device = rules.limits.tolist(), src_ids.device
    cache = scorer.start(src_ids, n_beams=n_each, capacity=max(limits))
    every = [_Walk(number) for number in range(len(limits) * n_each)]
    here, numbers, in_circles = every, torch.arange(len(every), device=device), None
    ids, position = torch.full_like(numbers, BOS_ID), 0
    while position < max(limits):
        said = None
        if looks_ahead:
            said = say_ahead(
                scorer,
                ids,
                cache,
                has_ended=[each.is_done for each in here],
                n_steps=min(rules.n_open(position, in_circles), until_next_look(position)),
                n_banned=rules.n_banned(position),
                stop_at=math.ceil(SHRINK_FROM * len(here)),
            )
        if said is None:
            logits = scorer.step(ids, cache)  # (R, V)
            sums = log_sums(logits)  # (R,)
            ids, chosen = choose(Options(logits, position, numbers, rules, in_circles))
            said = Said(ids[None], chosen[None], sums[None])
        _say(here, said, in_circles)
        ids = said.ids[-1]
        position += said.ids.size(0)
        waits = [
            all(each.is_done for each in here[i : i + n_each]) for i in range(0, len(here), n_each)
        ]
        if all(waits):
            break
        if sum(waits) >= SHRINK_FROM * len(waits):
            kept = [i for i, is_over in enumerate(waits) if not is_over]
            here = [each for i in kept for each in here[i * n_each : (i + 1) * n_each]]
            numbers = torch.tensor([each.number for each in here], device=device)
            sentences = torch.tensor(kept, device=device)
            cache.keep(sentences)
            rules = rules.keep(sentences)
            ids = ids.view(-1, n_each)[sentences].flatten()
        in_circles = None
        if is_time_to_look(position):
            told = torch.tensor([_padded(each.ids, position) for each in here], device=device)
            in_circles = goes_in_circles(told, rules.src_lengths.repeat_interleave(n_each))
    found = [_hypothesis(each, limits[each.number // n_each], alpha) for each in every]
    return [found[i : i + n_each] for i in range(0, len(found), n_each)]


def _say(walks: Sequence[_Walk], said: Said, in_circles: Tensor | None) -> None:
    """Write down more tokens of each row, and what they are worth."""
    circling = [False] * len(walks) if in_circles is None else in_circles.tolist()
    # Added up as Python's numbers, in float64, so that a long sentence is worth the same however.
    for step in zip(*(each.tolist() for each in said), strict=True):
        for each, token, logit, total, is_circling in zip(walks, *step, circling, strict=True):
            each.say(token, logit - total, is_circling=is_circling)


def _padded(ids: list[int], length: int) -> list[int]:
    """As many; what stands behind the end means nothing."""
    return ids + [EOS_ID] * (length - len(ids))


def _hypothesis(walk: _Walk, limit: int, alpha: float) -> Hypothesis:
    """What a walk has said and what that is worth."""
    if not math.isfinite(walk.log_prob):
        raise no_usable_probabilities()
    length = len(walk.ids)
    ending: Ending = "eos"
    if walk.was_circling:
        ending = "repetition"
    elif length >= limit:
        ending = "limit"
    score = walk.log_prob / length_penalty(float(length), alpha)
    return Hypothesis(tuple(walk.ids[:-1]), walk.log_prob, score, ending)
