"""Export to CTranslate2: a folder that CTranslate2 runs, and that we load like a bundle.

    model.bin, config.json, *_vocabulary.json    what CTranslate2 reads
    config.toml, tokenizer/, record.json         the bundle's own, so that text can be translated
    export.json                                  what it was made from, and how the comparison went

``dragoman translate DIR`` takes such a folder; it holds no ``model.safetensors``, and so gives no
word alignments.
"""

from __future__ import annotations

import json
from pathlib import Path

import torch

from dragoman import atomic
from dragoman.bundle import read_bundle, read_config
from dragoman.decoding.ctranslate2_cache import fingerprint, replacing_folder
from dragoman.decoding.ctranslate2_conversion import (
    NOTE,
    Quantization,
    check_convertible,
    ctranslate2,
    write_model,
)
from dragoman.decoding.ctranslate2_engine import CTranslate2Engine
from dragoman.decoding.engine import TorchEngine
from dragoman.decoding.loading import model_of
from dragoman.export.comparison import compare, pick_sources
from dragoman.export.folder import Exported, check_place, copy_parts, size_of
from dragoman.tokenize.tokenizer import Tokenizer


def export_ctranslate2(
    path: Path, out: Path, *, quantization: Quantization = "float32", force: bool = False
) -> Exported:
    """Write a bundle as a CTranslate2 model, and compare the two."""
    ctranslate2()
    check_place(out, force=force)
    check_convertible(read_config(path).model, quantization)
    bundle, device = read_bundle(path), torch.device("cpu")
    tokenizer = Tokenizer.load(bundle.tokenizer_dir)
    with replacing_folder(out) as folder:
        write_model(
            folder,
            config=bundle.config,
            weights=bundle.weights,
            tokenizer=tokenizer,
            quantization=quantization,
            note={"made_from": fingerprint(path)},
        )
        copy_parts(bundle, folder)
        ours = TorchEngine((model_of(bundle, device),))
        theirs = CTranslate2Engine.open(folder, device=device)
        sources, texts = pick_sources(bundle, tokenizer)
        comparison = compare(ours, theirs, sources, texts=texts)
        if quantization == "float32":
            comparison.require_equal()
        note = json.loads((folder / NOTE).read_text(encoding="utf-8"))
        atomic.write_json(folder / NOTE, {**note, "comparison": comparison.to_dict()})
    return Exported(out, "ctranslate2", quantization, size_of(out), comparison)
