"""The routes under /api, /health, /metrics, and the pages."""

import json
import re

import pytest
from starlette.testclient import TestClient

from dragoman.server.limits import Limits

TEXT = "Ein Hund rennt."


def events(body: str) -> list[tuple[str, dict]]:
    """Server-sent events, read as the standard says."""
    found = []
    for block in body.split("\n\n")[:-1]:
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        found.append((fields["event"], json.loads(fields["data"])))
    return found


def test_one_text_is_translated_as_python_would(client, translator):
    found = client.post("/api/translate", json={"text": TEXT, "alignments": True})
    (expected,) = translator.translate([TEXT], alignments=True)
    assert found.status_code == 200
    assert found.json()["model"] == "deen"
    (translation,) = found.json()["translations"]
    assert translation["text"] == expected.text
    assert translation["tokens"] == list(expected.tokens)
    assert translation["alignment"] == [list(link) for link in expected.alignment]
    assert translation["score"] == pytest.approx(expected.score)
    assert set(translation) == {
        "text", "score", "log_prob", "tokens", "alignment", "alternatives", "notes"
    }  # fmt: skip


def test_several_texts_with_options_go_to_the_model_that_was_named(client, other):
    body = {"text": [TEXT, "", "Ein"], "model": "ende", "beam": 3, "n_best": 2, "prefix": "Der"}
    found = client.post("/api/translate", json=body).json()
    expected = other.translate([TEXT, "", "Ein"], beam=3, n_best=2, prefixes=["Der"] * 3)
    assert found["model"] == "ende"
    assert [t["text"] for t in found["translations"]] == [t.text for t in expected]
    assert [[a["text"] for a in t["alternatives"]] for t in found["translations"]] == [
        [a.text for a in t.alternatives] for t in expected
    ]
    assert found["translations"][0]["alignment"] is None


def test_the_models_are_described(client, translator):
    first, second = client.get("/api/models").json()["models"]
    assert (first["name"], first["source"], first["target"]) == ("deen", "de", "en")
    assert second["name"] == "ende"
    n_params = sum(p.numel() for p in translator.model.parameters())
    assert first["params"] == n_params
    assert (first["n_heads"], first["vocab_size"], first["engine"]) == (2, 90, "torch")


class Explaining:
    """A translator whose explanation is what it was asked for."""

    def __init__(self, translator):
        self._translator = translator

    def __getattr__(self, name):
        return getattr(self._translator, name)

    def explain(self, text, **options):
        class Explanation:
            def to_json(self):
                return {"text": text, **options}

        return Explanation()


def test_an_explanation_is_asked_for_as_the_client_wishes(make_app, translator):
    made = make_app(translators=(Explaining(translator),))
    body = {"text": TEXT, "beam": 2, "prefix_ids": [5, 6], "heads_off": [["decoder.1.cross", 0]]}
    with TestClient(made.app) as client:
        found = client.post("/api/explain", json=body)
    assert found.json() == {
        "text": TEXT,
        "beam": 2,
        "length_penalty": None,
        "prefix": None,
        "prefix_ids": [5, 6],
        "heads_off": [["decoder.1.cross", 0]],
    }


def test_the_real_explanation_comes_through(client, translator):
    if not hasattr(translator, "explain"):
        pytest.skip("this Translator cannot explain")
    found = client.post("/api/explain", json={"text": TEXT})
    assert found.status_code == 200
    assert found.json()["source"]["text"] == TEXT
    refused = client.post("/api/explain", json={"text": ""})
    assert refused.status_code == 400
    assert refused.json()["error"]


def test_an_engine_that_cannot_explain_says_so(make_app, translator):
    class Mute(Explaining):
        explain = None

    with TestClient(make_app(translators=(Mute(translator),)).app) as client:
        found = client.post("/api/explain", json={"text": TEXT})
    assert found.status_code == 501
    assert "--engine torch" in found.json()["error"]


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_stream_tells_every_piece_and_then_the_whole(client, translator, method):
    fields = {"text": TEXT, "prefix": "The"}
    asked = {"params": fields} if method == "GET" else {"json": fields}
    found = client.request(method, "/api/stream", **asked)
    (expected,) = translator.translate([TEXT], beam=1, prefixes=["The"])
    assert found.headers["content-type"].startswith("text/event-stream")
    *tokens, (last, whole) = events(found.text)
    assert [name for name, _ in tokens] == ["token"] * len(expected.tokens)
    assert (last, whole["text"]) == ("done", expected.text)
    assert tuple(data["piece"] for _, data in tokens) == expected.tokens
    assert tokens[-1][1]["text"] == expected.text
    told = sum(data["log_prob"] for _, data in tokens)
    assert whole["log_prob"] <= told  # the end of the sentence is not told
    assert whole["log_prob"] == pytest.approx(expected.log_prob)


def test_the_stream_of_a_text_in_parts_tells_them_in_order(client, translator):
    text = "Der Mann liest. " * 6 + "Die Frau kocht."
    (expected,) = translator.translate([text], beam=1)
    assert "split" in expected.notes
    *tokens, (_, whole) = events(client.get("/api/stream", params={"text": text}).text)
    assert whole["text"] == expected.text
    assert tuple(data["piece"] for _, data in tokens) == expected.tokens
    assert tokens[-1][1]["text"] == expected.text


def test_an_error_while_streaming_is_an_event(make_app, translator):
    class Broken(Explaining):
        models = ()

        def translate(self, texts, **options):
            from dragoman.errors import DragomanError

            raise DragomanError("the weights are damaged")

    with TestClient(make_app(translators=(Broken(translator),)).app) as client:
        found = client.get("/api/stream", params={"text": TEXT})
    assert events(found.text) == [("error", {"error": "the weights are damaged"})]


def test_health_says_what_is_served(client):
    assert client.get("/health").json()["status"] == "ok"
    assert client.head("/health").status_code == 200


def test_metrics_count_answers_and_sentences(client):
    client.post("/api/translate", json={"text": [TEXT, TEXT]})
    client.get("/no/such/page")
    found = client.get("/metrics")
    assert found.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert (
        'dragoman_requests_total{method="POST",route="/api/translate",status="200"} 1.0'
        in found.text
    )
    assert 'dragoman_sentences_total{model="deen"} 2.0' in found.text
    assert 'dragoman_waiting_sentences{model="deen"} 0.0' in found.text
    assert 'status="404"' in found.text
    assert "no/such" not in found.text
    assert 'dragoman_batch_sentences_bucket{le="2.0",model="deen"} 1.0' in found.text


def test_limits_are_named_when_they_are_met(make_app):
    limits = Limits(text_chars=20, texts=2, beam=3, body_bytes=300, waiting=9)
    with TestClient(make_app(limits=limits).app) as client:

        def refused(**body):
            found = client.post("/api/translate", json=body)
            return found.status_code, found.json()["error"]

        assert refused(text="x" * 21) == (
            400, "Invalid request: request (21) exceeds text limit (20)"
        )  # fmt: skip
        assert refused(text=["a", "b", "c"])[1].startswith("3 texts")
        assert refused(text="a", beam=4) == (400, "beam = 4: at most 3")
        status, error = refused(text=["x" * 15] * 30)
        assert status == 413
        assert "300 bytes" in error


def test_a_body_without_a_declared_length_is_refused_on_its_way_in(make_app):
    sent = []

    def body():
        for _ in range(100):
            sent.append(1)
            yield b"x" * 50

    with TestClient(make_app(limits=Limits(body_bytes=300)).app) as client:
        headers = {"Content-Type": "application/json"}
        found = client.post("/api/translate", content=body(), headers=headers)
    assert found.status_code == 413


# --- keys, origins, pages ------------------------------------------------------------------------


def test_a_key_is_asked_for_and_compared(make_app):
    with TestClient(make_app(api_key="sesame").app) as client:

        def status(path="/api/translate", headers=None, **body):
            return client.post(path, json={"text": TEXT, **body}, headers=headers).status_code

        assert status() == 401
        assert status(headers={"Authorization": "Bearer sesame"}) == 200
        assert status(headers={"Authorization": "Bearer other"}) == 403
        assert status(api_key="sesame") == 200
        assert status(api_key="other") == 403
        assert status("/api/explain") == 401
        assert client.get("/api/stream", params={"text": TEXT}).status_code == 401
        opened = client.get("/api/stream", params={"text": TEXT, "api_key": "sesame"})
        assert opened.status_code == 200
        assert client.get("/metrics").status_code == 401
        for path in ("/health", "/languages", "/api/models", "/frontend/settings", "/docs"):
            assert client.get(path).status_code == 200
        fields = {"q": TEXT, "source": "de", "target": "en"}
        assert client.post("/translate", data=fields).status_code == 400
        assert client.post("/translate", data={**fields, "api_key": "no"}).status_code == 403
        assert client.post("/translate", data={**fields, "api_key": "sesame"}).status_code == 200


def test_pages_of_other_origins_are_let_in_only_when_named(make_app):
    asking = {"Origin": "https://example.org"}
    with TestClient(make_app().app) as client:
        assert "access-control-allow-origin" not in client.get("/languages", headers=asking).headers
    with TestClient(make_app(cors=["https://example.org"]).app) as client:
        allowed = client.get("/languages", headers=asking).headers
        assert allowed["access-control-allow-origin"] == "https://example.org"
        elsewhere = client.get("/languages", headers={"Origin": "https://example.com"}).headers
        assert "access-control-allow-origin" not in elsewhere


def test_the_page_and_its_files_come_with_types_and_a_strict_policy(make_app, tmp_path):
    (tmp_path / "index.html").write_text("<!doctype html>hello", encoding="utf-8")
    (tmp_path / "app.js").write_text("let a = 1", encoding="utf-8")
    (tmp_path / "notes.secret").write_text("no", encoding="utf-8")
    with TestClient(make_app(static=tmp_path).app) as client:
        page = client.get("/")
        assert page.text == "<!doctype html>hello"
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert not re.search("unsafe|http", policy)
        assert page.headers["x-content-type-options"] == "nosniff"
        assert page.headers["cache-control"] == "no-cache"
        script = client.get("/static/app.js")
        assert script.headers["content-type"].startswith("text/javascript")
        same = client.get("/static/app.js", headers={"If-None-Match": script.headers["etag"]})
        assert same.status_code == 304
        for path in ("/static/notes.secret", "/static/../conftest.py", "/static/%2e%2e/x.js"):
            assert client.get(path).status_code == 404


def test_the_list_of_routes_needs_nothing_from_elsewhere(client):
    found = client.get("/docs")
    described = client.get("/openapi.json").json()
    assert {"/api/translate", "/translate", "/detect", "/api/explain"} <= set(described["paths"])
    for path in described["paths"]:
        assert path in found.text
    assert not re.search(r"(src|href)=.https?:|//cdn|<script", found.text)
    assert "unsafe" not in found.headers["content-security-policy"]


def test_an_unforeseen_error_is_a_500_without_details(make_app, translator, caplog):
    class Broken(Explaining):
        def translate(self, texts, **options):
            raise ZeroDivisionError("secret detail")

    with TestClient(make_app(translators=(Broken(translator),)).app) as client:
        found = client.post("/api/translate", json={"text": TEXT})
        assert found.status_code == 500
        assert "secret" not in found.text
        assert found.json()["error"]
        assert client.get("/health").status_code == 200
    assert "secret detail" in caplog.text


def test_a_search_that_cannot_work_is_the_clients_fault(client):
    found = client.post("/api/translate", json={"text": TEXT, "beam": 2, "n_best": 3})
    assert found.status_code == 400
    assert "n_best" in found.json()["error"]
