"""The loss (5.4): how far the model's distribution is from a slightly softened truth.

With all probability on the gold piece a model would be pushed towards infinite logits; taking ε
away from it hurts perplexity and helps translation.

Letters: B sentences, T target length, V vocabulary.
"""

from __future__ import annotations

import numpy as np

from dragoman.config import SmoothingForm
from dragoman.reference.parameters import Array
from dragoman.reference.softmax import log_softmax


def smoothed_targets(
    tgt_out: Array, vocab_size: int, *, epsilon: float, form: SmoothingForm, pad_id: int
) -> Array:
    """The softened truth q, a distribution over V at each real position: (B, T) -> (B, T, V).

    ``uniform`` (the paper) gives ε/V to every piece and the rest to the gold one as well;
    ``kl`` gives 1 − ε to gold, ε/(V − 2) to all others, and nothing to padding.
    At positions of padding q is zero: they have no truth.

    >>> gold = np.array([[2]])
    >>> smoothed_targets(gold, 4, epsilon=0.2, form="uniform", pad_id=0).round(2).tolist()
    [[[0.05, 0.05, 0.85, 0.05]]]
    >>> smoothed_targets(gold, 4, epsilon=0.2, form="kl", pad_id=0).round(2).tolist()
    [[[0.0, 0.1, 0.8, 0.1]]]
    """
    is_gold = tgt_out[..., None] == np.arange(vocab_size)  # (B, T, V)
    if form == "uniform":
        q = (1 - epsilon) * is_gold + epsilon / vocab_size
    else:
        q = np.where(is_gold, 1 - epsilon, epsilon / (vocab_size - 2))
        q[..., pad_id] = 0
    return np.where((tgt_out != pad_id)[..., None], q, 0)


def smoothed_loss(
    logits: Array,
    tgt_out: Array,
    *,
    epsilon: float = 0.1,
    form: SmoothingForm = "uniform",
    pad_id: int = 0,
) -> tuple[float, int]:
    """The loss summed over real positions, and how many they are: (B, T, V), (B, T) -> two numbers.

    ``uniform`` is the cross-entropy −Σ q log p, ``kl`` the divergence Σ q (log q − log p); the two
    differ by the entropy of q, which no parameter can change.

    >>> loss, n_tokens = smoothed_loss(np.zeros((1, 3, 4)), np.array([[2, 3, 0]]))
    >>> round(loss / n_tokens, 4), n_tokens  # knowing nothing costs log 4 a token
    (1.3863, 2)
    """
    q = smoothed_targets(
        tgt_out, logits.shape[-1], epsilon=epsilon, form=form, pad_id=pad_id
    )  # (B, T, V)
    log_p = log_softmax(logits)  # (B, T, V)
    loss = -(q * log_p).sum()
    if form == "kl":
        loss += (q * np.log(np.where(q > 0, q, 1))).sum()
    return float(loss), int((tgt_out != pad_id).sum())
