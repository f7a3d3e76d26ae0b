"""Full queues, clients that leave, time that runs out; without a network, step by step."""

import asyncio
import json
import threading
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from dragoman.model.transformer import Transformer
from dragoman.server.limits import Limits

TEXT = "Ein Hund rennt."


class Exchange:
    """One request to an app, whose client can leave, and what is sent back."""

    def __init__(self, app, path, fields, headers=()):
        self._body = [{"type": "http.request", "body": json.dumps(fields).encode()}]
        self._has_left = asyncio.Event()
        self.sent = []
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": [
                (b"content-type", b"application/json"),
                (b"content-length", b"9"),
                *headers,
            ],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 2),
            "app": app,
        }
        self.task = asyncio.ensure_future(app(scope, self._receive, self._send))

    async def _receive(self):
        if self._body:
            return self._body.pop()
        await self._has_left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message):
        self.sent.append(message)

    def leave(self):
        self._has_left.set()

    @property
    def status(self):
        return self.sent[0]["status"]

    def header(self, name):
        return dict(self.sent[0]["headers"])[name.encode()].decode()

    @property
    def answer(self):
        return json.loads(self.sent[1]["body"])


class Blocked:
    """A model's thread that is busy with something else until it is let go."""

    def __init__(self, batcher):
        is_busy, self.go = threading.Event(), threading.Event()

        def block():
            is_busy.set()
            assert self.go.wait(30)

        self.blocker = batcher.run(block)
        assert is_busy.wait(10)


async def until(condition):
    """Let other tasks work until something holds."""
    for _ in range(20_000):
        if condition():
            return
        await asyncio.sleep(0.0005)
    raise AssertionError("it never came to be")


@pytest.fixture
def started(make_app):
    """Apps whose threads are at work, and stopped after the test."""
    made = []

    def start(**options):
        made.append(make_app(**options))
        for model in made[-1].models.all:
            model.batcher.start()
        return made[-1]

    yield start
    for each in made:
        for model in each.models.all:
            model.batcher.close()


def test_a_full_queue_answers_503_and_when_to_come_again(started):
    made = started(limits=Limits(waiting=2, texts=2))
    blocked = Blocked(made.batcher)

    async def scenario():
        waiting = Exchange(made.app, "/api/translate", {"text": TEXT})
        await until(lambda: made.batcher.n_waiting == 2)
        for path, fields in (
            ("/api/translate", {"text": TEXT}),
            ("/translate", {"q": TEXT, "source": "de", "target": "en"}),
            ("/api/stream", {"text": TEXT}),
        ):
            refused = Exchange(made.app, path, fields)
            await refused.task
            assert refused.status == 503
            assert int(refused.header("retry-after")) >= 1
            assert "busy" in refused.answer["error"]
        blocked.go.set()
        await waiting.task
        assert waiting.status == 200

    asyncio.run(scenario())


def test_a_client_that_leaves_is_dropped_and_its_text_never_translated(started, translator):
    seen = []

    class Watched:
        def __getattr__(self, name):
            return getattr(translator, name)

        def translate(self, texts, **options):
            seen.extend(texts)
            return translator.translate(texts, **options)

    made = started(translators=(Watched(),))
    blocked = Blocked(made.batcher)

    async def scenario():
        leaving = Exchange(made.app, "/api/translate", {"text": "Die Katze."})
        staying = Exchange(made.app, "/api/translate", {"text": TEXT})
        await until(lambda: made.batcher.n_waiting == 3)
        leaving.leave()
        await leaving.task
        assert leaving.sent == []
        assert made.batcher.n_waiting == 2
        blocked.go.set()
        await staying.task
        assert staying.status == 200

    asyncio.run(scenario())
    assert seen == [TEXT]


def test_a_client_that_leaves_a_stream_stops_the_search(started, translator):
    steps, has_begun, go_on = [], threading.Event(), threading.Event()

    class Slow(Transformer):
        def step(self, ids, cache):
            steps.append(1)
            if len(steps) == 2:
                has_begun.set()
                assert go_on.wait(30)
            return super().step(ids, cache)

    slow = Slow(translator.model.config).eval().requires_grad_(False)
    slow.load_state_dict(translator.model.state_dict())
    longer = " ".join([TEXT] * 3)
    made = started(translators=(replace(translator, models=(slow,)),))
    n_all = len(translator.translate([longer], beam=1)[0].tokens)
    assert n_all > 3

    async def scenario():
        stream = Exchange(made.app, "/api/stream", {"text": longer})
        await until(has_begun.is_set)
        stream.leave()
        await stream.task
        go_on.set()
        await until(lambda: made.batcher.n_waiting == 0)
        await asyncio.wrap_future(made.batcher.run(lambda: None))

    asyncio.run(scenario())
    assert len(steps) <= 3  # it was at the second, and noticed at the third


def test_time_that_runs_out_is_a_504(started):
    made = started(limits=Limits(seconds=0.05))
    blocked = Blocked(made.batcher)

    async def scenario():
        late = Exchange(made.app, "/api/translate", {"text": TEXT})
        await late.task
        assert late.status == 504
        assert "0.05 s" in late.answer["error"]
        assert made.batcher.n_waiting == 1
        stream = Exchange(made.app, "/api/stream", {"text": TEXT})
        await stream.task
        assert b"event: error" in stream.sent[1]["body"]
        blocked.go.set()

    asyncio.run(scenario())


def test_a_body_that_does_not_come_is_a_408(started):
    made = started(limits=Limits(seconds=0.05))

    async def scenario():
        silent = Exchange(made.app, "/api/translate", {})
        silent._body = []
        await silent.task
        assert silent.status == 408

    asyncio.run(scenario())


def test_a_client_that_waits_to_be_asked_is_refused_at_once(started):
    made = started(limits=Limits(body_bytes=5))

    async def scenario():
        polite = Exchange(made.app, "/api/translate", {}, headers=[(b"expect", b"100-continue")])
        await polite.task
        assert polite.status == 413
        assert polite._body  # nothing of it was asked for

    asyncio.run(scenario())


def test_a_server_that_stops_refuses_what_comes(made):
    with TestClient(made.app) as client:
        made.batcher.close()
        found = client.post("/api/translate", json={"text": TEXT})
    assert found.status_code == 503
    assert "stopping" in found.json()["error"]


def test_what_is_given_up_is_counted(started):
    made = started(limits=Limits(seconds=0.05))
    blocked = Blocked(made.batcher)

    async def scenario():
        await Exchange(made.app, "/api/translate", {"text": TEXT}).task
        blocked.go.set()

    asyncio.run(scenario())
    with_metrics = TestClient(made.app).get("/metrics").text
    assert 'dragoman_dropped_requests_total{reason="late"} 1.0' in with_metrics
