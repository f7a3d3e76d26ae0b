"""One sentence as one HTML file: the explorer page with the explanation inside it.

The page that ``dragoman serve`` shows and this file are the same sources (``server/static``). Here
its style sheets and modules are put into the page, so that it opens from a disk, in ten years, with
no network. A content policy allows the one script in it by its hash and no request at all, so that
no text of the explanation could ever act, and all data is escaped besides.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dragoman import atomic

STATIC = Path(__file__).parents[1] / "server" / "static"
ENTRY = "app.js"

_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w.]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function\*?|const|let|class) (\w+)", re.MULTILINE)
_STYLE = re.compile(r'<link rel="stylesheet" href="static/([\w.]+)">\n')
_SCRIPT = re.compile(r'<script type="module" src="static/[\w.]+"></script>\n')
_POLICY = re.compile(r'(<meta http-equiv="Content-Security-Policy" content=")[^"]*(">)')


def write_page(explanation: Mapping[str, Any], path: Path) -> None:
    """Write the page about one explanation (``Explanation.to_json``) to a file."""
    atomic.write_text(path, page_html(explanation))


def page_html(explanation: Mapping[str, Any]) -> str:
    """The page about one explanation, complete in itself.

    >>> page = page_html({"version": 1, "source": {"text": "</script><script>alert(1)"}})
    >>> page.startswith("<!doctype html>"), "alert(1)" in page, "<script>alert(1)" in page
    (True, True, False)
    """
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    style = "".join(_read(name) for name in _STYLE.findall(page))
    script = bundle_modules(ENTRY)
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}';"
        " img-src data:; base-uri 'none'; form-action 'none'"
    )
    data = f'<script type="application/json" id="explanation">{escape_json(explanation)}</script>'
    page = _POLICY.sub(lambda found: found[1] + policy + found[2], page, count=1)
    page = _SCRIPT.sub("", _STYLE.sub("", page))
    page = page.replace("</head>", f"<style>{style}</style>\n</head>", 1)
    # The script comes last, when what it draws into is there.
    return page.replace("</body>", f"{data}\n<script>{script}</script>\n</body>", 1)


def escape_json(value: Mapping[str, Any]) -> str:
    r"""JSON that is safe inside a script element: no text in it can end the element.

    >>> escape_json({"text": "</script>\u2028&"})
    '{"text":"\\u003c/script\\u003e\\u2028\\u0026"}'
    """
    # ASCII alone: line separators and lone surrogates are escaped as well.
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def bundle_modules(entry: str) -> str:
    """One plain script that does what the module ``entry`` and all that it imports do.

    Browsers refuse modules of a page that was opened from a disk. Each module becomes a function
    of its own, called in the order of imports, which leaves what it exports in a table.

    >>> bundle_modules("dom.js").startswith('"use strict";')
    True
    """
    order: list[str] = []
    _visit(entry, order, on_the_way=())
    return '"use strict";\nconst modules = {};\n' + "".join(_as_function(name) for name in order)


def _visit(name: str, order: list[str], on_the_way: tuple[str, ...]) -> None:
    """Put a module into the order, after those that it imports."""
    if name in on_the_way:
        raise ValueError(
            f"modules import each other in a circle: {' → '.join((*on_the_way, name))}"
        )
    if name in order:
        return
    for _, other in _IMPORT.findall(_read(name)):
        _visit(other, order, (*on_the_way, name))
    order.append(name)


def _as_function(name: str) -> str:
    source = _read(name)
    exported = ", ".join(found[1] for found in _EXPORT.findall(source))
    body = _IMPORT.sub(_as_constants, source)
    body = _EXPORT.sub(r"\1 \2", body)
    return f'modules["{name}"] = (() => {{\n{body}return {{ {exported} }};\n}})();\n'


def _as_constants(found: re.Match[str]) -> str:
    """An import as a declaration: what is ``a as b`` there is ``a: b`` here."""
    names = found[1].replace(" as ", ": ")
    return f'const {{{names}}} = modules["{found[2]}"];\n'


def _read(name: str) -> str:
    return (STATIC / name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    """The name by which a content policy allows this very script or style."""
    digest = hashlib.sha256(content.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
