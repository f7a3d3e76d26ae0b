"""``dragoman explain``: a reading, a JSON object, a page, pictures of sentences, runs, ideas."""

import io
import json

import numpy as np
import pytest
import torch
from rich.text import Text

from dragoman.bundle import write_bundle
from dragoman.cli.explain_reading import reading
from dragoman.cli.main import main
from dragoman.config import Config, DataConfig, DecodeConfig, ModelConfig
from dragoman.decoding.loading import load
from dragoman.model.transformer import Transformer
from dragoman.tokenize.tokenizer import Tokenizer

TEXT = "eins zwei drei"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of a small model with random weights and a line of metrics."""
    pairs = [("eins zwei drei", "one two three"), ("vier fünf", "four five")]
    tokenizer = Tokenizer.train(pairs, DataConfig(tokenizer="symbols"), seed=1)
    shape = ModelConfig(
        d_model=8, n_heads=2, n_layers=2, d_ff=16, vocab_size=tokenizer.tgt_vocab_size, tie="none"
    )
    torch.manual_seed(2)
    model = Transformer(shape)
    with torch.no_grad():
        model.output.weight.mul_(6)
    folder = tmp_path_factory.mktemp("runs") / "small"
    write_bundle(
        folder,
        config=Config(model=shape, decode=DecodeConfig(beam=3, max_extra=3)),
        weights={name: w.detach().numpy() for name, w in model.state_dict().items()},
        save_tokenizer=tokenizer.save,
        record={},
    )
    (folder / "metrics.jsonl").write_text('{"step": 1, "loss": 2.0, "lr": 0.1}\n')
    return folder


@pytest.fixture(scope="module")
def explanation(run):
    return load(run).explain(TEXT)


def explain(*args):
    return main(["explain", *map(str, args)])


# --- without a file ------------------------------------------------------------------------------


def test_the_reading_has_translation_score_and_alignment(capsys, run, explanation):
    assert explain(run, TEXT) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert err == ""
    assert lines[0] == TEXT
    assert lines[1] == explanation.target.text
    assert lines[2].startswith(f"score {explanation.score:.3f}, log P {explanation.log_prob:.3f}")
    assert "beam 3" in lines[2]
    for src, tgt in explanation.alignment:
        link = f"{explanation.target.words[tgt]} ← {explanation.source.words[src]}"
        assert link in out
    assert "\x1b[" not in out  # no colours where there is no terminal


def test_json_is_the_explanation_and_nothing_else(capsys, run, explanation):
    assert explain(run, TEXT, "--json") == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert json.loads(out) == explanation.to_json()


def test_effects_are_added_on_request(capsys, run):
    assert explain(run, TEXT, "--json", "--effects") == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["head_effects"]) == 2 * 3 * 2
    assert len(found["continuations"]) == len(found["target"]["pieces"])


def test_options_reach_the_search(capsys, run):
    options = ["--beam", 2, "--length-penalty", 0, "--prefix", "two", "--json"]
    assert explain(run, TEXT, *options, "--head-off", "decoder.1.cross:0") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["beam"]["size"], found["beam"]["length_penalty"]) == (2, 0)
    assert found["target"]["words"][0] == "two"
    assert found["heads_off"] == [["decoder.1.cross", 0]]


def test_a_sentence_may_come_from_stdin(capsys, run, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{TEXT}\n\n"))
    assert explain(run, "-") == 0
    assert capsys.readouterr().out.splitlines()[0] == TEXT
    monkeypatch.setattr("sys.stdin", io.StringIO("a\nb\n"))
    assert explain(run, "-") == 2
    assert "stdin has 2 lines" in capsys.readouterr().err


# --- the reading ---------------------------------------------------------------------------------


def table_of(explanation, width):
    lines = [line.plain.rstrip() for line in reading(explanation, width)]
    start = next(i for i, line in enumerate(lines) if line.startswith("attention in percent"))
    return lines[start + 1 :]


def test_the_table_shows_percent_of_the_attention_of_words(explanation):
    rows = table_of(explanation, 100)
    assert rows[0].split() == list(explanation.source.words)
    for row, weights in zip(rows[1:], explanation.word_attention, strict=True):
        shown = [0 if cell == "·" else int(cell) for cell in row.split()[1:]]
        expected = [round(100 * w) if w >= 0.05 else 0 for w in weights]
        assert np.abs(np.array(shown) - expected).max() <= 1


@pytest.mark.parametrize("width", [18, 14, 1])
def test_a_narrow_terminal_gets_several_tables(explanation, width):
    rows = table_of(explanation, width)
    assert "" in rows
    heads = [row for i, row in enumerate(rows) if i == 0 or rows[i - 1] == ""]
    assert " ".join(heads).split() == list(explanation.source.words)
    if width == 18:
        assert max(map(len, rows)) <= width


def test_more_attention_has_a_darker_ground(explanation):
    lines = list(reading(explanation, 100))
    assert all(isinstance(line, Text) for line in lines)
    styles = {str(span.style) for line in lines for span in line.spans}
    assert any(" on #" in style for style in styles)


def test_unsure_pieces_are_named_with_what_was_likelier(run):
    found = load(run).explain(TEXT, prefix="four four")  # said by force, not by choice
    text = "\n".join(line.plain for line in reading(found, 80))
    assert "unsure" in text
    assert f"or {found.alternatives[1][0].piece} " in text


# --- files ---------------------------------------------------------------------------------------

HEADS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("a.png", []),
        ("b.svg", ["--kind", "encoder", "--layer", 1, "--head", 0]),
        ("c.pdf", ["--what", "heads", "--kind", "decoder", "--dark"]),
        ("d.png", ["--what", "beam", "--beam", 2]),
        ("e.png", ["--what", "flow"]),
        ("f.png", ["--what", "causal", "--layer", 0]),
    ],
)
def test_pictures_of_a_sentence_are_written(capsys, run, tmp_path, name, options):
    path = tmp_path / name
    assert explain(run, TEXT, "-o", path, *options) == 0
    assert path.read_bytes().startswith(HEADS[path.suffix])
    assert capsys.readouterr() == ("", f"written: {path}\n")


@pytest.mark.parametrize("what", ["positions", "masks", "causal", "schedules", "smoothing"])
def test_pictures_of_ideas_need_no_run(capsys, tmp_path, what):
    path = tmp_path / f"{what}.png"
    assert explain("--picture", what, "-o", path) == 0
    assert path.read_bytes().startswith(HEADS[".png"])
    assert capsys.readouterr().err == f"written: {path}\n"


@pytest.mark.parametrize("n_runs", [1, 2])
def test_curves_of_one_or_more_runs_are_drawn(run, tmp_path, n_runs):
    path = tmp_path / "curves.png"
    runs = [run, run.parent / "." / "small"][:n_runs]
    assert explain(*runs, "--what", "curves", "-o", path) == 0
    assert path.read_bytes().startswith(HEADS[".png"])


def test_a_page_is_written_with_all_there_is(monkeypatch, run, tmp_path):
    pytest.importorskip("dragoman.pictures.page")
    written = {}
    monkeypatch.setattr(
        "dragoman.pictures.page.write_page", lambda found, path: written.update({path: found})
    )
    path = tmp_path / "a.html"
    assert explain(run, TEXT, "-o", path) == 0
    assert list(written) == [path]
    assert written[path]["head_effects"]
    assert written[path]["continuations"]


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["RUN"], "a run and one sentence"),
        (["RUN", "a", "b"], "not 3 arguments"),
        (["--what", "causal", "RUN", "-o", "a.png"], "or none at all"),
        (["RUN", ""], "nothing to explain"),
        (["RUN", "eins", "-o", "a.jpg"], "a picture with .png, .svg or .pdf"),
        (["RUN", "eins", "-o", "a"], "what is it to be"),
        (["RUN", "eins", "--what", "beem", "-o", "a.png"], "did you mean beam"),
        (["RUN", "eins", "--kind", "enc", "-o", "a.png"], "no such kind"),
        (["RUN", "eins", "--what", "beam"], "-o beam.png"),
        (["RUN", "eins", "--what", "beam", "-o", "a.html"], "a page shows everything"),
        (["RUN", "eins", "--layer", "7", "-o", "a.png"], "layers of this model are 0 to 1"),
        (["RUN", "eins", "--head", "2", "-o", "a.png"], "heads of this model are 0 to 1"),
        (["RUN", "eins", "--head-off", "decoder.0.cross"], "must be NAME:HEAD"),
        (["RUN", "eins", "--head-off", "decoder.9.cross:0"], "no such attention"),
        (["--what", "positions"], "-o positions.png"),
        (["--what", "curves", "-o", "a.png"], "at least one run"),
        (["--what", "curves", "nowhere", "-o", "a.png"], "no such file"),
        (["nowhere", "eins"], "nowhere"),
    ],
)
def test_what_cannot_be_is_told_and_nothing_is_written(
    capsys, run, tmp_path, monkeypatch, args, message
):
    monkeypatch.chdir(tmp_path)
    assert explain(*[run if arg == "RUN" else arg for arg in args]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in " ".join(err.split())
    assert "Traceback" not in err
    assert not list(tmp_path.iterdir())
