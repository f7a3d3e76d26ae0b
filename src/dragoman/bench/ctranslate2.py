"""CTranslate2 called directly with tokens, on our weights as our converter writes them."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from dragoman.batches.batch import Batch
from dragoman.bench.peer import Decode, Weights, is_there
from dragoman.config import Config, DataConfig, ModelConfig
from dragoman.decoding.ctranslate2_conversion import pieces_of, why_not, write_model
from dragoman.model.transformer import Transformer
from dragoman.tokenize.tokenizer import Tokenizer
from dragoman.tokenize.vocabulary import PAD_ID


@dataclass(frozen=True)
class CTranslate2:
    """The C++ engine in float32 or int8; it does not train."""

    compute_type: Literal["float32", "int8"]
    package: str = "ctranslate2"

    @property
    def name(self) -> str:
        return f"CTranslate2 {self.compute_type}"

    def is_installed(self) -> bool:
        return is_there(self.package)

    def train_step(self, shape: ModelConfig, batches: Sequence[Batch]) -> None:
        return None

    def decoder(self, shape: ModelConfig, weights: Weights | None = None) -> Decode | None:
        if why_not(shape) is not None:
            return None
        weights = Transformer(shape).state_dict() if weights is None else weights
        # The engine knows tokens by their spelling; which one, is of no matter.
        tokenizer = Tokenizer.train(["a"], DataConfig(tokenizer="symbols"), seed=1)
        pieces = pieces_of(tokenizer, "src", shape.source_vocab)
        spoken = pieces_of(tokenizer, "tgt", shape.vocab_size)
        numbers = {piece: number for number, piece in enumerate(spoken)}
        with tempfile.TemporaryDirectory() as folder:
            write_model(
                Path(folder),
                config=Config(model=shape),
                weights={name: weight.numpy() for name, weight in weights.items()},
                tokenizer=tokenizer,
                quantization=self.compute_type,
            )
            translator = import_module("ctranslate2").Translator(
                folder, compute_type=self.compute_type, intra_threads=torch.get_num_threads()
            )

        def decode(
            batches: Sequence[Tensor], *, beam: int, max_tokens: int, is_forced: bool
        ) -> list[list[int]]:
            found = []
            for src_ids in batches:
                sources = [[pieces[i] for i in row if i != PAD_ID] for row in src_ids.tolist()]
                results = translator.translate_batch(
                    sources,
                    beam_size=beam,
                    max_decoding_length=max_tokens,
                    min_decoding_length=max_tokens if is_forced else 0,
                    length_penalty=0.0,
                )
                found += [[numbers[piece] for piece in r.hypotheses[0]] for r in results]
            return found

        return decode
