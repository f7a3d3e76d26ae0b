"""What a browser is shown: the explorer's files, and a page that lists the routes.

The explorer's files are those of one folder, found by their names; a path is never put together
from what a client wrote. The list of routes is made here, since the usual one loads its scripts
from elsewhere.
"""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from dragoman.server.problems import Problem

STATIC = Path(__file__).parent / "static"
INDEX = "index.html"
CONTENT_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
}
STYLE = """
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 0; } code, pre { font-family: ui-monospace, monospace; }
pre { background: #8882; padding: .75rem; overflow-x: auto; } .method { color: #06c; }
:root { color-scheme: light dark; } @media (prefers-color-scheme: dark) { .method { color: #7bf; } }
"""


def page_routes(app: FastAPI, *, static: Path = STATIC) -> APIRouter:
    """The routes of the pages; the one for files takes every path that no other takes."""
    router = APIRouter(include_in_schema=False)

    @router.get("/docs")
    async def docs() -> Response:
        digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
        policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'"
        page = list_routes(app.openapi())
        return HTMLResponse(page, headers={"Content-Security-Policy": policy})

    @router.api_route("/{path:path}", methods=["GET", "HEAD"])
    async def file(path: str, request: Request) -> Response:
        name = path.removeprefix("static/") or INDEX
        found = find_file(static, name)
        if found is None:
            raise Problem(404, "there is no such page; /docs lists what there is")
        content = found.read_bytes()
        tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
        # A browser keeps the file and asks each time whether it is still the same.
        headers = {"Cache-Control": "no-cache", "ETag": tag}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, headers={**headers, "Content-Type": CONTENT_TYPES[found.suffix]})

    return router


def find_file(folder: Path, name: str) -> Path | None:
    """The file of this name below a folder, if it is one to be shown.

    >>> find_file(Path("no/such/folder"), "../secret.txt") is None
    True
    """
    if not folder.is_dir():
        return None
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix in CONTENT_TYPES]
    return {path.relative_to(folder).as_posix(): path for path in files}.get(name)


def list_routes(description: dict[str, Any]) -> str:
    """An HTML page that lists the routes of an OpenAPI description."""
    parts = [
        f"{_heading(path, method)}<p>{escape(route.get('description', ''))}</p>{_fields(route)}"
        for path, methods in description["paths"].items()
        for method, route in methods.items()
    ]
    title = escape(f"{description['info']['title']} {description['info']['version']}")
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body>'
        f"<h1>{title}</h1><p>{escape(description['info'].get('description', ''))}</p>"
        '<p>The same for machines: <a href="openapi.json">openapi.json</a></p>'
        f"{''.join(parts)}</body></html>"
    )


def _heading(path: str, method: str) -> str:
    return (
        f'<h2><code><span class="method">{escape(method.upper())}</span> {escape(path)}</code></h2>'
    )


def _fields(route: dict[str, Any]) -> str:
    """What a route takes, as a block of code."""
    content = route.get("requestBody", {}).get("content", {})
    if content:
        schema = next(iter(content.values()))["schema"]
        kinds = escape(", ".join(content))
        shown = {name: _type(field) for name, field in schema.get("properties", {}).items()}
        return f"<p>{kinds}</p><pre>{escape(json.dumps(shown, indent=2, ensure_ascii=False))}</pre>"
    asked = {each["name"]: _type(each["schema"]) for each in route.get("parameters", ())}
    if not asked:
        return ""
    return f"<p>query</p><pre>{escape(json.dumps(asked, indent=2, ensure_ascii=False))}</pre>"


def _type(field: dict[str, Any]) -> str:
    """The type of a field in words, and what it means."""
    options = [
        option.get("type", "…") for option in field.get("anyOf", field.get("oneOf", [field]))
    ]
    meaning = field.get("description")
    return " | ".join(options) + (f": {meaning}" if meaning else "")
