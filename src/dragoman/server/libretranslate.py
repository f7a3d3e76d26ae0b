"""The routes of LibreTranslate, so that its clients work with a Dragoman unchanged.

Fields come as JSON, as a form or in the query; answers and errors have LibreTranslate's names and
words. What differs: the source of ``auto`` is found for each text of a list by itself, and
alternatives are given for HTML too. Files and suggestions are not taken.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from dragoman.server.detection import Detected
from dragoman.server.documents import Document, html_document, plain_document
from dragoman.server.jobs import Options
from dragoman.server.languages import language_name
from dragoman.server.models import Model
from dragoman.server.problems import Problem
from dragoman.server.reading import read_fields
from dragoman.server.service import Job, Service

AUTO = "auto"


def libretranslate_routes(service: Service) -> APIRouter:
    """The routes that LibreTranslate's clients call."""
    router = APIRouter(tags=["LibreTranslate"])
    models = service.models

    @router.post("/translate", openapi_extra=_form("q", "source", "target", optional=_OPTIONAL))
    async def translate(request: Request) -> Response:
        """Translate q, a text or a list of texts; source is a language code or auto."""
        fields = await read_fields(request)
        service.check_key(request, fields, status_without=400)
        wanted = _Wanted(service, fields)
        detected = await asyncio.to_thread(wanted.detect)
        return JSONResponse(await wanted.answer(request, detected))

    @router.get("/languages")
    async def languages() -> Response:
        """List the languages, and what each can be translated into."""
        found = [
            {"code": code, "name": language_name(code), "targets": models.targets(code)}
            for code in models.languages
        ]
        return JSONResponse(sorted(found, key=lambda each: str(each["name"])))

    @router.post("/detect", openapi_extra=_form("q", optional={"api_key": "string"}))
    async def detect(request: Request) -> Response:
        """Find out which of the served languages q is in."""
        fields = await read_fields(request)
        service.check_key(request, fields, status_without=400)
        texts = _texts(service, fields)
        found = await asyncio.to_thread(service.detector.detect, "\n".join(texts))
        return JSONResponse([each.to_dict() for each in found])

    @router.get("/frontend/settings")
    async def settings() -> Response:
        """Give the limits and the default languages, as LibreTranslate's own page asks for them."""
        pair = models.all[0].languages
        return JSONResponse(
            {
                "apiKeys": service.api_key is not None,
                "charLimit": service.limits.text_chars,
                "filesTranslation": False,
                "frontendTimeout": 500,
                "keyRequired": service.api_key is not None,
                "language": {
                    "source": {"code": pair.source, "name": language_name(pair.source)},
                    "target": {"code": pair.target, "name": language_name(pair.target)},
                },
                "suggestions": False,
                "supportedFilesFormat": [],
            }
        )

    return router


class _Wanted:
    """One request to translate, read and checked."""

    def __init__(self, service: Service, fields: dict[str, Any]) -> None:
        self.service = service
        self.texts = _texts(service, fields)
        self.is_list = isinstance(fields["q"], list)
        self.source = _code(service, fields, "source")
        self.target = _code(service, fields, "target")
        self.n_alternatives = _alternatives(service, fields.get("alternatives"))
        kind = fields.get("format")
        if kind not in (None, "", "text", "html"):
            raise Problem(400, f"{str(kind)[:40]} format is not supported")
        self.is_html = kind == "html"

    def detect(self) -> list[Detected]:
        """The language of each text: as given, or found out."""
        if self.source != AUTO:
            return [Detected(self.source, 100)] * len(self.texts)
        return [self._detect(text) for text in self.texts]

    def _detect(self, text: str) -> Detected:
        """The likeliest language that can be translated, or is what is wanted already."""
        found = self.service.detector.detect(text)
        if found[0].language == self.target:
            return found[0]
        models = self.service.models
        usable = [each for each in found if models.between(each.language, self.target) is not None]
        return usable[0] if usable else found[0]

    async def answer(self, request: Request, detected: Sequence[Detected]) -> dict[str, Any]:
        """What LibreTranslate would say."""
        read = html_document if self.is_html else plain_document
        documents = await asyncio.to_thread(lambda: [read(text) for text in self.texts])
        sources = [each.language for each in detected]
        texts, others = await self._translate(request, documents, sources)
        answer: dict[str, Any] = {"translatedText": texts if self.is_list else texts[0]}
        if self.source == AUTO:
            found = [each.to_dict() for each in detected]
            answer["detectedLanguage"] = found if self.is_list else found[0]
        if self.n_alternatives:
            answer["alternatives"] = others if self.is_list else others[0]
        return answer

    async def _translate(
        self, request: Request, documents: Sequence[Document], sources: Sequence[str]
    ) -> tuple[list[str], list[list[str]]]:
        """Each text translated, and its alternatives."""
        n_best = self.n_alternatives + 1 if self.n_alternatives else None
        numbers = [i for i, source in enumerate(sources) if source != self.target]
        jobs = []
        for i in numbers:
            model = self._model(sources[i])
            options = Options(n_best=n_best, alignments=self.is_html and model.can_align)
            jobs.append(Job(model=model, texts=documents[i].texts, options=options))
        found = dict(zip(numbers, await self.service.translate(request, jobs), strict=True))
        texts, others = list(self.texts), [list[str]() for _ in self.texts]
        for i, translations in found.items():  # a text in the wanted language stays as it is
            texts[i], others[i] = await asyncio.to_thread(
                documents[i].versions, translations, self.n_alternatives
            )
        return texts, others

    def _model(self, source: str) -> Model:
        model = self.service.models.between(source, self.target)
        if model is None:
            raise Problem(
                400,
                f"{language_name(self.target)} ({self.target}) is not available as a target"
                f" language from {language_name(source)} ({source})",
            )
        return model


# --- fields --------------------------------------------------------------------------------------


def _texts(service: Service, fields: dict[str, Any]) -> list[str]:
    """The texts of ``q``."""
    q = fields.get("q")
    if not q:
        raise Problem(400, "Invalid request: missing q parameter")
    texts = q if isinstance(q, list) else [q]
    if not all(isinstance(text, str) for text in texts):
        raise Problem(400, "Invalid request: q must be a text or a list of texts")
    service.limits.check_texts(texts)
    return texts


def _code(service: Service, fields: dict[str, Any], name: str) -> str:
    """The code of a language as it is served here, or ``auto`` for the source."""
    wanted = fields.get(name)
    if not wanted:
        raise Problem(400, f"Invalid request: missing {name} parameter")
    if not isinstance(wanted, str):
        raise Problem(400, f"Invalid request: {name} must be the code of a language")
    if name == "source" and wanted == AUTO:
        return AUTO
    code = service.models.code(wanted)
    if code is None:
        raise Problem(400, f"{wanted[:40]} is not supported")
    return code


def _alternatives(service: Service, wanted: Any) -> int:
    """How many alternatives are wanted."""
    if wanted is None or wanted == "":
        return 0
    is_number = isinstance(wanted, int) and not isinstance(wanted, bool)
    if isinstance(wanted, str) and len(wanted) < 10 and wanted.removeprefix("-").isdecimal():
        is_number, wanted = True, int(wanted)
    if not is_number:
        raise Problem(400, "Invalid request: alternatives parameter is not a number")
    most = service.limits.beam - 1
    if wanted > most:
        raise Problem(400, f"Invalid request: alternatives parameter must be <= {most}")
    return max(0, wanted)


_OPTIONAL = {"format": "string", "alternatives": "integer", "api_key": "string"}


def _form(*required: str, optional: dict[str, str]) -> dict[str, Any]:
    """The part of the OpenAPI description that says what fields a request has."""
    q = {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
    fields: dict[str, Any] = {name: {"type": "string"} for name in required} | {"q": q}
    fields |= {name: {"type": kind} for name, kind in optional.items()}
    schema = {"type": "object", "required": list(required), "properties": fields}
    kinds = ("application/json", "application/x-www-form-urlencoded", "multipart/form-data")
    return {"requestBody": {"required": True, "content": {k: {"schema": schema} for k in kinds}}}
