"""A browser, a model that has learned six sentences, and a page that is watched."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
import torch
from torch.nn import functional

from dragoman.batches.batch import make_batch
from dragoman.bundle import write_bundle
from dragoman.config import Config, DataConfig, DecodeConfig, ModelConfig
from dragoman.decoding.translator import Translator
from dragoman.model.transformer import Transformer
from dragoman.tokenize.tokenizer import Tokenizer

PAIRS = [
    ("Ein Hund rennt über die Wiese.", "A dog runs across the meadow."),
    ("Zwei Hunde schlafen im Garten.", "Two dogs sleep in the garden."),
    ("Die Katze schläft nicht.", "The cat does not sleep."),
    ("Eine Frau liest ein Buch.", "A woman reads a book."),
    ("Der Mann kocht, während die Frau liest.", "The man cooks while the woman reads."),
    ("Im Garten rennt eine Katze.", "A cat runs in the garden."),
]


def unable(reason: str) -> NoReturn:
    """Skip, saying why; or fail, where a browser is required."""
    if os.environ.get("DRAGOMAN_REQUIRE_BROWSER") == "1":
        pytest.fail(f"DRAGOMAN_REQUIRE_BROWSER is set, but {reason}")
    pytest.skip(f"no test in a real browser: {reason}")


# One for each module, not for the session: while it lives, no other test could run asyncio.
@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, the one installed or Playwright's own."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        unable("the Python package playwright is not installed (pip install playwright)")
    names = ("chromium", "chromium-browser", "google-chrome")
    executable = next(filter(None, map(shutil.which, names)), None)
    with sync_playwright() as playwright:
        try:
            opened = playwright.chromium.launch(executable_path=executable)
        except Error as error:
            reason = str(error).strip().splitlines()[0]
            unable(f"Chromium does not start ({reason}); try: playwright install chromium")
        yield opened
        opened.close()


class Watched:
    """A page of which every request and complaint is noted."""

    def __init__(self, page: Any) -> None:
        self.page, self.requests, self.complaints = page, [], []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._hear)

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens an address in a new window; at the end, no page may have complained or gone outside."""
    opened: list[tuple[Watched, str]] = []

    def go(url: str, *, offline: bool = False, **window: Any) -> Any:
        window = {"viewport": {"width": 1200, "height": 900}, **window}
        context = browser.new_context(**window, offline=offline)
        context.set_default_timeout(15_000)
        watched = Watched(context.new_page())
        opened.append((watched, url))
        watched.page.goto(url)
        watched.page.requests_made = watched.requests
        watched.page.complaints = watched.complaints
        return watched.page

    yield go
    for watched, url in opened:
        home = url if url.startswith("file:") else url.rstrip("/") + "/"
        outside = [r for r in watched.requests if not r.startswith((home, "data:"))]
        watched.page.context.close()
        assert not outside
        assert not watched.complaints


@pytest.fixture(scope="session")
def translator() -> Translator:
    """A small model that knows the six sentences by heart, and little else."""
    # Bytes stand for what the six sentences never show, so that any text can be typed.
    data = DataConfig(tokenizer="bpe", vocab_size=420, byte_fallback=True)
    tokenizer = Tokenizer.train(PAIRS, data, seed=1)
    shape = ModelConfig(
        d_model=32,
        n_heads=4,
        n_layers=2,
        d_ff=48,
        dropout=0.0,
        norm="pre",
        vocab_size=tokenizer.tgt_vocab_size,
    )
    torch.manual_seed(1)
    model = Transformer(shape)
    batch = make_batch((tokenizer.encode(s, "src"), tokenizer.encode(t, "tgt")) for s, t in PAIRS)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.004)
    for _ in range(120):
        optimizer.zero_grad()
        logits = model(batch.src_ids, batch.tgt_in)
        loss = functional.cross_entropy(
            logits.flatten(0, 1), batch.tgt_out.flatten(), ignore_index=0
        )
        loss.backward()
        optimizer.step()
    config = Config(model=shape, data=data, decode=DecodeConfig(max_extra=6))
    return Translator((model.eval().requires_grad_(False),), tokenizer, config)


@pytest.fixture(scope="session")
def write_explanation(
    translator: Translator, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., tuple[str, dict[str, Any]]]:
    """Writes the page of a text as a file; gives its address and the explanation in it."""
    from dragoman.pictures.page import write_page

    explain = functools.cache(lambda text: translator.explain(text, effects=True).to_json())

    def write(text: str, **changes: Any) -> tuple[str, dict[str, Any]]:
        explanation = {**explain(text), **changes}
        path: Path = tmp_path_factory.mktemp("page") / "page.html"
        write_page(explanation, path)
        return path.as_uri(), explanation

    return write


@pytest.fixture(scope="session")
def server(translator: Translator, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of ``dragoman serve`` with two models; the second has learned nothing."""
    folder = tmp_path_factory.mktemp("served")
    torch.manual_seed(2)
    models = {"six": translator.model, "none": Transformer(translator.config.model)}
    for name, model in models.items():
        write_bundle(
            folder / name,
            config=translator.config,
            weights={key: w.numpy() for key, w in model.state_dict().items()},
            save_tokenizer=translator.tokenizer.save,
            record={},
        )
    command = [sys.executable, "-m", "dragoman", "serve", "six=de-en", "none=en-de"]
    log = folder / "log.txt"
    with log.open("w") as stderr:
        process = subprocess.Popen(
            [*command, "--port", "0", "--json"],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, log.read_text()
    yield json.loads(line)["url"]
    process.terminate()
    process.communicate(timeout=30)
