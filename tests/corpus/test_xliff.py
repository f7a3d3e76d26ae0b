"""XLIFF 1.2 and 2.x: which targets count, which direction, which inline tags."""

from pathlib import Path

import pytest

from dragoman.corpus.xliff import read_xliff
from dragoman.errors import DataError

V12 = (
    '<?xml version="1.0"?>\n<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">\n'
    '<file source-language="en-US" target-language="de" original="a">\n<body>\n{}\n</body></file>'
    "</xliff>"
)
V20 = (
    '<?xml version="1.0"?>\n<xliff version="2.0" xmlns="urn:oasis:names:tc:xliff:document:2.0" '
    'srcLang="en" trgLang="de">\n<file id="f">\n<unit id="u">\n{}\n</unit></file></xliff>'
)


def xliff(tmp_path: Path, frame: str, body: str) -> Path:
    path = tmp_path / "a.xlf"
    path.write_text(frame.format(body), encoding="utf-8")
    return path


def unit(source: str, target: str | None, state: str = "") -> str:
    marked = f' state="{state}"' if state else ""
    translation = "" if target is None else f"<target{marked}>{target}</target>"
    return f"<trans-unit><source>{source}</source>{translation}</trans-unit>"


def segment(source: str, target: str | None, state: str = "") -> str:
    marked = f' state="{state}"' if state else ""
    translation = "" if target is None else f"<target>{target}</target>"
    return f"<segment{marked}><source>{source}</source>{translation}</segment>"


def texts(pairs) -> list[tuple[str, str]]:
    return [(pair.src, pair.tgt) for pair in pairs]


@pytest.mark.parametrize(("frame", "part"), [(V12, unit), (V20, segment)])
def test_translated_parts_become_pairs_with_their_line(tmp_path: Path, frame: str, part) -> None:
    body = "\n".join([part("a dog", "ein Hund"), part("a cat", None), part("a cow", "eine Kuh")])
    pairs = list(read_xliff(xliff(tmp_path, frame, body)))
    assert texts(pairs) == [("a dog", "ein Hund"), ("a cow", "eine Kuh")]
    assert [pair.line for pair in pairs] == [5, 7]


@pytest.mark.parametrize(
    ("frame", "part", "state"),
    [(V12, unit, "new"), (V12, unit, "needs-translation"), (V20, segment, "initial")],
)
def test_what_is_not_translated_yet_is_passed_over(
    tmp_path: Path, frame: str, part, state: str
) -> None:
    body = part("a dog", "a dog", state) + part("a cat", "Katze", "final") + part("x", "")
    assert texts(read_xliff(xliff(tmp_path, frame, body))) == [("a cat", "Katze")]


def test_inline_tags_of_1_2_are_dropped_and_their_text_kept_where_it_is_text(
    tmp_path: Path,
) -> None:
    source = 'Save <g id="1">the <mrk mtype="seg">file</mrk></g><x id="2"/><bpt id="3">{b}</bpt>.'
    target = 'Datei<x id="2" ctype="lb"/>speichern<ph id="4">%s</ph>'
    path = xliff(tmp_path, V12, unit(source, target))
    assert texts(read_xliff(path)) == [("Save the file.", "Datei speichern")]


def test_inline_tags_of_2_0_are_dropped_and_their_text_kept(tmp_path: Path) -> None:
    source = 'a <pc id="1">big <sc id="2"/>dog</pc><ec startRef="2"/><cp hex="001B"/>'
    path = xliff(tmp_path, V20, segment(source, 'ein <mrk id="m">großer</mrk> Hund<ph id="3"/>'))
    assert texts(read_xliff(path)) == [("a big dog", "ein großer Hund")]


def test_a_suggestion_is_not_a_translation(tmp_path: Path) -> None:
    body = (
        "<trans-unit><source>a dog</source><alt-trans><source>dog</source>"
        "<target>Katze</target></alt-trans></trans-unit>"
    )
    assert texts(read_xliff(xliff(tmp_path, V12, body))) == []


@pytest.mark.parametrize(("frame", "part"), [(V12, unit), (V20, segment)])
def test_a_file_serves_both_directions(tmp_path: Path, frame: str, part) -> None:
    path = xliff(tmp_path, frame, part("a dog", "ein Hund"))
    assert texts(read_xliff(path, src_lang="de", tgt_lang="en")) == [("ein Hund", "a dog")]
    assert texts(read_xliff(path, src_lang="en", tgt_lang="de")) == [("a dog", "ein Hund")]


def test_a_file_of_other_languages_is_refused(tmp_path: Path) -> None:
    path = xliff(tmp_path, V12, unit("a dog", "ein Hund"))
    with pytest.raises(DataError, match=r"a\.xlf:3: the file goes from en-US to de, not .* to fr"):
        list(read_xliff(path, src_lang="en", tgt_lang="fr"))


def test_another_xml_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.xlf"
    path.write_text("<html><body/></html>", encoding="utf-8")
    with pytest.raises(DataError, match=r"a\.xlf: has no <xliff> element"):
        list(read_xliff(path))


def test_an_entity_bomb_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.xlf"
    path.write_text('<!DOCTYPE x [\n<!ENTITY a "aa">]>\n<xliff>&a;</xliff>', encoding="utf-8")
    with pytest.raises(DataError, match=r"a\.xlf:2: declares the entity 'a'"):
        list(read_xliff(path))
