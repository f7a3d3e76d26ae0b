"""JoeyNMT: its model, its loss, its search, driven without its files."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import torch
from torch import Tensor

from dragoman.batches.batch import Batch
from dragoman.bench.peer import Decode, TrainStep, Weights, is_there
from dragoman.bench.torch_nn import cut
from dragoman.config import ModelConfig
from dragoman.tokenize.vocabulary import BOS_ID, EOS_ID, PAD_ID, UNK_ID


@dataclass(frozen=True)
class JoeyNMT:
    """JoeyNMT's ``Model`` and ``search``; post-norm, embeddings and output tied, as ours."""

    name: str = "JoeyNMT"
    package: str = "joeynmt"

    def is_installed(self) -> bool:
        return is_there(self.package)

    def train_step(self, shape: ModelConfig, batches: Sequence[Batch]) -> TrainStep:
        model = make_model(shape).train()
        model.loss_function = ("crossentropy", 0.1)
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9)
        prepared = [(_their_batch(b.src_ids, b.tgt_out), b.n_tokens) for b in batches]

        def step() -> None:
            for batch, n_tokens in prepared:
                loss, *_ = model(return_type="loss", **vars(batch))
                (loss / n_tokens).backward()
                optimizer.step()
                optimizer.zero_grad()

        return step

    def decoder(self, shape: ModelConfig, weights: Weights | None = None) -> Decode | None:
        if weights is not None:
            return None
        model = make_model(shape).eval().requires_grad_(False)
        search = import_module("joeynmt.search").search

        def decode(
            batches: Sequence[Tensor], *, beam: int, max_tokens: int, is_forced: bool
        ) -> list[list[int]]:
            found = []
            for src_ids in batches:
                said, _, _ = search(
                    model=model,
                    batch=_their_batch(src_ids, None),
                    max_output_length=max_tokens,
                    beam_size=beam,
                    beam_alpha=0.0,
                    min_output_length=max_tokens if is_forced else 1,
                )
                found += [cut(row) for row in said.tolist()]
            return found

        return decode


def make_model(shape: ModelConfig) -> Any:
    """A JoeyNMT model of this shape with random weights."""
    models = import_module("joeynmt.model")
    logging.getLogger(models.__name__).setLevel(logging.WARNING)
    side = {
        "type": "transformer",
        "hidden_size": shape.d_model,
        "ff_size": shape.d_ff,
        "num_heads": shape.n_heads,
        "dropout": shape.dropout,
        "layer_norm": "post",
        "activation": "relu",
        "embeddings": {
            "embedding_dim": shape.d_model,
            "scale": True,
            "dropout": shape.dropout,
        },
    }
    config = {
        "encoder": {**side, "num_layers": shape.encoder_layers},
        "decoder": {**side, "num_layers": shape.decoder_layers},
        "tied_embeddings": True,
        "tied_softmax": True,
    }
    vocabulary = _make_vocabulary(shape.vocab_size)
    return models.build_model(config, vocabulary, vocabulary)


def _make_vocabulary(size: int) -> Any:
    """A vocabulary of theirs with our ids of the special pieces, which its own maker refuses."""
    theirs = import_module("joeynmt.vocabulary").Vocabulary
    vocabulary = theirs.__new__(theirs)
    vocabulary.specials = ["<pad>", "<s>", "</s>", "<unk>"]
    vocabulary.lang_tags = []
    vocabulary._itos = [*vocabulary.specials, *(f"t{i}" for i in range(4, size))]
    vocabulary._stoi = {piece: number for number, piece in enumerate(vocabulary._itos)}
    vocabulary.pad_index, vocabulary.bos_index = PAD_ID, BOS_ID
    vocabulary.eos_index, vocabulary.unk_index = EOS_ID, UNK_ID
    vocabulary.sep_index = None
    return vocabulary


def _their_batch(src_ids: Tensor, tgt_out: Tensor | None) -> Any:
    """The same ids as a batch of theirs, which shifts the target itself."""
    tgt_ids = None
    if tgt_out is not None:
        begin = torch.full_like(tgt_out[:, :1], BOS_ID)
        tgt_ids = torch.cat([begin, tgt_out], dim=1)
    return import_module("joeynmt.batch").Batch(
        src=src_ids,
        src_length=(src_ids != PAD_ID).sum(1),
        src_prompt_mask=None,
        trg=tgt_ids,
        trg_prompt_mask=None,
        indices=torch.arange(src_ids.size(0)),
        device=src_ids.device,
        pad_index=PAD_ID,
        eos_index=EOS_ID,
        is_train=tgt_ids is not None,
    )
