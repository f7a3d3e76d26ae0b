"""Pairs from a translation memory in TMX, one for each unit that has both languages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from dragoman.corpus.languages import find_language, is_language
from dragoman.corpus.pair import Pair
from dragoman.corpus.xml_units import XML_LANG, local_name, read_units, text_of
from dragoman.errors import DataError

# Inside these stands the code of a native file format ("<b>", "{\\i1"), not text.
NATIVE_CODE = frozenset({"bpt", "ept", "ph", "it", "ut"})


def read_tmx(
    path: Path, *, src_lang: str | None = None, tgt_lang: str | None = None
) -> Iterator[Pair]:
    """The pairs of a TMX file, read as a stream.

    Languages match as in ``languages.py``. Where they are not given, the source is the header's
    ``srclang`` and the target the only other language. Of several variants in the same language the
    first is taken; a unit without one of the two languages is passed over. Native code inside
    ``<bpt> <ept> <ph> <it> <ut>`` is left out, text inside ``<hi>`` is kept.

    >>> import tempfile
    >>> variant = '<tuv xml:lang="{}"><seg>{}</seg></tuv>'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "t.tmx")
    ...     unit = variant.format("en-GB", "a <hi>dog</hi>") + variant.format("de", "ein Hund")
    ...     body = f'<header srclang="de"/><body><tu>{unit}</tu></body>'
    ...     _ = path.write_text(f"<tmx>{body}</tmx>")
    ...     [pair[:2] for pair in read_tmx(path)]
    [('ein Hund', 'a dog')]
    """
    file = str(path)
    seen: dict[str, None] = {}  # languages in the order of their appearance
    found = False
    for tag, line, element in read_units(path, whole={"tu"}, opening={"header"}):
        if tag == "header":
            src_lang = src_lang or _header_language(element, tgt_lang)
            continue
        texts = _segments(element)
        seen.update(dict.fromkeys(texts))
        src, tgt = src_lang, tgt_lang
        if src is None or tgt is None:
            other = _only_other(src or tgt, list(seen), place=f"{file}:{line}")
            src, tgt = src or other, tgt or other
        src_name, tgt_name = _find(src, texts), _find(tgt, texts)
        if src_name is not None and tgt_name is not None and src_name != tgt_name:
            found = True
            yield Pair(_text(texts[src_name]), _text(texts[tgt_name]), file, line)
    if not found:
        wanted = f"both {src_lang!r} and {tgt_lang!r}" if src_lang and tgt_lang else "two languages"
        raise DataError(
            f"{file}: no unit has {wanted}\n"
            f"  Languages in the file: {', '.join(seen) or 'none'}. "
            "Name two of them with --src-lang and --tgt-lang."
        )


def _text(segment: Element) -> str:
    return text_of(segment, dropped=NATIVE_CODE)


def _find(language: str | None, texts: dict[str, Element]) -> str | None:
    return None if language is None else find_language(language, texts)


def _only_other(known: str | None, seen: list[str], *, place: str) -> str | None:
    """The one language beside the known one, or None as long as there is none."""
    others = [language for language in seen if not (known and is_language(known, language))]
    if len(others) > 1:
        raise DataError(
            f"{place}: the file has more languages than two: {', '.join(seen)}\n"
            "  Name the two you want with --src-lang and --tgt-lang."
        )
    return others[0] if others else None


def _header_language(header: Element, tgt_lang: str | None) -> str | None:
    """The header's source language, unless it says nothing or is the one wanted as target."""
    language = header.get("srclang", "*all*")
    if language.lower() == "*all*" or (tgt_lang and is_language(tgt_lang, language)):
        return None
    return language


def _segments(unit: Element) -> dict[str, Element]:
    """The first segment of each language in a unit."""
    segments: dict[str, Element] = {}
    for variant in unit:
        if local_name(variant.tag) != "tuv":
            continue
        language = variant.get(XML_LANG) or variant.get("lang") or "unknown"
        segment = next((part for part in variant if local_name(part.tag) == "seg"), None)
        if segment is not None:
            segments.setdefault(language, segment)
    return segments
