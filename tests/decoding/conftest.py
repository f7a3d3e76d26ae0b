"""Scorers to search with: a table of chances, random models, one without its cache; a bundle."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from dragoman.bundle import write_bundle
from dragoman.config import Config, DataConfig, DecodeConfig, ModelConfig
from dragoman.decoding.length_penalty import length_penalty
from dragoman.decoding.translator import Translator
from dragoman.model.transformer import Transformer
from dragoman.tokenize.tokenizer import Tokenizer
from dragoman.tokenize.vocabulary import BOS_ID, EOS_ID, PAD_ID

PAIRS = [
    ("Ein Hund rennt über die Wiese.", "A dog runs across the meadow."),
    ("Zwei Hunde schlafen im Garten.", "Two dogs sleep in the garden."),
    ("Die Katze schläft nicht.", "The cat does not sleep."),
    ("Eine Frau liest ein Buch, und ein Mann kocht.", "A woman reads a book, and a man cooks."),
    ("Der Mann liest, während die Frau kocht.", "The man reads while the woman cooks."),
    ("Im Garten rennt eine Katze.", "A cat runs in the garden."),
]


class Lines:
    """The cache of a toy scorer: the tokens of each row, and the sentence they belong to."""

    def __init__(self, sentences: list[tuple[int, ...]], n_beams: int) -> None:
        self.n_beams = n_beams
        self.rows = [(source, ()) for source in sentences for _ in range(n_beams)]

    def reorder(self, rows: Tensor) -> None:
        self.rows = [self.rows[i] for i in rows.tolist()]

    def keep(self, sentences: Tensor) -> None:
        n = self.n_beams
        self.rows = [self.rows[s * n + i] for s in sentences.tolist() for i in range(n)]


class ToyScorer:
    """Random but fixed chances of each next token, given the source and all tokens before it."""

    def __init__(self, n_tokens: int, seed: int = 0, sharpness: float = 2.0) -> None:
        self.n_tokens, self.seed, self.sharpness = n_tokens, seed, sharpness

    def start(self, src_ids: Tensor, *, n_beams: int, capacity: int) -> Lines:
        sources = [tuple(x for x in row if x != PAD_ID) for row in src_ids.tolist()]
        return Lines(sources, n_beams)

    def step(self, ids: Tensor, cache: Lines) -> Tensor:
        cache.rows = [
            (src, (*said, i)) for (src, said), i in zip(cache.rows, ids.tolist(), strict=True)
        ]
        return torch.stack([self.logits(src, said) for src, said in cache.rows])

    def logits(self, source: tuple[int, ...], said: tuple[int, ...]) -> Tensor:
        key = zlib.crc32(repr((self.seed, source, said)).encode())
        generator = torch.Generator().manual_seed(key)
        shape = self.n_tokens
        return self.sharpness * torch.randn(shape, generator=generator, dtype=torch.float64)

    def log_prob(self, source: tuple[int, ...], ids: tuple[int, ...]) -> float:
        """That of the ids and of EOS."""
        said, total = (BOS_ID,), 0.0
        for token in (*ids, EOS_ID):
            total += float(torch.log_softmax(self.logits(source, said), -1)[token])
            said = (*said, token)
        return total

    def every_hypothesis(
        self, source: tuple[int, ...], max_len: int, alpha: float
    ) -> list[tuple[float, tuple[int, ...]]]:
        """All that can be said in max_len tokens, EOS counted, best first."""
        words = [t for t in range(self.n_tokens) if t not in (PAD_ID, BOS_ID, EOS_ID)]
        said = itertools.chain.from_iterable(
            itertools.product(words, repeat=n) for n in range(max_len)
        )
        scored = [
            (self.log_prob(source, ids) / length_penalty(len(ids) + 1.0, alpha), ids)
            for ids in said
        ]
        return sorted(scored, reverse=True)


class Uncached:
    """A model that reads the whole beginning again at every step."""

    def __init__(self, model: Transformer) -> None:
        self.model = model

    def start(self, src_ids: Tensor, *, n_beams: int, capacity: int) -> Lines:
        return Lines([tuple(row) for row in src_ids.tolist()], n_beams)

    def step(self, ids: Tensor, cache: Lines) -> Tensor:
        cache.rows = [
            (src, (*said, i)) for (src, said), i in zip(cache.rows, ids.tolist(), strict=True)
        ]
        src = torch.tensor([list(src) for src, _ in cache.rows])
        said = torch.tensor([list(said) for _, said in cache.rows])
        return self.model(src, said)[:, -1]


@pytest.fixture
def toy() -> type[ToyScorer]:
    return ToyScorer


@pytest.fixture
def uncached() -> type[Uncached]:
    return Uncached


@pytest.fixture
def make_model() -> Callable[..., Transformer]:
    """A random model whose probabilities are far from even, so that a search has work to do."""

    def make(*, seed: int = 1, double: bool = True, scale: float = 3.0, **shape: object):
        sizes = {"d_model": 12, "n_heads": 3, "n_layers": 2, "d_ff": 11, "vocab_size": 13}
        torch.manual_seed(seed)
        # Untied: a random model with tied embeddings likes to say its last token again.
        config = ModelConfig(**{**sizes, "tie": "none", **shape})  # type: ignore[arg-type]
        model = Transformer(config)
        for name, parameter in model.named_parameters():
            with torch.no_grad():
                parameter.mul_(scale if name == "output.weight" else 1.5)
        return (model.double() if double else model).eval().requires_grad_(False)

    return make


@pytest.fixture
def sources() -> Callable[..., list[list[int]]]:
    """Random source ids of different lengths."""

    def make(n: int, *, longest: int = 9, vocab: int = 13, seed: int = 1) -> list[list[int]]:
        rng = np.random.default_rng(seed)
        return [rng.integers(4, vocab, rng.integers(1, longest + 1)).tolist() for _ in range(n)]

    return make


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    data = DataConfig(tokenizer="bpe", vocab_size=90, byte_fallback=False)
    return Tokenizer.train(PAIRS, data, seed=1)


def random_model(config: ModelConfig, seed: int) -> Transformer:
    torch.manual_seed(seed)
    model = Transformer(config).eval().requires_grad_(False)
    model.output.weight.mul_(8.0)
    # A lean towards EOS, so that sentences end, and at different lengths.
    model.decoder.layers[-1].feed_forward_norm.bias.add_(model.output.weight[EOS_ID], alpha=0.3)
    return model


@pytest.fixture(scope="session")
def shape(tokenizer: Tokenizer) -> ModelConfig:
    return ModelConfig(
        d_model=16,
        n_heads=2,
        n_layers=2,
        d_ff=24,
        vocab_size=tokenizer.tgt_vocab_size,
        tie="none",
    )


@pytest.fixture(scope="session")
def translator(tokenizer: Tokenizer, shape: ModelConfig) -> Translator:
    """A translator with random weights: it speaks nonsense, by all the rules."""
    config = Config(model=shape, data=DataConfig(max_length=30), decode=DecodeConfig(max_extra=12))
    return Translator((random_model(shape, seed=3),), tokenizer, config)


@pytest.fixture
def save_bundle(tmp_path: Path, tokenizer: Tokenizer) -> Callable[..., Path]:
    """Writes a translator as a bundle and gives its folder."""

    def save(translator: Translator, name: str = "bundle", **record: object) -> Path:
        weights = {k: w.numpy() for k, w in translator.model.state_dict().items()}
        write_bundle(
            tmp_path / name,
            config=translator.config,
            weights=weights,
            save_tokenizer=translator.tokenizer.save,
            record=record,
        )
        return tmp_path / name

    return save


# --- attention that a test sets, to read alignments from ------------------------------------------


class Staged:
    """A model whose attention the test sets: (layer, head, shift) looks at the word it reverses."""

    config = ModelConfig(d_model=8, n_heads=2, n_layers=3, d_ff=8, vocab_size=20)
    output_weight = torch.zeros(1)

    def __init__(self, *good):
        self.good = good

    def __call__(self, src_ids, tgt_in, *, probe):
        n_src, n_tgt = src_ids.size(1), tgt_in.size(1)
        real = (src_ids != 0).sum(1) - 1  # without EOS
        for layer in range(3):
            weights = torch.zeros(src_ids.size(0), 2, n_tgt, n_src)
            weights[..., 0] = 0.1  # a little of everything at the first word
            for _, head, shift in [g for g in self.good if g[0] == layer]:
                for row, n in enumerate(real.tolist()):
                    for t in range(n):
                        weights[row, head, t + shift, n - 1 - t] = 0.4
            weights[..., -1] = 0.5  # EOS or padding, which must not matter
            probe.weights[f"decoder.{layer}.cross"] = weights


@pytest.fixture
def staged() -> type[Staged]:
    return Staged


@pytest.fixture(scope="session")
def symbols() -> Tokenizer:
    return Tokenizer.train([("1 2 3 4", "4 3 2 1")], DataConfig(tokenizer="symbols"), seed=1)


@pytest.fixture
def reversed_examples() -> list[tuple[str, str, list[tuple[int, int]]]]:
    """Sequences with their reverse, and which symbol is which."""
    examples = []
    for text in ("1 2 3", "2 4", "3 1 2 4", "4 4 1"):
        words = text.split()
        n = len(words)
        examples.append((text, " ".join(words[::-1]), [(n - 1 - t, t) for t in range(n)]))
    return examples
