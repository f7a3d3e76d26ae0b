"""``dragoman info``: what a preset or a trained model costs, and how it is set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dragoman.cli.options import JsonOption, SetOption, examples
from dragoman.cli.output import human_bytes, human_count, print_json, result, table

if TYPE_CHECKING:
    from dragoman.config import Config

EPILOG = examples(
    "dragoman info base --vocab 37000",
    "dragoman info runs/ende --json",
    "dragoman info base --set model.d_k=16 --set model.d_v=64",
)


def info(
    name: Annotated[
        str,
        typer.Argument(
            metavar="RUN|PRESET",
            help="A run or bundle, or one of tiny, small, base, big. A folder of such a name is"
            " meant by ./tiny.",
        ),
    ],
    vocab: Annotated[
        int | None, typer.Option("--vocab", metavar="V", help="Pieces of the vocabulary.")
    ] = None,
    length: Annotated[
        int, typer.Option("--length", min=1, help="Pieces of a sentence, for FLOPs a token.")
    ] = 32,
    set_: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show parameters by part, FLOPs a token, memory and configuration."""
    config = _find_config(name, vocab, set_ or [])
    facts = _facts(config, length)
    if as_json:
        print_json(facts)
    else:
        result(_report(name, facts, length))


def _find_config(name: str, vocab: int | None, overrides: list[str]) -> Config:
    """The config of the preset or bundle of this name, with what the command line changes."""
    from dragoman.config_checks import no_such
    from dragoman.config_loading import load_config
    from dragoman.errors import BundleError
    from dragoman.presets import MODEL_PRESETS

    flags = {"model.vocab_size": vocab}
    if name in MODEL_PRESETS:
        return load_config(preset=name, overrides=overrides, flags=flags).config
    folder = Path(name)
    if not folder.exists():
        raise BundleError(
            f"{name}: {no_such('preset', name, known=MODEL_PRESETS)}\n"
            "  Nor is there a folder of this name: a run or bundle is one with config.toml,"
            " tokenizer/, model.safetensors and record.json."
        )
    from dragoman.bundle import CONFIG, read_config

    read_config(folder)  # a damaged bundle is told as such, before anything is set over it
    return load_config(folder / CONFIG, overrides=overrides, flags=flags).config


def _facts(config: Config, length: int) -> dict[str, Any]:
    """What there is to know, by its JSON keys."""
    from dataclasses import asdict

    from dragoman.config_loading import config_to_dict
    from dragoman.model.cost import count_parameters, estimate_memory, flops_per_token

    parts = count_parameters(config.model)
    forward = flops_per_token(config.model, src_len=length, tgt_len=length)
    memory = estimate_memory(
        config.model,
        batch_tokens=config.train.batch_tokens,
        optimizer=config.train.optimizer,
        precision=config.train.precision,
    )
    return {
        "params": sum(parts.values()),
        "params_by_part": parts,
        "flops_per_token": forward,
        "training_flops_per_token": 3 * forward,
        "memory": {**asdict(memory), "total": memory.total},
        "config": config_to_dict(config),
    }


def _report(name: str, facts: dict[str, Any], length: int) -> str:
    """The same facts for a reader."""
    params, train = facts["params"], facts["config"]["train"]
    parts = [
        (part, f"{n:,}", f"{100 * n / params:.1f} %")
        for part, n in facts["params_by_part"].items()
        if n
    ]
    flops = [
        ("forward", human_count(facts["flops_per_token"])),
        ("training", human_count(facts["training_flops_per_token"])),
    ]
    memory = [(part, human_bytes(n)) for part, n in facts["memory"].items()]
    tokens = f"{train['batch_tokens']:,}"
    return "\n".join(
        [
            f"{name}: {human_count(params)} parameters",
            table([*parts, ("total", f"{params:,}", "100.0 %")]),
            f"\nFLOPs for each target token, sentences of {length} pieces",
            table(flops),
            f"\nMemory in training, {train['precision']}, {train['optimizer']},"
            f" {tokens} + {tokens} tokens a batch (estimated)",
            table(memory),
            "\nConfiguration of the model",
            table([(key, str(value)) for key, value in facts["config"]["model"].items()]),
        ]
    )
