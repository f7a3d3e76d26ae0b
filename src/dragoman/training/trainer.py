"""The loop: when to update, log, validate, save and stop. What an update is stands in step.py.

The trainer is handed its validator and its reporter, so that it knows neither how translations are
made nor how progress is shown.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from dragoman.batches.batch import Batch
from dragoman.batches.loader import Batches
from dragoman.config import Config
from dragoman.errors import TrainingError
from dragoman.model.device import check_bf16
from dragoman.model.transformer import Transformer
from dragoman.training.budget import Budget
from dragoman.training.checkpoint import Checkpoint, prune, save_checkpoint
from dragoman.training.distributed import World, whole, wrap
from dragoman.training.interrupt import StopRequest
from dragoman.training.metrics import MetricsLog
from dragoman.training.optimizer import Optimizers
from dragoman.training.reporting import Progress, Reporter, Silence, Validation
from dragoman.training.schedule import learning_rate
from dragoman.training.state import TrainState, Validated
from dragoman.training.step import Objective, seed_step, update
from dragoman.training.window import Window

logger = logging.getLogger(__name__)

VALIDATIONS = 10  # of a run that does not say how often
SAMPLED_STEPS = 0.8  # of the steps that may estimate the sum over the vocabulary

Validator = Callable[[Transformer], Validation]
Reason = Literal["steps", "epochs", "minutes", "patience", "interrupted"]


@dataclass
class Trainer:
    """A run in the making; ``run`` trains until a limit is reached and says which."""

    model: Transformer
    config: Config
    batches: Batches
    run_dir: Path
    validate: Validator
    world: World = field(default_factory=World)
    reporter: Reporter = field(default_factory=Silence)
    resume_from: Checkpoint | None = None
    on_best: Callable[[TrainState], None] = lambda state: None
    stop: StopRequest = field(default_factory=StopRequest)

    def __post_init__(self) -> None:
        train = self.config.train
        if train.precision == "bf16":
            check_bf16(self.world.device)
        self.state = TrainState(total_steps=train.steps, warmup_steps=train.warmup_steps)
        self.model.to(self.world.device)
        if self.resume_from is not None:
            self.state = self.resume_from.state
            if train.minutes is None:  # a resumed run may be told to go on for longer
                self.state.total_steps = train.steps
            self.model.load_state_dict(self.resume_from.weights)
        objective = Objective(self.model, train)
        self.objective = wrap(objective, self.world, fsdp=train.fsdp)
        self.optimizers = Optimizers(self.model, train)
        self.scaler = (
            torch.amp.GradScaler(self.world.device.type) if train.precision == "fp16" else None
        )
        if self.resume_from is not None:
            self.optimizers.load_state(self.resume_from.optimizer)
            if self.scaler is not None and self.state.scaler is not None:
                self.scaler.load_state_dict(self.state.scaler)
        if train.compile:
            self.objective.compile(dynamic=True)
        self.budget = Budget(train.minutes, self.state)
        self.window = Window()
        self.log = None
        if self.world.is_first:
            self.log = MetricsLog(
                self.run_dir, from_byte=self.state.metrics_bytes, from_step=self.state.step
            )

    def run(self) -> Reason:
        """Train until done; the newest state is saved whatever the reason to stop is."""
        started = time.monotonic() - self.state.seconds
        reason = self.reason_to_stop()
        self.window = Window()
        while reason is None:
            micro = [next(self.batches) for _ in range(self.config.train.accumulate)]
            n_mine = float(sum(batch.n_tokens for batch in micro))
            n_samples = float(sum(len(batch) for batch in micro))
            n_tokens, n_samples, n_stop = self.world.sum(
                [n_mine, n_samples, float(self.stop.asked)]
            )
            if n_stop:  # these batches were not trained on: the position is still before them
                reason = "interrupted"
                break
            self._update(micro, n_tokens)
            self.state.samples += int(n_samples)
            self.state.tokens += int(n_tokens)
            self.state.position = self.batches.position
            self.state.seconds = time.monotonic() - started
            self._after_update()
            reason = self.reason_to_stop()
        self._finish(reason)
        return reason

    def reason_to_stop(self) -> Reason | None:
        """The first limit that has been reached; None to go on."""
        train, state = self.config.train, self.state
        if state.step >= state.total_steps:
            return "steps" if self.budget.minutes is None else "minutes"
        if train.epochs is not None and state.position.epoch >= train.epochs:
            return "epochs"
        if train.patience and state.validations_without_progress >= train.patience:
            return "patience"
        return None

    # --- one update, and what follows it ---------------------------------------------------------

    def _update(self, micro: list[Batch], n_tokens: float) -> None:
        state, train = self.state, self.config.train
        state.step += 1
        seed_step(train.seed, state.step, self.world.rank)
        self.objective.train()
        done = update(
            self.objective,
            self.optimizers,
            micro,
            config=train,
            world=self.world,
            n_tokens=n_tokens,
            learning_rate=self.learning_rate(),
            vocabulary_share=self.vocabulary_share(),
            scaler=self.scaler,
            need_norm=state.step % train.log_every == 0,
        )
        self.window.add(done, n_tokens)
        if self.world.device.type == "cpu":  # elsewhere the check waits for the next log step
            self._check_finite()

    def learning_rate(self) -> float:
        """That of the update under way."""
        train = replace(self.config.train, warmup_steps=self.state.warmup_steps)
        return learning_rate(
            self.state.step,
            train,
            d_model=self.config.model.d_model,
            total_steps=self.state.total_steps,
        )

    def vocabulary_share(self) -> float:
        """Of the update under way: the last ones see the vocabulary whole."""
        is_late = self.state.step > SAMPLED_STEPS * self.state.total_steps
        return 1.0 if is_late else self.config.train.vocabulary_share

    def _after_update(self) -> None:
        state, train = self.state, self.config.train
        if self.budget.is_due(state):
            self._tell(self.budget.decide(state, train, share=self.world.share))
        is_last = self.reason_to_stop() is not None
        if state.step % train.log_every == 0:
            self._log()
        validate_every = train.validate_every or math.ceil(state.total_steps / VALIDATIONS)
        is_validated = is_last or state.step % validate_every == 0
        if is_validated:
            self._validate()
        if is_validated or state.step % (train.checkpoint_every or validate_every) == 0:
            self.save()

    def _check_finite(self) -> None:
        ago = self.window.first_not_finite()
        if ago is not None:
            raise self._not_finite(self.state.step - ago)

    def _not_finite(self, step: int) -> TrainingError:
        process = (
            f" (process {self.world.rank} of {self.world.size})" if self.world.size > 1 else ""
        )
        return TrainingError(
            f"the loss became NaN or infinite at step {step:,}{process}.\n"
            f"  The last good checkpoint in {self.run_dir} is kept. Lower train.learning_rate or "
            "lengthen train.warmup_steps,\n  set train.clip_norm = 1, and train again; or "
            "look for broken lines with `dragoman corpus check`."
        )

    def _log(self) -> None:
        self._check_finite()
        state, window = self.state, self.window
        loss, nll, n_mine = (float(x) for x in window.sums())
        loss, nll, n_tokens = self.world.sum([loss, nll, n_mine])
        rate = window.n_tokens / max(1e-9, time.monotonic() - window.started)
        progress = Progress(
            step=state.step,
            total_steps=state.total_steps,
            loss=loss / n_tokens,
            nll=nll / n_tokens,
            learning_rate=self.learning_rate(),
            grad_norm=window.grad_norm(),
            tokens_per_second=rate,
            seconds=state.seconds,
            seconds_left=self.budget.seconds_left(state),
        )
        if self.log is not None:
            self.log.write(
                {
                    "step": state.step,
                    "loss": round(progress.loss, 6),
                    "ppl": round(math.exp(min(50.0, progress.nll)), 4),
                    "lr": progress.learning_rate,
                    "grad_norm": round(progress.grad_norm, 6),
                    "tokens_per_second": round(rate, 1),
                    "seconds": round(state.seconds, 3),
                }
            )
            self.reporter.progress(progress)
        self.window = Window()

    def _validate(self) -> None:
        state = self.state
        if state.validations and state.validations[-1].step == state.step:
            return
        self._check_finite()
        started = time.monotonic()
        self.model.eval()
        found = self.validate(self.whole_model())
        if not math.isfinite(found.val_loss):
            raise self._not_finite(state.step)
        before = state.best
        state.validations.append(Validated(state.step, found.val_loss, found.val_bleu))
        is_best = before is None or state.validations[-1].goodness > before.goodness
        if self.log is not None:
            numbers = {"step": state.step, "val_loss": found.val_loss, "val_ppl": found.val_ppl}
            if found.val_bleu is not None:
                numbers["val_bleu"] = found.val_bleu
            self.log.write({**numbers, "seconds": round(state.seconds, 3)})
            self.reporter.validated(state.step, found, is_best=is_best)
        if is_best:
            self.on_best(state)
        self.window.started += time.monotonic() - started  # validating is not training

    # --- saving ----------------------------------------------------------------------------------

    def weights(self) -> dict[str, Tensor]:
        """The model's weights, whole, on the CPU."""
        return {name: whole(t).detach().cpu() for name, t in self.model.state_dict().items()}

    def whole_model(self) -> Transformer:
        """The model itself; where FSDP has spread it, a copy of all of it."""
        if not (self.config.train.fsdp and self.world.size > 1):
            return self.model
        copy = Transformer(self.model.config).to(self.world.device)
        copy.load_state_dict({name: whole(t) for name, t in self.model.state_dict().items()})
        return copy.eval()

    def save(self) -> None:
        """Write a checkpoint of this very step, then remove those that nobody needs any more."""
        self._check_finite()
        weights = self.weights()
        # A finite loss can have had a gradient that was not: such weights are not worth keeping.
        if not all(bool(weight.isfinite().all()) for weight in weights.values()):
            raise self._not_finite(self.state.step)
        optimizer = {name: whole(t).cpu() for name, t in self.optimizers.state().items()}
        if self.scaler is not None:
            self.state.scaler = self.scaler.state_dict()
        if self.log is not None:
            train = self.config.train
            self.state.metrics_bytes = self.log.n_bytes
            save_checkpoint(self.run_dir, Checkpoint(weights, optimizer, self.state))
            keep_last = max(train.keep_last, train.average)
            prune(self.run_dir, keep_last=keep_last, best=self.state.best_steps(train.keep_best))
        self.world.wait()

    def _finish(self, reason: Reason) -> None:
        if reason == "interrupted":
            self.save()
        if self.log is not None:
            self.log.close()

    def _tell(self, text: str) -> None:
        if self.world.is_first and text:
            self.reporter.message(text)
