"""What if: each head switched off in turn, and every alternative gone on from.

Both are many small questions about one sentence, and are asked as the rows of a few large batches.

Letters: R rows, T target length, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import Tensor

from dragoman.batches.batch import Batch
from dragoman.corpus.pair import one_line
from dragoman.decoding.ensemble import Ensemble
from dragoman.decoding.explanation import Alternative, HeadEffect
from dragoman.decoding.greedy import greedy_search
from dragoman.decoding.heads import EachWithout, attention_names
from dragoman.decoding.scorer import Scorer
from dragoman.decoding.settings import SearchSettings
from dragoman.model.transformer import Transformer
from dragoman.tokenize.tokenizer import Tokenizer

if TYPE_CHECKING:
    from dragoman.decoding.scorer import C

LOGITS_AT_ONCE = 2**25  # numbers, of four bytes each
ROWS_AT_ONCE = 256

T = TypeVar("T")


def effects_of_heads(
    models: Sequence[Transformer], tokenizer: Tokenizer, batch: Batch, settings: SearchSettings
) -> tuple[HeadEffect, ...]:
    """What the translation in the batch (of one) loses without each head of the first model.

    The translation without a head is that of the first model alone, also in an ensemble.
    """
    model, config = models[0], models[0].config
    heads = [(name, head) for name in attention_names(config) for head in range(config.n_heads)]
    before = _log_prob(model(batch.src_ids, batch.tgt_in), batch.tgt_out)
    fitting = LOGITS_AT_ONCE // (batch.n_tokens * config.vocab_size)
    rows_at_once = max(1, min(ROWS_AT_ONCE, fitting))
    found = []
    for some in _parts(heads, rows_at_once):
        each = EachWithout(model, [[head] for head in some])
        src_ids = batch.src_ids.expand(len(some), -1)
        logits = each.model(src_ids, batch.tgt_in.expand(len(some), -1))
        changes = (_log_prob(logits, batch.tgt_out) - before).tolist()
        texts = _greedily(each, src_ids, tokenizer, settings)
        found += [
            HeadEffect(name, head, change, text)
            for (name, head), change, text in zip(some, changes, texts, strict=True)
        ]
    return tuple(found)


def continue_greedily(
    models: Sequence[Transformer],
    tokenizer: Tokenizer,
    batch: Batch,
    settings: SearchSettings,
    alternatives: Sequence[Sequence[Alternative]],
) -> tuple[tuple[str, ...], ...]:
    """For each alternative at each position, the translation that begins with it."""
    scorer: Scorer[Any] = models[0] if len(models) == 1 else Ensemble(models)
    ids = batch.tgt_out[0].tolist()
    prefixes = [[*ids[:t], each.id] for t, some in enumerate(alternatives) for each in some]
    texts: list[str] = []
    for some in _parts(prefixes, ROWS_AT_ONCE):
        src_ids = batch.src_ids.expand(len(some), -1)
        texts += _greedily(scorer, src_ids, tokenizer, settings, prefixes=some)
    left = iter(texts)
    return tuple(tuple(next(left) for _ in each) for each in alternatives)


def _greedily(
    scorer: Scorer[C],
    src_ids: Tensor,
    tokenizer: Tokenizer,
    settings: SearchSettings,
    prefixes: Sequence[Sequence[int]] | None = None,
) -> list[str]:
    """The greedy translation of each source: (R, S) -> R texts."""
    found = greedy_search(
        scorer,
        src_ids.contiguous(),
        alpha=settings.length_penalty,
        max_extra=settings.max_extra,
        max_len=settings.max_len,
        prefixes=prefixes,
    )
    return [one_line(text) for text in tokenizer.decode_batch([h.ids for h in found], "tgt")]


def _log_prob(logits: Tensor, said: Tensor) -> Tensor:
    """That of what was said, in each row: (R, T, V), (1, T) -> (R,)."""
    log_probs = torch.log_softmax(logits, dim=-1)
    places = said.expand(len(logits), -1)[:, :, None]
    return log_probs.gather(2, places).squeeze(2).double().sum(1)


def _parts(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
