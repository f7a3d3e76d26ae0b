"""The bundles that are served: how they are named, what they translate, and who works for them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.bundle import RECORD, is_bundle
from dragoman.corpus.languages import normalize_language
from dragoman.decoding.engine import EngineName
from dragoman.decoding.loading import is_export, load
from dragoman.decoding.translator import Translator
from dragoman.errors import BundleError
from dragoman.model.cost import count_parameters
from dragoman.server.batcher import Batcher
from dragoman.server.languages import (
    LanguagePair,
    base_language,
    bundle_languages,
    parse_codes,
)
from dragoman.server.problems import Problem


@dataclass(frozen=True, kw_only=True)
class Model:
    """One bundle and the thread that serves it."""

    name: str
    languages: LanguagePair
    translator: Translator
    batcher: Batcher
    engine: str = "torch"
    can_align: bool = True  # an export without weights cannot

    def describe(self) -> dict[str, Any]:
        """What ``/api/models`` says of it."""
        shape = self.translator.config.model
        return {
            "name": self.name,
            "source": self.languages.source,
            "target": self.languages.target,
            "params": sum(count_parameters(shape).values()),
            "n_encoder_layers": shape.encoder_layers,
            "n_decoder_layers": shape.decoder_layers,
            "n_heads": shape.n_heads,
            "d_model": shape.d_model,
            "vocab_size": shape.vocab_size,
            "engine": self.engine,
        }


class Models:
    """All that is served, found by name or by languages."""

    def __init__(self, models: Sequence[Model]) -> None:
        if not models:
            raise BundleError("there is nothing to serve: give at least one bundle or run")
        self.all = tuple(models)

    def named(self, name: str | None) -> Model:
        """The model of this name; without a name the first."""
        if name is None:
            return self.all[0]
        for model in self.all:
            if model.name == name:
                return model
        names = ", ".join(model.name for model in self.all)
        raise Problem(404, f"no model has this name; there are: {names}")

    def between(self, source: str, target: str) -> Model | None:
        """The first model of a language pair; a region or script need not match."""
        wanted = [normalize_language(source), normalize_language(target)]
        for form in (normalize_language, base_language):
            for model in self.all:
                pair = (model.languages.source, model.languages.target)
                if [form(code) for code in pair] == [form(code) for code in wanted]:
                    return model
        return None

    @property
    def languages(self) -> list[str]:
        """The codes of all languages, sources first."""
        sources = [model.languages.source for model in self.all]
        return list(dict.fromkeys([*sources, *(m.languages.target for m in self.all)]))

    def code(self, wanted: str) -> str | None:
        """The code by which a language is served here, or None."""
        for form in (normalize_language, base_language):
            for code in self.languages:
                if form(code) == form(wanted):
                    return code
        return None

    def targets(self, source: str) -> list[str]:
        """The languages that a language can be translated into."""
        pairs = [model.languages for model in self.all]
        return sorted({pair.target for pair in pairs if pair.source == source})


@dataclass(frozen=True)
class Wanted:
    """A bundle to serve, as the command line names it.

    >>> Wanted.parse("runs/ende=en-de")
    Wanted(path=PosixPath('runs/ende'), codes=('en', 'de'))
    """

    path: Path
    codes: tuple[str, str] | None = None

    @classmethod
    def parse(cls, text: str) -> Wanted:
        """The path, and the languages after an equals sign."""
        path, equals, codes = text.rpartition("=")
        if not equals or is_bundle(Path(text)):
            return cls(Path(text))
        return cls(Path(path), parse_codes(codes))


def load_models(
    wanted: Sequence[Wanted],
    *,
    engine: EngineName | None = None,
    int8: bool = False,
    shortlist: bool = False,
    device: str | None = None,
    **batching: Any,
) -> Models:
    """The bundles, loaded; ``batching`` are the keywords of ``Batcher``."""
    models = []
    for name, each in zip(unique_names(w.path for w in wanted), wanted, strict=True):
        translator = load(each.path, device=device, engine=engine, int8=int8, shortlist=shortlist)
        exported = is_export(each.path)
        name_of_engine = engine or ("ctranslate2" if exported else "torch")
        if each.codes is None:
            languages = bundle_languages(translator.config, _record(each.path))
        else:
            languages = LanguagePair(*each.codes)
        models.append(
            Model(
                name=name,
                languages=languages,
                translator=translator,
                batcher=Batcher(translator, **batching),
                engine=f"{name_of_engine} int8" if int8 else name_of_engine,
                can_align=not exported,
            )
        )
    return Models(models)


def unique_names(paths: Iterable[Path]) -> list[str]:
    """A name for each bundle: that of its folder, with a number where it is taken.

    >>> unique_names([Path("a/run"), Path("b/run"), Path("c")])
    ['run', 'run-2', 'c']
    """
    names: list[str] = []
    for path in paths:
        base = path.resolve().name or "model"
        name, number = base, 1
        while name in names:
            number += 1
            name = f"{base}-{number}"
        names.append(name)
    return names


def _record(path: Path) -> dict[str, Any]:
    """The record of a bundle that could be loaded; empty where there is none."""
    file = path / RECORD
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
