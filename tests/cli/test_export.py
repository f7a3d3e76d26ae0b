"""``dragoman export``, and the engines that ``translate`` and ``evaluate`` can be asked for."""

import io
import json
import sys

import pytest
import torch

import dragoman
from dragoman.bundle import write_bundle
from dragoman.cli.main import main
from dragoman.cli.translate_resume import Partial
from dragoman.config import Config, DataConfig, DecodeConfig, ModelConfig
from dragoman.model.transformer import Transformer
from dragoman.tokenize.tokenizer import Tokenizer

pytest.importorskip("ctranslate2")

LINES = ["1 2 3", "", "2 2", "4 1 3 2 1", "3"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    data = DataConfig(tokenizer="symbols", max_length=12)
    tokenizer = Tokenizer.train([("1 2 3 4", "4 3 2 1")], data, seed=1)
    shape = ModelConfig(d_model=8, n_heads=2, n_layers=1, d_ff=8, vocab_size=8, tie="none")
    torch.manual_seed(3)
    model = Transformer(shape)
    weights = {name: w.numpy() * 2 for name, w in model.state_dict().items()}
    config = Config(model=shape, data=data, decode=DecodeConfig(max_extra=4))
    folder = tmp_path_factory.mktemp("runs") / "one"
    write_bundle(folder, config=config, weights=weights, save_tokenizer=tokenizer.save, record={})
    return folder


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "in.txt"
    path.write_text("".join(line + "\n" for line in LINES), encoding="utf-8")
    return path


@pytest.fixture
def expected(run):
    return [t.text for t in dragoman.load(run).translate(LINES, beam=1)]


def test_an_export_is_compared_on_a_hundred_sentences_and_says_so(run, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["export", str(run), "--to", "ctranslate2", "-o", str(out), "--json"]) == 0
    stdout, stderr = capsys.readouterr()
    found = json.loads(stdout)
    assert found["comparison"]["sentences"] == found["comparison"]["equal_tokens"] == 100
    assert found["comparison"]["largest_score_difference"] < 1e-4
    assert (found["out"], found["format"], found["quantization"]) == (
        str(out),
        "ctranslate2",
        "float32",
    )
    assert "100 of 100 sentences" in stderr


def test_without_json_the_folder_alone_is_on_stdout(run, tmp_path, capsys):
    out = tmp_path / "out"
    args = ["export", str(run), "--to", "ctranslate2", "-o", str(out), "--quantization", "int8"]
    assert main(args) == 0
    stdout, stderr = capsys.readouterr()
    assert stdout == f"{out}\n"
    assert "int8" in stderr


def test_an_export_translates_like_a_bundle(run, source, expected, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["export", str(run), "--to", "ctranslate2", "-o", str(out)]) == 0
    capsys.readouterr()
    assert main(["translate", str(out), str(source), "--beam", "1"]) == 0
    assert capsys.readouterr().out.split("\n")[:-1] == expected
    assert main(["translate", str(out), str(source), "--alignments"]) == 2
    assert "need the bundle" in capsys.readouterr().err


def test_translate_and_evaluate_take_the_engine(run, source, expected, tmp_path, capsys):
    assert main(["translate", str(run), str(source), "--engine", "ctranslate2", "--beam", "1"]) == 0
    assert capsys.readouterr().out.split("\n")[:-1] == expected
    reference = tmp_path / "ref.txt"
    reference.write_text("".join(line + "\n" for line in expected))
    args = ["evaluate", str(run), "--src", str(source), "--ref", str(reference), "--beam", "1"]
    scores = []
    for engine in ("torch", "ctranslate2"):
        assert main([*args, "--engine", engine, "--json"]) == 0
        scores.append(json.loads(capsys.readouterr().out)["exact_match"])
    assert scores == [1.0, 1.0]


@pytest.mark.parametrize("engine", ["torch", "ctranslate2"])
def test_int8_translates_with_either_engine(run, source, engine, capsys):
    assert main(["translate", str(run), str(source), "--engine", engine, "--int8"]) == 0
    lines = capsys.readouterr().out.split("\n")[:-1]
    assert len(lines) == len(LINES)
    assert lines[1] == ""


def test_a_stopped_translation_is_known_by_its_engine(run, source, tmp_path, monkeypatch):
    known, opened = [], Partial.open

    def note(out, what):
        known.append(what)
        return opened(out, what)

    monkeypatch.setattr(Partial, "open", note)
    exported = tmp_path / "exported"
    assert main(["export", str(run), "--to", "ctranslate2", "-o", str(exported)]) == 0
    out = ["-o", str(tmp_path / "out.txt")]
    for args in ([run], [run, "--int8"], [run, "--engine", "ctranslate2"], [exported]):
        assert main(["translate", str(args[0]), str(source), *map(str, args[1:]), *out]) == 0
    assert len({json.dumps(each) for each in known}) == 4


@pytest.mark.parametrize("to", ["onnx", "safetensors"])
def test_the_other_formats_are_written(run, tmp_path, to, capsys):
    if to == "onnx":
        pytest.importorskip("onnxruntime")
    assert main(["export", str(run), "--to", to, "-o", str(tmp_path / "out"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["format"] == to


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--to", "ctranslate2", "--quantization", "int4"], "CTranslate2 has float32, int8"),
        (["--to", "onnx", "--quantization", "int16"], "for ONNX float32 or int8"),
        (["--to", "tensorflow"], "tensorflow"),
        (["--to", "ctranslate2", "-o", "{run}"], "model of ours"),
        (["--to", "ctranslate2", "-o", "{full}"], "--force"),
    ],
)
def test_what_cannot_be_done_is_refused_with_a_reason(run, tmp_path, args, message, capsys):
    full = tmp_path / "full"
    full.mkdir()
    (full / "letters.txt").write_text("dear")
    places = {"{run}": str(run), "{full}": str(full)}
    args = [places.get(arg, arg) for arg in args]
    if "-o" not in args:
        args += ["-o", str(tmp_path / "out")]
    assert main(["export", str(run), *args]) == 2
    stdout, stderr = capsys.readouterr()
    assert message in stderr
    assert stdout == ""
    assert (full / "letters.txt").exists()
    assert not (tmp_path / "out").exists()


def test_a_run_that_is_not_there_is_named(tmp_path, capsys):
    args = ["export", str(tmp_path / "no"), "--to", "onnx", "-o", str(tmp_path / "out")]
    assert main(args) == 2
    assert "no such bundle or run" in capsys.readouterr().err


def test_a_missing_package_is_named_with_the_way_to_get_it(run, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1 2\n")))
    assert main(["translate", str(run), "--engine", "ctranslate2"]) == 2
    assert "pip install 'dragoman[ct2]'" in capsys.readouterr().err


def test_help_comes_without_loading_anything(capsys):
    assert main(["export", "--help"]) == 0
    assert "--quantization" in capsys.readouterr().out
