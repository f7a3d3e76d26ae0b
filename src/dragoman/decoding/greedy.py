"""One token after the other, never looking back: greedy search, and its walk, used by sampling too.

Letters: B sentences, S source length, N walks of a sentence, R = B * N rows, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from dragoman.decoding.beam_search import SHRINK_FROM
from dragoman.decoding.best_tokens import likeliest
from dragoman.decoding.hypothesis import Ending, Hypothesis, no_usable_probabilities
from dragoman.decoding.length_penalty import length_penalty
from dragoman.decoding.repetition import goes_in_circles, is_time_to_look
from dragoman.decoding.rules import Rules, make_rules
from dragoman.decoding.scorer import C, Scorer
from dragoman.model.log_sums import log_sums
from dragoman.model.scripted import in_one_call
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
    return likeliest(logits)


@dataclass(frozen=True)
class _Walks:
    """Rows, and what each has said so far."""

    numbers: Tensor  # (R,) which walks these are, sentence by sentence
    said: Tensor  # (R, T) tokens so far; of one that has ended, those behind EOS mean nothing
    log_probs: Tensor  # (R,)
    circled: Tensor  # (R,) those that ended because they went in circles
    done: Tensor  # (R,) those that have ended and wait for others to leave with them
    rules: Rules

    @staticmethod
    def begin(n_rows: int, rules: Rules) -> _Walks:
        """Nothing said yet."""
        numbers = torch.arange(n_rows, device=rules.limits.device)
        said = numbers.new_full((n_rows, int(rules.limits.max())), EOS_ID)
        no = torch.zeros_like(numbers, dtype=torch.bool)
        # Sums in float64, so that a long sentence is worth the same however it was added up.
        return _Walks(numbers, said, no.double(), no, no.clone(), rules)

    def of(self, sentences: Tensor, n_each: int) -> _Walks:
        """The rows of these sentences alone."""
        inside = torch.arange(n_each, device=sentences.device)
        rows = (sentences[:, None] * n_each + inside).flatten()
        return _Walks(
            self.numbers[rows],
            self.said[rows],
            self.log_probs[rows],
            self.circled[rows],
            self.done[rows],
            self.rules.keep(sentences),
        )


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
    n_rows = src_ids.size(0) * n_each
    cache = scorer.start(src_ids, n_beams=n_each, capacity=int(rules.limits.max()))
    walks, gone = _Walks.begin(n_rows, rules), []
    ids, in_circles = torch.full_like(walks.numbers, BOS_ID), None
    for position in range(walks.said.size(1)):
        logits = scorer.step(ids, cache)  # (R, V)
        sums = log_sums(logits)  # (R,)
        ids = choose(walks.rules.apply(logits, position, in_circles), walks.numbers, position)
        if in_circles is not None:
            walks.circled.logical_or_(in_circles & ~walks.done)
        over = say(ids, logits, sums, walks.said, walks.log_probs, walks.done, position, n_each)
        n_over = int(over.sum())
        if n_over == over.numel():
            break
        if n_over >= SHRINK_FROM * over.numel():
            gone.append(walks.of(over.nonzero().squeeze(1), n_each))
            kept = (~over).nonzero().squeeze(1)
            cache.keep(kept)
            ids = ids.view(-1, n_each)[kept].flatten()
            walks = walks.of(kept, n_each)
        in_circles = None
        if is_time_to_look(position + 1):
            src_lengths = walks.rules.src_lengths.repeat_interleave(n_each)
            in_circles = goes_in_circles(walks.said[:, : position + 1], src_lengths)
    found = dict(pair for part in (*gone, walks) for pair in _hypotheses(part, n_each, alpha))
    return [[found[n] for n in range(i, i + n_each)] for i in range(0, n_rows, n_each)]


@in_one_call
def say(
    ids: Tensor,
    logits: Tensor,
    sums: Tensor,
    said: Tensor,
    log_probs: Tensor,
    done: Tensor,
    position: int,
    n_each: int,
    eos_id: int = EOS_ID,
) -> Tensor:
    """Write down one more token of each row, (R,), and what it is worth; who is over: (B,)."""
    gained = logits.gather(1, ids[:, None]).squeeze(1).double() - sums
    said.select(1, position).copy_(ids)
    log_probs.add_(gained.masked_fill_(done, 0.0))
    done.logical_or_(ids == eos_id)
    return done.view(-1, n_each).all(1)


def _hypotheses(walks: _Walks, n_each: int, alpha: float) -> Iterator[tuple[int, Hypothesis]]:
    """The number of each walk, with what it has said and what that is worth."""
    if not bool(torch.isfinite(walks.log_probs).all()):
        raise no_usable_probabilities()
    limits = walks.rules.limits.repeat_interleave(n_each)
    columns = (walks.numbers, walks.said, walks.log_probs, walks.circled, limits)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for number, ids, log_prob, was_circling, limit in rows:
        length = ids.index(EOS_ID) + 1
        ending: Ending = "eos"
        if was_circling:
            ending = "repetition"
        elif length >= limit:
            ending = "limit"
        score = log_prob / length_penalty(float(length), alpha)
        yield number, Hypothesis(tuple(ids[: length - 1]), log_prob, score, ending)
