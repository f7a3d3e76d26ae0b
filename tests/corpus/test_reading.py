"""One interface for every format: the same pairs come out of each."""

import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dragoman.corpus.reading import CorpusSource
from dragoman.errors import DataError

Texts = list[tuple[str, str]]


def write_plain(folder: Path, texts: Texts) -> CorpusSource:
    for name, side in (("t.de", 0), ("t.en", 1)):
        content = "".join(text[side] + "\n" for text in texts)
        (folder / name).write_bytes(content.encode())
    return CorpusSource((folder / "t.de",), (folder / "t.en",))


def write_compressed(folder: Path, texts: Texts) -> CorpusSource:
    plain = write_plain(folder, texts)
    src, tgt = folder / "t.de.xz", folder / "t.en.zst"
    src.write_bytes(lzma.compress(plain.src[0].read_bytes()))
    tgt.write_bytes(zstandard.ZstdCompressor().compress(plain.tgt[0].read_bytes()))
    return CorpusSource((src,), (tgt,))


def one_file(folder: Path, name: str, content: str) -> CorpusSource:
    path = folder / name
    data = content.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return CorpusSource(corpus=(str(path),), src_lang="de", tgt_lang="en")


def write_tsv(folder: Path, texts: Texts) -> CorpusSource:
    rows = "".join(f"{tgt}\t{src}\n" for src, tgt in texts)
    return one_file(folder, "t.tsv", "en\tde\n" + rows)


def write_jsonl(folder: Path, texts: Texts) -> CorpusSource:
    rows = "".join(json.dumps({"src": src, "tgt": tgt}) + "\n" for src, tgt in texts)
    return one_file(folder, "t.jsonl.gz", rows)


def write_tmx(folder: Path, texts: Texts) -> CorpusSource:
    units = "\n".join(
        f'<tu><tuv xml:lang="de"><seg>{escape(src)}</seg></tuv>'
        f'<tuv xml:lang="en-GB"><seg>{escape(tgt)}</seg></tuv></tu>'
        for src, tgt in texts
    )
    return one_file(folder, "t.tmx", f'<tmx><header srclang="de"/><body>{units}</body></tmx>')


def write_xliff_1(folder: Path, texts: Texts) -> CorpusSource:
    units = "\n".join(
        f"<trans-unit><source>{escape(src)}</source><target>{escape(tgt)}</target></trans-unit>"
        for src, tgt in texts
    )
    frame = '<xliff><file source-language="de" target-language="en"><body>{}</body></file></xliff>'
    return one_file(folder, "t.xliff", frame.format(units))


def write_xliff_2(folder: Path, texts: Texts) -> CorpusSource:
    segments = "\n".join(
        f"<segment><source>{escape(tgt)}</source><target>{escape(src)}</target></segment>"
        for src, tgt in texts
    )
    frame = '<xliff version="2.1" srcLang="en" trgLang="de"><file><unit>{}</unit></file></xliff>'
    return one_file(folder, "t.xlf", frame.format(segments))


def write_po(folder: Path, texts: Texts) -> CorpusSource:
    def quoted(text: str) -> str:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

    # A message context keeps equal sources apart.
    entries = "\n".join(
        f'msgctxt "{i}"\nmsgid {quoted(src)}\nmsgstr {quoted(tgt)}\n'
        for i, (src, tgt) in enumerate(texts)
    )
    return one_file(folder, "t.po", entries)


WRITERS = [
    write_plain,
    write_compressed,
    write_tsv,
    write_jsonl,
    write_tmx,
    write_xliff_1,
    write_xliff_2,
    write_po,
]


def is_xml_character(character: str) -> bool:
    """XML 1.0 has no control characters, U+FFFE and U+FFFF; our formats no tab or line break."""
    code = ord(character)
    return code >= 0x20 and not 0xD800 <= code <= 0xDFFF and code not in (0xFFFE, 0xFFFF)


sentence = st.text(st.characters().filter(is_xml_character), min_size=1, max_size=30)
all_texts = st.lists(st.tuples(sentence, sentence), min_size=1, max_size=6)


@pytest.mark.parametrize("writer", WRITERS)
@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(texts=all_texts)
def test_readers_agree_on_the_same_pairs(
    tmp_path: Path, writer: Callable[[Path, Texts], CorpusSource], texts: Texts
) -> None:
    # A mark at the very start of a text file is not text, in the plain formats alone.
    texts = [(src.replace("\ufeff", "x"), tgt.replace("\ufeff", "x")) for src, tgt in texts]
    assert [(pair.src, pair.tgt) for pair in writer(tmp_path, texts).pairs()] == texts


@pytest.mark.parametrize("writer", WRITERS)
def test_places_name_the_file_and_grow(
    tmp_path: Path, writer: Callable[[Path, Texts], CorpusSource]
) -> None:
    source = writer(tmp_path, [("ein Hund", "a dog"), ("zwei", "two"), ("drei", "three")])
    pairs = list(source.pairs())
    assert {pair.file for pair in pairs} == {str(source.files()[0])}
    assert pairs[0].line < pairs[1].line < pairs[2].line


def test_a_folder_gives_all_its_files_of_known_kinds_in_order(tmp_path: Path) -> None:
    (tmp_path / "b.tsv").write_text("3\tc\n", encoding="utf-8")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "a.jsonl").write_text('{"src": "1", "tgt": "a"}\n', encoding="utf-8")
    (tmp_path / "a" / "de.po").write_text('msgid "4"\nmsgstr "d"\n', encoding="utf-8")
    (tmp_path / "README.md").write_text("not a corpus", encoding="utf-8")
    source = CorpusSource(corpus=(str(tmp_path),))
    assert [pair.src for pair in source.pairs()] == ["1", "3", "4"]
    assert [path.name for path in source.files()] == ["a.jsonl", "de.po", "b.tsv"]


def test_text_files_and_corpora_follow_each_other(tmp_path: Path) -> None:
    (tmp_path / "b.tsv").write_text("2\tb\n", encoding="utf-8")
    plain = write_plain(tmp_path, [("1", "a")])
    source = CorpusSource(plain.src, plain.tgt, (str(tmp_path / "b.tsv"),))
    assert [pair.src for pair in source.pairs()] == ["1", "2"]
    assert [path.name for path in source.files()] == ["t.de", "t.en", "b.tsv"]


def test_an_unknown_kind_lists_the_known_ones(tmp_path: Path) -> None:
    (tmp_path / "a.docx").touch()
    with pytest.raises(DataError, match=r"a\.docx: do not know(.|\n)*\.tmx(.|\n)*--src and --tgt"):
        list(CorpusSource(corpus=(str(tmp_path / "a.docx"),)).pairs())


def test_a_folder_without_a_corpus_says_so(tmp_path: Path) -> None:
    (tmp_path / "train.de").touch()
    with pytest.raises(DataError, match="holds no corpus of a known kind"):
        list(CorpusSource(corpus=(str(tmp_path),)).pairs())


def test_nothing_at_all_is_refused() -> None:
    with pytest.raises(DataError, match="no corpus was named"):
        CorpusSource().check()
    with pytest.raises(DataError, match="no corpus was named"):
        list(CorpusSource().pairs())


def test_one_side_alone_is_refused() -> None:
    with pytest.raises(DataError, match="1 source and 0 target files"):
        CorpusSource(src=(Path("a.de"),)).check()
