"""The loss (5.4): cross-entropy against a target that leaves a little room for the other tokens.

Two forms, both summed over the target tokens given:

    uniform   q = (1 - ε) · gold + ε / V everywhere                  loss = -Σ q log p
    kl        q = 1 - ε at gold, ε / (V - 2) elsewhere, 0 at pad     loss = Σ q (log q - log p)

The first is the paper's and PyTorch's, the second the Annotated Transformer's. They differ by a
constant and by what they give to gold and pad; in both the gradient of the logits is p - q.

Letters: P target tokens, V vocabulary.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from dragoman.config import SmoothingForm
from dragoman.tokenize.vocabulary import PAD_ID


@dataclass(frozen=True)
class Smoothing:
    """How much probability each token gets in the target distribution of one form.

    >>> Smoothing.of("uniform", 0.1, vocab_size=10)
    Smoothing(gold=0.9, other=0.01, constant=0.0, pad_id=None)
    """

    gold: float  # on the gold token, beyond what every token gets
    other: float  # on every token
    constant: float  # Σ q log q of one token, 0 for the plain cross-entropy
    pad_id: int | None  # the token that gets nothing at all

    @classmethod
    def of(
        cls, form: SmoothingForm, epsilon: float, *, vocab_size: int, pad_id: int = PAD_ID
    ) -> Smoothing:
        if form == "uniform":
            return cls(1 - epsilon, epsilon / vocab_size, 0.0, None)
        if vocab_size < 3:
            raise ValueError("the kl form needs a token besides gold and pad: vocab_size >= 3")
        other = epsilon / (vocab_size - 2)
        negative_entropy = (1 - epsilon) * math.log(1 - epsilon)
        if other > 0:
            negative_entropy += epsilon * math.log(other)
        return cls(1 - epsilon - other, other, negative_entropy, pad_id)

    def target(self, gold_ids: Tensor, vocab_size: int) -> Tensor:
        """The whole distribution q, for pictures and tests: (P,) -> (P, V)."""
        q = torch.full((gold_ids.numel(), vocab_size), self.other, dtype=torch.float64)
        if self.pad_id is not None:
            q[:, self.pad_id] = 0
        q[torch.arange(gold_ids.numel()), gold_ids] += self.gold
        return q


def smoothed_loss(logits: Tensor, gold_ids: Tensor, smoothing: Smoothing) -> Tensor:
    """The summed loss of the tokens: (P, V), (P,) -> scalar. Gold must not be padding.

    >>> logits = torch.zeros(3, 4)
    >>> gold = torch.tensor([1, 2, 3])
    >>> smoothed_loss(logits, gold, Smoothing.of("uniform", 0.1, vocab_size=4)) / 3 == math.log(4)
    tensor(True)
    """
    log_probs = torch.log_softmax(logits, dim=-1)  # (P, V)
    every = log_probs.sum(-1)  # (P,)
    if smoothing.pad_id is not None:
        every = every - log_probs[:, smoothing.pad_id]
    gold = log_probs.gather(1, gold_ids[:, None]).squeeze(1)  # (P,)
    losses = smoothing.constant - smoothing.gold * gold - smoothing.other * every
    return losses.sum()
