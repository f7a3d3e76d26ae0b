"""The page as one file: whole, closed to the outside, and safe whatever the texts are."""

import base64
import hashlib
import json
import re
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.pictures import page
from dragoman.pictures.page import STATIC, bundle_modules, escape_json, page_html, write_page

SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
DATA = re.compile(r'<script type="application/json" id="explanation">(.*?)</script>', re.DOTALL)


def allowed(html: str, kind: str) -> str:
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)
    (found,) = re.findall(rf"{kind} '(sha256-[^']*)'", policy)
    return found


def digest(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def test_the_page_holds_its_data_styles_and_modules():
    html = page_html({"version": 1, "source": {"text": "Ein Hund"}})
    assert json.loads(DATA.findall(html)[0]) == {"version": 1, "source": {"text": "Ein Hund"}}
    assert "--paper" in STYLE.findall(html)[0]
    (script,) = SCRIPT.findall(html)
    for module in STATIC.glob("*.js"):
        assert f'modules["{module.name}"] = ' in script


def test_the_page_asks_for_nothing_from_outside():
    html = page_html({"version": 1})
    assert not re.findall(r'(?:src|href)="(?!data:|#)[^"]*"', html)
    assert "@import" not in html
    assert "url(" not in html
    assert "default-src 'none'" in html
    assert "connect-src" not in html


def test_the_policy_allows_the_one_script_and_the_one_style():
    html = page_html({"version": 1})
    (script,), (style,) = SCRIPT.findall(html), STYLE.findall(html)
    assert allowed(html, "script-src") == digest(script)
    assert allowed(html, "style-src") == digest(style)


@pytest.mark.parametrize(
    "text",
    ["</script><script>alert(1)</script>", "<!--<script>", "\u2028\u2029", "\ud800", "&amp;", "\0"],
)
def test_no_text_can_end_the_data(text):
    html = page_html({"text": text})
    assert len(re.findall("<script", html)) == len(re.findall("</script", html)) == 2
    assert "<!--" not in html
    (data,) = DATA.findall(html)
    assert json.loads(data) == {"text": text}
    assert not set(data) & set("<>&\u2028\u2029")
    html.encode("utf-8")


@settings(deadline=None, max_examples=200)
@given(st.text(st.characters(), max_size=40))
def test_any_text_comes_back_as_it_was(text):
    escaped = escape_json({"text": text})
    assert escaped.isascii()
    assert not set(escaped) & set("<>&")
    assert json.loads(escaped) == {"text": text}


def test_numbers_that_are_no_json_are_refused():
    with pytest.raises(ValueError, match="JSON"):
        page_html({"score": float("nan")})


def test_the_file_is_written_whole(tmp_path):
    path = tmp_path / "page.html"
    write_page({"text": "größer"}, path)
    assert path.read_text(encoding="utf-8") == page_html({"text": "größer"})
    assert list(tmp_path.iterdir()) == [path]


def test_modules_come_after_what_they_import():
    script = bundle_modules("app.js")
    for module in STATIC.glob("*.js"):
        source = module.read_text(encoding="utf-8")
        for other in re.findall(r'from "\./([\w.]+)"', source):
            assert script.index(f'modules["{other}"] = ') < script.index(
                f'modules["{module.name}"] = '
            )
    assert not re.findall(r"^\s*(?:import|export)\b", script, re.MULTILINE)


def test_names_are_imported_and_exported(tmp_path, monkeypatch):
    (tmp_path / "app.js").write_text(
        'import { one, two as zwei } from "./b.js";\nexport const sum = one + zwei();\n'
    )
    (tmp_path / "b.js").write_text(
        "export const one = 1;\nexport function two() {\n  return 1 + one;\n}\n"
    )
    monkeypatch.setattr(page, "STATIC", tmp_path)
    script = bundle_modules("app.js")
    assert 'modules["b.js"] = (() => {\nconst one = 1;' in script
    assert "return { one, two };" in script
    assert 'const { one, two: zwei } = modules["b.js"];' in script


def test_modules_in_a_circle_are_refused(tmp_path, monkeypatch):
    for name, other in [("app", "b"), ("b", "app")]:
        (tmp_path / f"{name}.js").write_text(f'import {{ x }} from "./{other}.js";\n')
    monkeypatch.setattr(page, "STATIC", tmp_path)
    with pytest.raises(ValueError, match=r"app\.js → b\.js → app\.js"):
        bundle_modules("app.js")


def test_user_text_is_never_made_markup_by_our_modules():
    for module in STATIC.glob("*.js"):
        source = module.read_text(encoding="utf-8")
        banned = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function"
        assert not re.findall(banned, source), module.name
        assert 'setAttribute("style"' not in source


def test_the_page_needs_no_heavy_package():
    code = (
        "import sys, dragoman.pictures.page; print('torch' in sys.modules, 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
