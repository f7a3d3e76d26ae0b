"""How an ``Explanation`` is computed: one traced search, one forward pass that is looked at.

Where heads are switched off, everything is computed without them. Of an ensemble, what is said is
said by all of its models together, and what is looked at is the first of them.

Letters: S source length, T target length, H heads, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from dragoman.batches.batch import Batch, make_batch, pad_sources
from dragoman.corpus.pair import one_line
from dragoman.decoding.alignment import AlignmentChoice, Words, chosen_weights, links_of
from dragoman.decoding.beam_search import beam_search
from dragoman.decoding.beam_trace import BeamTrace
from dragoman.decoding.effects import continue_greedily, effects_of_heads
from dragoman.decoding.ensemble import Ensemble, log_mean
from dragoman.decoding.explanation import Alternative, Beam, Explanation, FloatArray, Ranked, Side
from dragoman.decoding.flow import trace_flow
from dragoman.decoding.heads import Head, check_heads, without_heads
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.scorer import Scorer
from dragoman.decoding.settings import SearchSettings
from dragoman.decoding.translation import make_translation
from dragoman.errors import ConfigError, DataError, InputTooLongError
from dragoman.model.attention import Probe
from dragoman.model.cost import count_parameters
from dragoman.model.transformer import Transformer
from dragoman.tokenize.tokenizer import Side as WhichSide
from dragoman.tokenize.tokenizer import Tokenizer
from dragoman.tokenize.vocabulary import BOS_ID, EOS_ID, PAD_ID, SPECIAL_PIECES

if TYPE_CHECKING:
    from dragoman.decoding.translator import Translator

N_ALTERNATIVES = 8
EOS_PIECE = SPECIAL_PIECES[EOS_ID]


@dataclass(frozen=True)
class Question:
    """What is to be explained, checked."""

    text: str
    src_ids: list[int]
    prefix: list[int]  # ids that the translation begins with
    heads_off: tuple[Head, ...]

    @classmethod
    def of(
        cls,
        translator: Translator,
        text: str,
        *,
        prefix: str | None,
        prefix_ids: Sequence[int] | None,
        heads_off: Sequence[Head],
    ) -> Question:
        """The question; refused where the model could not take it whole."""
        text = one_line(text).strip()
        src_ids = translator.tokenizer.encode(text, "src") if text else []
        if not src_ids:
            raise DataError("there is nothing to explain: the text is empty. Give one sentence.")
        if len(src_ids) > translator.max_pieces:
            raise InputTooLongError(
                f"a text of {len(src_ids):,} pieces: this model takes {translator.max_pieces:,} at"
                " a time, and an explanation is of one sentence as a whole.\n  Explain its"
                " sentences one by one."
            )
        forced = _prefix(translator.tokenizer, prefix, prefix_ids)
        return cls(text, src_ids, forced, check_heads(heads_off, translator.model.config))


def _prefix(tokenizer: Tokenizer, text: str | None, ids: Sequence[int] | None) -> list[int]:
    """The ids of the prefix, which may end with EOS."""
    if ids is None:
        return tokenizer.encode(text, "tgt") if text and text.strip() else []
    if text:
        raise ConfigError("a prefix is given as text or as ids, not as both")
    size = tokenizer.tgt_vocab_size
    for place, number in enumerate(ids):
        is_last = place == len(ids) - 1
        if (
            not 0 <= number < size
            or number in (PAD_ID, BOS_ID)
            or (number == EOS_ID and not is_last)
        ):
            raise ConfigError(
                f"prefix_ids[{place}] = {number}: must be the id of a target piece (of {size:,});"
                " </s> may only be the last, <s> and <pad> are never said"
            )
    return list(ids)


@torch.inference_mode()
def explain(
    translator: Translator, question: Question, settings: SearchSettings, *, effects: bool
) -> Explanation:
    """The explanation of one sentence; ``effects`` adds what takes longer."""
    tokenizer = translator.tokenizer
    models = (without_heads(translator.model, question.heads_off), *translator.models[1:])
    found, trace = _search(models, question, settings)
    best = found[0]
    batch = make_batch([(question.src_ids, best.ids)]).to(models[0].output_weight.device)
    log_probs, attention = _look(models, batch)
    said = batch.tgt_out[0]
    sides = (
        _side(tokenizer, question.src_ids, "src", question.text),
        _side(tokenizer, best.ids, "tgt", one_line(tokenizer.decode(best.ids))),
    )
    choice = translator.alignment or AlignmentChoice.default(translator.model.config)
    words = Words.of(tokenizer, question.src_ids, best.ids)
    # What is shown is all attention between words; what is linked is like to like.
    everything = replace(words, may_link=np.ones_like(words.may_link))
    alternatives = _alternatives(tokenizer, log_probs, best.ids)
    nodes = trace.nodes(best.ids, tokenizer, settings.length_penalty)
    explanation = Explanation(
        source=sides[0],
        target=sides[1],
        token_log_probs=tuple(log_probs.gather(1, said[:, None]).squeeze(1).tolist()),
        n_forced=min(len(question.prefix), len(best.ids) + 1),
        score=best.score,
        log_prob=best.log_prob,
        notes=make_translation(best, tokenizer, None).notes,
        alignment=links_of(chosen_weights(attention, words, choice)),
        word_attention=chosen_weights(attention, everything, choice).astype(np.float32),
        alternatives=alternatives,
        prefix_ids=best.ids,
        attention=attention,
        beam=Beam(settings.beam, settings.length_penalty, tuple(nodes)),
        n_best=tuple(Ranked(one_line(tokenizer.decode(h.ids)), h.score, h.log_prob) for h in found),
        flow=trace_flow(models[0], batch.src_ids, batch.tgt_in),
        model=_facts(translator, choice),
        heads_off=question.heads_off,
    )
    if not effects:
        return explanation
    return replace(
        explanation,
        head_effects=effects_of_heads(models, tokenizer, batch, settings),
        continuations=continue_greedily(models, tokenizer, batch, settings, alternatives),
    )


def _search(
    models: tuple[Transformer, ...], question: Question, settings: SearchSettings
) -> tuple[list[Hypothesis], BeamTrace]:
    """The translations that a beam search finds, best first, and the way it went."""
    trace = BeamTrace()
    scorer: Scorer[Any] = models[0] if len(models) == 1 else Ensemble(models)
    src_ids = pad_sources([question.src_ids]).to(models[0].output_weight.device)
    found = beam_search(
        scorer,
        src_ids,
        beam_size=settings.beam,
        alpha=settings.length_penalty,
        n_best=settings.beam,
        max_extra=settings.max_extra,
        max_len=settings.max_len,
        prefixes=[question.prefix] if question.prefix else None,
        on_step=trace,
    )
    return found[0], trace


def _look(models: Sequence[Transformer], batch: Batch) -> tuple[Tensor, dict[str, FloatArray]]:
    """The log-probabilities of every next piece, (T, V), and all attention, (H, L, M) by name."""
    probe = Probe()
    logits = [models[0](batch.src_ids, batch.tgt_in, probe=probe)]
    logits += [model(batch.src_ids, batch.tgt_in) for model in models[1:]]
    attention = {name: w[0].float().cpu().numpy() for name, w in probe.weights.items()}
    return log_mean([each[0].double() for each in logits]), attention


def _side(tokenizer: Tokenizer, ids: Sequence[int], which: WhichSide, text: str) -> Side:
    """A text with its pieces and words; the words are its own where the pieces have as many."""
    spans = tokenizer.word_spans(ids, which)
    words = text.split()
    n_words = max(spans, default=-1) + 1
    if len(words) != n_words:
        rows: list[list[int]] = [[] for _ in range(n_words)]
        for number, span in zip(ids, spans, strict=True):
            if span >= 0:
                rows[span].append(number)
        words = [word.strip() for word in tokenizer.decode_batch(rows, which)]
    pieces = [tokenizer.piece(number, which) for number in ids]
    numbers = [span if span >= 0 else None for span in spans]
    return Side(text, (*pieces, EOS_PIECE), tuple(words), (*numbers, None))


def _alternatives(
    tokenizer: Tokenizer, log_probs: Tensor, ids: Sequence[int]
) -> tuple[tuple[Alternative, ...], ...]:
    """The likeliest pieces at each position, with the text up to each: (T, V)."""
    allowed = log_probs.clone()
    allowed[:, [PAD_ID, BOS_ID]] = -torch.inf  # they are never said
    best, numbers = allowed.topk(min(N_ALTERNATIVES, allowed.size(1) - 2), dim=-1)
    rows = [[*ids[:t], number] for t, row in enumerate(numbers.tolist()) for number in row]
    texts = iter(tokenizer.decode_batch(rows, "tgt"))
    return tuple(
        tuple(
            Alternative(tokenizer.piece(number, "tgt"), number, probability, one_line(next(texts)))
            for number, probability in zip(row, chances, strict=True)
        )
        for row, chances in zip(numbers.tolist(), best.exp().tolist(), strict=True)
    )


def _facts(translator: Translator, choice: AlignmentChoice) -> dict[str, Any]:
    """What a reader should know of the model."""
    config = translator.model.config
    return {
        "name": "model" if translator.path is None else translator.path.resolve().name,
        "n_encoder_layers": config.encoder_layers,
        "n_decoder_layers": config.decoder_layers,
        "n_heads": config.n_heads,
        "d_model": config.d_model,
        "d_ff": config.d_ff,
        "vocab_size": config.vocab_size,
        "params": sum(count_parameters(config).values()),
        "norm": config.norm,
        "positions": config.positions,
        "alignment_heads": choice.names,
    }
