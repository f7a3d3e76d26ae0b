"""The application: all routes, with the guard around them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response

from dragoman import __version__
from dragoman.errors import DragomanError
from dragoman.server.api import api_routes
from dragoman.server.detection import Detector
from dragoman.server.guard import Guard
from dragoman.server.libretranslate import libretranslate_routes
from dragoman.server.limits import Limits
from dragoman.server.metrics import Metrics
from dragoman.server.models import Models
from dragoman.server.pages import STATIC, page_routes
from dragoman.server.problems import Problem
from dragoman.server.service import Service

DESCRIPTION = (
    "Translations by Transformers trained with Dragoman. The routes of LibreTranslate are here too,"
    ' for its clients. Every error is an object with one key, "error".'
)


def create_app(
    models: Models,
    *,
    limits: Limits | None = None,
    api_key: str | None = None,
    cors: Sequence[str] = (),
    static: Path = STATIC,
) -> FastAPI:
    """The server of these models; their threads work from its start to its end.

    ``cors`` are the origins whose pages may call it from a browser; ``static`` is the folder of
    the web page.
    """
    service = Service(
        models=models,
        limits=limits or Limits(),
        detector=Detector(models.languages),
        metrics=Metrics(),
        api_key=api_key,
    )
    app = FastAPI(
        title="Dragoman",
        version=__version__,
        description=DESCRIPTION,
        docs_url=None,  # FastAPI's page loads its scripts from elsewhere
        redoc_url=None,
        lifespan=lambda _: _at_work(service),
        exception_handlers={Problem: _problem, DragomanError: _library, HTTPException: _http},
    )
    if cors:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(cors),
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type"],
        )
    app.add_middleware(Guard, limits=service.limits, metrics=service.metrics)
    app.include_router(api_routes(service))
    app.include_router(libretranslate_routes(service))
    app.include_router(page_routes(app, static=static))
    return app


@asynccontextmanager
async def _at_work(service: Service) -> AsyncIterator[None]:
    """Keep the models' threads at work for as long as the server runs."""
    for model in service.models.all:
        model.batcher.start(on_batch=partial(service.metrics.translated, model.name))
    try:
        yield
    finally:
        for model in service.models.all:
            model.batcher.close()


async def _problem(_: Request, error: Problem) -> Response:
    return error.response()


async def _library(_: Request, error: DragomanError) -> Response:
    return Problem.of(error).response()


async def _http(_: Request, error: HTTPException) -> Response:
    """What the framework refuses by itself: no such route, no such method."""
    return Problem(error.status_code, str(error.detail), error.headers).response()
