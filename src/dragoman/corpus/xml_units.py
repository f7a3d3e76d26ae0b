"""Elements of an XML file one at a time, with their lines; hostile XML is refused.

A translation memory can be larger than memory and can come from anywhere. So only the element at
hand is ever built, and entity declarations (the billion laughs, a path to a local file) stop the
reading. A plain ``<!DOCTYPE tmx SYSTEM "tmx14.dtd">`` is common, harmless and never fetched.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

from dragoman.corpus.files import read_blocks
from dragoman.corpus.pair import one_line
from dragoman.errors import DataError

XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_MAX_DEPTH = 200
_LINE_BREAKS = ("lb", "x-lb", "xlf:lb")


class Unit(NamedTuple):
    """An element with its tag without namespace, and the line where it starts."""

    tag: str
    line: int
    element: Element


class _TooDeepError(Exception):
    """Elements nested beyond anything a translator's tool writes."""


def local_name(tag: str) -> str:
    """The tag without its namespace.

    >>> local_name("{urn:oasis:names:tc:xliff:document:1.2}source")
    'source'
    """
    return tag.rpartition("}")[2]


def read_units(
    path: Path, *, whole: Collection[str], opening: Collection[str] = ()
) -> Iterator[Unit]:
    """The elements named in ``whole`` with all they hold, and those in ``opening`` without.

    An element comes when it is complete; one of ``opening`` (a header, the root) comes when it
    begins, with its attributes alone.
    """
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import DefusedXMLParser

    target = _UnitBuilder(frozenset(whole), frozenset(opening))
    parser: Any = DefusedXMLParser(target=target)
    target.expat = parser.parser
    blocks = read_blocks(path)
    at_end = False
    while not at_end:
        block = next(blocks, None)
        at_end = block is None
        error: DataError | None = None
        try:
            if block is None:
                parser.close()
            else:
                parser.feed(block)
        except ParseError as fault:
            line, column = fault.position
            error = DataError(
                f"{path}:{line}: not well-formed XML (column {column + 1}): {fault.msg}"
            )
        except DefusedXmlException as fault:
            error = _refused(path, target.expat.CurrentLineNumber, fault)
        except _TooDeepError:
            line = target.expat.CurrentLineNumber
            error = DataError(f"{path}:{line}: elements nested more than {_MAX_DEPTH} deep")
        except (ValueError, LookupError) as fault:  # an encoding that Python does not know
            error = DataError(f"{path}: cannot be read as XML: {fault}")
        yield from target.take()
        if error:
            raise error


def text_of(element: Element, *, dropped: Collection[str]) -> str:
    """The text of an element on one line, without what stands inside the dropped tags.

    A line break that is written as a tag (``<x ctype="lb"/>``, ``<ph type="lb">``) becomes a space.

    >>> from xml.etree.ElementTree import fromstring
    >>> text_of(fromstring("<seg>a <ph>[b]</ph><hi>big</hi> dog</seg>"), dropped={"ph"})
    'a big dog'
    """
    return one_line("".join(_texts(element, dropped)))


def _texts(element: Element, dropped: Collection[str]) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if any(child.get(key) in _LINE_BREAKS for key in ("type", "ctype", "subType")):
            yield " "
        if local_name(child.tag) not in dropped:
            yield from _texts(child, dropped)
        yield child.tail or ""


def _refused(path: Path, line: int, fault: Exception) -> DataError:
    name = getattr(fault, "name", None)
    what = f"declares the entity {name!r}" if name else "refers to an external entity"
    return DataError(
        f"{path}:{line}: {what}, which can exhaust memory or read other files\n"
        "  Entities are refused. Remove the declaration and write the text itself in its place."
    )


class _UnitBuilder:
    """A parser target that builds the wanted elements and forgets all others."""

    expat: Any

    def __init__(self, whole: frozenset[str], opening: frozenset[str]) -> None:
        self.whole = whole
        self.opening = opening
        self.ready: list[Unit] = []
        self.builder: TreeBuilder | None = None
        self.line = 0
        self.depth = 0

    def take(self) -> list[Unit]:
        ready, self.ready = self.ready, []
        return ready

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = local_name(tag)
        if name in self.opening:
            self.ready.append(Unit(name, self.expat.CurrentLineNumber, Element(tag, attributes)))
        if self.builder is None and name in self.whole:
            self.builder = TreeBuilder()
            self.line = self.expat.CurrentLineNumber
        if self.builder is not None:
            self.builder.start(tag, attributes)
            self.depth += 1
            if self.depth > _MAX_DEPTH:
                raise _TooDeepError

    def data(self, text: str) -> None:
        if self.builder is not None:
            self.builder.data(text)

    def end(self, tag: str) -> None:
        if self.builder is None:
            return
        self.builder.end(tag)
        self.depth -= 1
        if self.depth == 0:
            self.ready.append(Unit(local_name(tag), self.line, self.builder.close()))
            self.builder = None

    def close(self) -> None:
        """Nothing to give back: units were taken as they came."""
