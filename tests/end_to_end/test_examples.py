"""Every example runs, and does what it says."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_training_loop_in_sixty_lines_learns_to_translate():
    assert load("own_training_loop").main(steps=250, n_pairs=8000) > 25


def test_every_example_is_run_by_a_test():
    tested = Path(__file__).read_text(encoding="utf-8")
    tested += (Path(__file__).parents[1] / "twin/test_reference_training.py").read_text("utf-8")
    assert all(path.stem in tested for path in EXAMPLES.glob("*.py"))
