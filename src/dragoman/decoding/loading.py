"""From a bundle on disk to a Translator in memory."""

from __future__ import annotations

from pathlib import Path

import torch

from dragoman.bundle import Bundle, read_bundle
from dragoman.decoding.alignment import AlignmentChoice
from dragoman.decoding.translator import Translator
from dragoman.errors import BundleError
from dragoman.model.device import pick_device
from dragoman.model.transformer import Transformer
from dragoman.tokenize.tokenizer import Tokenizer


def load(path: Path | str, *more: Path | str, device: str | None = None) -> Translator:
    """The translator that a bundle or run holds; several make an ensemble.

    Models of an ensemble must have the same tokenizer; the configuration and the alignment are
    those of the first. ``device`` is such as ``"cpu"`` or ``"cuda:1"``; a GPU if there is one.

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
    bundles = [read_bundle(Path(each)) for each in (path, *more)]
    tokenizers = [Tokenizer.load(bundle.tokenizer_dir) for bundle in bundles]
    for bundle, tokenizer in zip(bundles[1:], tokenizers[1:], strict=True):
        if tokenizer.fingerprint() != tokenizers[0].fingerprint():
            raise BundleError(
                f"{bundles[0].path} and {bundle.path} cannot work together: they have different"
                " tokenizers.\n  Models of an ensemble are trained with one tokenizer: train the"
                " second with --init, or on the same corpus with the same [data] settings."
            )
    place = pick_device(device)
    return Translator(
        models=tuple(_model(bundle, place) for bundle in bundles),
        tokenizer=tokenizers[0],
        config=bundles[0].config,
        path=bundles[0].path,
        alignment=AlignmentChoice.of_record(bundles[0].record, bundles[0].config.model),
    )


def _model(bundle: Bundle, device: torch.device) -> Transformer:
    """The model of a bundle, ready to translate."""
    model = Transformer(bundle.config.model)
    weights = {name: torch.from_numpy(array) for name, array in bundle.weights.items()}
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        raise BundleError(f"{bundle.path}: weights and config.toml disagree: {error}") from None
    return model.to(device).eval().requires_grad_(False)
