"""Training curves of one run and of several."""

from __future__ import annotations

import pytest

from dragoman.pictures.curves import draw_runs, draw_training

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


@pytest.mark.parametrize("others", [METRICS, METRICS[:1], []])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_several_runs_are_drawn_together(tmp_path, is_picture, others, theme):
    path = tmp_path / "runs.png"
    draw_runs({"one": METRICS, "zwei ☂": others}, path, title="two", theme=theme)
    assert is_picture(path)


def test_every_run_has_its_line_in_every_panel(tmp_path, figures):
    draw_runs({"one": METRICS, "two": METRICS}, tmp_path / "runs.png")
    panels = {axis.get_title(): axis.get_lines() for axis in figures[0].axes}
    assert all(len(lines) == 2 for lines in panels.values())
    assert list(panels["training loss of a token"][1].get_ydata()) == [5.0, 4.0]
    assert list(panels["learning rate"][0].get_ydata()) == [1e-3, 2e-3]
    assert list(panels["validation BLEU, greedy"][0].get_ydata()) == [1.5]
    legend = [text.get_text() for text in figures[0].legends[0].get_texts()]
    assert legend == ["one", "two"]


def test_runs_without_bleu_leave_its_panel_away(tmp_path, figures):
    draw_runs({"one": METRICS[:2]}, tmp_path / "runs.png")
    assert [axis.get_visible() for axis in figures[0].axes] == [True, True, True, False]
