"""CTranslate2 called directly with tokens, on our weights as our converter writes them."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from dragoman.batches.batch import Batch
from dragoman.bench.peer import Decode, Weights, is_there
from dragoman.config import Config, DataConfig, ModelConfig
from dragoman.decoding.ctranslate2_conversion import pieces_of, why_not, write_model
from dragoman.decoding.ctranslate2_engine import open_translator
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
        folder = tempfile.mkdtemp()  # for as long as the process is there
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        write_model(
            Path(folder),
            config=Config(model=shape),
            weights={name: weight.numpy() for name, weight in weights.items()},
            tokenizer=tokenizer,
            quantization=self.compute_type,
        )

        def translate(
            translator: Any, batches: Sequence[Tensor], options: dict[str, Any]
        ) -> list[list[int]]:
            found: list[Any] = []
            one_by_one = all(len(batch) == 1 for batch in batches)
            for src_ids in batches:
                sources = [[pieces[i] for i in row if i != PAD_ID] for row in src_ids.tolist()]
                results = translator.translate_batch(sources, asynchronous=True, **options)
                # Who sends one sentence waits for its translation before sending the next.
                found += [each.result() for each in results] if one_by_one else results
            ended = found if one_by_one else [each.result() for each in found]
            return [[numbers[piece] for piece in each.hypotheses[0]] for each in ended]

        chosen: list[Any] = []

        def decode(
            batches: Sequence[Tensor], *, beam: int, max_tokens: int, is_forced: bool
        ) -> list[list[int]]:
            options = {
                "beam_size": beam,
                "max_decoding_length": max_tokens,
                "min_decoding_length": max_tokens if is_forced else 0,
                "length_penalty": 0.0,
                "return_scores": True,  # as ours; greedily it would not sum them up else
            }
            if not chosen:
                chosen.append(self._faster(folder, lambda each: translate(each, batches, options)))
            return translate(chosen[0], batches, options)

        return decode

    def _faster(self, folder: str, run: Callable[[Any], object]) -> Any:
        """The engine with its threads as they are best: all on one batch, or a worker each."""
        n = torch.get_num_threads()
        ways = [(1, n), (n, 1)] if n > 1 else [(1, 1)]
        seconds = {}
        for inter, intra in ways:
            translator = self._open(folder, inter, intra)
            run(translator)
            started = time.perf_counter()
            run(translator)
            seconds[inter, intra] = time.perf_counter() - started
            del translator
        return self._open(folder, *min(seconds, key=lambda way: seconds[way]))

    def _open(self, folder: str, inter: int, intra: int) -> Any:
        return open_translator(
            Path(folder),
            compute_type=self.compute_type,
            inter_threads=inter,
            intra_threads=intra,
        )
