"""``dragoman evaluate``: sacreBLEU's numbers from the command line, a stand-in for the model."""

import gzip
import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dragoman.bundle import write_bundle
from dragoman.cli.main import main
from dragoman.config import Config, ModelConfig
from dragoman.decoding import loading

SRC = ["ein Hund rennt im Park", "zwei Katzen schlafen", "", "ein Haus steht am See"]
REF = ["A dog runs in the park.", "Two cats are asleep.", "", "A house stands by the lake."]
OUT = ["A dog runs in a park.", "Two cats sleep.", "", "A house by the lake."]
MODEL = ModelConfig(d_model=4, n_heads=2, d_ff=6, n_layers=1, vocab_size=7)


@dataclass
class Translated:
    text: str
    notes: tuple[str, ...] = ()

    @property
    def tokens(self) -> list[str]:
        return self.text.split()


@dataclass
class Stand:
    """Stands in for a translator: knows the lines above by heart."""

    table: dict[str, str]
    calls: list[dict[str, Any]] = field(default_factory=list)

    def translate(self, texts, *, on_progress, **options):
        self.calls.append(options)
        on_progress(len(texts))
        return [Translated(self.table[text]) for text in texts]


def write(path: Path, lines) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with src, ref and hyp, two bundles, and translators for them."""
    write(tmp_path / "src", SRC)
    write(tmp_path / "ref", REF)
    write(tmp_path / "hyp", OUT)
    for name in ("one", "two"):
        write_bundle(
            tmp_path / name,
            config=Config(model=MODEL),
            weights={"w": np.ones(3, np.float32)},
            save_tokenizer=lambda folder: None,
            record={},
        )
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def translators(files, monkeypatch):
    stands = {
        "one": Stand(dict(zip(SRC, OUT, strict=True))),
        "two": Stand(dict(zip(SRC, REF, strict=True))),
    }
    monkeypatch.setattr(loading, "load", lambda path, **how: stands[path.name])
    return stands


def evaluate(capsys, *args) -> dict[str, Any]:
    assert main(["evaluate", *args, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_run_is_translated_and_scored(capsys, translators):
    found = evaluate(capsys, "one", "--src", "src", "--ref", "ref")
    assert found["system"] == "one"
    assert found["sentences"] == 4
    assert 0 < found["bleu"] < 100
    assert found["exact_match"] == 0.25
    assert found["seconds"] >= 0
    n_tokens = sum(len(line.split()) for line in OUT)
    assert found["tokens_per_second"] * found["seconds"] == pytest.approx(n_tokens, rel=0.01)


def test_scores_equal_the_sacrebleu_command_to_the_last_digit(capsys, files):
    found = evaluate(capsys, "--hyp", "hyp", "--ref", "ref")
    metrics = ["-m", "bleu", "chrf", "ter", "-w", "12", "-f", "json"]
    done = subprocess.run(
        [sys.executable, "-m", "sacrebleu", "ref", "-i", "hyp", *metrics],
        capture_output=True,
        text=True,
        check=True,
    )
    bleu, chrf, ter = json.loads(done.stdout)
    assert round(found["bleu"], 12) == bleu["score"]
    assert round(found["chrf"], 12) == chrf["score"]
    assert round(found["ter"], 12) == ter["score"]
    assert found["signature"] == bleu["signature"]
    assert found["signatures"]["chrf"] == chrf["signature"]


def test_a_file_and_the_run_that_wrote_it_score_alike(capsys, translators):
    run = evaluate(capsys, "one", "--src", "src", "--ref", "ref")
    file = evaluate(capsys, "--hyp", "hyp", "--ref", "ref")
    assert {key: run[key] for key in ("bleu", "chrf", "ter", "exact_match", "token_accuracy")} == {
        key: file[key] for key in ("bleu", "chrf", "ter", "exact_match", "token_accuracy")
    }
    assert file["seconds"] is None


def test_search_options_reach_the_translator_and_others_are_left_to_the_bundle(capsys, translators):
    options = ("--beam", "5", "--length-penalty", "0.6", "--batch-tokens", "99")
    evaluate(capsys, "one", "--src", "src", "--ref", "ref", *options)
    evaluate(capsys, "one", "--src", "src", "--ref", "ref")
    first, second = translators["one"].calls
    assert first == {"beam": 5, "length_penalty": 0.6, "batch_tokens": 99}
    assert (second["beam"], second["length_penalty"]) == (None, None)


def test_several_systems_are_compared_with_the_first(capsys, translators):
    found = evaluate(capsys, "one", "two", "--hyp", "hyp", "--src", "src", "--ref", "ref")
    assert [system["system"] for system in found["systems"]] == ["one", "two", "hyp"]
    assert found["bleu"] == found["systems"][0]["bleu"]
    first, better, same = found["significance"]["comparisons"]["bleu"]
    assert first["p_value"] is None
    assert better["p_value"] < 1
    assert same["p_value"] == 1.0


def test_the_report_for_readers_has_scores_signatures_and_p_values(capsys, translators):
    assert main(["evaluate", "one", "two", "--src", "src", "--ref", "ref"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "BLEU" in out
    assert "tok:13a" in out
    assert "tok:tercom" in out
    assert "exact match 25.00 %" in out
    assert "4 sentences translated in" in out
    assert "Paired bootstrap against one" in out
    assert ", p " in out


def test_several_references_and_compressed_files(capsys, files):
    (files / "second.gz").write_bytes(gzip.compress("".join(f"{x}\n" for x in OUT).encode()))
    found = evaluate(capsys, "--hyp", "hyp", "--ref", "ref", "--ref", "second.gz")
    assert found["bleu"] == pytest.approx(100)
    assert found["signature"].startswith("nrefs:2|")


def test_tokenization_and_case_are_options(capsys, files):
    found = evaluate(capsys, "--hyp", "hyp", "--ref", "ref", "--tokenize", "char", "--lowercase")
    assert "case:lc|eff:no|tok:char" in found["signature"]


def test_only_the_first_lines_are_taken_on_request(capsys, translators):
    found = evaluate(capsys, "two", "--src", "src", "--ref", "ref", "--limit", "2")
    assert found["sentences"] == 2


def test_the_error_report_is_written_and_named(capsys, translators):
    args = ["one", "--src", "src", "--ref", "ref", "--report", "new/errors.html"]
    assert main(["evaluate", *args, "--json"]) == 0
    out, err = capsys.readouterr()
    json.loads(out)
    assert "error report: new/errors.html" in err
    page = Path("new/errors.html").read_text(encoding="utf-8")
    assert "<del>" in page
    assert "ein Hund rennt im Park" in page


def test_tokenized_text_is_warned_of_on_stderr(capsys, files):
    write(files / "tok", ["a dog runs .", "two cats .", "", "a house ."])
    assert main(["evaluate", "--hyp", "tok", "--ref", "tok", "--json"]) == 0
    out, err = capsys.readouterr()
    json.loads(out)
    assert "looks tokenised" in err
    assert "--tokenize none" in err


def test_what_was_cut_is_counted_and_said(capsys, translators, monkeypatch):
    cut = [Translated(line, ("stopped_at_limit",)) for line in OUT]
    monkeypatch.setattr(translators["one"], "translate", lambda texts, **options: cut)
    assert main(["evaluate", "one", "--src", "src", "--ref", "ref"]) == 0
    assert "4 of 4 sentences reached the limit of length" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--hyp", "hyp"], "no reference to score against: give --ref"),
        (["--ref", "ref"], "nothing to evaluate: name a run or bundle"),
        (["one", "--ref", "ref"], "one needs a text to translate: give --src"),
        (["three", "--src", "src", "--ref", "ref"], "no such bundle or run: three"),
        (["--hyp", "hype", "--ref", "ref"], "no such file: hype"),
        (["--hyp", "hyp", "--ref", "ref", "--tokenize", "13b"], "did you mean 13a?"),
        (["--hyp", "hyp", "--ref", "ref", "--report", "one"], "--report one is a folder"),
    ],
)
def test_what_cannot_work_is_refused_before_any_work(capsys, translators, args, message):
    assert main(["evaluate", *args]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert translators["one"].calls == []


@pytest.mark.parametrize(
    ("short", "message"),
    [
        ("ref", "ref ends at line 3 but src goes on to line 4"),
        ("src", "src ends at line 3 but ref goes on to line 4"),
        ("hyp", "hyp ends at line 3 but src goes on to line 4"),
    ],
)
def test_a_missing_line_is_named_with_both_files(capsys, files, short, message):
    lines = (files / short).read_text(encoding="utf-8").splitlines(keepends=True)
    (files / short).write_text("".join(lines[:3]), encoding="utf-8")
    assert main(["evaluate", "--hyp", "hyp", "--src", "src", "--ref", "ref"]) == 2
    assert message in capsys.readouterr().err


def test_a_real_bundle_is_translated_and_its_pieces_counted(capsys, tmp_path):
    import torch

    from dragoman.config import DataConfig
    from dragoman.model.transformer import Transformer
    from dragoman.tokenize.tokenizer import Tokenizer

    lines = ["1 2 3", "2 3", "", "3"]
    tokenizer = Tokenizer.train([lines[:2]], DataConfig(tokenizer="symbols"), seed=1)
    shape = ModelConfig(
        d_model=8, n_heads=2, n_layers=1, d_ff=16, vocab_size=tokenizer.tgt_vocab_size
    )
    torch.manual_seed(1)
    write_bundle(
        tmp_path / "real",
        config=Config(model=shape),
        weights={name: w.numpy() for name, w in Transformer(shape).state_dict().items()},
        save_tokenizer=tokenizer.save,
        record={},
    )
    text = write(tmp_path / "text", lines)
    output = loading.load(tmp_path / "real").translate(lines, beam=2)
    run = str(tmp_path / "real")
    found = evaluate(capsys, run, "--src", str(text), "--ref", str(text), "--beam", "2")
    assert found["sentences"] == 4
    assert found["exact_match"] >= 0.25  # the empty line stays empty
    n_pieces = sum(len(translation.ids) for translation in output)
    assert found["tokens_per_second"] * found["seconds"] == pytest.approx(n_pieces)
