"""Attention as pictures: at any size, with every label whole and none over another."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dragoman.pictures.heatmap import CELL, Panel, draw_attention, draw_heads, draw_panels


def tokens(n):
    return [f"w{i}" for i in range(n)]


@pytest.mark.parametrize(
    ("shape", "theme"), [((1, 1), "light"), ((3, 7), "dark"), ((40, 2), "light")]
)
def test_attention_is_drawn_at_any_size(tmp_path, shape, theme):
    path = tmp_path / "attention.png"
    queries, keys = map(tokens, shape)
    draw_attention(np.full(shape, 0.5), queries, keys, path=path, title="layer 1", theme=theme)
    assert path.read_bytes()[:4] == b"\x89PNG"


def test_rows_are_queries_and_columns_are_keys(tmp_path, figures, labels_of):
    weights = np.array([[0.0, 1.0, 0.0], [0.25, 0.5, 0.25]])
    draw_attention(weights, ["q0", "q1"], ["k0", "k1", "k2"], path=tmp_path / "a.png")
    axis = figures[0].axes[0]
    np.testing.assert_array_equal(axis.images[0].get_array(), weights)
    assert labels_of(axis) == (["q0", "q1"], ["k0", "k1", "k2"])
    assert axis.images[0].get_clim() == (0.0, 1.0)  # the same colour is the same weight everywhere
    top, bottom = axis.get_ylim()[1], axis.get_ylim()[0]
    assert top < bottom  # the first row is above


@pytest.mark.parametrize("n_heads", [1, 3, 8])
def test_all_heads_of_a_layer_stand_on_one_sheet(tmp_path, figures, n_heads):
    weights = np.random.default_rng(1).random((n_heads, 2, 3))
    draw_heads(weights, tokens(2), tokens(3), path=tmp_path / "h.png")
    shown = [axis for axis in figures[0].axes if axis.images]
    shown = [axis for axis in shown if axis.images[0].get_array().shape == (2, 3)]
    assert [axis.texts[-1].get_text() for axis in shown] == [f"head {h}" for h in range(n_heads)]
    for axis, head in zip(shown, weights, strict=True):
        np.testing.assert_array_equal(axis.images[0].get_array(), head)


LONG = ["Donaudampfschifffahrt", ".", "MMMMMMMMMM", "Straßenbahnhaltestelle", "نص"]


@pytest.mark.parametrize("n_panels", [1, 2, 4])
def test_nothing_is_cut_off_and_nothing_lies_over_another(tmp_path, figures, n_panels):
    panels = [Panel(np.eye(5), LONG, LONG, f"the title of panel {i}") for i in range(n_panels)]
    title = "a long title of many words that is wider than the matrix it stands over , and more"
    draw_panels(panels, path=tmp_path / "p.png", title=title, rows="says", columns="looks at")
    figure = figures[0]
    renderer = figure.canvas.get_renderer()
    texts = [*figure.texts, *(text for axis in figure.axes for text in axis.texts)]
    boxes = [text.get_window_extent(renderer) for text in texts if text.get_text()]
    assert len(boxes) == 1 + n_panels * (2 * 5 + 3)
    matrices = [axis.get_window_extent(renderer) for axis in figure.axes if axis.images]
    for box in boxes:
        assert min(box.x0, box.y0) > 0
        assert box.x1 < figure.bbox.x1
        assert box.y1 < figure.bbox.y1
        assert not any(box.overlaps(matrix) for matrix in matrices)
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))


def test_cells_are_squares_of_one_size(tmp_path, figures):
    panels = [Panel(np.eye(2), tokens(2), tokens(2)), Panel(np.eye(5), tokens(5), tokens(5))]
    draw_panels(panels, path=tmp_path / "p.png")
    for axis, n in zip(figures[0].axes, (2, 5), strict=False):
        box = axis.get_window_extent()
        assert box.width / n == pytest.approx(CELL * figures[0].dpi)
        assert box.height / n == pytest.approx(CELL * figures[0].dpi)


def test_dollars_in_a_token_are_no_formula(tmp_path, figures, labels_of):
    draw_attention(np.eye(2), ["$x^2$", "\\frac"], ["$", "_a_"], path=tmp_path / "d.svg")
    assert labels_of(figures[0].axes[0])[0] == ["$x^2$", "\\frac"]
    assert "<!-- $x^2$ -->" in (tmp_path / "d.svg").read_text(encoding="utf-8")


def test_a_very_long_label_loses_its_middle(tmp_path, figures, labels_of):
    draw_attention(np.eye(1), ["a" * 30 + "z" * 30], ["k"], path=tmp_path / "l.png")
    (text,), _ = labels_of(figures[0].axes[0])
    assert text == "a" * 11 + "…" + "z" * 12
