"""Pictures of an explained sentence: the right weights, the whole beam, every station."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from dragoman.errors import ConfigError
from dragoman.pictures.explained import View, draw_explanation

SUFFIXES = [".svg", ".pdf", ".png"]
WHATS = ["attention", "heads", "causal", "beam", "flow"]


@pytest.mark.parametrize(("what", "suffix"), list(zip(WHATS, itertools.cycle(SUFFIXES))))
def test_every_picture_of_a_sentence_is_drawn(tmp_path, explanation, is_picture, what, suffix):
    path = tmp_path / f"a{suffix}"
    draw_explanation(explanation, path, what=what, theme="dark")
    assert is_picture(path)


@pytest.mark.parametrize(
    ("view", "name", "head"),
    [
        (View("encoder", 0, 2), "encoder.0.self", 2),
        (View("decoder", 1, 0), "decoder.1.self", 0),
        (View("cross", 0, 1), "decoder.0.cross", 1),
        (View(), "decoder.0.cross", None),  # the heads that align
        (View("decoder"), "decoder.1.self", None),  # the last layer
        (View("cross"), "decoder.1.cross", None),
        (View(head=2), "decoder.0.cross", 2),
    ],
)
def test_the_attention_that_was_asked_for_is_drawn(
    tmp_path, explanation, figures, labels_of, view, name, head
):
    draw_explanation(explanation, tmp_path / "a.png", view=view)
    weights = explanation.attention[name]
    expected = weights.mean(0) if head is None else weights[head]
    axis = figures[0].axes[0]
    np.testing.assert_allclose(axis.images[0].get_array(), expected)
    queries, keys = explanation.axes(name)
    assert labels_of(axis) == (list(queries), list(keys))
    title = figures[0].texts[0].get_text()
    assert name in title
    assert "собака" in title


def test_all_heads_of_the_layer_are_drawn(tmp_path, explanation, figures):
    draw_explanation(explanation, tmp_path / "h.png", what="heads", view=View("decoder", 0))
    shown = [axis.images[0].get_array() for axis in figures[0].axes[:3]]
    np.testing.assert_array_equal(np.stack(shown), explanation.attention["decoder.0.self"])


def test_causal_stands_beside_bidirectional(tmp_path, explanation, figures):
    view = View(layer=0, head=1)
    draw_explanation(explanation, tmp_path / "c.png", what="causal", view=view)
    free, causal = (axis.images[0].get_array() for axis in figures[0].axes[:2])
    np.testing.assert_array_equal(free, explanation.attention["encoder.0.self"][1])
    np.testing.assert_array_equal(causal, explanation.attention["decoder.0.self"][1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"view": View("encoder", 1)}, "encoder's layers of this model are 0 to 0"),
        ({"view": View("decoder", -1)}, "layer -1"),
        ({"view": View(head=3)}, "heads of this model are 0 to 2"),
        ({"what": "beem"}, "did you mean beam"),
    ],
)
def test_what_the_model_does_not_have_is_refused(tmp_path, explanation, options, message):
    with pytest.raises(ConfigError, match=message):
        draw_explanation(explanation, tmp_path / "a.png", **options)


def test_every_node_of_the_beam_is_written_with_its_score(tmp_path, explanation, figures):
    draw_explanation(explanation, tmp_path / "b.png", what="beam")
    written = [text.get_text() for text in figures[0].axes[0].texts]
    nodes = explanation.beam.nodes
    steps = max(node.step for node in nodes)
    assert len(written) == 2 * len(nodes) + steps
    assert sorted(w for w in written if w.startswith("-")) == sorted(
        f"{node.score:.2f}" for node in nodes[1:]
    )
    assert written.count("</s>") == sum(node.piece == "</s>" for node in nodes)


def test_no_two_nodes_of_the_beam_lie_over_each_other(tmp_path, explanation, figures):
    draw_explanation(explanation, tmp_path / "b.png", what="beam")
    figure = figures[0]
    renderer = figure.canvas.get_renderer()
    texts = [text for text in figure.axes[0].texts if not text.get_text().startswith("step")]
    boxes = [text.get_window_extent(renderer) for text in texts]
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
    assert all(figure.bbox.x0 < box.x0 and box.x1 < figure.bbox.x1 for box in boxes)


def test_every_station_of_the_flow_has_its_bar_and_shape(tmp_path, explanation, figures):
    draw_explanation(explanation, tmp_path / "f.png", what="flow")
    axis = figures[0].axes[0]
    assert [bar.get_width() for bar in axis.patches] == [step.norm for step in explanation.flow]
    labels = [label.get_text() for label in axis.get_yticklabels()]
    assert labels == [step.title for step in explanation.flow]
    assert "(S, D) = 3 × 12" in [text.get_text() for text in axis.texts]


def test_heads_of_several_layers_that_align_are_drawn_as_their_mean(tmp_path, explanation, figures):
    heads = [("decoder.0.cross", 1), ("decoder.1.cross", 0)]
    several = dataclasses.replace(
        explanation, model={**explanation.model, "alignment_heads": heads}
    )
    draw_explanation(several, tmp_path / "a.png")
    expected = np.mean([several.attention[name][head] for name, head in heads], axis=0)
    np.testing.assert_allclose(figures[0].axes[0].images[0].get_array(), expected)
    assert "decoder.0.cross 1, decoder.1.cross 0" in figures[0].texts[0].get_text().replace(
        "\n", " "
    )
