"""Servers with random models: they speak nonsense, by all the rules."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from fastapi import FastAPI
from starlette.testclient import TestClient

from dragoman.bundle import write_bundle
from dragoman.config import Config, DataConfig, DecodeConfig, ModelConfig
from dragoman.decoding.translator import Translator
from dragoman.model.transformer import Transformer
from dragoman.server.app import create_app
from dragoman.server.batcher import Batcher
from dragoman.server.languages import LanguagePair
from dragoman.server.limits import Limits
from dragoman.server.models import Model, Models
from dragoman.tokenize.tokenizer import Tokenizer
from dragoman.tokenize.vocabulary import EOS_ID

PAIRS = [
    ("Ein Hund rennt über die Wiese.", "A dog runs across the meadow."),
    ("Zwei Hunde schlafen im Garten.", "Two dogs sleep in the garden."),
    ("Die Katze schläft nicht.", "The cat does not sleep."),
    ("Eine Frau liest ein Buch, und ein Mann kocht.", "A woman reads a book, and a man cooks."),
    ("Der Mann liest, während die Frau kocht.", "The man reads while the woman cooks."),
    ("Im Garten rennt eine Katze.", "A cat runs in the garden."),
]


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    data = DataConfig(tokenizer="bpe", vocab_size=90, byte_fallback=False)
    return Tokenizer.train(PAIRS, data, seed=1)


def make_translator(tokenizer: Tokenizer, seed: int) -> Translator:
    size = tokenizer.tgt_vocab_size
    shape = ModelConfig(d_model=16, n_heads=2, n_layers=2, d_ff=24, vocab_size=size, tie="none")
    torch.manual_seed(seed)
    model = Transformer(shape).eval().requires_grad_(False)
    model.output.weight.mul_(8.0)
    # A lean towards EOS, so that sentences end, and at different lengths.
    model.decoder.layers[-1].feed_forward_norm.bias.add_(model.output.weight[EOS_ID], alpha=0.3)
    config = Config(model=shape, data=DataConfig(max_length=30), decode=DecodeConfig(max_extra=12))
    return Translator((model,), tokenizer, config)


@pytest.fixture(scope="session")
def translator(tokenizer: Tokenizer) -> Translator:
    """German to English, as far as it knows."""
    return make_translator(tokenizer, seed=3)


@pytest.fixture(scope="session")
def other(tokenizer: Tokenizer) -> Translator:
    """English to German, with weights of its own."""
    return make_translator(tokenizer, seed=4)


@pytest.fixture(scope="session")
def bundle(translator: Translator, tmp_path_factory: pytest.TempPathFactory):
    """The first translator on disk."""
    folder = tmp_path_factory.mktemp("runs") / "deen"
    write_bundle(
        folder,
        config=translator.config,
        weights={name: w.numpy() for name, w in translator.model.state_dict().items()},
        save_tokenizer=translator.tokenizer.save,
        record={},
    )
    return folder


@dataclass
class Made:
    """An app with what is behind it."""

    app: FastAPI
    models: Models

    @property
    def batcher(self) -> Batcher:
        return self.models.all[0].batcher


@pytest.fixture
def make_app(translator: Translator, other: Translator) -> Callable[..., Made]:
    """Makes a server of both directions."""

    def make(*, translators: tuple[Any, ...] = (translator, other), **options: Any) -> Made:
        limits = options.get("limits", Limits())
        pairs = [LanguagePair("de", "en"), LanguagePair("en", "de")]
        models = Models(
            [
                Model(
                    name=f"{pair.source}{pair.target}",
                    languages=pair,
                    translator=each,
                    batcher=Batcher(each, wait=0.0, max_waiting=limits.waiting),
                )
                for pair, each in zip(pairs, translators, strict=False)
            ]
        )
        return Made(create_app(models, **options), models)

    return make


@pytest.fixture
def made(make_app: Callable[..., Made]) -> Made:
    return make_app()


@pytest.fixture
def client(made: Made) -> Iterator[TestClient]:
    with TestClient(made.app) as client:
        yield client


@dataclass(frozen=True)
class Raw:
    """A request as it is sent."""

    path: str
    body: bytes
    headers: dict[str, str] = field(
        default_factory=lambda: {"Content-Type": "application/json"}, hash=False
    )
    method: str = "POST"


ROUTES: dict[str, dict[str, Any]] = {
    "/api/translate": {"text": "Ein Hund", "beam": 2, "n_best": 2, "prefix": "A"},
    "/api/explain": {"text": "Ein Hund", "beam": 2, "prefix": "A"},
    "/api/stream": {"text": "Ein Hund", "prefix": "A"},
    "/translate": {"q": "Ein Hund", "source": "de", "target": "en", "format": "text"},
    "/detect": {"q": "Ein Hund"},
}
# What no field takes, and what each field does not take.
NEVER: list[Any] = [{}, {"a": 1}, [None], [1, 2], [["a"]], [{}], True]
WRONG: dict[str, list[Any]] = {
    "text": [*NEVER, None, 1, 1.5, []],
    "model": [*NEVER, 1, 0.5, [], "no such model", "../deen", ""],
    "beam": [*NEVER, "2", 0, -1, 1.5, 10**6, 10**400, []],
    "n_best": [*NEVER, "2", 0, -1, 1.5, 10**6, []],
    "length_penalty": [*NEVER, "1", -1, 1e300, []],
    "prefix": [*NEVER, 1, [], "x" * 5000],
    "prefix_ids": [{}, "1", [None], ["1"], [-1], [10**9], [1.5], [True], 1, [5] * 5000],
    "heads_off": [{}, "1", [None], [1], [[1, 2]], [["a", -1]], [["decoder.0.cross"]], [["x", 0]]],
    "alignments": [{}, None, 1, "true", [], 0.5],
    "q": [{}, None, 1, 1.5, [], "", True, [None], [1], [["a"]], [{}], ["a", None]],
    "source": [*NEVER, None, 1, [], "", "xx", "../de", "de" * 500],
    "target": [*NEVER, None, 1, [], "", "xx", "auto", "de" * 500],
    "format": [*NEVER, 1, "xml", "text/html"],
    "alternatives": [{}, [1], True, "many", 1.5, 10**6, "9" * 5000],
}
FIELDS = {
    "/api/translate": "text model beam n_best length_penalty prefix alignments",
    "/api/explain": "text model beam length_penalty prefix prefix_ids heads_off",
    "/api/stream": "text model prefix",
    "/translate": "q source target format alternatives",
    "/detect": "q",
}
NOT_JSON = [
    b"", b" ", b"null", b"[]", b"1", b'"text"', b"true", b"{", b"}", b"{]", b"nul", b"'a'",
    b'{"text": NaN}', b'{"text": Infinity}', b'{"text": -Infinity}', b'{"text": 1e999}',
    b'{"text": "\\ud800"}', b'{"text": "\\udfff\\ud800"}', b'{"text": "a\\u0000b"}',
    b'{"q": "\\ud83d", "source": "de", "target": "en"}', b'{"\\ud800": 1}',
    b'{"q": "\\u0000", "source": "de", "target": "en"}', b'{"text": "\x00"}', b'{"text": "\n"}',
    b'{"text": "\xff\xfe"}', b'{"text": "\xed\xa0\x80"}', b"\xef\xbb\xbf{}", b"\x00" * 100,
    '{"text": "Ein Hund"}'.encode("utf-16"), b"[" * 100_000, b'{"a":' * 50_000,
    b'{"text": ' + b"[" * 50_000, b'{"text": ' + b"9" * 10_000 + b"}", b'{"text": "a"} x',
    b'{"text": "a",}', b'{"text": 01}', b"<xml/>", b"q=Ein+Hund&source=de&target=en",
]  # fmt: skip


@pytest.fixture(scope="session")
def malformed() -> list[Raw]:
    """Requests that no server should like, some hundreds of kinds of them."""
    found = [Raw(path, body) for path in ROUTES for body in NOT_JSON]
    for path, good in ROUTES.items():
        for name in FIELDS[path].split():
            values = WRONG[name]
            found += [Raw(path, json.dumps({**good, name: value}).encode()) for value in values]
        found += [Raw(path, json.dumps({k: v for k, v in good.items() if k not in drop}).encode())
                  for drop in (("text", "q"), tuple(good))]  # fmt: skip
        found.append(Raw(path, json.dumps(good).encode(), {"Content-Type": "text/plain"}))
        found.append(Raw(path, json.dumps(good).encode(), {**JSON, "Content-Encoding": "gzip"}))
        found.append(Raw(path, json.dumps(good).encode(), JSON, "PUT"))
        found += [Raw(path, body) for body in _broken(json.dumps(good).encode(), 20)]
        unknown = {**good, "unknown": 1}
        if path.startswith("/api"):
            found.append(Raw(path, json.dumps(unknown).encode()))
    found += [Raw(path, body, kind) for path in ("/translate", "/detect") for body, kind in FORMS]
    found += [Raw(path, b"", {}, "GET") for path in QUERIES]
    return found


JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
MULTIPART = {"Content-Type": "multipart/form-data; boundary=x"}
FORMS: list[tuple[bytes, dict[str, str]]] = [
    (b"", FORM),
    (b"q=", FORM),
    (b"q=%ff&source=de&target=en", FORM),
    (b"q=%ED%A0%80&source=de&target=en", FORM),
    (b"q=a%00b&source=de&target=en", FORM),
    (b"\xff\xfe=1", FORM),
    (b"&" * 5000, FORM),
    (b"", MULTIPART),
    (b"--x\r\n", MULTIPART),
    (b"--x\r\nContent-Disposition: form-data\r\n\r\na\r\n--x--", MULTIPART),
    (b'--x\r\nContent-Disposition: form-data; name="q"; filename="q"\r\n\r\na\r\n--x--', MULTIPART),
    (b"--y\r\nnothing\r\n", MULTIPART),
    (b"--x", {"Content-Type": "multipart/form-data"}),
    (b"--x", {"Content-Type": "multipart/form-data; boundary="}),
]
QUERIES = [
    "/api/stream",
    "/api/stream?text=%ff&prefix=%ff",
    "/api/stream?text=a%00b",
    "/api/stream?text=%ED%A0%80",
    "/api/stream?text=a&text=b",
    "/api/stream?text=a&model=none",
    "/api/stream?text=a&beam=2",
    "/nothing",
    "/static/nothing.js",
    "/api",
    "/api/",
    "/translate",
]


def _broken(good: bytes, n: int) -> list[bytes]:
    """A JSON object cut short, or with a byte in it that is no UTF-8."""
    rng = random.Random(1)
    cut = [good[: rng.randrange(1, len(good))] for _ in range(n // 2)]
    places = [rng.randrange(len(good)) for _ in range(n // 2)]
    return cut + [good[:at] + bytes([rng.randrange(128, 256)]) + good[at:] for at in places]
