"""Who may import whom: the rooms in their order, left to right, and nothing heavy on the way."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
PACKAGE = SOURCE / "dragoman"
VERSION = "dragoman.__version__"

# What every room may use.
GROUND = {
    "dragoman.atomic",
    "dragoman.bundle",
    "dragoman.config",
    "dragoman.config_checks",
    "dragoman.config_loading",
    "dragoman.config_sources",
    "dragoman.cores",
    "dragoman.errors",
    "dragoman.presets",
    "dragoman.tokenize.vocabulary",
}
# A room may import itself and those before it.
ROOMS = (
    "corpus",
    "tokenize",
    "batches",
    "model",
    "training",
    "decoding",
    "evaluation",
    "pictures",
    "server",
    "export",
    "runs",  # whole runs from text to bundle, which use all of the above
    "experiments",
    "bench",  # ourselves beside others
    "cli",
)


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(source: str, module: str, is_package: bool = False) -> set[str]:
    """The modules of ours that a file imports, anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                up = module.split(".")
                up = up[: len(up) - node.level + is_package]
                base = ".".join([*up, base] if base else up)
            # `from package import module` names a module too; which it is, the files say.
            names = [f"{base}.{alias.name}" for alias in node.names]
            found |= {n if is_module(n) or n == VERSION else base for n in names}
    return {name for name in found if name.split(".")[0] == "dragoman"}


def is_module(name: str) -> bool:
    path = SOURCE.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


def may_import(module: str, other: str) -> bool:
    if other in GROUND or other == VERSION:
        return True
    if module in ("dragoman", "dragoman.__main__"):
        return True
    if module in GROUND:
        return False
    room, other_room = module.split(".")[1], (other + ".").split(".")[1]
    if not other_room:  # the public names, which are for users and what sits on top
        return room in ("experiments", "cli")
    if room == "reference" or other_room == "reference":
        return room == other_room or room in ("experiments", "cli")
    return ROOMS.index(other_room) <= ROOMS.index(room)


FILES = sorted(PACKAGE.rglob("*.py"))


def test_there_are_files_to_check():
    assert len(FILES) > 20


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_a_file_imports_only_what_stands_before_it(path):
    module = module_name(path)
    room = module.split(".")[1:2]
    known = module in GROUND or module in ("dragoman", "dragoman.__main__")
    assert known or room[0] in (*ROOMS, "reference"), f"{module} has no place in the order of rooms"
    imported = imports_of(path.read_text(encoding="utf-8"), module, path.name == "__init__.py")
    wrong = sorted(other for other in imported if not may_import(module, other))
    assert not wrong, f"{module} must not import {', '.join(wrong)}"


@pytest.mark.parametrize(
    ("module", "source", "wrong"),
    [
        ("dragoman.model.attention", "from dragoman.training.step import x", True),
        ("dragoman.model.attention", "def f():\n    import dragoman.decoding.greedy", True),
        ("dragoman.model.attention", "from ..training import step", True),
        ("dragoman.model.attention", "from dragoman import reference", True),
        ("dragoman.model.attention", "from dragoman.model.masks import x", False),
        ("dragoman.model.attention", "from . import masks", False),
        ("dragoman.model.attention", "from dragoman.tokenize.vocabulary import x", False),
        ("dragoman.model.attention", "from dragoman import bundle", False),
        ("dragoman.model.attention", "from dragoman import __version__", False),
        ("dragoman.model.attention", "from dragoman import Transformer", True),
        ("dragoman.model.attention", "import dragoman", True),
        ("dragoman.corpus.check", "from dragoman.tokenize.words import x", True),
        ("dragoman.corpus.check", "from dragoman.tokenize.vocabulary import x", False),
        ("dragoman.reference.attention", "from dragoman.model.masks import x", True),
        ("dragoman.reference.attention", "from dragoman.bundle import read_bundle", False),
        ("dragoman.config", "from dragoman.model.masks import x", True),
        ("dragoman.export.onnx", "from dragoman.cli.output import say", True),
    ],
)
def test_the_check_itself_sees_what_is_wrong(module, source, wrong):
    found = imports_of(source, module)
    assert found
    assert any(not may_import(module, other) for other in found) == wrong


def imported_by(*args: str) -> set[str]:
    """The top-level packages that a fresh Python has loaded after this."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *args], capture_output=True, text=True, check=True
    )
    names = [line.rpartition("|")[2].strip() for line in done.stderr.splitlines()]
    return {name.split(".")[0] for name in names}


def test_importing_the_package_loads_nothing_heavy():
    loaded = imported_by("-c", "import dragoman")
    assert "dragoman" in loaded
    assert not loaded & {"torch", "numpy", "sentencepiece", "typer", "rich"}


def test_help_loads_nothing_heavy():
    loaded = imported_by("-m", "dragoman", "--help")
    assert "typer" in loaded
    heavy = {"torch", "numpy", "sentencepiece", "sacrebleu", "spacy", "matplotlib", "safetensors"}
    assert not loaded & (heavy | {"polib", "zstandard", "datasets", "defusedxml"})


def test_the_twin_and_the_costs_of_a_model_need_no_torch():
    loaded = imported_by("-c", "import dragoman; dragoman.reference.Transformer")
    assert "numpy" in loaded
    assert "torch" not in loaded
    assert not imported_by("-m", "dragoman", "info", "base") & {"torch", "numpy"}
