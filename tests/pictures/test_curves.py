from __future__ import annotations

import pytest

from dragoman.pictures.curves import draw_training

METRICS = [
    {"step": 1, "loss": 5.0, "lr": 1e-3},
    {"step": 2, "loss": 4.0, "lr": 2e-3},
    {"step": 2, "val_loss": 4.5, "val_bleu": 1.5},
]


@pytest.mark.parametrize("metrics", [METRICS, METRICS[:2], METRICS[:1], []])
@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_curves_are_drawn_of_whatever_a_run_has_logged(tmp_path, metrics, suffix):
    path = tmp_path / f"training{suffix}"
    draw_training(metrics, path, title="a run")
    assert path.read_bytes()[:5] in (b"\x89PNG\r", b"<?xml")


def test_the_curves_carry_their_titles(tmp_path):
    path = tmp_path / "training.svg"
    draw_training(METRICS, path, title="Wörterbuch")
    assert "validation BLEU" in path.read_text(encoding="utf-8")
