"""TMX: languages, inline tags, and XML that means harm."""

from pathlib import Path

import pytest

from dragoman.corpus.tmx import read_tmx
from dragoman.errors import DataError

BILLION_LAUGHS = """<?xml version="1.0"?>
<!DOCTYPE lolz [
 <!ENTITY lol "lol">
 <!ENTITY lol2 "&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;">
]>
<tmx><body><tu><tuv xml:lang="en"><seg>&lol2;</seg></tuv></tu></body></tmx>
"""


def tuv(language: str, text: str) -> str:
    return f'<tuv xml:lang="{language}"><seg>{text}</seg></tuv>'


def tmx(tmp_path: Path, *units: str, header: str = '<header srclang="en"/>') -> Path:
    path = tmp_path / "m.tmx"
    body = "\n".join(f"<tu>{unit}</tu>" for unit in units)
    path.write_text(
        '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n'
        f'<tmx version="1.4">\n{header}\n<body>\n{body}\n</body></tmx>\n',
        encoding="utf-8",
    )
    return path


def texts(pairs) -> list[tuple[str, str]]:
    return [(pair.src, pair.tgt) for pair in pairs]


def test_units_become_pairs_with_the_line_of_the_unit(tmp_path: Path) -> None:
    path = tmx(
        tmp_path,
        tuv("en", "a dog") + tuv("de", "ein Hund"),
        tuv("de", "zwei &amp; drei") + tuv("en", "two &amp; three"),
    )
    pairs = list(read_tmx(path, src_lang="de", tgt_lang="en"))
    assert texts(pairs) == [("ein Hund", "a dog"), ("zwei & drei", "two & three")]
    assert [pair.place for pair in pairs] == [f"{path}:6", f"{path}:7"]


def test_a_region_matches_its_language_and_an_exact_match_comes_first(tmp_path: Path) -> None:
    path = tmx(
        tmp_path,
        tuv("en-US", "color") + tuv("DE_de", "Farbe"),
        tuv("en-US", "color") + tuv("en", "colour") + tuv("de", "Farbe"),
    )
    found = texts(read_tmx(path, src_lang="en", tgt_lang="de"))
    assert found == [("color", "Farbe"), ("colour", "Farbe")]


def test_of_several_variants_in_one_language_the_first_is_taken(tmp_path: Path) -> None:
    path = tmx(tmp_path, tuv("en", "a dog") + tuv("de", "ein Hund") + tuv("de", "ein Köter"))
    assert texts(read_tmx(path)) == [("a dog", "ein Hund")]


def test_the_old_lang_attribute_is_read(tmp_path: Path) -> None:
    path = tmx(tmp_path, '<tuv lang="en"><seg>a</seg></tuv><tuv lang="de"><seg>b</seg></tuv>')
    assert texts(read_tmx(path, src_lang="en", tgt_lang="de")) == [("a", "b")]


def test_native_code_is_dropped_and_highlighted_text_is_kept(tmp_path: Path) -> None:
    source = (
        'Press <bpt i="1">&lt;b&gt;<sub>x</sub></bpt><hi>the <hi>red</hi></hi> key'
        '<ept i="1">&lt;/b&gt;</ept>.'
    )
    target = 'Rote<ph type="lb">&lt;br&gt;</ph>Taste\n      drücken<it pos="end">x</it>'
    path = tmx(tmp_path, tuv("en", source) + tuv("de", target))
    assert texts(read_tmx(path)) == [("Press the red key.", "Rote Taste drücken")]


def test_a_line_break_inside_a_kept_tag_still_separates_words(tmp_path: Path) -> None:
    path = tmx(tmp_path, tuv("en", "a <hi>red\n</hi>dog") + tuv("de", "b"))
    assert texts(read_tmx(path)) == [("a red dog", "b")]


def test_without_languages_the_header_and_the_only_other_one_are_taken(tmp_path: Path) -> None:
    path = tmx(tmp_path, tuv("en-GB", "a"), tuv("de", "b") + tuv("en-GB", "a"))
    assert texts(read_tmx(path)) == [("a", "b")]
    assert texts(read_tmx(path, tgt_lang="en")) == [("b", "a")]


def test_a_third_language_asks_for_a_choice(tmp_path: Path) -> None:
    path = tmx(tmp_path, tuv("en", "a") + tuv("de", "b"), tuv("en", "a") + tuv("fr", "c"))
    with pytest.raises(DataError, match=r"m\.tmx:7: .*en, de, fr\n.*--src-lang"):
        list(read_tmx(path))
    assert texts(read_tmx(path, tgt_lang="fr")) == [("a", "c")]


def test_a_missing_language_lists_those_that_are_there(tmp_path: Path) -> None:
    path = tmx(tmp_path, tuv("en-US", "a") + tuv("de", "b"))
    with pytest.raises(DataError, match=r"m\.tmx: no unit has both 'en' and 'fr'\n.*en-US, de"):
        list(read_tmx(path, src_lang="en", tgt_lang="fr"))


def test_utf16_is_read_by_its_mark(tmp_path: Path) -> None:
    path = tmx(tmp_path, tuv("en", "a bear") + tuv("de", "ein Bär"))
    text = path.read_text(encoding="utf-8").replace('encoding="utf-8"', 'encoding="utf-16"')
    path.write_bytes(text.encode("utf-16"))
    assert texts(read_tmx(path)) == [("a bear", "ein Bär")]


def test_a_billion_laughs_is_refused_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "bomb.tmx"
    path.write_text(BILLION_LAUGHS, encoding="utf-8")
    with pytest.raises(DataError, match=r"bomb\.tmx:3: declares the entity 'lol'"):
        list(read_tmx(path))


@pytest.mark.parametrize(
    "declaration",
    [
        '<!ENTITY secret SYSTEM "secret.txt">',
        '<!ENTITY % outside SYSTEM "http://127.0.0.1:9/x.dtd"> %outside;',
    ],
)
def test_an_external_entity_is_refused_and_never_read(tmp_path: Path, declaration: str) -> None:
    (tmp_path / "secret.txt").write_text("password", encoding="utf-8")
    path = tmp_path / "x.tmx"
    unit = tuv("en", "&secret;") + tuv("de", "b")
    path.write_text(
        f"<!DOCTYPE tmx [{declaration}]>\n<tmx><body><tu>{unit}</tu></body></tmx>",
        encoding="utf-8",
    )
    with pytest.raises(DataError, match=r"x\.tmx:1: declares the entity"):
        list(read_tmx(path, src_lang="en", tgt_lang="de"))


def test_broken_xml_is_named_with_its_line_after_the_good_units(tmp_path: Path) -> None:
    path = tmx(tmp_path, tuv("en", "a") + tuv("de", "b"), tuv("en", "a < b"))
    pairs = read_tmx(path, src_lang="en", tgt_lang="de")
    assert next(pairs)[:2] == ("a", "b")
    with pytest.raises(DataError, match=r"m\.tmx:7: not well-formed XML"):
        next(pairs)


def test_a_file_that_stops_in_the_middle_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmx(tmp_path, tuv("en", "a") + tuv("de", "b"))
    path.write_text(path.read_text(encoding="utf-8").replace("</body></tmx>", ""), encoding="utf-8")
    with pytest.raises(DataError, match=r"m\.tmx:\d+: not well-formed XML"):
        list(read_tmx(path))


def test_very_deep_nesting_is_refused(tmp_path: Path) -> None:
    path = tmx(tmp_path, tuv("en", "<hi>" * 5000 + "</hi>" * 5000))
    with pytest.raises(DataError, match=r"m\.tmx:6: elements nested"):
        list(read_tmx(path))
