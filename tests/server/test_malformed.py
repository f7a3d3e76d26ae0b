"""Requests that make no sense: each is refused with a message, and the server goes on."""

from collections import Counter

import pytest
from starlette.testclient import TestClient

from dragoman.server.limits import Limits
from dragoman.server.problems import Problem
from dragoman.server.reading import parse_json


def test_every_malformed_request_is_refused_with_a_message(made, malformed):
    assert len(malformed) > 400
    statuses = Counter()
    with TestClient(made.app) as client:
        for raw in malformed:
            found = client.request(raw.method, raw.path, content=raw.body, headers=raw.headers)
            assert 400 <= found.status_code < 500, (raw, found.text[:200])
            error = found.json()["error"]
            assert isinstance(error, str), raw
            assert error, raw
            assert "Traceback" not in error, raw
            statuses[found.status_code] += 1
        assert client.post("/api/translate", json={"text": "Ein Hund"}).status_code == 200
    assert {400, 404, 405, 415} <= set(statuses)
    assert made.batcher.n_waiting == 0


@pytest.mark.parametrize("path", ["/api/translate", "/translate", "/nothing", "/health"])
def test_ten_megabytes_are_too_many_for_every_route(client, path):
    found = client.post(path, content=b"x" * 10**7, headers={"Content-Type": "application/json"})
    assert found.status_code == 413
    assert "1,048,576 bytes" in found.json()["error"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"text": "\\ud800"}', "lone surrogate"),
        (b'{"text": "a\\u0000"}', "NUL"),
        (b'{"text": NaN}', "NaN"),
        (b'{"text": 1e999}', "too large"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"text": "\xff"}', "not UTF-8"),
        (b'["text"]', "one JSON object"),
        (b'{"a": ' + b"[" * 900 + b'"\\ud800"' + b"]" * 900 + b"}", "lone surrogate|too deeply"),
    ],
)
def test_the_message_says_what_is_wrong_with_the_json(body, message):
    with pytest.raises(Problem, match=message) as problem:
        parse_json(body)
    assert problem.value.status == 400


def test_a_pair_of_surrogates_is_a_character():
    assert parse_json(b'{"text": "\\ud83d\\ude00"}') == {"text": "😀"}


@pytest.mark.parametrize("limit", [{"seconds": 0}, {"beam": -1}, {"waiting": 5, "texts": 6}])
def test_limits_that_cannot_work_are_refused(limit):
    from dragoman.errors import ConfigError

    with pytest.raises(ConfigError):
        Limits(**limit)
