"""Translations drawn by chance: temperature, top-k, top-p.

Every draw of every line has random numbers of its own, which its seed and its number alone decide.
So a line's samples are the same whatever lines stand beside it, in any batch, and again tomorrow.

Letters: B sentences, N draws of a sentence, R = B * N rows, V vocabulary, T longest target.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from dragoman.config_checks import Faults
from dragoman.decoding.greedy import Options, walk
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.rules import make_rules
from dragoman.decoding.scorer import C, Scorer


@dataclass(frozen=True)
class Sampling:
    """How to draw.

    >>> Sampling(temperature=0.7, top_p=0.9).seed
    1
    >>> Sampling(top_k=0)
    Traceback (most recent call last):
    dragoman.errors.ConfigError: sampling.top_k = 0: must be at least 1
    """

    temperature: float = 1.0  # below 1 sharper, above 1 flatter than the model's probabilities
    top_k: int | None = None  # only the k likeliest tokens
    top_p: float = 1.0  # only the likeliest tokens that together have this probability
    seed: int = 1

    def __post_init__(self) -> None:
        faults = Faults("sampling")
        faults.unless(self.temperature > 0, "temperature", self.temperature, "above 0")
        faults.unless(self.top_k is None or self.top_k >= 1, "top_k", self.top_k, "at least 1")
        faults.unless(0 < self.top_p <= 1, "top_p", self.top_p, "above 0 and at most 1")
        faults.unless(self.seed >= 0, "seed", self.seed, "at least 0")
        faults.raise_if_any()


def sample(
    scorer: Scorer[C],
    src_ids: Tensor,
    sampling: Sampling,
    *,
    keys: Sequence[tuple[int, ...]],
    n_each: int = 1,
    alpha: float = 0.6,
    max_extra: int = 50,
    max_len: int | None = None,
    prefixes: Sequence[Sequence[int]] | None = None,
) -> list[list[Hypothesis]]:
    """``n_each`` translations of each source, drawn by the model's probabilities: B lists.

    ``keys`` tell sentences apart, such as their line numbers: with the seed they decide the draws.
    ``log_prob`` and ``score`` are by the model's own probabilities, whatever the temperature.
    """
    rules = make_rules(src_ids, max_extra=max_extra, max_len=max_len, prefixes=prefixes)
    lots = [
        np.random.default_rng([sampling.seed, *key, draw]).random(limit)
        for key, limit in zip(keys, rules.limits.tolist(), strict=True)
        for draw in range(n_each)
    ]
    table = torch.zeros(len(lots), int(rules.limits.max()), dtype=torch.float64)
    for row, lot in enumerate(lots):
        table[row, : len(lot)] = torch.from_numpy(lot)
    table = table.to(src_ids.device)

    def choose(options: Options) -> tuple[Tensor, Tensor]:
        logits, lots = options.allowed(), table[options.numbers, options.position]
        ids = draw_tokens(logits, lots, sampling)
        return ids, logits.gather(1, ids[:, None]).squeeze(1)

    return walk(scorer, src_ids, choose, rules=rules, alpha=alpha, n_each=n_each)


def draw_tokens(logits: Tensor, lots: Tensor, sampling: Sampling) -> Tensor:
    """One token a row: (R, V) logits, (R,) random numbers in [0, 1) -> (R,).

    The tokens lie side by side on a line, likeliest first, each as long as its probability; a lot
    says how far along the line to go.

    >>> logits = torch.tensor([[0.5, 0.3, 0.2]] * 3).log()
    >>> draw_tokens(logits, torch.tensor([0.45, 0.55, 0.9]), Sampling()).tolist()
    [0, 1, 2]
    >>> draw_tokens(logits, torch.tensor([0.45, 0.55, 0.9]), Sampling(top_k=2)).tolist()
    [0, 0, 1]
    """
    n_tokens = logits.size(-1)
    n_kept = n_tokens if sampling.top_k is None else min(sampling.top_k, n_tokens)
    best, tokens = logits.topk(n_kept, dim=-1)  # (R, k), likeliest first
    probs = torch.softmax(best.double() / sampling.temperature, dim=-1)
    ends = probs.cumsum(-1)  # where the place of each token on the line ends
    if sampling.top_p < 1.0:
        # A token is kept if those before it do not reach p; so the first always is.
        inside = ends - probs < sampling.top_p
        ends = torch.where(inside, probs, 0.0).cumsum(-1)
    whole = ends[:, -1:]  # (R, 1)
    # Rounding must not lead to the very end, where impossible tokens may stand.
    aim = torch.minimum(lots.to(ends)[:, None] * whole, torch.nextafter(whole, whole - 1))
    return tokens.gather(1, torch.searchsorted(ends, aim, right=True)).squeeze(1)
