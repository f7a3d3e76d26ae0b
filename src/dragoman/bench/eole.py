"""Eole (the successor of OpenNMT-py): its model, its loss, its translator, without its files.

Its decoder has layer norm before each sub-layer only, so that the model is the pre-norm one: two
norms more than ours, and otherwise the same sizes.
"""

from __future__ import annotations

import logging
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import torch
from torch import Tensor

from dragoman.batches.batch import Batch
from dragoman.bench.peer import Decode, TrainStep, Weights, is_there
from dragoman.config import ModelConfig
from dragoman.tokenize.vocabulary import BOS_ID, PAD_ID


@dataclass(frozen=True)
class Eole:
    """Eole's ``EncoderDecoderModel``, ``LossCompute`` and ``Translator``."""

    name: str = "Eole"
    package: str = "eole"

    def is_installed(self) -> bool:
        return is_there(self.package)

    def train_step(self, shape: ModelConfig, batches: Sequence[Batch]) -> TrainStep:
        made = make_model(shape)
        model = made.model.train()
        losses = import_module("eole.utils.loss").LossCompute
        criterion = losses.from_config(made.config, model, made.vocabularies)
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9)
        prepared = [(_their_batch(b.src_ids, b.tgt_out), b.n_tokens) for b in batches]

        def step() -> None:
            for batch, n_tokens in prepared:
                out = model(batch["src"], batch["tgt"], batch["srclen"])
                loss, _, _ = criterion(batch, out.dec_out, out.attns, estim=out.estim)
                (loss / n_tokens).backward()
                optimizer.step()
                optimizer.zero_grad()

        return step

    def decoder(self, shape: ModelConfig, weights: Weights | None = None) -> Decode | None:
        if weights is not None:
            return None
        made = make_model(shape)
        made.model.eval().requires_grad_(False)

        def decode(
            batches: Sequence[Tensor], *, beam: int, max_tokens: int, is_forced: bool
        ) -> list[list[int]]:
            least = max_tokens if is_forced else 0
            translator = _translator(made, beam=beam, max_tokens=max_tokens, min_tokens=least)
            found = []
            for src_ids in batches:
                results = translator.predict_batch(_their_batch(src_ids, None), False)
                found += [ranked[0].tolist() for ranked in results["predictions"]]
            return found

        return decode


@dataclass(frozen=True)
class Made:
    """A model of theirs, and what its makers want to know of it."""

    shape: ModelConfig
    model: Any
    config: Any
    vocabularies: dict[str, Any]


def make_model(shape: ModelConfig) -> Made:
    """An Eole model of this shape with random weights."""
    with warnings.catch_warnings():  # it misses packages for GPUs
        warnings.simplefilter("ignore")
        run = import_module("eole.config.run")
        data = import_module("eole.config.data")
        models = import_module("eole.models.model")
    vocabularies = _vocabularies(shape.vocab_size)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as text:  # it wants to see a corpus
        config = run.TrainConfig(
            data={"corpus": data.Dataset(path_src=text.name)},
            src_vocab=text.name,
            share_vocab=True,
            model=_model_config(shape),
            training={
                "dropout": [shape.dropout],
                "attention_dropout": [0.0],  # with it the fused attention would be off
                "label_smoothing": 0.1,
                "self_attn_backend": "pytorch",
                "compute_dtype": "fp32",
                "world_size": 0,
                "gpu_ranks": [],
            },
        )
    kind = models.get_model_class(config.model)
    model = kind.for_training(config.model, vocabularies, config.training, device_id=-1)
    return Made(shape, model, config, vocabularies)


def _model_config(shape: ModelConfig) -> dict[str, Any]:
    if shape.encoder_layers != shape.decoder_layers:
        raise ValueError("Eole: encoder and decoder must have as many layers")
    return {
        "architecture": "transformer",
        "hidden_size": shape.d_model,
        "layers": shape.n_layers,
        "heads": shape.n_heads,
        "transformer_ff": shape.d_ff,
        "share_embeddings": True,
        "share_decoder_embeddings": True,
        "generator_bias": False,
        "add_qkvbias": True,
        "add_final_linear_bias": True,
        "add_ffnbias": True,
        "embeddings": {
            "word_vec_size": shape.d_model,
            "position_encoding_type": "SinusoidalInterleaved",
        },
    }


def _vocabularies(size: int) -> dict[str, Any]:
    """Their vocabularies, with our ids of the special pieces."""
    tokens = import_module("eole.constants").DefaultTokens
    pieces = [tokens.PAD, tokens.BOS, tokens.EOS, tokens.UNK, *(f"t{i}" for i in range(4, size))]
    both = import_module("pyonmttok").build_vocab_from_tokens(
        [], maximum_size=0, minimum_frequency=1, special_tokens=pieces
    )
    names = ("pad_token", "bos_token", "eos_token", "unk_token")
    return {
        "src": both,
        "tgt": both,
        "specials": dict(zip(names, pieces, strict=False)),
        "decoder_start_token": tokens.BOS,
    }


def _translator(made: Made, *, beam: int, max_tokens: int, min_tokens: int) -> Any:
    """Their translator around the model, with settings of its own for each kind of search."""
    config = import_module("eole.config.run").PredictConfig(
        src="none",
        model_path=["none"],
        beam_size=beam,
        n_best=1,
        top_k=1 if beam == 1 else 0,  # which is how greedy search is asked for
        min_length=min_tokens,
        max_length=max_tokens,
        max_length_ratio=0,
        length_penalty="none",
        world_size=0,
        gpu_ranks=[],
        compute_dtype="fp32",
        self_attn_backend="pytorch",
        model=_model_config(made.shape),
    )
    return import_module("eole.predict.translator").Translator(
        made.model,
        made.vocabularies,
        config,
        made.config.model,
        device_id=-1,
        global_scorer=import_module("eole.predict").GNMTGlobalScorer.from_config(config),
        logger=logging.getLogger("eole"),
    )


def _their_batch(src_ids: Tensor, tgt_out: Tensor | None) -> dict[str, Any]:
    n_sentences = src_ids.size(0)
    batch: dict[str, Any] = {
        "src": src_ids,
        "srclen": (src_ids != PAD_ID).sum(1),
        "ind_in_bucket": list(range(n_sentences)),
        "cid": ["corpus"] * n_sentences,
        "cid_line_number": list(range(n_sentences)),
    }
    if tgt_out is not None:
        begin = torch.full_like(tgt_out[:, :1], BOS_ID)
        batch["tgt"] = torch.cat([begin, tgt_out], dim=1)  # it shifts the target itself
    return batch
