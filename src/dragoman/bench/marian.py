"""Hugging Face's Marian: the paper's model in ``transformers``, made from sizes, no download."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import torch
from torch import Tensor

from dragoman.batches.batch import Batch
from dragoman.bench.peer import Decode, TrainStep, Weights, is_plain, is_there
from dragoman.bench.torch_nn import cut, usual_step
from dragoman.config import ModelConfig
from dragoman.model.positional_encoding import sinusoidal_encoding
from dragoman.tokenize.vocabulary import BOS_ID, EOS_ID, PAD_ID

MAX_LEN = 1024


@dataclass(frozen=True)
class Marian:
    """``MarianMTModel`` with its fused attention, trained by an ordinary step."""

    name: str = "Hugging Face Marian"
    package: str = "transformers"

    def is_installed(self) -> bool:
        return is_there(self.package)

    def train_step(self, shape: ModelConfig, batches: Sequence[Batch]) -> TrainStep:
        model = make_model(shape).train()

        def logits(src_ids: Tensor, tgt_in: Tensor) -> Tensor:
            return model(
                input_ids=src_ids,
                attention_mask=src_ids != PAD_ID,
                decoder_input_ids=tgt_in,
                use_cache=False,
            ).logits

        return usual_step(model, logits, batches)

    def decoder(self, shape: ModelConfig, weights: Weights | None = None) -> Decode | None:
        if weights is not None and (shape.norm == "pre" or not is_plain(shape)):
            return None
        model = make_model(shape)
        if weights is not None:
            take(model, weights, shape)
        model.eval().requires_grad_(False)

        @torch.inference_mode()
        def decode(
            batches: Sequence[Tensor], *, beam: int, max_tokens: int, is_forced: bool
        ) -> list[list[int]]:
            options = {"length_penalty": 0.0} if beam > 1 else {}
            found = []
            for src_ids in batches:
                said = model.generate(
                    input_ids=src_ids,
                    attention_mask=(src_ids != PAD_ID).long(),
                    num_beams=beam,
                    do_sample=False,
                    max_new_tokens=max_tokens,
                    min_new_tokens=max_tokens if is_forced else None,
                    **options,
                )
                found += [cut(row) for row in said[:, 1:].tolist()]
            return found

        return decode


def make_model(shape: ModelConfig) -> Any:
    """A ``MarianMTModel`` of this shape with random weights; embeddings and output are one matrix.

    Attention weights are not dropped out, for that would keep the fused attention off.
    """
    transformers = import_module("transformers")
    config = transformers.MarianConfig(
        vocab_size=shape.vocab_size,
        d_model=shape.d_model,
        encoder_layers=shape.encoder_layers,
        decoder_layers=shape.decoder_layers,
        encoder_attention_heads=shape.n_heads,
        decoder_attention_heads=shape.n_heads,
        encoder_ffn_dim=shape.d_ff,
        decoder_ffn_dim=shape.d_ff,
        activation_function="relu",
        dropout=shape.dropout,
        activation_dropout=shape.inner_dropout,
        attention_dropout=0.0,
        scale_embedding=True,
        share_encoder_decoder_embeddings=True,
        tie_word_embeddings=True,
        max_position_embeddings=MAX_LEN,
        pad_token_id=PAD_ID,
        bos_token_id=BOS_ID,
        eos_token_id=EOS_ID,
        decoder_start_token_id=BOS_ID,
        forced_eos_token_id=None,
    )
    return transformers.MarianMTModel(config)


def take(model: Any, weights: Weights, shape: ModelConfig) -> None:
    """Let a Marian model have the weights of one of ours, and our order of sines and cosines."""
    own = model.state_dict()
    positions = sinusoidal_encoding(MAX_LEN, shape.d_model).float()
    for name, tensor in weights.items():
        for their_name, part in _their_weights(name, tensor):
            own[their_name].copy_(part)
    for stack in ("encoder", "decoder"):
        own[f"model.{stack}.embed_positions.weight"].copy_(positions)


def _their_weights(name: str, tensor: Tensor) -> list[tuple[str, Tensor]]:
    """One of our weights as theirs: names in their ``state_dict``, and the part of each."""
    if name == "embedding.weight":
        return [("model.shared.weight", tensor)]
    stack, _, number, part, *rest = name.split(".")
    at = f"model.{stack}.layers.{number}"
    attention = "encoder_attn" if part.startswith("cross") else "self_attn"
    if part.endswith("_norm"):
        norm = "final_layer_norm" if part == "feed_forward_norm" else f"{attention}_layer_norm"
        return [(f"{at}.{norm}.{rest[0]}", tensor)]
    if part == "feed_forward":
        return [(f"{at}.fc{rest[0][1]}.{rest[1]}", tensor)]
    if rest[0] == "out":
        return [(f"{at}.{attention}.out_proj.{rest[1]}", tensor)]
    parts = zip(("q_proj", "k_proj", "v_proj"), tensor.chunk(3), strict=True)
    return [(f"{at}.{attention}.{projection}.{rest[1]}", each) for projection, each in parts]
