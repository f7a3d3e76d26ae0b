"""What a client sends, read with care: JSON, forms and queries, and nothing that is neither.

Text that passes here is Unicode that can be encoded again: no lone surrogates, no NUL; numbers are
finite. How large a body may be is the guard's business.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import AsyncGenerator, Iterable
from typing import Any, NoReturn
from urllib.parse import parse_qsl

from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from dragoman.server.problems import Problem

MAX_FIELDS = 1100  # of a form; a text is a field
_UNUSABLE = re.compile("[\0\ud800-\udfff]")


async def read_json(request: Request) -> dict[str, Any]:
    """The JSON object that a request carries."""
    if not _is_json(request):
        raise Problem(415, "send JSON, with the header Content-Type: application/json")
    return parse_json(await _body(request))


async def read_fields(request: Request) -> dict[str, Any]:
    """The fields of a JSON object, a form and the query; several of one name are a list."""
    fields: dict[str, Any] = dict(read_query(request))
    kind = _content_type(request)
    if _is_json(request):
        return fields | parse_json(await _body(request))
    if kind == "application/x-www-form-urlencoded":
        return fields | _collected(_parse_form(await _body(request)))
    if kind == "multipart/form-data":
        return fields | _collected(await _parse_multipart(request))
    return fields


def read_query(request: Request) -> dict[str, str | list[str]]:
    """The fields of the query string."""
    return _collected(_parse_form(request.scope.get("query_string", b"")))


def parse_json(body: bytes) -> dict[str, Any]:
    """The object that JSON stands for; what is no JSON, or no object, is refused.

    >>> parse_json(b'{"text": "Ein Hund"}')
    {'text': 'Ein Hund'}
    >>> parse_json(b'{"text": "Ein Hund"')
    Traceback (most recent call last):
    dragoman.server.problems.Problem: Invalid JSON format: Expecting ',' delimiter, at character 20
    """
    try:
        value = json.loads(body.decode("utf-8"), parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise Problem(
            400, f"Invalid JSON format: {error.msg}, at character {error.pos + 1}"
        ) from None
    except UnicodeDecodeError:
        raise Problem(400, "Invalid JSON format: the body is not UTF-8") from None
    except RecursionError:
        raise Problem(400, "Invalid JSON format: nested too deeply") from None
    except ValueError as error:  # a number with thousands of digits
        raise Problem(400, f"Invalid JSON format: {error}") from None
    if not isinstance(value, dict):
        raise Problem(400, "Invalid JSON format: send one JSON object")
    _check(value)
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number in JSON")


def _check(value: Any) -> None:
    """Refuse text that cannot be encoded and numbers that are not finite, however deep."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            if _UNUSABLE.search(value):
                raise Problem(400, "the text has a lone surrogate or a NUL, which is no character")
        elif isinstance(value, float):
            if not math.isfinite(value):
                raise Problem(400, "a number is too large")
        elif isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, dict):
            waiting.extend(value)
            waiting.extend(value.values())


# --- forms ---------------------------------------------------------------------------------------


def _content_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _is_json(request: Request) -> bool:
    kind = _content_type(request)
    return kind == "application/json" or (
        kind.startswith("application/") and kind.endswith("+json")
    )


async def _body(request: Request) -> bytes:
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Problem(415, "send the body as it is, without Content-Encoding")
    return await request.body()


def _parse_form(body: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            body.decode("utf-8"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=MAX_FIELDS,
        )
    except UnicodeDecodeError:
        raise Problem(400, "Invalid request: the fields are not UTF-8") from None
    except ValueError as error:
        raise Problem(400, f"Invalid request: {error}") from None


async def _parse_multipart(request: Request) -> list[tuple[str, str]]:
    body = await _body(request)

    async def stream() -> AsyncGenerator[bytes, None]:
        yield body
        yield b""

    parser = MultiPartParser(
        request.headers, stream(), max_files=0, max_fields=MAX_FIELDS, max_part_size=len(body) + 1
    )
    try:
        form = await parser.parse()
    except (MultiPartException, KeyError, ValueError, LookupError) as error:
        reason = getattr(error, "message", None) or "the form is damaged"
        raise Problem(400, f"Invalid request: {reason}") from None
    return [(name, value) for name, value in form.multi_items() if isinstance(value, str)]


def _collected(fields: Iterable[tuple[str, str]]) -> dict[str, str | list[str]]:
    """Fields by name, several of one name as a list."""
    found: dict[str, list[str]] = {}
    for name, value in fields:
        found.setdefault(name, []).append(value)
    _check(found)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}
