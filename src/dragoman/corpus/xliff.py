"""Pairs from XLIFF 1.2 and 2.x, the exchange format of translators' tools."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from dragoman.corpus.languages import is_language
from dragoman.corpus.pair import Pair
from dragoman.corpus.xml_units import local_name, read_units, text_of
from dragoman.errors import DataError

# What stands inside these is native code (1.2) or no text at all (2.x); `g`, `pc`, `mrk` hold text.
NATIVE_CODE = frozenset({"bpt", "ept", "ph", "it", "x", "bx", "ex", "sc", "ec", "cp"})
# A target in one of these states is a copy of the source or a guess of a machine.
NOT_TRANSLATED = frozenset({"new", "needs-translation", "initial"})


def read_xliff(
    path: Path, *, src_lang: str | None = None, tgt_lang: str | None = None
) -> Iterator[Pair]:
    """The pairs of an XLIFF file: one for each unit (1.2) or segment (2.x) with a translation.

    Units without target, with an empty one, or whose state says that they are not translated yet,
    are passed over. A file from English to German also serves a user who asks for German to
    English. Inline tags are dropped, and the text inside ``<g> <pc> <mrk>`` is kept.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "t.xlf")
    ...     _ = path.write_text(
    ...         '<xliff version="2.0" srcLang="en" trgLang="de"><file><unit><segment>'
    ...         '<source>a <pc>dog</pc></source><target>ein Hund</target>'
    ...         '</segment></unit></file></xliff>')
    ...     [pair[:2] for pair in read_xliff(path, src_lang="de", tgt_lang="en")]
    [('ein Hund', 'a dog')]
    """
    file = str(path)
    swap, is_xliff = False, False
    for tag, line, element in read_units(
        path, whole={"trans-unit", "segment"}, opening={"xliff", "file"}
    ):
        if tag in ("xliff", "file"):
            is_xliff = is_xliff or tag == "xliff"
            offered = _offered_languages(element)
            if any(offered):
                swap = _is_swapped(offered, (src_lang, tgt_lang), place=f"{file}:{line}")
            continue
        texts = _texts(element)
        if texts is not None:
            src, tgt = reversed(texts) if swap else texts
            yield Pair(src, tgt, file, line)
    if not is_xliff:
        raise DataError(f"{file}: has no <xliff> element, so it is not an XLIFF file")


def _offered_languages(element: Element) -> tuple[str | None, str | None]:
    """The languages of an ``<xliff>`` (2.x) or a ``<file>`` (1.2), where it names them."""
    return (
        element.get("srcLang") or element.get("source-language"),
        element.get("trgLang") or element.get("target-language"),
    )


def _is_swapped(
    offered: tuple[str | None, str | None], wanted: tuple[str | None, str | None], *, place: str
) -> bool:
    """Whether the file goes the other way; an error if it is about other languages."""
    if _fit(wanted, offered):
        return False
    if _fit(wanted, (offered[1], offered[0])):
        return True
    raise DataError(
        f"{place}: the file goes from {offered[0]} to {offered[1] or 'an unnamed language'}, "
        f"not from {wanted[0] or 'any'} to {wanted[1] or 'any'}\n"
        "  Leave out --src-lang and --tgt-lang to take it as it is."
    )


def _fit(wanted: tuple[str | None, str | None], offered: tuple[str | None, str | None]) -> bool:
    return all(
        w is None or o is None or is_language(w, o) for w, o in zip(wanted, offered, strict=True)
    )


def _texts(unit: Element) -> tuple[str, str] | None:
    """(source, target) of a unit or segment, or None where there is no translation.

    Only direct children count: a suggestion inside ``<alt-trans>`` has a target of its own.
    """
    parts = {local_name(part.tag): part for part in unit}
    source, target = parts.get("source"), parts.get("target")
    if source is None or target is None:
        return None
    if NOT_TRANSLATED & {unit.get("state", ""), target.get("state", "")}:
        return None
    src, tgt = (text_of(part, dropped=NATIVE_CODE) for part in (source, target))
    return (src, tgt) if tgt else None
