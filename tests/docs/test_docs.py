"""What the documents name exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def named_files(text: str) -> list[str]:
    """Paths in backticks or as targets of links, from the root of the project."""
    quoted = re.findall(r"`((?:src|tests|docs|examples|benchmarks|recipes)/[\w./-]+)`", text)
    linked = re.findall(r"\]\(((?!https?:|#)[\w./-]+)\)", text)
    return quoted + linked


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_file_that_a_document_names_exists(document: Path):
    names = named_files(document.read_text(encoding="utf-8"))
    missing = [n for n in names if not ((ROOT / n).exists() or (document.parent / n).exists())]
    assert not missing


def test_the_paper_map_names_files():  # control: the pattern above finds something
    assert len(named_files((ROOT / "docs" / "paper_map.md").read_text(encoding="utf-8"))) > 40
