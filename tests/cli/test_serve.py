"""``dragoman serve``: what it says, what it refuses."""

import json
import socket

import pytest
import torch

from dragoman.bundle import write_bundle
from dragoman.cli import serve as serve_module
from dragoman.cli.main import main
from dragoman.config import Config, DataConfig, ModelConfig
from dragoman.model.transformer import Transformer
from dragoman.server import listening
from dragoman.tokenize.tokenizer import Tokenizer


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A bundle of the copy task."""
    folder = tmp_path_factory.mktemp("runs") / "copy"
    data = DataConfig(tokenizer="symbols", max_length=12)
    tokenizer = Tokenizer.train([("1 2 3 4", "4 3 2 1")], data, seed=1)
    shape = ModelConfig(d_model=8, n_heads=2, n_layers=1, d_ff=8, vocab_size=8)
    torch.manual_seed(1)
    weights = {name: w.numpy() for name, w in Transformer(shape).state_dict().items()}
    config = Config(model=shape, data=data)
    write_bundle(folder, config=config, weights=weights, save_tokenizer=tokenizer.save, record={})
    return folder


@pytest.fixture
def served(monkeypatch):
    """What would have been served, without serving it."""
    calls = []

    def serve(app, listener, *, on_ready, grace):
        on_ready()
        calls.append({"app": app, "grace": grace})

    monkeypatch.setattr(listening, "serve", serve)
    return calls


def test_it_says_where_it_listens_and_what_it_serves(run, served, capsys):
    assert main(["serve", str(run), f"{run}=en-de", "--port", "0"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert "serving on http://127.0.0.1:" in err
    assert "copy: src to tgt, torch  (its languages are not recorded; if that is wrong:" in err
    assert f"{run}=SOURCE-TARGET" in err
    assert "copy-2: en to de, torch\n" in err
    assert len(served) == 1


def test_json_is_one_line_for_machines(run, served, capsys):
    assert main(["serve", f"{run}=en-de", "--port", "0", "--json", "--timeout", "7"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["url"].startswith("http://127.0.0.1:")
    assert not found["url"].endswith(":0")
    assert [model["name"] for model in found["models"]] == ["copy"]
    assert served[0]["grace"] == 7


def test_a_port_in_use_is_said_before_models_are_read(run, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", "no/such/run", "--port", str(port)]) == 2
    assert f"port {port} is in use" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no/such/run"], "no such bundle or run"),
        (["no/such/run=english"], "names no two languages"),
        (["{run}", "--host", "no such host"], "there is no such address"),
        (["{run}", "--api-key", " "], "the API key is empty"),
        (["{run}", "--engine", "abacus"], "abacus"),
    ],
)
def test_mistakes_are_named(run, arguments, message, capsys):
    arguments = [each.replace("{run}", str(run)) for each in arguments]
    assert main(["serve", *arguments, "--port", "0"]) == 2
    assert message in capsys.readouterr().err


def test_a_server_for_everybody_without_a_key_is_warned_of(run, served, capsys):
    assert main(["serve", str(run), "--port", "0", "--host", "0.0.0.0"]) == 0
    assert "--api-key" in capsys.readouterr().err
    assert main(["serve", str(run), "--port", "0", "--host", "0.0.0.0", "--api-key", "x"]) == 0
    assert "--api-key" not in capsys.readouterr().err


def test_the_key_may_come_from_the_environment(run, served, monkeypatch):
    from starlette.testclient import TestClient

    monkeypatch.setenv("DRAGOMAN_API_KEY", "sesame")
    assert main(["serve", str(run), "--port", "0"]) == 0
    with TestClient(served[0]["app"]) as client:
        assert client.post("/api/translate", json={"text": "1"}).status_code == 401
        headers = {"Authorization": "Bearer sesame"}
        assert client.post("/api/translate", json={"text": "1"}, headers=headers).status_code == 200


def test_a_missing_package_is_named_with_what_to_install(run, monkeypatch, capsys):
    monkeypatch.setattr(serve_module, "find_spec", lambda name: None)
    assert main(["serve", str(run)]) == 2
    assert "pip install 'dragoman[serve]'" in capsys.readouterr().err
