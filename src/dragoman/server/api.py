"""``/api``: translating, explaining, streaming; what our own page speaks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from dragoman import __version__
from dragoman.server.jobs import Options
from dragoman.server.metrics import CONTENT_TYPE
from dragoman.server.models import Model
from dragoman.server.problems import Problem
from dragoman.server.reading import read_json, read_query
from dragoman.server.schemas import (
    Body,
    ErrorAnswer,
    ExplainBody,
    StreamBody,
    TranslateBody,
    translation_json,
    validate,
)
from dragoman.server.service import Job, Service
from dragoman.server.streaming import stream

ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorAnswer, "description": "a request that makes no sense"},
    403: {"model": ErrorAnswer, "description": "a wrong API key"},
    413: {"model": ErrorAnswer, "description": "a body that is too large"},
    503: {"model": ErrorAnswer, "description": "a full queue; Retry-After says when to come again"},
    504: {"model": ErrorAnswer, "description": "no answer in time"},
}


def api_routes(service: Service) -> APIRouter:
    """The routes of our own API."""
    router = APIRouter(tags=["dragoman"])

    @router.post("/api/translate", responses=ERRORS, openapi_extra=takes(TranslateBody))
    async def translate(request: Request) -> Response:
        """Translate one text, or several: the best translations, with scores and word links."""
        body = validate(TranslateBody, await authorized(service, request))
        texts = [body.text] if isinstance(body.text, str) else body.text
        service.limits.check_texts(texts)
        model = service.models.named(body.model)
        check_prefix(service, model, body.prefix)
        options = Options(body.beam, body.n_best, body.length_penalty, body.alignments)
        job = Job(model=model, texts=texts, options=options, prefix=body.prefix)
        (found,) = await service.translate(request, [job])
        return JSONResponse(
            {"model": model.name, "translations": [translation_json(t) for t in found]}
        )

    @router.post("/api/explain", responses=ERRORS, openapi_extra=takes(ExplainBody))
    async def explain(request: Request) -> Response:
        """Show how a sentence is translated: attention, alignment, alternatives, the beam."""
        body = validate(ExplainBody, await authorized(service, request))
        service.limits.check_texts([body.text])
        service.check_options(Options(body.beam))
        model = service.models.named(body.model)
        check_prefix(service, model, body.prefix, body.prefix_ids)
        future = service.enter(model.batcher.run, lambda: explanation(model, body))
        (found,) = await service.wait(request, [future])
        return JSONResponse(found)

    @router.get("/api/models")
    async def models() -> Response:
        """List what is served."""
        return JSONResponse({"models": [model.describe() for model in service.models.all]})

    @router.get("/api/stream", responses=ERRORS, openapi_extra=asks(StreamBody))
    async def stream_query(request: Request) -> Response:
        """Translate greedily and tell every piece as it is found, as server-sent events."""
        fields = dict(read_query(request))
        service.check_key(request, fields)
        fields.pop("api_key", None)
        return start_stream(fields)

    @router.post("/api/stream", responses=ERRORS, openapi_extra=takes(StreamBody))
    async def stream_body(request: Request) -> Response:
        """Translate greedily and tell every piece as it is found, as server-sent events."""
        return start_stream(await authorized(service, request))

    def start_stream(fields: dict[str, Any]) -> Response:
        body = validate(StreamBody, fields)
        service.limits.check_texts([body.text])
        model = service.models.named(body.model)
        check_prefix(service, model, body.prefix)
        events = stream(service, model, body.text, prefix=body.prefix)
        headers = {"X-Accel-Buffering": "no"}  # a proxy must not hold pieces back
        return StreamingResponse(events, media_type="text/event-stream", headers=headers)

    @router.head("/health", include_in_schema=False)
    @router.get("/health")
    async def health() -> Response:
        """Say that the server is up."""
        names = [model.name for model in service.models.all]
        return JSONResponse({"status": "ok", "version": __version__, "models": names})

    @router.get("/metrics")
    async def metrics(request: Request) -> Response:
        """Give the counters of this server, as Prometheus reads them."""
        service.check_key(request, {})
        for model in service.models.all:
            service.metrics.waiting(model.name, model.batcher.n_waiting)
        return Response(service.metrics.text(), headers={"Content-Type": CONTENT_TYPE})

    return router


async def authorized(service: Service, request: Request) -> dict[str, Any]:
    """The JSON object of a request that may be served, without its key."""
    data = await read_json(request)
    service.check_key(request, data)
    data.pop("api_key", None)
    return data


def explanation(model: Model, body: ExplainBody) -> dict[str, Any]:
    """The explanation of a sentence; runs on the model's thread."""
    explain = getattr(model.translator, "explain", None)
    if explain is None:
        raise Problem(501, f"the engine {model.engine} cannot explain; serve with --engine torch")
    found = explain(
        body.text,
        beam=body.beam,
        length_penalty=body.length_penalty,
        prefix=body.prefix,
        prefix_ids=body.prefix_ids,
        heads_off=tuple(body.heads_off),
    )
    return dict(found.to_json())


def check_prefix(
    service: Service, model: Model, text: str | None, ids: Sequence[int] | None = None
) -> None:
    """Refuse a beginning that is longer than the model's sentences, or has ids of no piece."""
    if text is not None and len(text) > service.limits.prefix_chars:
        raise Problem(400, f"prefix: at most {service.limits.prefix_chars:,} characters")
    tokenizer, most = model.translator.tokenizer, model.translator.max_pieces
    ids = tokenizer.encode(text or "", "tgt") if ids is None else ids
    if len(ids) > most:
        raise Problem(400, f"prefix: {len(ids):,} pieces; this model's sentences have {most:,}")
    if any(number >= tokenizer.tgt_vocab_size for number in ids):
        raise Problem(400, f"prefix_ids: below {tokenizer.tgt_vocab_size:,}, the number of pieces")


# --- OpenAPI -------------------------------------------------------------------------------------


def takes(form: type[Body]) -> dict[str, Any]:
    """The part of the OpenAPI description that says what a body holds."""
    content = {"application/json": {"schema": form.model_json_schema()}}
    return {"requestBody": {"required": True, "content": content}}


def asks(form: type[Body]) -> dict[str, Any]:
    """The part of the OpenAPI description that says what a query holds."""
    schema = form.model_json_schema()
    required = schema.get("required", ())
    return {
        "parameters": [
            {"name": name, "in": "query", "required": name in required, "schema": field}
            for name, field in schema["properties"].items()
        ]
    }
