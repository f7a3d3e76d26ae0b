"""Any script is drawn: by a font that has it, or by its code points, and never by a box."""

from __future__ import annotations

import logging
import unicodedata

import numpy as np
import pytest

from dragoman.pictures import fonts
from dragoman.pictures.fonts import Fonts, fonts_for
from dragoman.pictures.heatmap import draw_attention

NOWHERE = "\U000e1234"  # a code point that no script uses


@pytest.fixture
def new_font(tmp_path):
    """A font with a glyph for one character that no installed font has."""
    from fontTools.fontBuilder import FontBuilder
    from fontTools.pens.ttGlyphPen import TTGlyphPen
    from matplotlib import font_manager

    pen = TTGlyphPen(None)
    for corner in ((0, 0), (0, 700), (500, 700), (500, 0)):
        (pen.lineTo if pen.points else pen.moveTo)(corner)
    pen.closePath()
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder([".notdef", "strange"])
    builder.setupCharacterMap({0xF8123: "strange"})
    builder.setupGlyf({".notdef": pen.glyph(), "strange": pen.glyph()})
    builder.setupHorizontalMetrics({".notdef": (600, 0), "strange": (600, 0)})
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Strange Script", "styleName": "Regular"})
    builder.setupOS2(sTypoAscender=800, usWeightClass=400)
    builder.setupPost()
    builder.save(tmp_path / "strange.ttf")
    before = list(font_manager.fontManager.ttflist)
    font_manager.fontManager.addfont(str(tmp_path / "strange.ttf"))
    fonts._letters.cache_clear()
    yield "\U000f8123"
    font_manager.fontManager.ttflist[:] = before
    fonts._letters.cache_clear()


@pytest.mark.parametrize("text", ["Straße", "Ελλάδα", "улица", "שלום", "الكلب", "Հայաստան", "▁·␣"])
def test_common_scripts_need_one_font(text):
    assert fonts_for([text]) == Fonts(("DejaVu Sans",))


def test_a_font_that_has_the_letters_is_found(new_font, caplog):
    found = fonts_for(["abc", new_font])
    assert found.families == ("DejaVu Sans", "Strange Script")
    assert not found.missing
    assert not caplog.records


def test_what_a_fallback_font_has_is_drawn_with_it(new_font, tmp_path):
    """Matplotlib warns of a glyph that it lacks, and warnings are errors here."""
    draw_attention(np.eye(2), ["a", new_font], [new_font, "b"], path=tmp_path / "f.png")
    assert (tmp_path / "f.png").stat().st_size


def test_what_no_font_has_is_drawn_as_its_code_point_and_told(tmp_path, figures, labels_of, caplog):
    with caplog.at_level(logging.WARNING, logger="dragoman"):
        draw_attention(np.eye(2), [f"a{NOWHERE}b", "c"], ["d", "e"], path=tmp_path / "n.png")
    assert labels_of(figures[0].axes[0])[0] == ["aU+E1234b", "c"]
    assert "no font on this machine has U+E1234" in caplog.text


@pytest.mark.parametrize("text", ["\ud800", "\x07", "\ufffe"])
def test_what_is_no_character_at_all_is_drawn_too(tmp_path, text):
    draw_attention(np.eye(1), [text], ["k"], path=tmp_path / "s.png", title=text)
    assert (tmp_path / "s.png").stat().st_size


def test_marks_that_join_and_accent_may_be_left_out():
    mark = "\U000e0100"
    assert unicodedata.category(mark) == "Mn"
    assert Fonts(("DejaVu Sans",), frozenset([mark, "中"])).shown(f"a{mark}中") == "aU+4E2D"


def test_the_font_of_last_resort_is_no_font():
    """It has a box for every character, so that nothing would ever be missing."""
    assert not any(name.startswith("Last Resort") for name in fonts._installed())
    assert NOWHERE in fonts_for([NOWHERE]).missing
