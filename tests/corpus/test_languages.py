"""Language codes in their many spellings."""

import pytest

from dragoman.corpus.languages import find_language, is_language


@pytest.mark.parametrize(
    ("wanted", "offered", "fits"),
    [
        ("en", "en", True),
        ("en", "EN_us", True),
        ("zh", "zh-Hant-TW", True),
        ("zh-hant", "zh-Hant-TW", True),
        ("en-US", "en", False),
        ("en", "eng", False),
        ("en", "de", False),
    ],
)
def test_a_language_takes_its_regions_and_nothing_else(
    wanted: str, offered: str, fits: bool
) -> None:
    assert is_language(wanted, offered) is fits


def test_an_exact_match_wins_over_an_earlier_region() -> None:
    assert find_language("en", ["en-US", "en"]) == "en"
    assert find_language("en", ["de", "en-US", "en-GB"]) == "en-US"
