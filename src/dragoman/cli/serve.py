"""``dragoman serve``: the web page and the HTTP API."""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import typer

from dragoman.cli.engine_options import EngineOption, Int8Option, ShortlistOption, engine_keywords
from dragoman.cli.options import examples
from dragoman.cli.output import say
from dragoman.errors import ConfigError, MissingExtraError

if TYPE_CHECKING:
    import socket

    from dragoman.server.models import Models

EPILOG = examples(
    "dragoman serve runs/deen",
    "dragoman serve runs/ende=en-de runs/deen=de-en --port 5000",
    "dragoman serve runs/deen --host 0.0.0.0 --api-key SECRET",
    "curl localhost:8000/translate -d 'q=Ein Hund rennt.' -d source=auto -d target=en",
)
PACKAGES = ("fastapi", "uvicorn", "python_multipart", "prometheus_client", "py3langid")


def serve(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN[=SRC-TGT]…",
            help="Runs or bundles, with their languages where they do not know them.",
        ),
    ],
    host: Annotated[
        str, typer.Option(help="Address to listen on; 0.0.0.0 for all of the machine.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8000,
    engine: EngineOption = None,
    int8: Int8Option = False,
    shortlist: ShortlistOption = False,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, cuda:1, …; chosen.")] = None,
    api_key: Annotated[
        str | None,
        typer.Option(
            envvar="DRAGOMAN_API_KEY",
            help="Serve only those who send it: Authorization: Bearer KEY, or api_key=KEY.",
        ),
    ] = None,
    cors: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ORIGIN",
            help="Let pages of this origin call the server, such as https://example.org, or *.",
        ),
    ] = None,
    max_chars: Annotated[int, typer.Option(min=1, help="Longest text, in characters.")] = 20_000,
    max_body: Annotated[int, typer.Option(min=1, help="Largest request, in bytes.")] = 2**20,
    max_waiting: Annotated[
        int, typer.Option(min=1, help="Texts that may wait for a model; more are refused.")
    ] = 4096,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds a request may take.")] = 60.0,
    batch_tokens: Annotated[
        int, typer.Option(min=1, help="Source tokens translated together, times the beam.")
    ] = 4096,
    batch_wait: Annotated[
        float, typer.Option(min=0, help="Milliseconds to wait for others to share a batch.")
    ] = 4.0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object, url and models, when ready.")
    ] = False,
) -> None:
    """Serve a web page to look into models, and an API that also speaks LibreTranslate's language.

    Only this machine can reach it unless --host says otherwise. Ctrl-C finishes what has begun and
    stops.
    """
    require_packages()
    from dragoman.server.app import create_app
    from dragoman.server.limits import Limits
    from dragoman.server.listening import bind, url_of
    from dragoman.server.listening import serve as run
    from dragoman.server.models import Wanted, load_models

    if api_key is not None and not api_key.strip():
        raise ConfigError("the API key is empty; give one, or leave --api-key away")
    limits = Limits(
        body_bytes=max_body,
        text_chars=max_chars,
        texts=min(Limits.texts, max_waiting),
        waiting=max_waiting,
        seconds=timeout,
    )
    wanted = [Wanted.parse(each) for each in runs]
    with bind(host, port) as listener:  # first: a port in use is said before models are read
        models = load_models(
            wanted,
            device=device,
            **engine_keywords(engine, int8, shortlist),
            batch_tokens=batch_tokens,
            wait=batch_wait / 1000,
            max_waiting=max_waiting,
        )
        app = create_app(models, limits=limits, api_key=api_key, cors=cors or ())

        def ready() -> None:
            tell(models, listener, has_key=api_key is not None)
            if as_json:
                described = [model.describe() for model in models.all]
                line = {"url": url_of(listener), "models": described}
                print(json.dumps(line, ensure_ascii=False), flush=True)

        run(app, listener, on_ready=ready, grace=timeout)
    say("stopped")


def require_packages() -> None:
    """Raise, saying what to install, unless the packages of the server are there."""
    for package in PACKAGES:
        if find_spec(package) is None:
            raise MissingExtraError(package, "serve", "The server")


def tell(models: Models, listener: socket.socket, *, has_key: bool) -> None:
    """Say where the server listens, and what it serves."""
    from dragoman.server.listening import is_loopback, url_of

    say(f"serving on {url_of(listener)}  (Ctrl-C stops)")
    for model in models.all:
        pair = model.languages
        note = ""
        if pair.note:
            note = f"  ({pair.note}; if that is wrong: {model.translator.path}=SOURCE-TARGET)"
        say(f"  {model.name}: {pair.source} to {pair.target}, {model.engine}{note}")
    if not is_loopback(listener) and not has_key:
        say("  Whoever can reach this machine can use it: --api-key lets only some.")
