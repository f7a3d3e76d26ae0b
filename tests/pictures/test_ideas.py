"""Pictures that need no model show the numbers of the model's own functions."""

from __future__ import annotations

import numpy as np
import pytest

from dragoman.config import TrainConfig
from dragoman.pictures.masks import draw_causal, draw_masks
from dragoman.pictures.positions import draw_positions
from dragoman.pictures.schedules import draw_schedules
from dragoman.pictures.smoothing import draw_smoothing
from dragoman.training.schedule import learning_rate

IDEAS = [draw_masks, draw_causal, draw_positions, draw_schedules, draw_smoothing]


@pytest.mark.parametrize("draw", IDEAS)
def test_every_idea_is_drawn_light_and_dark(tmp_path, is_picture, draw):
    pictures = [tmp_path / "light.png", tmp_path / "dark.png"]
    for path in pictures:
        draw(path, theme=path.stem)
        assert is_picture(path)
    assert pictures[0].read_bytes() != pictures[1].read_bytes()


def test_masks_are_those_of_the_model(tmp_path, figures):
    draw_masks(tmp_path / "m.png", words=["a", "b"])
    panels = [axis for axis in figures[0].axes if axis.images]
    shown = {axis.texts[-1].get_text(): axis.images[0].get_array() for axis in panels}
    causal = next(m for title, m in shown.items() if title.startswith("causal"))
    both = next(m for title, m in shown.items() if title.startswith("both"))
    assert causal.astype(int).tolist() == np.tril(np.ones((5, 5), int)).tolist()
    assert both[:, 3:].sum() == 0  # nobody looks at the two pads
    assert both[:2, :3].astype(int).tolist() == [[1, 0, 0], [1, 1, 0]]
    assert both[2:, :3].all()


def test_causal_attention_is_the_free_one_cut_off_and_made_whole_again(tmp_path, figures):
    draw_causal(tmp_path / "c.png")
    free, causal = (axis.images[0].get_array() for axis in figures[0].axes[:2])
    expected = np.tril(free) / np.tril(free).sum(-1, keepdims=True)
    np.testing.assert_allclose(causal, expected, atol=1e-6)


def test_positions_are_sines_and_cosines(tmp_path, figures):
    draw_positions(tmp_path / "p.png", length=30, d_model=16)
    whole, waves = figures[0].axes[:2]
    table = whole.images[0].get_array()  # (D, L)
    np.testing.assert_allclose(table[0], np.sin(np.arange(30)), atol=1e-12)
    np.testing.assert_allclose(table[5], np.cos(np.arange(30) / 10_000 ** (4 / 16)), atol=1e-12)
    for line in waves.get_lines():
        dimension = int(line.get_label().split(":")[0].removeprefix("dimension "))
        np.testing.assert_array_equal(line.get_ydata(), table[dimension])


@pytest.mark.parametrize("d_model", [2, 4, 512])
def test_positions_of_any_width_are_drawn(tmp_path, is_picture, d_model):
    draw_positions(tmp_path / "p.png", length=5, d_model=d_model)
    assert is_picture(tmp_path / "p.png")


def test_schedules_are_those_of_training(tmp_path, figures):
    configs = {
        "mine": TrainConfig(schedule="cosine", warmup_steps=10, learning_rate=0.5),
        "平": TrainConfig(schedule="constant", warmup_steps=5, learning_rate=0.25),
    }
    draw_schedules(tmp_path / "s.png", configs=configs, d_model=64, steps=100)
    lines = figures[0].axes[0].get_lines()
    assert len(lines) == 2
    for line, config in zip(lines, configs.values(), strict=True):
        points = zip(line.get_xdata(), line.get_ydata(), strict=True)
        for step, rate in points:
            assert rate == learning_rate(int(step), config, d_model=64, total_steps=100)


def test_smoothed_targets_sum_to_one_and_spare_the_padding(tmp_path, figures):
    draw_smoothing(tmp_path / "s.png", epsilon=0.2)
    hard, uniform, kl = (
        [bar.get_height() for bar in axis.patches] for axis in figures[0].subfigs[0].axes
    )
    for bars in (hard, uniform, kl):
        assert sum(bars) == pytest.approx(1)
    assert max(hard) == 1
    assert uniform[0] == pytest.approx(0.2 / 8)
    assert kl[0] == 0
    assert sorted(set(np.round(kl, 6))) == pytest.approx([0, 0.2 / 6, 0.8], abs=1e-6)


def test_being_too_sure_costs_only_with_smoothing(tmp_path, figures):
    draw_smoothing(tmp_path / "s.png")
    plain, smoothed = (line.get_ydata() for line in figures[0].subfigs[1].axes[0].get_lines())
    assert np.argmin(plain) == len(plain) - 1
    assert 0 < np.argmin(smoothed) < len(smoothed) - 1
