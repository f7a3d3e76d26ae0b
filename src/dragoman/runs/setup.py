"""Before the first step: the effective configuration, the tokenizer, and both prepared corpora."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dragoman import atomic, bundle
from dragoman.batches.bucketing import plan_epoch
from dragoman.batches.prepare import prepare
from dragoman.batches.store import Store
from dragoman.config import Config, DataConfig
from dragoman.config_loading import LoadedConfig, config_to_dict, config_to_toml, with_defaults
from dragoman.corpus.check import check_corpus
from dragoman.corpus.clean import Tally, clean
from dragoman.corpus.hashes import hash_set
from dragoman.corpus.pair import Pair
from dragoman.corpus.reading import CorpusSource
from dragoman.errors import BundleError, ConfigError
from dragoman.runs.cache import cache_dir, cached_tokenizer, tokenizer_key
from dragoman.runs.defaults import choose_defaults, that_fit
from dragoman.runs.record import data_record
from dragoman.runs.sources import Source, hold_out
from dragoman.tokenize.tokenizer import Tokenizer
from dragoman.training.distributed import World
from dragoman.training.reporting import Reporter

UNLIMITED_STEPS = 10_000_000
# What a resumed run may be told anew; anything else would make it another run.
MAY_CHANGE = {
    f"train.{key}"
    for key in [
        "steps",
        "epochs",
        "minutes",
        "log_every",
        "validate_every",
        "checkpoint_every",
        "keep_last",
        "keep_best",
        "average",
        "patience",
        "validate_bleu",
    ]
}


@dataclass(frozen=True, kw_only=True)
class TrainRequest:
    """What somebody wants trained, on what, and where the result goes."""

    out: Path
    loaded: LoadedConfig
    train: Source
    valid: Source | None = None
    task: str | None = None
    resume: bool = False
    init: Path | None = None
    device: str | None = None


@dataclass(frozen=True, kw_only=True)
class Setup:
    """All that a trainer needs besides the model."""

    config: Config
    tokenizer: Tokenizer
    train_store: Store
    valid_store: Store
    valid_pairs: Sequence[Pair]
    data: dict[str, Any]


def set_up(request: TrainRequest, world: World, reporter: Reporter) -> Setup:
    """Read, clean, tokenize and prepare; the first process works, the others find it done."""
    if not world.is_first:
        world.wait()  # for the first process to have filled the cache
    teller = reporter if world.is_first else None
    train, valid, n_held_out = _split(request, teller)
    n_pairs = sum(1 for _ in train.pairs())
    config = _settle(request, n_pairs, teller)
    tokenizer = _tokenizer(request, config, train, valid, teller)
    config = _fit_to_tokenizer(config, tokenizer)
    folder = cache_dir() / "prepared"
    train_store = prepare(
        train,
        tokenizer,
        config.data,
        cache_dir=folder,
        exclude=[valid],
        on_progress=lambda n_done, _: reporter.prepared(n_done, n_pairs),
    )
    valid_data = replace(config.data, drop_duplicates=False, sampling=0.0)
    valid_store = prepare(valid, tokenizer, valid_data, cache_dir=folder)
    if world.is_first:
        _tell_corpus(reporter, train_store, valid_store, tokenizer, n_held_out)
        world.wait()
    return Setup(
        config=_fit_to_epochs(config, train_store, world),
        tokenizer=tokenizer,
        train_store=train_store,
        valid_store=valid_store,
        valid_pairs=list(clean(valid.pairs(), valid_data, tally=Tally())),
        data=data_record(train_store, valid_store, held_out=n_held_out),
    )


def _split(request: TrainRequest, reporter: Reporter | None) -> tuple[Source, Source, int | None]:
    """Training and validation pairs, and how many of the former were held out as the latter."""
    if request.valid is not None:
        return request.train, request.valid, None
    config = request.loaded.config
    if request.resume and bundle.is_bundle(request.out):
        config = bundle.read_config(request.out)
    train, valid, n = hold_out(request.train, config.data.valid_size, seed=config.train.seed)
    if reporter is not None:
        reporter.message(
            f"no validation files given: {n:,} pairs are held out of training"
            f" (seed {config.train.seed})"
        )
    return train, valid, n


def _settle(request: TrainRequest, n_pairs: int, reporter: Reporter | None) -> Config:
    """The effective configuration, all but what depends on the tokenizer."""
    if request.resume and bundle.is_bundle(request.out):
        return _resumed_config(request)
    loaded = request.loaded
    tokenizer = _task_tokenizer(request)
    chosen = choose_defaults(n_pairs, task=request.task, tokenizer=tokenizer)
    values = dict(chosen.values)
    if tokenizer is not None:
        values["data.tokenizer"] = tokenizer
    limits = {"train.minutes", "train.epochs"} & loaded.given
    if limits:
        values["train.steps"] = UNLIMITED_STEPS
    if request.init is not None:
        values |= _from_bundle(request.init, loaded)
    elif loaded.preset is not None:
        values = {key: value for key, value in values.items() if not key.startswith("model.d_")}
    config = with_defaults(loaded, that_fit(values, loaded))
    if (
        not config.data.joint_vocab
        and config.model.tie == "all"
        and "model.tie" not in loaded.given
    ):
        config = replace(config, model=replace(config.model, tie="decoder"))
    if reporter is not None:
        reporter.message(chosen.said(loaded.given))
    return config


def _resumed_config(request: TrainRequest) -> Config:
    """The configuration of the run that is resumed, with such changes as are allowed."""
    stored = bundle.read_config(request.out)
    old, new = config_to_dict(stored), config_to_dict(request.loaded.config)
    faults = []
    for key in sorted(request.loaded.given):
        table, _, name = key.partition(".")
        if old[table].get(name) == new[table].get(name):
            continue
        if key in MAY_CHANGE:
            old[table][name] = new[table].get(name)
        else:
            faults.append(f"{key} = {new[table].get(name)!r}: the run has {old[table].get(name)!r}")
    if faults:
        lines = "\n  ".join(faults)
        raise ConfigError(
            f"a resumed run must go on with its own settings:\n  {lines}\n"
            "  Leave these out, or start another run with another --out."
        )
    return replace(stored, train=replace(stored.train, **_changed(stored, old)))


def _changed(stored: Config, wanted: dict[str, dict[str, Any]]) -> dict[str, Any]:
    names = {key.partition(".")[2] for key in MAY_CHANGE}
    return {name: wanted["train"].get(name, getattr(stored.train, name)) for name in names}


def _from_bundle(path: Path, loaded: LoadedConfig) -> dict[str, Any]:
    """Shape and tokenizer of the bundle to start from; a wish for another shape is refused."""
    tables = config_to_dict(bundle.read_config(path))
    keep = {f"model.{key}": value for key, value in tables["model"].items()}
    keep |= {
        f"data.{key}": tables["data"][key] for key in ("tokenizer", "joint_vocab", "lowercase")
    }
    wanted = config_to_dict(loaded.config)
    faults = []
    for key in sorted(keep.keys() & loaded.given):
        table, _, name = key.partition(".")
        if wanted[table].get(name) != keep[key] and "dropout" not in name:
            faults.append(f"{key} = {wanted[table].get(name)!r}: the bundle has {keep[key]!r}")
    if faults:
        raise ConfigError(f"--init {path} fixes the model:\n  " + "\n  ".join(faults))
    return keep


def _task_tokenizer(request: TrainRequest) -> str | None:
    if request.task is None:
        return None
    from dragoman.corpus.tasks import TASKS

    return TASKS[request.task].tokenizer


def _tokenizer(
    request: TrainRequest, config: Config, train: Source, valid: Source, reporter: Reporter | None
) -> Tokenizer:
    """The tokenizer of the run, of the bundle to start from, or one trained on the corpus."""
    own = request.out / bundle.TOKENIZER
    if request.resume and own.is_dir():
        return Tokenizer.load(own)
    if request.init is not None:
        return Tokenizer.load(bundle.read_bundle(request.init).tokenizer_dir)

    def pairs() -> Iterable[tuple[str, str]]:
        left_out = hash_set(valid.pairs())
        kept = clean(train.pairs(), config.data, tally=Tally(), exclude=left_out)
        return ((pair.src, pair.tgt) for pair in kept)

    key = tokenizer_key([train, valid], config.data, seed=config.train.seed)
    folder = cache_dir() / "tokenizers"
    if reporter is not None and not (folder / key).exists():
        _tell_findings(request, reporter)  # once for each corpus, not for each run on it
    return cached_tokenizer(key, pairs, config.data, seed=config.train.seed, folder=folder)


def _tell_findings(request: TrainRequest, reporter: Reporter) -> None:
    """Say what ``dragoman corpus check`` would warn of; errors come when the corpus is read."""
    train, valid = request.train, request.valid
    if not isinstance(train, CorpusSource):
        return
    report = check_corpus(train, valid if isinstance(valid, CorpusSource) else None)
    for finding in report.findings:
        if finding.severity == "warning":
            place = f", first at {finding.examples[0].place}" if finding.examples else ""
            reporter.message(f"warning: {finding.count:,} x {finding.meaning}{place}")


def _fit_to_tokenizer(config: Config, tokenizer: Tokenizer) -> Config:
    """The configuration with the vocabulary sizes that the tokenizer has."""
    src, tgt = tokenizer.src_vocab_size, tokenizer.tgt_vocab_size
    model = replace(
        config.model, vocab_size=tgt, src_vocab_size=None if tokenizer.is_joint else src
    )
    data: DataConfig = replace(config.data, joint_vocab=tokenizer.is_joint)
    return replace(config, model=model, data=data)


def _fit_to_epochs(config: Config, store: Store, world: World) -> Config:
    """The configuration with its steps cut to the epochs asked for, so that schedules end there."""
    train = config.train
    if train.epochs is None:
        return config
    plan = plan_epoch(
        store.src_lengths,
        store.tgt_lengths,
        batch_tokens=train.batch_tokens,
        seed=train.seed,
        epoch=0,
        world_size=world.size,
        rank=world.rank,
        accumulate=train.accumulate,
    )
    steps = min(train.steps, train.epochs * math.ceil(len(plan) / train.accumulate))
    return replace(config, train=replace(train, steps=steps))


def _tell_corpus(
    reporter: Reporter, train: Store, valid: Store, tokenizer: Tokenizer, n_held_out: int | None
) -> None:
    dropped = ", ".join(f"{reason} {n:,}" for reason, n in train.info.dropped.items() if n)
    sizes = f"{tokenizer.tgt_vocab_size:,} pieces"
    if not tokenizer.is_joint:
        sizes = f"{tokenizer.src_vocab_size:,} + {sizes}"
    reporter.message(
        f"{len(train):,} pairs to train on, {len(valid):,} to validate; {sizes}"
        + (f"; dropped: {dropped}" if dropped else "")
    )


def claim(request: TrainRequest) -> None:
    """Make sure that the run's folder may be written to; nothing that is there is overwritten."""
    out = request.out
    if out.exists() and not out.is_dir():
        raise BundleError(f"{out} is a file; --out names a folder.")
    used = out.is_dir() and any(out.iterdir())
    if used and not request.resume:
        raise BundleError(
            f"{out} is not empty.\n  Go on with the run in it by --resume, or choose another --out."
        )
    if request.resume and used and not bundle.is_bundle(out):
        raise BundleError(f"{out} holds no run to resume: {bundle.CONFIG} is missing.")


def write_settings(out: Path, setup: Setup) -> None:
    """Put configuration and tokenizer into the run's folder, before the first step."""
    out.mkdir(parents=True, exist_ok=True)
    if not (out / bundle.TOKENIZER).exists():
        with atomic.new_folder(out / bundle.TOKENIZER) as inside:
            setup.tokenizer.save(inside)
    atomic.write_text(out / bundle.CONFIG, config_to_toml(setup.config))
