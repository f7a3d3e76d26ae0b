"""A server in a process of its own, called over the network by many clients."""

import http.client
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

WORDS = tuple(
    word
    for sentence in ("Ein Hund rennt über die Wiese", "Zwei Katzen schlafen im Garten")
    for word in sentence.split()
)
JSON = {"Content-Type": "application/json"}
pytestmark = pytest.mark.slow  # starting a process that imports torch takes seconds


class Server:
    """``dragoman serve`` on a free port."""

    def __init__(self, *args):
        command = [sys.executable, "-m", "dragoman", "serve", *args, "--port", "0", "--json"]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        line = self.process.stdout.readline()
        assert line, self.process.communicate()[1]
        self.ready = json.loads(line)
        self.url = self.ready["url"]
        self.host, self.port = "127.0.0.1", int(self.url.rpartition(":")[2])

    def call(self, method, path, body=None, headers=None):
        """Status, headers and body of one request on a connection of its own."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        try:
            connection.putrequest(method, path, skip_accept_encoding=True)
            for name, value in (headers or {}).items():
                connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, dict(answer.headers), answer.read()
        finally:
            connection.close()

    def translate(self, text, **options):
        body = json.dumps({"text": text, **options}).encode()
        status, _, answer = self.call("POST", "/api/translate", body, JSON)
        assert status == 200, answer
        return json.loads(answer)["translations"][0]

    def metric(self, name):
        text = self.call("GET", "/metrics")[2].decode()
        return float(re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)[1])

    def stop(self, number=signal.SIGTERM):
        """Ask it to stop; its exit code and what it said."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


@pytest.fixture(scope="module")
def server(bundle):
    server = Server(f"{bundle}=de-en")
    yield server
    server.stop()


def test_64_clients_at_once_get_what_each_would_get_alone(server):
    rng = random.Random(1)
    texts = [" ".join(rng.choices(WORDS, k=rng.randrange(1, 12))) for _ in range(96)]
    options = [{"beam": rng.choice([1, 4, 4, 4])} for _ in texts]
    alone = [server.translate(t, **o) for t, o in zip(texts, options, strict=True)]
    batches = server.metric('dragoman_batch_sentences_count{model="deen"}')
    with ThreadPoolExecutor(64) as clients:
        found = list(clients.map(lambda text, o: server.translate(text, **o), texts, options))
    assert [t["text"] for t in found] == [t["text"] for t in alone]
    assert [t["tokens"] for t in found] == [t["tokens"] for t in alone]
    for one, other in zip(found, alone, strict=True):
        assert one["score"] == pytest.approx(other["score"], abs=1e-4)
    batches = server.metric('dragoman_batch_sentences_count{model="deen"}') - batches
    assert batches < len(texts)  # some of them shared one


def test_the_client_library_of_libretranslate_works_unchanged(server):
    libretranslatepy = pytest.importorskip(
        "libretranslatepy", reason="libretranslatepy is not installed"
    )
    client = libretranslatepy.LibreTranslateAPI(server.url)
    german = "Ein Hund rennt über die Wiese, und eine Katze schläft."
    expected = server.translate(german)["text"]
    assert client.translate(german, "de", "en") == expected
    assert client.translate(german, "auto", "en") == expected
    assert client.languages() == [
        {"code": "en", "name": "English", "targets": []},
        {"code": "de", "name": "German", "targets": ["en"]},
    ]
    best = client.detect(german)[0]
    assert best["language"] == "de"
    assert best["confidence"] > 50


def test_a_stream_arrives_piece_by_piece(server):
    with urllib.request.urlopen(f"{server.url}/api/stream?text=Ein+Hund", timeout=30) as answer:
        assert answer.headers["Content-Type"].startswith("text/event-stream")
        lines = [line.decode().strip() for line in answer]
    names = [line.removeprefix("event: ") for line in lines if line.startswith("event")]
    assert names[-1] == "done"
    assert set(names[:-1]) <= {"token"}


PATHS = [
    "/../../etc/passwd",
    "/static/../../../etc/passwd",
    "/static/%2e%2e/%2e%2e/app.py",
    "/static/..%2f..%2fapp.py",
    "/static/....//app.py",
    "/static/%00",
    "/static/index.html%00.js",
    "/%c0%ae%c0%ae/etc/passwd",
    "/static//etc/passwd",
    "//etc/passwd",
    "/static/\\..\\app.py",
    "/.git/config",
    "/api/../api/none",
    "/%",
    "/%zz",
    "/" + "a" * 5000,
    "/static/" + "../" * 500,
]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path[:30])
def test_tricks_with_paths_find_nothing(server, path):
    status, headers, body = server.call("GET", path)
    assert status == 404
    assert json.loads(body)["error"]
    assert headers["x-content-type-options"] == "nosniff"


def test_what_is_not_http_is_refused_in_json(server):
    for nonsense in (b"nonsense\r\n\r\n", b"GET /\xff HTTP/1.1\r\n\r\n", b"GET / HTTP/9\r\n\r\n"):
        with socket.create_connection((server.host, server.port), timeout=30) as connection:
            connection.sendall(nonsense)
            answer = connection.makefile("rb").read()
        head, _, body = answer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 400 ")
        assert json.loads(body)["error"]


def test_ten_megabytes_are_answered_before_they_are_kept(server):
    status, _, body = server.call("POST", "/translate", b"x" * 10**7, JSON)
    assert status == 413
    assert "bytes" in json.loads(body)["error"]


def test_a_client_that_hangs_up_does_no_harm(server):
    before = server.metric('dragoman_dropped_requests_total{reason="left"}')
    for _ in range(5):
        connection = socket.create_connection((server.host, server.port), timeout=30)
        connection.sendall(b"POST /api/translate HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n")
        connection.sendall(b"Content-Type: application/json\r\n\r\n{")
        connection.close()
    deadline = time.monotonic() + 30
    while server.metric('dragoman_dropped_requests_total{reason="left"}') < before + 5:
        assert time.monotonic() < deadline
    assert server.translate("Ein Hund")["text"]


def test_a_thousand_malformed_requests_leave_the_server_as_it_was(server, malformed):
    rng = random.Random(2)

    def refuse(n):
        for raw in rng.choices(malformed, k=n):
            status, _, body = server.call(raw.method, raw.path, raw.body, raw.headers)
            assert 400 <= status < 500, raw
            assert json.loads(body)["error"], raw
        for path in PATHS:
            assert 400 <= server.call("GET", path)[0] < 500
        for _ in range(n // 50):
            assert server.call("POST", "/api/translate", b"[" * 10**7, JSON)[0] == 413

    refuse(1000)  # what is only made once is made by now
    before = server.metric("process_resident_memory_bytes")
    refuse(1000)
    refuse(1000)
    grown = server.metric("process_resident_memory_bytes") - before
    assert grown < 8e6, f"{grown / 1e6:.1f} MB more after 2,000 requests"
    assert server.translate("Ein Hund")["text"]
    assert server.metric('dragoman_waiting_sentences{model="deen"}') == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_a_request_finish_refuses_others_and_ends_well(bundle, number):
    server = Server(str(bundle))
    body = json.dumps({"text": "Ein Hund"}).encode()
    head = (
        "POST /api/translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection((server.host, server.port), timeout=30) as connection:
        connection.sendall(head.encode() + body[:5])
        assert server.call("GET", "/health")[0] == 200  # by now the request has been seen
        server.process.send_signal(number)
        deadline = time.monotonic() + 30
        while True:  # until nobody is let in any more
            assert time.monotonic() < deadline
            try:
                socket.create_connection((server.host, server.port), timeout=5).close()
            except OSError:
                break
        connection.sendall(body[5:])
        answer = connection.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert b'"translations"' in answer
    code, _, err = server.stop()
    assert code == 0
    assert err.rstrip().endswith("stopped")
    assert "Traceback" not in err
