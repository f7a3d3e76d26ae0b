"""Settings that fit the size of a corpus, for every key that nobody chose.

They come from runs on corpora of tens of thousands of pairs on two CPU cores and from the paper for
millions of pairs on GPUs; docs/choices.md tells what was tried.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dragoman.config_loading import LoadedConfig
from dragoman.presets import MODEL_PRESETS


@dataclass(frozen=True)
class Chosen:
    """The values chosen, by ``table.key``, and the reason in a sentence."""

    values: Mapping[str, Any]
    why: str

    def said(self, given: frozenset[str]) -> str:
        """What the user is told where these keys were given: the choice in short, or what is left.

        >>> chosen = Chosen({"model.norm": "pre", "train.clip_norm": 1.0}, "for 9 pairs: tiny")
        >>> chosen.said(frozenset(["model.norm"]))
        'chosen, as nobody gave it: train.clip_norm = 1.0'
        """
        left = [f"{key} = {value}" for key, value in self.values.items() if key not in given]
        if len(left) > A_FEW:
            return f"settings {self.why}; what a recipe or the command line gives stays"
        if not left:
            return "settings: all as they were given"
        return f"chosen, as nobody gave {'it' if len(left) == 1 else 'them'}: {', '.join(left)}"


A_FEW = 6  # settings that can be told one by one

MANY_PAIRS = 10_000  # enough text for a vocabulary of SMALL_VOCABULARY pieces
SMALL_VOCABULARY = 4000
SMALL_CORPUS = 300_000  # pairs; below this a small model on a CPU does not run out of capacity
LARGE_CORPUS = 3_000_000

SYMBOL_TASKS: dict[str, Any] = {
    "model.n_layers": 2,
    "model.d_model": 64,
    "model.d_ff": 128,
    "model.n_heads": 4,
    "model.dropout": 0.0,
    "model.norm": "pre",
    "train.batch_tokens": 1024,
    "train.label_smoothing": 0.0,
    "train.schedule": "cosine",
    "train.learning_rate": 3e-3,
    "train.warmup_steps": 50,
    "train.optimizer": "adam",
    "train.clip_norm": 1.0,
    "train.steps": 1000,
    "train.validate_every": 250,
    "train.checkpoint_every": 0,
    "train.log_every": 20,
}

SMALL: dict[str, Any] = {
    **{f"model.{key}": value for key, value in MODEL_PRESETS["tiny"].items()},
    "model.norm": "pre",
    "model.positions": "rotary",
    "train.batch_tokens": 2048,
    "train.optimizer": "muon",
    "train.schedule": "cosine",
    "train.learning_rate": 8e-3,
    "train.warmup_steps": 200,
    "train.clip_norm": 1.0,
    "train.steps": 10_000,
    "train.validate_every": 0,
    "train.checkpoint_every": 0,
}

MEDIUM: dict[str, Any] = {
    **{f"model.{key}": value for key, value in MODEL_PRESETS["small"].items()},
    "model.norm": "pre",
    "train.batch_tokens": 4096,
    "train.schedule": "inverse_sqrt",
    "train.learning_rate": 1e-3,
    "train.warmup_steps": 2000,
    "train.clip_norm": 1.0,
    "train.steps": 50_000,
}

LARGE: dict[str, Any] = {  # the paper's recipe
    **{f"model.{key}": value for key, value in MODEL_PRESETS["base"].items()},
    "train.batch_tokens": 25_000,
}


def choose_defaults(n_pairs: int, *, task: str | None, tokenizer: str | None) -> Chosen:
    """What fits a corpus of this size.

    >>> choose_defaults(29_000, task=None, tokenizer=None).values["model.d_model"]
    128
    """
    if tokenizer == "symbols":
        return Chosen(SYMBOL_TASKS, f"the task {task} needs a small model without dropout")
    if n_pairs < SMALL_CORPUS:
        why = f"for {n_pairs:,} pairs: tiny, pre-norm, Muon with a cosine schedule"
        # A smaller vocabulary than text of this size could fill: each step is the faster for it.
        pieces = {"data.vocab_size": SMALL_VOCABULARY} if n_pairs >= MANY_PAIRS else {}
        return Chosen({**SMALL, **pieces}, why)
    if n_pairs < LARGE_CORPUS:
        return Chosen(MEDIUM, f"for {n_pairs:,} pairs: small, pre-norm, inverse square root")
    return Chosen(LARGE, f"for {n_pairs:,} pairs: base, with the paper's recipe")


def that_fit(values: Mapping[str, Any], loaded: LoadedConfig) -> dict[str, Any]:
    """The values, without rotary positions where heads of an odd width cannot have them.

    >>> from dragoman.config_loading import load_config
    >>> narrow = load_config(overrides=["model.d_model=12", "model.n_heads=4"])
    >>> that_fit({"model.positions": "rotary", "model.norm": "pre"}, narrow)
    {'model.norm': 'pre'}
    """
    model = loaded.config.model
    sizes = {
        key: getattr(model, key) if f"model.{key}" in loaded.given else values.get(f"model.{key}")
        for key in ("d_k", "d_model", "n_heads")
    }
    d_k = sizes["d_k"] or (sizes["d_model"] or model.d_model) // (sizes["n_heads"] or model.n_heads)
    fitting = dict(values)
    if d_k % 2 == 1 and values.get("model.positions") == "rotary":
        del fitting["model.positions"]
    return fitting
