"""Files, themes and colours of all pictures."""

from __future__ import annotations

import itertools

import matplotlib
import pytest

from dragoman.errors import ConfigError
from dragoman.pictures import style
from dragoman.pictures.style import THEMES, drawing, wrap


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf", ".PNG"])
def test_a_picture_is_what_its_name_says(tmp_path, suffix):
    path = tmp_path / "deep" / "er" / f"a{suffix}"
    with drawing(path, size=(2, 1), theme="light") as sheet:
        sheet.figure.subplots().plot([0, 1])
    start = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[suffix.lower()]
    assert path.read_bytes().startswith(start)


@pytest.mark.parametrize("name", ["a.jpg", "a", "a.html"])
def test_another_ending_is_refused(tmp_path, name):
    with (
        pytest.raises(ConfigError, match=r"ends with \.png, \.svg or \.pdf"),
        drawing(tmp_path / name, size=(1, 1), theme="light"),
    ):
        pass


def test_another_theme_is_refused(tmp_path):
    with (
        pytest.raises(ConfigError, match="light or dark"),
        drawing(tmp_path / "a.png", size=(1, 1), theme="pink"),
    ):
        pass


def test_what_fails_while_drawing_leaves_no_file(tmp_path):
    with pytest.raises(ZeroDivisionError), drawing(tmp_path / "a.png", size=(1, 1), theme="dark"):
        raise ZeroDivisionError
    assert not list(tmp_path.iterdir())


def test_the_settings_of_others_stay_as_they_were(tmp_path):
    before = dict(matplotlib.rcParams)
    with drawing(tmp_path / "a.png", size=(1, 1), theme="dark"):
        assert matplotlib.rcParams["figure.facecolor"] == THEMES["dark"].paper
    assert dict(matplotlib.rcParams) == before


def test_a_huge_picture_is_drawn_coarser(tmp_path, monkeypatch):
    from PIL import Image

    monkeypatch.setattr(style, "MOST_PIXELS", 10_000)
    with drawing(tmp_path / "a.png", size=(4, 4), theme="light") as sheet:
        sheet.figure.subplots().plot([0, 1])
    with Image.open(tmp_path / "a.png") as image:
        assert 80 < image.width < 120


def luminance(color):
    """Relative luminance, as in the contrast formula of WCAG."""
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(c * w for c, w in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))


def contrast(a, b):
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", THEMES.values(), ids=list(THEMES))
def test_text_and_lines_stand_out_from_the_paper(theme):
    assert contrast(theme.ink, theme.paper) > 12
    assert contrast(theme.faint, theme.paper) > 3
    assert all(contrast(color, theme.paper) > 2 for color in theme.series)


@pytest.mark.parametrize("theme", THEMES.values(), ids=list(THEMES))
def test_more_attention_is_further_from_the_paper_without_any_hue(theme):
    steps = [contrast(color, theme.paper) for color in theme.weights]
    assert steps[0] == 1
    assert all(b > 1.15 * a for a, b in itertools.pairwise(steps))


def test_lines_of_a_plot_differ_in_colour_or_dashes(tmp_path):
    with drawing(tmp_path / "a.png", size=(1, 1), theme="light") as sheet:
        looks = [repr(sheet.line(number)) for number in range(12)]
    assert len(set(looks)) == 12


def test_titles_are_wrapped_at_spaces_and_kept_whole():
    text = "eins zwei drei vier\nfünf"
    assert wrap(text, 1.0, 10).replace("\n", " ") == text.replace("\n", " ")
    assert max(map(len, wrap(text, 1.0, 10).split("\n"))) <= 12


def test_lines_are_even_and_no_word_that_fits_is_cut():
    assert wrap("the old man is here .", 1.5, 10) == "the old man\nis here ."
    assert wrap("Donaudampfschiffe an", 1.5, 10) == "Donaudampfschiffe\nan"
