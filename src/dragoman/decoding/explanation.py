"""One sentence explained: what was said, how likely, what was looked at, what else was thought of.

``Translator.explain`` computes it (``explaining.py``); pictures, the web page and the server show
it. ``Explanation.to_json`` is the form that travels; its keys are promised.

Letters: H heads, L queries, M keys. Names of attention are those of ``Probe``: ``encoder.0.self``,
``decoder.0.self``, ``decoder.0.cross``. Row t of a decoder's attention is the step that says target
piece t; the columns of ``decoder.*.self`` are what it reads: ``<s>`` and the pieces before.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dragoman.decoding.beam_trace import BeamNode
from dragoman.decoding.flow import FlowStep
from dragoman.decoding.heads import Head
from dragoman.decoding.translation import Links, Note
from dragoman.tokenize.vocabulary import BOS_ID, SPECIAL_PIECES

VERSION = 1
FloatArray = NDArray[np.float32]


@dataclass(frozen=True)
class Side:
    """One of the two texts: its pieces, EOS the last, its words, and the word of each piece.

    >>> side = Side("ab c", ("▁a", "b", "▁c", "</s>"), ("ab", "c"), (0, 0, 1, None))
    >>> side.labels
    ('a', '·b', 'c', '</s>')
    """

    text: str
    pieces: tuple[str, ...]
    words: tuple[str, ...]
    piece_words: tuple[int | None, ...]  # None: EOS, which is no word

    @property
    def labels(self) -> tuple[str, ...]:
        """The pieces as a reader wants them; a dot where one goes on with the word before it."""
        found = []
        before = None
        for piece, word in zip(self.pieces, self.piece_words, strict=True):
            shown = piece.replace("▁", " ").strip() or "␣"
            found.append(f"·{shown}" if word is not None and word == before else shown)
            before = word
        return tuple(found)


@dataclass(frozen=True)
class Alternative:
    """A piece that might have been said, and the text up to it."""

    piece: str
    id: int
    probability: float
    text: str


@dataclass(frozen=True)
class Ranked:
    """One of the translations that the search found."""

    text: str
    score: float
    log_prob: float


@dataclass(frozen=True)
class Beam:
    """The search as a tree."""

    size: int
    length_penalty: float
    nodes: tuple[BeamNode, ...]


@dataclass(frozen=True)
class HeadEffect:
    """What becomes of this translation without one head."""

    name: str
    head: int
    log_prob: float  # change of log P of the same translation: below 0, the head helped
    text: str  # the greedy translation without the head


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """What a model did with one sentence; what ``Translator.explain`` gives.

    >>> from dragoman.config import Config, DataConfig, ModelConfig
    >>> from dragoman.decoding.translator import Translator
    >>> from dragoman.model.transformer import Transformer
    >>> from dragoman.tokenize.tokenizer import Tokenizer
    >>> tokenizer = Tokenizer.train([("1 2", "2 1")], DataConfig(tokenizer="symbols"), seed=1)
    >>> shape = ModelConfig(d_model=8, n_heads=2, n_layers=1, d_ff=16, vocab_size=6)
    >>> translator = Translator((Transformer(shape).eval(),), tokenizer, Config(model=shape))
    >>> explanation = translator.explain("1 2 1", beam=2)
    >>> explanation.source.pieces
    ('1', '2', '1', '</s>')
    >>> explanation.attention["encoder.0.self"].shape  # (H, L, M)
    (2, 4, 4)
    >>> sorted(explanation.to_json())[:4]
    ['alignment', 'alternatives', 'attention', 'beam']
    """

    source: Side
    target: Side
    token_log_probs: tuple[float, ...]  # of each target piece, EOS included
    n_forced: int  # target pieces that came from the prefix
    score: float
    log_prob: float
    notes: tuple[Note, ...]
    alignment: Links
    word_attention: FloatArray  # (target words, source words), by the heads that align
    alternatives: tuple[tuple[Alternative, ...], ...]  # of each target piece, likeliest first
    prefix_ids: tuple[int, ...]  # the target's ids, without EOS
    attention: Mapping[str, FloatArray]  # (H, L, M) by name
    beam: Beam
    n_best: tuple[Ranked, ...]
    flow: tuple[FlowStep, ...]
    model: Mapping[str, Any]
    heads_off: tuple[Head, ...] = ()
    head_effects: tuple[HeadEffect, ...] | None = None
    continuations: tuple[tuple[str, ...], ...] | None = None

    @property
    def decoder_inputs(self) -> tuple[str, ...]:
        """What the decoder reads, as labels: ``<s>`` and the target pieces without the last."""
        return (SPECIAL_PIECES[BOS_ID], *self.target.labels[:-1])

    def axes(self, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The labels of rows and columns of one attention.

        Rows of the decoder are the pieces that it says, columns what is looked at.
        """
        if name.startswith("encoder."):
            return self.source.labels, self.source.labels
        seen = self.source.labels if name.endswith(".cross") else self.decoder_inputs
        return self.target.labels, seen

    def to_json(self) -> dict[str, Any]:
        """All of it as plain lists, numbers and strings; weights as base64 of bytes."""
        effects, continuations = self.head_effects, self.continuations
        return {
            "version": VERSION,
            "source": _side(self.source),
            "target": {
                **_side(self.target),
                "log_probs": list(self.token_log_probs),
                "forced": self.n_forced,
            },
            "score": self.score,
            "log_prob": self.log_prob,
            "notes": list(self.notes),
            "alignment": [list(link) for link in self.alignment],
            "alternatives": [[asdict(each) for each in some] for some in self.alternatives],
            "prefix_ids": list(self.prefix_ids),
            "attention": {name: encode_weights(w) for name, w in self.attention.items()},
            "beam": {
                "size": self.beam.size,
                "length_penalty": self.beam.length_penalty,
                "nodes": [asdict(node) for node in self.beam.nodes],
            },
            "n_best": [asdict(each) for each in self.n_best],
            "flow": [{**asdict(step), "shape": list(step.shape)} for step in self.flow],
            "model": {
                **self.model,
                "alignment_heads": [list(head) for head in self.model["alignment_heads"]],
            },
            "heads_off": [list(head) for head in self.heads_off],
            "head_effects": None if effects is None else [asdict(effect) for effect in effects],
            "continuations": None if continuations is None else [list(c) for c in continuations],
        }


def encode_weights(weights: FloatArray) -> dict[str, Any]:
    """Weights in [0, 1] as one byte each, row by row, in base64: (H, L, M).

    >>> encode_weights(np.array([[[0.0, 1.0]]], dtype=np.float32))
    {'shape': [1, 1, 2], 'data': 'AP8='}
    """
    as_bytes = np.rint(255 * weights.clip(0.0, 1.0)).astype(np.uint8)
    return {
        "shape": list(weights.shape),
        "data": base64.b64encode(as_bytes.tobytes()).decode("ascii"),
    }


def _side(side: Side) -> dict[str, Any]:
    return {
        "text": side.text,
        "pieces": list(side.pieces),
        "words": list(side.words),
        "piece_words": list(side.piece_words),
    }
