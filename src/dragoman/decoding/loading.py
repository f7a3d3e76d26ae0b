"""From a bundle on disk to a Translator in memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, get_args, overload

import torch

from dragoman.bundle import RECORD, TOKENIZER, WEIGHTS, Bundle, read_bundle, read_config
from dragoman.decoding.alignment import AlignmentChoice
from dragoman.decoding.ctranslate2_cache import converted
from dragoman.decoding.ctranslate2_conversion import MODEL, NOTE
from dragoman.decoding.ctranslate2_engine import CTranslate2Engine
from dragoman.decoding.engine import EngineName, TorchEngine
from dragoman.decoding.shortlist import Shortlist
from dragoman.decoding.translator import Translator
from dragoman.errors import BundleError, ConfigError
from dragoman.model.device import pick_device
from dragoman.model.int8 import quantize
from dragoman.model.long_rows import long_rows
from dragoman.model.transformer import Transformer
from dragoman.tokenize.tokenizer import Tokenizer
from dragoman.training.allocator import keep_large_blocks


def load(
    path: Path | str,
    *more: Path | str,
    device: str | None = None,
    engine: EngineName | None = None,
    int8: bool = False,
    shortlist: bool = False,
) -> Translator:
    """The translator that a bundle or run holds; several make an ensemble.

    Models of an ensemble must have the same tokenizer; the configuration and the alignment are
    those of the first. ``device`` is such as ``"cpu"`` or ``"cuda:1"``; a GPU if there is one.
    ``engine`` is who searches: ``"torch"``, our own, or ``"ctranslate2"``, for which the bundle is
    converted once and the conversion kept in its folder. What ``dragoman export --to ctranslate2``
    has written can be loaded like a bundle. ``int8`` computes with 8-bit integers, on a CPU.
    ``shortlist`` searches among the pieces that the source may bring about, by a list that training
    has made of its corpus.

    >>> import tempfile
    >>> from dragoman.bundle import write_bundle
    >>> from dragoman.config import Config, DataConfig, ModelConfig
    >>> tokenizer = Tokenizer.train([("1 2", "2 1")], DataConfig(tokenizer="symbols"), seed=1)
    >>> shape = ModelConfig(d_model=8, n_heads=2, n_layers=1, d_ff=16, vocab_size=6)
    >>> weights = {name: w.numpy() for name, w in Transformer(shape).state_dict().items()}
    >>> folder = Path(tempfile.mkdtemp()) / "mine"
    >>> write_bundle(folder, config=Config(model=shape), weights=weights,
    ...              save_tokenizer=tokenizer.save, record={})
    >>> translator = load(folder)
    >>> [translation.text for translation in translator.translate([""])]
    ['']
    """
    if engine not in (None, *get_args(EngineName)):
        raise ConfigError(f"engine {engine!r}: must be {' or '.join(get_args(EngineName))}")
    place = pick_device(device)
    if place.type == "cpu":
        keep_large_blocks(in_one_heap=False)
    if engine == "ctranslate2" or (engine is None and is_export(Path(path))):
        if more:
            raise ConfigError("an ensemble is searched by the engine torch alone")
        if shortlist:
            raise ConfigError("a shortlist is for the engine torch: leave --shortlist away")
        return _load_ctranslate2(Path(path), place, int8=int8)
    if int8 and place.type != "cpu":
        raise ConfigError(f"int8 is for the CPU, and the device is {place}: give --device cpu")
    bundles = [read_bundle(Path(each)) for each in (path, *more)]
    tokenizers = [Tokenizer.load(bundle.tokenizer_dir) for bundle in bundles]
    for bundle, tokenizer in zip(bundles[1:], tokenizers[1:], strict=True):
        if tokenizer.fingerprint() != tokenizers[0].fingerprint():
            raise BundleError(
                f"{bundles[0].path} and {bundle.path} cannot work together: they have different"
                " tokenizers.\n  Models of an ensemble are trained with one tokenizer: train the"
                " second with --init, or on the same corpus with the same [data] settings."
            )
    models = tuple(model_of(bundle, place) for bundle in bundles)
    models = tuple(quantize(model) for model in models) if int8 else models
    return Translator(
        models=models,
        engine=TorchEngine(models, _shortlist(bundles[0])) if shortlist else None,
        tokenizer=tokenizers[0],
        config=bundles[0].config,
        path=bundles[0].path,
        alignment=AlignmentChoice.of_record(bundles[0].record, bundles[0].config.model),
    )


def model_of(bundle: Bundle, device: torch.device) -> Transformer:
    """The model of a bundle, ready to translate."""
    model = Transformer(bundle.config.model)
    weights = {name: torch.from_numpy(array) for name, array in bundle.weights.items()}
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        raise BundleError(f"{bundle.path}: weights and config.toml disagree: {error}") from None
    model = model.to(device).eval().requires_grad_(False)
    return long_rows(model) if device.type == "cpu" else model


def _shortlist(bundle: Bundle) -> Shortlist:
    shape = bundle.config.model
    return Shortlist.load(bundle.path, n_sources=shape.source_vocab, n_targets=shape.vocab_size)


# --- CTranslate2 ---------------------------------------------------------------------------------


def is_export(folder: Path) -> bool:
    """Whether this is a model that was exported to CTranslate2, without its own weights.

    >>> is_export(Path("no/such/folder"))
    False
    """
    there = all((folder / part).is_file() for part in (MODEL, NOTE))
    return there and not (folder / WEIGHTS).exists()


def _load_ctranslate2(path: Path, device: torch.device, *, int8: bool) -> Translator:
    """The translator of a bundle, or of an export, that searches by CTranslate2."""
    exported = is_export(path)
    config = read_config(path)
    folder = path if exported else converted(path, "int8" if int8 else "float32")
    engine = CTranslate2Engine.open(folder, device=device)
    if int8 and not engine.quantization.startswith("int8"):
        raise ConfigError(
            f"{path} was exported in {engine.quantization}: leave --int8 away, or export it again"
            " with --quantization int8"
        )

    def make() -> Transformer:
        if exported:
            raise BundleError(
                f"{path} is an export without {WEIGHTS}: it translates and scores.\n"
                "  Word alignments and explanations need the bundle that it was made from."
            )
        return model_of(read_bundle(path), device)

    return Translator(
        models=_WhenNeeded(make),
        tokenizer=Tokenizer.load(path / TOKENIZER),
        config=config,
        path=path,
        alignment=AlignmentChoice.of_record(_record(path), config.model),
        engine=engine,
    )


def _record(path: Path) -> dict[str, Any]:
    try:
        record: dict[str, Any] = json.loads((path / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BundleError(f"{path / RECORD} is missing or damaged: {error}") from None
    return record


class _WhenNeeded(Sequence[Transformer]):
    """One model, made when somebody looks at it: another engine translates without it."""

    def __init__(self, make: Callable[[], Transformer]) -> None:
        self._make = make

    @cached_property
    def _models(self) -> tuple[Transformer, ...]:
        return (self._make(),)

    def __len__(self) -> int:
        return 1

    @overload
    def __getitem__(self, index: int) -> Transformer: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Transformer]: ...

    def __getitem__(self, index: int | slice) -> Transformer | Sequence[Transformer]:
        return self._models[index]
