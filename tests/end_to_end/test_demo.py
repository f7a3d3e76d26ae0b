"""``dragoman demo``: what it learns, prints and leaves behind."""

from __future__ import annotations

import json

import pytest

from dragoman.cli.main import main
from dragoman.runs import demo
from dragoman.training.reporting import Silence

pytestmark = pytest.mark.slow


def test_the_demo_translates_and_aligns_sentences_it_has_never_seen(
    environment, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("DRAGOMAN_CACHE", environment["DRAGOMAN_CACHE"])
    monkeypatch.setattr(demo, "TRAINING_PAIRS", 15_000)
    run = tmp_path / "demo"
    # A fifth of the updates that four minutes have; the command then finds that its time is up.
    demo.train_demo(run, steps=200, reporter=Silence())
    capsys.readouterr()
    assert main(["demo", "--minutes", "0.05", "--out", str(run), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["sentences"] == 1000
    assert found["steps"] == 200
    assert found["bleu"] >= 40
    assert found["alignment_error_rate"] <= 0.25
    assert (run / "attention.png").read_bytes().startswith(b"\x89PNG")
    (tmp_path / "in.de").write_text("Der Hund sieht die Katze .\n\n", encoding="utf-8")
    assert main(["translate", str(run), str(tmp_path / "in.de")]) == 0
    first, *rest = capsys.readouterr().out.split("\n")
    assert first.startswith("The ")
    assert rest == ["", ""]
