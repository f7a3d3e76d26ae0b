"""One run, from raw text to a bundle: what ``dragoman train`` does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from dragoman import bundle
from dragoman.batches.loader import Batches, BatchSettings
from dragoman.decoding.shortlist_building import LEAST_VOCABULARY, build_shortlist
from dragoman.errors import BundleError
from dragoman.model.transformer import Transformer
from dragoman.pictures.curves import draw_training
from dragoman.runs.record import make_record
from dragoman.runs.setup import Setup, TrainRequest, claim, set_up, write_settings
from dragoman.runs.validator import Validator
from dragoman.training.allocator import keep_large_blocks
from dragoman.training.averaging import average_weights, choose_last
from dragoman.training.checkpoint import (
    Checkpoint,
    checkpoint_path,
    clear_unfinished,
    load_newest,
    load_weights,
)
from dragoman.training.distributed import World, join_world
from dragoman.training.interrupt import StopRequest
from dragoman.training.metrics import read_metrics
from dragoman.training.reporting import Reporter, Silence
from dragoman.training.state import TrainState, Validated
from dragoman.training.trainer import Reason, Trainer


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a run ended."""

    out: Path
    reason: Reason
    state: TrainState
    record: Mapping[str, Any]
    is_first: bool  # whether this process is the one that speaks


def train(request: TrainRequest, reporter: Reporter | None = None) -> Outcome:
    """Train what is asked for and leave a bundle in ``request.out``."""
    keep_large_blocks(in_one_heap=True)
    claim(request)
    with join_world(request.device) as world, StopRequest().on_signals() as stop:
        return _Run(request, world, stop, reporter or Silence()).go()


class _Run:
    """One run of one process."""

    def __init__(
        self, request: TrainRequest, world: World, stop: StopRequest, reporter: Reporter
    ) -> None:
        self.request, self.world, self.reporter = request, world, reporter
        self.setup: Setup = set_up(request, world, reporter)
        self.config = self.setup.config
        if world.is_first:
            write_settings(request.out, self.setup)
            clear_unfinished(request.out)
        world.wait()
        self.model = self._new_model()
        self.n_params = sum(p.numel() for p in self.model.parameters())
        resumed = load_newest(request.out) if request.resume else None
        self._tell_start(resumed)
        self.validator = Validator(
            self.setup.valid_store, self.setup.valid_pairs, self.setup.tokenizer, self.config, world
        )
        self.batches = Batches(
            self.setup.train_store,
            self._batch_settings(),
            position=None if resumed is None else resumed.state.position,
        )
        self.trainer = Trainer(
            model=self.model,
            config=self.config,
            batches=self.batches,
            run_dir=request.out,
            validate=self.validator,
            world=world,
            reporter=reporter,
            resume_from=resumed,
            on_best=self._write_best,
            stop=stop,
        )

    def go(self) -> Outcome:
        with self.batches:
            reason = self.trainer.run()
        state = self.trainer.state
        record: dict[str, Any] = {}
        if reason != "interrupted":
            record = self._finish(state)
        return Outcome(
            out=self.request.out,
            reason=reason,
            state=state,
            record=record,
            is_first=self.world.is_first,
        )

    def _new_model(self) -> Transformer:
        """The model before training: drawn from the seed, or that of another bundle."""
        torch.manual_seed(self.config.train.seed)
        model = Transformer(self.config.model)
        if self.request.init is not None:
            weights = bundle.read_bundle(self.request.init).weights
            model.load_state_dict({name: torch.from_numpy(w) for name, w in weights.items()})
        return model

    def _batch_settings(self) -> BatchSettings:
        train = self.config.train
        return BatchSettings(
            batch_tokens=train.batch_tokens,
            seed=train.seed,
            accumulate=train.accumulate,
            world_size=self.world.size,
            rank=self.world.rank,
            sampling=self.config.data.sampling,
            tokenizer=self.setup.tokenizer,
        )

    def _tell_start(self, resumed: Checkpoint | None) -> None:
        if not self.world.is_first:
            return
        model = self.config.model
        self.reporter.message(
            f"{model.encoder_layers}+{model.decoder_layers} layers of width {model.d_model}, "
            f"{model.positions} positions, {self.n_params / 1e6:.1f} M parameters, "
            f"on {self.world.size} x {self.world.device}"
        )
        if resumed is not None:
            self.reporter.message(f"resuming after step {resumed.state.step:,}")
        elif self.request.resume:
            self.reporter.message("no checkpoint yet: starting from the first step")

    # --- results ---------------------------------------------------------------------------------

    def _write_best(self, state: TrainState) -> None:
        """Make the bundle hold the model as it is now."""
        weights = self.trainer.weights()
        self._write(weights, state, {"chosen": _from_step(state.best), "is_done": False})

    def _finish(self, state: TrainState) -> dict[str, Any]:
        """Average the last checkpoints, keep the mean where it is better, write the record."""
        averaged = self._average(state)
        if averaged is not None:
            weights, chosen = averaged
        else:
            chosen = _from_step(state.best)
            weights = self._checkpoint_weights(chosen["step"])
        record = self._write(weights, state, {"chosen": chosen, "is_done": True})
        if self.world.is_first:
            out = self.request.out
            if self.setup.train_store.info.tgt_vocab_size >= LEAST_VOCABULARY:
                build_shortlist(self.setup.train_store).save(out)
            draw_training(read_metrics(out), out / "training.png", title=out.name)
        return record

    def _average(self, state: TrainState) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """The mean of the last checkpoints, and the record of it; None where it does not help."""
        n = self.config.train.average
        steps = choose_last(self.request.out, n) if n > 1 else []
        if len(steps) < 2:
            return None
        weights = average_weights(self.request.out, steps)
        model = Transformer(self.config.model).to(self.world.device).eval()
        model.load_state_dict(weights)
        found = self.validator(model)
        better = Validated(state.step, found.val_loss, found.val_bleu)
        best = state.best
        helps = best is None or better.goodness > best.goodness
        if self.world.is_first:
            bleu = "" if found.val_bleu is None else f", BLEU {found.val_bleu:.2f}"
            self.reporter.message(
                f"the mean of {len(steps)} checkpoints: loss {found.val_loss:.4f}{bleu}"
                + (" - taken" if helps else " - not better, the best step is taken")
            )
        reached = {"val_loss": found.val_loss, "val_bleu": found.val_bleu}
        return (weights, {"from": "average", "steps": steps, **reached}) if helps else None

    def _checkpoint_weights(self, step: int) -> dict[str, Tensor]:
        try:
            return load_weights(checkpoint_path(self.request.out, step))
        except BundleError:  # it went with the retention policy, but the bundle has held it since
            weights = bundle.read_bundle(self.request.out).weights
            return {name: torch.from_numpy(w) for name, w in weights.items()}

    def _write(
        self, weights: dict[str, Tensor], state: TrainState, more: dict[str, Any]
    ) -> dict[str, Any]:
        task = {} if self.request.task is None else {"task": self.request.task}
        record = make_record(
            self.config,
            state,
            world=self.world,
            params=self.n_params,
            data=self.setup.data,
            more={**task, **more},
        )
        if self.world.is_first:
            bundle.write_bundle(
                self.request.out,
                config=self.config,
                weights={name: w.float().numpy() for name, w in weights.items()},
                save_tokenizer=self.setup.tokenizer.save,
                record=record,
            )
        self.world.wait()
        return record


def _from_step(best: Validated | None) -> dict[str, Any]:
    """The record of a bundle that holds the weights of one step."""
    if best is None:
        raise BundleError("the run has not been validated yet: there is no best step")
    return {
        "from": "best step",
        "step": best.step,
        "val_loss": best.val_loss,
        "val_bleu": best.val_bleu,
    }
