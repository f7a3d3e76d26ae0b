"""What ``import dragoman`` promises, and that each promise is explained by an example."""

import doctest
import importlib
import inspect
from types import ModuleType

import pytest

import dragoman

PUBLIC = [
    "Config",
    "DataConfig",
    "DecodeConfig",
    "DecoderOnly",
    "DragomanError",
    "EncoderOnly",
    "Explanation",
    "ModelConfig",
    "Tokenizer",
    "TrainConfig",
    "Transformer",
    "Translation",
    "Translator",
    "__version__",
    "load",
    "reference",
]


def test_the_public_names_are_these_and_no_others():
    assert sorted(dragoman.__all__) == PUBLIC
    assert dir(dragoman) == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_there(name):
    assert getattr(dragoman, name) is getattr(dragoman, name)


@pytest.mark.parametrize("name", [n for n in PUBLIC if n not in ("__version__", "reference")])
def test_every_public_name_has_a_docstring_with_an_example(name):
    value = getattr(dragoman, name)
    doc = inspect.getdoc(value)
    assert doc
    assert doctest.DocTestParser().get_examples(doc), f"{name} has no example"
    assert value.__doc__ == doc or doc in inspect.cleandoc(value.__doc__)  # its own, not inherited


def test_the_twin_is_reached_as_an_attribute():
    assert isinstance(dragoman.reference, ModuleType)
    assert dragoman.reference is importlib.import_module("dragoman.reference")
    assert dragoman.reference.__doc__


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'dragoman' has no attribute 'Transfomer'"):
        _ = dragoman.Transfomer


def test_the_version_is_that_of_the_installed_package():
    assert dragoman.__version__.count(".") == 2
