"""The beam as a tree: every beginning that a search looked at, and what became of it.

A ``BeamTrace`` looks on while ``beam_search`` works on one sentence. Node 0 is the root ``<s>``;
each step adds the best 2 N continuations of the beginnings before it. ``kept`` are the N that the
search went on from, ``finished`` those that ended among the best N, ``pruned`` the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from dragoman.decoding.beam_search import BeamState, Proposals
from dragoman.decoding.length_penalty import length_penalty
from dragoman.tokenize.tokenizer import Tokenizer
from dragoman.tokenize.vocabulary import BOS_ID, EOS_ID, SPECIAL_PIECES

NodeState = Literal["kept", "pruned", "finished"]
Ids = tuple[int, ...]


@dataclass(frozen=True)
class BeamNode:
    """One beginning of a translation, or a whole one, as the search met it.

    >>> root = BeamNode(0, parent=-1, step=0, piece="<s>", log_prob=0.0, score=0.0, state="kept")
    >>> root.best
    False
    """

    id: int
    parent: int  # -1 of the root
    step: int  # tokens so far; 0 of the root
    piece: str
    log_prob: float  # of all tokens so far
    score: float  # log_prob over the length penalty of so many tokens
    state: NodeState
    best: bool = False  # on the path of the translation that was given back
    text: str = ""  # what has been said so far


@dataclass(frozen=True)
class _Seen:
    ids: Ids
    parent: int
    log_prob: float
    state: NodeState


@dataclass
class BeamTrace:
    """Looks on while one sentence is searched; give it to ``beam_search`` as ``on_step``.

    >>> import torch
    >>> from dragoman.config import ModelConfig
    >>> from dragoman.decoding.beam_search import beam_search
    >>> from dragoman.model.transformer import Transformer
    >>> config = ModelConfig(d_model=8, n_heads=2, n_layers=1, d_ff=16, vocab_size=11)
    >>> model, trace = Transformer(config).eval(), BeamTrace()
    >>> _ = beam_search(model, torch.tensor([[5, 6, 2]]), beam_size=2, max_extra=1, on_step=trace)
    >>> trace.seen[0].ids, len(trace.seen) > 4
    ((), True)
    """

    seen: list[_Seen] = field(default_factory=lambda: [_Seen((), -1, 0.0, "kept")])
    _numbers: dict[Ids, int] = field(default_factory=lambda: {(): 0})

    def __call__(self, before: BeamState, proposals: Proposals, after: BeamState) -> None:
        """Take in one step."""
        n_beams = before.ids.size(1)
        beginnings = [tuple(ids) for ids in before.ids[0].tolist()]
        places = zip(after.ids[0].tolist(), after.log_probs[0].tolist(), strict=True)
        kept = {tuple(ids) for ids, log_prob in places if log_prob > -math.inf}
        proposed = zip(
            proposals.log_probs[0].tolist(),
            proposals.parents[0].tolist(),
            proposals.tokens[0].tolist(),
            strict=True,
        )
        for rank, (log_prob, parent, token) in enumerate(proposed):
            if log_prob == -math.inf:  # a place that nothing could take
                continue
            ids = (*beginnings[parent], token)
            state: NodeState = "kept" if ids in kept else "pruned"
            if token == EOS_ID and rank < n_beams:
                state = "finished"
            self._numbers[ids] = len(self.seen)
            self.seen.append(_Seen(ids, self._numbers[beginnings[parent]], log_prob, state))

    def nodes(self, best: Sequence[int], tokenizer: Tokenizer, alpha: float) -> list[BeamNode]:
        """The tree, parents before children; ``best`` are the ids of the translation, no EOS."""
        path = (*best, EOS_ID)
        texts = tokenizer.decode_batch([node.ids for node in self.seen], "tgt")
        last = len(self.seen[-1].ids)
        found = []
        for number, (node, text) in enumerate(zip(self.seen, texts, strict=True)):
            step = len(node.ids)
            # The search ended here: what it still held was gone on with as little as the rest.
            given_up = node.state == "kept" and step == last > 0
            found.append(
                BeamNode(
                    id=number,
                    parent=node.parent,
                    step=step,
                    piece=tokenizer.piece(node.ids[-1]) if step else SPECIAL_PIECES[BOS_ID],
                    log_prob=node.log_prob,
                    score=node.log_prob / length_penalty(float(max(1, step)), alpha),
                    state="pruned" if given_up else node.state,
                    best=node.ids == path[:step],
                    text=text,
                )
            )
        return found
