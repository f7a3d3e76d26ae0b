"""Pairs from gettext message catalogues: ``msgid`` and its ``msgstr``."""

from __future__ import annotations

import gettext
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from dragoman.corpus.files import read_blocks, read_lines
from dragoman.corpus.languages import is_language
from dragoman.corpus.pair import Pair, excerpt, one_line
from dragoman.errors import DataError

_CHARSET = re.compile(rb"Content-Type:[^\n]*?charset=([\w.-]+)", re.IGNORECASE)
_KEYWORD = re.compile(r"(?:#~\s*)?(?:msgctxt|msgid|msgid_plural|msgstr(?:\[\d+\])?)(?=[\s\"])\s*")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
Turn = Literal["forward", "backward"]
_POLIB_LINE = re.compile(r"\(line (\d+)\)(?:: (.*))?")


class _Catalogue(str):
    """A catalogue's text which polib cuts at line ends alone, not at U+2028 inside a message."""

    def splitlines(self, keepends: bool = False) -> list[str]:
        return self.split("\n")


def read_po(
    paths: Path | Sequence[Path], *, src_lang: str | None = None, tgt_lang: str | None = None
) -> Iterator[Pair]:
    r"""The translated messages of one or several catalogues.

    The header, obsolete and fuzzy messages and those without translation are passed over. A line
    break inside a message becomes a space, since a pair is a line and a line. A message with plural
    gives two pairs: the singular with the form that the header's ``Plural-Forms`` uses for 1, the
    plural with the form for 5 (the first and the last form where the header has no rule).

    The header's ``Language`` is the language of ``msgstr``. Of several catalogues only those in
    ``tgt_lang`` are taken; those in ``src_lang`` are taken the other way round.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "de.po")
    ...     _ = path.write_text('msgid "a dog"\nmsgstr "ein Hund"\n')
    ...     [pair[:2] for pair in read_po(path)]
    [('a dog', 'ein Hund')]
    """
    paths = [paths] if isinstance(paths, Path) else list(paths)
    languages: dict[str, Path] = {}
    n_taken = 0
    for path in paths:
        catalogue = _parse(path)
        language = str(catalogue.metadata.get("Language") or "").strip()
        if language:
            languages.setdefault(language, path)
        if tgt_lang is None and src_lang is None and len(languages) > 1:
            raise DataError(
                f"{path}: is in {language}, but {next(iter(languages.values()))} is in "
                f"{next(iter(languages))}\n  Name the language you want with --tgt-lang."
            )
        turn = _turn(language, src_lang, tgt_lang)
        if turn is None:
            continue
        n_taken += 1
        for msgid, msgstr, line in _messages(catalogue):
            src, tgt = one_line(msgid), one_line(msgstr)
            if turn == "backward":
                src, tgt = tgt, src
            yield Pair(src, tgt, str(path), line)
    if paths and not n_taken:
        raise DataError(
            f"{', '.join(map(str, paths[:3]))}: not in {tgt_lang or src_lang!r}\n"
            f"  Languages there: {', '.join(sorted(languages))}. Choose with --tgt-lang."
        )


def _turn(language: str, src_lang: str | None, tgt_lang: str | None) -> Turn | None:
    """Whether a catalogue is read "forward", "backward", or (None) not at all."""
    if not language or (tgt_lang is None and src_lang is None):
        return "forward"
    if tgt_lang is not None and is_language(tgt_lang, language):
        return "forward"
    if src_lang is not None and is_language(src_lang, language):
        return "backward"
    return None if tgt_lang is not None else "forward"


def _messages(catalogue: Any) -> Iterator[tuple[str, str, int]]:
    """(msgid, msgstr, line) of each message that is translated."""
    singular, plural = _plural_forms(catalogue.metadata.get("Plural-Forms", ""))
    for entry in catalogue:
        if entry.obsolete or entry.fuzzy:
            continue
        forms = [entry.msgstr_plural[n] for n in sorted(entry.msgstr_plural)]
        if entry.msgid_plural and forms:
            first = forms[singular] if singular < len(forms) else forms[0]
            last = forms[plural] if -1 <= plural < len(forms) else forms[-1]
            candidates = [(entry.msgid, first), (entry.msgid_plural, last)]
        else:
            candidates = [(entry.msgid, entry.msgstr)]
        for msgid, msgstr in candidates:
            if msgid and msgstr:
                yield msgid, msgstr, entry.linenum


def _plural_forms(header: str) -> tuple[int, int]:
    """The numbers of the forms for 1 and for many, by the header's rule."""
    rule = re.search(r"plural\s*=\s*(?!\d+\s*;\s*plural)([^;]+)", header)
    if rule:
        try:
            form = gettext.c2py(rule[1].strip())  # arithmetic alone; nothing else gets through
            return form(1), form(5)
        except (ValueError, ZeroDivisionError, OverflowError):
            pass
    return 0, -1


def _parse(path: Path) -> Any:
    """The catalogue as polib reads it, after a check of the quotes, which polib does not make."""
    import polib

    lines = list(read_lines(path, encoding=_charset(path)))
    for number, line in enumerate(lines, 1):
        _check_quotes(line.strip(), f"{path}:{number}")
    try:
        return polib.pofile(_Catalogue("\n".join(lines)), encoding="utf-8")
    except (OSError, ValueError, IndexError) as error:
        found = _POLIB_LINE.search(str(error))
        line_number = int(found[1]) if found else 1
        reason = (found and found[2]) or "a keyword that cannot stand here"
        raise _syntax_error(f"{path}:{line_number}", reason, lines[line_number - 1 :][:1]) from None


def _charset(path: Path) -> str:
    """The encoding that the header names, if it is one that keeps ASCII; else UTF-8."""
    head = next(read_blocks(path), b"")
    found = _CHARSET.search(head)
    name = found[1].decode("ascii").lower() if found else "utf-8"
    try:
        return name if '\n "'.encode(name) == b'\n "' else "utf-8"
    except LookupError:  # "CHARSET", the placeholder of a template
        return "utf-8"


def _check_quotes(line: str, place: str) -> None:
    """Refuse a string that is not closed: polib would take it and lose its last letter."""
    if not line or (line[0] == "#" and not line.startswith("#~")):
        return
    keyword = _KEYWORD.match(line)
    if keyword or line[0] == '"':
        string = line[keyword.end() :] if keyword else line
        if not _STRING.fullmatch(string):
            raise _syntax_error(place, "a string must stand between two double quotes", [line])


def _syntax_error(place: str, reason: str, lines: Sequence[str]) -> DataError:
    shown = f"\n  {excerpt(lines[0])}" if lines else ""
    return DataError(
        f"{place}: syntax error in a PO file: {reason}{shown}\n"
        "  `msgfmt --check FILE` lists everything that is wrong with it."
    )
