"""Letters of any script in a picture: the installed fonts that have them, or their code points.

Matplotlib's own DejaVu Sans has Latin, Greek, Cyrillic, Hebrew, Arabic and more. For what it lacks
the fonts of the machine are asked. A character that none of them has is drawn as its code point,
``U+4E2D``, and told in a warning: a box would say nothing, and a crash less.
"""

from __future__ import annotations

import logging
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

logger = logging.getLogger(__name__)

FIRST = "DejaVu Sans"
NO_FONT = "Last Resort"  # has a box for every character and a letter for none
NEVER_DRAWN = ("Cf", "Mn")  # marks that may be left out where no font has them: joiners, accents


@dataclass(frozen=True)
class Fonts:
    """The families that draw some texts together, and the characters that none of them has.

    >>> Fonts(("DejaVu Sans",), frozenset("中国")).shown("in 中国 !")
    'in U+4E2D U+56FD !'
    """

    families: tuple[str, ...]
    missing: frozenset[str] = frozenset()

    def shown(self, text: str) -> str:
        """The text with the code points of what cannot be drawn."""
        parts = []
        for is_missing, characters in groupby(text, self.missing.__contains__):
            if not is_missing:
                parts.append("".join(characters))
                continue
            named = [c for c in characters if unicodedata.category(c) not in NEVER_DRAWN]
            parts.append(" ".join(f"U+{ord(c):04X}" for c in named))
        return "".join(parts)


def fonts_for(texts: Iterable[str]) -> Fonts:
    """The fonts that these texts need, as few as possible.

    >>> fonts_for(["Straße", "улица"]).families
    ('DejaVu Sans',)
    """
    wanted = {ord(character) for text in texts for character in text} - {ord("\n")}
    families, left = [FIRST], wanted - _letters(FIRST)
    if left:
        candidates = {name: left & _letters(name) for name in _installed()}
        while left:
            name = max(sorted(candidates), key=lambda name: len(candidates[name] & left))
            if not candidates[name] & left:
                break
            families.append(name)
            left = left - candidates[name]
    missing = frozenset(map(chr, left))
    if missing:
        shown = ", ".join(f"U+{ord(character):04X}" for character in sorted(missing)[:8])
        logger.warning(
            "no font on this machine has %s%s: drawn as code points. Install a font of that"
            " script, such as one of the Noto family.",
            shown,
            ", …" if len(missing) > 8 else "",
        )
    return Fonts(tuple(families), missing)


def _installed() -> list[str]:
    """The families on this machine, also those installed since matplotlib last looked."""
    from matplotlib import font_manager

    known = {entry.fname for entry in font_manager.fontManager.ttflist}
    for path in font_manager.findSystemFonts():
        if path not in known:
            try:
                font_manager.fontManager.addfont(path)
            except Exception as error:  # a damaged file among the fonts is not our business
                logger.debug("%s: not a font that can be used (%s)", path, error)
    # Upright and of common weight: what matplotlib then draws is the face that was looked at.
    return sorted(
        {
            entry.name
            for entry in font_manager.fontManager.ttflist
            if (entry.style, entry.weight) == ("normal", 400) and not entry.name.startswith(NO_FONT)
        }
    )


@lru_cache(maxsize=1024)
def _letters(family: str) -> frozenset[int]:
    """The code points that a family has in the face that is drawn."""
    from matplotlib import font_manager

    try:
        path = font_manager.findfont(
            font_manager.FontProperties(family=[family]), fallback_to_default=False
        )
        return frozenset(font_manager.get_font(path).get_charmap())
    except Exception as error:  # no upright face, or a file that is gone
        logger.debug("%s: cannot be used (%s)", family, error)
        return frozenset()
