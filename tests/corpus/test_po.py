"""gettext catalogues: which messages count, plurals, languages, and broken files."""

import gzip
from pathlib import Path

import pytest

from dragoman.corpus.po import read_po
from dragoman.errors import DataError

HEADER = (
    'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset={charset}\\n"\n'
    '"Language: {language}\\n"\n"Plural-Forms: {plurals}\\n"\n\n'
)
GERMAN = "nplurals=2; plural=(n != 1);"


def po(
    path: Path, body: str, *, language: str = "de", plurals: str = GERMAN, charset: str = "UTF-8"
) -> Path:
    header = HEADER.format(charset=charset, language=language, plurals=plurals)
    path.write_bytes((header + body).encode(charset))
    return path


def texts(pairs) -> list[tuple[str, str]]:
    return [(pair.src, pair.tgt) for pair in pairs]


def test_translated_messages_become_pairs_with_their_line(tmp_path: Path) -> None:
    path = po(tmp_path / "de.po", 'msgid "a dog"\nmsgstr "ein Hund"\n\nmsgid "b"\nmsgstr "c"\n')
    pairs = list(read_po(path))
    assert texts(pairs) == [("a dog", "ein Hund"), ("b", "c")]
    assert [pair.line for pair in pairs] == [7, 10]


def test_fuzzy_obsolete_and_untranslated_messages_are_passed_over(tmp_path: Path) -> None:
    body = (
        '#, fuzzy\nmsgid "a"\nmsgstr "A"\n\nmsgid "b"\nmsgstr ""\n\n'
        '#~ msgid "c"\n#~ msgstr "C"\n\n#, c-format\nmsgid "d"\nmsgstr "D"\n'
    )
    assert texts(read_po(po(tmp_path / "de.po", body))) == [("d", "D")]


def test_escapes_and_long_strings_are_put_together_on_one_line(tmp_path: Path) -> None:
    body = 'msgid ""\n"say \\"hi\\"\\n"\n"and \\\\ go"\nmsgstr "sag\\n" "hallo"\n'
    with pytest.raises(DataError):  # two strings on one line are not PO
        list(read_po(po(tmp_path / "bad.po", body)))
    body = body.replace('" "hallo"', '"\n"hallo"')
    assert texts(read_po(po(tmp_path / "de.po", body))) == [('say "hi" and \\ go', "sag hallo")]


def test_a_line_separator_inside_a_message_is_a_character(tmp_path: Path) -> None:
    path = po(tmp_path / "de.po", 'msgid "a\u2028b\x85c"\nmsgstr "A\u2028B"\n')
    assert texts(read_po(path)) == [("a\u2028b\x85c", "A\u2028B")]


@pytest.mark.parametrize(
    ("plurals", "n_forms", "expected"),
    [
        (GERMAN, 2, ("0", "1")),
        ("nplurals=1; plural=0;", 1, ("0", "0")),
        # Polish: one, few, many
        ("nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 ? 1 : 2);", 3, ("0", "2")),
        # Slovenian numbers the form for 5 first
        ("nplurals=4; plural=(n%100==1 ? 1 : n%100==2 ? 2 : n%100==3 ? 3 : 0);", 4, ("1", "0")),
        ("", 3, ("0", "2")),
        ("nplurals=2; plural=__import__('os');", 2, ("0", "1")),
    ],
)
def test_plural_forms_follow_the_rule_of_the_header(
    tmp_path: Path, plurals: str, n_forms: int, expected: tuple[str, str]
) -> None:
    forms = "".join(f'msgstr[{i}] "{i}"\n' for i in range(n_forms))
    body = f'msgid "one file"\nmsgid_plural "%d files"\n{forms}'
    path = po(tmp_path / "a.po", body, plurals=plurals)
    assert texts(read_po(path)) == [("one file", expected[0]), ("%d files", expected[1])]


def test_another_charset_is_read_by_the_header(tmp_path: Path) -> None:
    path = po(tmp_path / "de.po", 'msgid "bear"\nmsgstr "Bär"\n', charset="iso-8859-1")
    assert texts(read_po(path)) == [("bear", "Bär")]


def test_a_byte_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    path = po(tmp_path / "de.po", 'msgid "bear"\nmsgstr "Bär"\n')
    path.write_bytes(path.read_bytes().replace("ä".encode(), b"\xe4"))
    with pytest.raises(DataError, match=r"de\.po:8: byte 10 of the line is 0xe4"):
        list(read_po(path))


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ('msgid "a\nmsgstr "b"\n', 7),
        ('msgid "a"\nmsgstr b"\n', 8),
        ('msgid "a"\nmsgstr "b" c\n', 8),
        ('msgid "a"\nmsgid "b"\n', 8),
        ('msgid "a"\nmsgstr "b"\nnonsense\n', 9),
        ('msgid "a"\nmsgstr "say "hi""\n', 8),
    ],
)
def test_a_syntax_error_is_named_with_file_and_line(tmp_path: Path, body: str, line: int) -> None:
    path = po(tmp_path / "de.po", body)
    with pytest.raises(DataError, match=rf"de\.po:{line}: syntax error in a PO file"):
        list(read_po(path))


def test_a_compressed_catalogue_is_read(tmp_path: Path) -> None:
    plain = po(tmp_path / "de.po", 'msgid "a"\nmsgstr "b"\n')
    path = tmp_path / "x.po.gz"
    path.write_bytes(gzip.compress(plain.read_bytes()))
    assert texts(read_po(path)) == [("a", "b")]


def test_of_several_catalogues_those_of_the_language_are_taken(tmp_path: Path) -> None:
    de = po(tmp_path / "de.po", 'msgid "dog"\nmsgstr "Hund"\n')
    fr = po(tmp_path / "fr.po", 'msgid "dog"\nmsgstr "chien"\n', language="fr_FR")
    assert texts(read_po([de, fr], tgt_lang="fr")) == [("dog", "chien")]
    assert texts(read_po([de, fr], src_lang="de", tgt_lang="en")) == [("Hund", "dog")]
    with pytest.raises(DataError, match=r"fr\.po: is in fr_FR, but .*de\.po is in de"):
        list(read_po([de, fr]))
    with pytest.raises(DataError, match="Languages there: de, fr_FR"):
        list(read_po([de, fr], tgt_lang="pl"))
