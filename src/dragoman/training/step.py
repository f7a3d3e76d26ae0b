"""One update: micro-batches, their gradients, clipping, the optimizer. The lines everyone reads.

The loss of an update is the summed loss of all its tokens, over all micro-batches and processes,
divided by the number of those tokens. So four quarter batches, or two processes, or one big batch
give the same gradient.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from dragoman.batches.batch import Batch
from dragoman.config import TrainConfig
from dragoman.model.dropout import own_generator
from dragoman.model.packing import Packing
from dragoman.model.transformer import Transformer
from dragoman.tokenize.vocabulary import EOS_ID, UNK_ID
from dragoman.training.distributed import World, gradient_sync, whole
from dragoman.training.halves import train_in_halves
from dragoman.training.label_smoothing import Smoothing
from dragoman.training.optimizer import Optimizers
from dragoman.training.r_drop import r_drop_loss
from dragoman.training.vocabulary_loss import vocabulary_loss

# From this width on operations are long enough to be shared among cores, and halves of a batch gain
# nothing for the memory that they take.
WIDE = 256
AUTOCAST = {"bf16": torch.bfloat16, "fp16": torch.float16}


class Objective(nn.Module):
    """The model with its loss: from a batch to (summed loss, summed -log p of the gold tokens)."""

    def __init__(self, model: Transformer, config: TrainConfig) -> None:
        super().__init__()
        self.model = model
        self.source_masking = config.source_masking
        self.r_drop = config.r_drop
        self.smoothing = Smoothing.of(
            config.smoothing_form,
            config.label_smoothing,
            vocab_size=model.config.vocab_size,
            pad_id=model.config.pad_id,
        )

    @property
    def is_narrow(self) -> bool:
        """Whether two halves of a batch at once are faster than one batch on all cores."""
        return self.model.config.d_model < WIDE

    def forward(self, batch: Batch, vocabulary_share: float = 1.0) -> tuple[Tensor, Tensor]:
        if self.training and self.source_masking > 0:
            pad_id = self.model.config.pad_id
            masked = mask_source(batch.src_ids, self.source_masking, pad_id)
            batch = replace(batch, src_ids=masked)
        if self.training and self.r_drop > 0:
            hidden, gold = self._hidden(batch.twice())  # (2P, D): each pass has its own dropout
            gold = gold[: batch.n_tokens]
            losses = r_drop_loss(
                hidden, self.model.output_weight, gold, self.smoothing, self.r_drop
            )
        else:
            hidden, gold = self._hidden(batch)
            losses = vocabulary_loss(
                hidden, self.model.output_weight, gold, self.smoothing, share=vocabulary_share
            )
        return losses.loss, losses.nll

    def _hidden(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """The hidden states before the output matrix, and the gold tokens: (P, D), (P,)."""
        src = _packing(batch.src_index, batch.src_ids)
        tgt = _packing(batch.tgt_index, batch.tgt_in)
        gold = batch.tgt_out.flatten() if tgt is None else tgt.pack(batch.tgt_out)
        return self.model.hidden(batch.src_ids, batch.tgt_in, src, tgt), gold


def mask_source(src_ids: Tensor, share: float, pad_id: int) -> Tensor:
    """The source with a random share of its pieces unknown; EOS and padding stay."""
    generator = own_generator() if src_ids.device.type == "cpu" else None
    chosen = torch.rand(src_ids.shape, device=src_ids.device, generator=generator) < share
    return src_ids.masked_fill(chosen & (src_ids != EOS_ID) & (src_ids != pad_id), UNK_ID)


def _packing(index: Tensor | None, ids: Tensor) -> Packing | None:
    return None if index is None else Packing(index, *ids.shape)


@dataclass(frozen=True)
class Update:
    """What one update tells; sums over this process's tokens, to be divided where shown."""

    loss: Tensor  # summed
    nll: Tensor  # summed
    n_tokens: int  # of this process
    grad_norm: Tensor | None


def update(
    objective: nn.Module,
    optimizers: Optimizers,
    batches: Sequence[Batch],
    *,
    config: TrainConfig,
    world: World,
    n_tokens: float,
    learning_rate: float,
    vocabulary_share: float = 1.0,
    scaler: torch.amp.GradScaler | None = None,
    need_norm: bool = False,
) -> Update:
    """Train on the micro-batches of one update, of ``n_tokens`` target tokens in all processes.

    ``objective`` is an :class:`Objective`, or wraps one. ``vocabulary_share`` below 1 estimates the
    softmax from a sample (``sampled_vocabulary.py``).
    """
    device, losses = world.device, []

    def train(batch: Batch) -> Tensor:
        with _autocast(config, device):
            loss, nll = objective(batch.to(device), vocabulary_share)
        # Processes average their gradients; times their number, it is the sum again.
        mean = loss * (world.size / n_tokens)
        (mean if scaler is None else scaler.scale(mean)).backward()
        return torch.stack((loss.detach(), nll))

    for number, batch in enumerate(batches, start=1):
        with gradient_sync(objective, enabled=number == len(batches)):
            # What is spread over processes or compiled is one piece.
            is_plain = world.size == 1 and device.type == "cpu" and not config.compile
            if is_plain and isinstance(objective, Objective) and objective.is_narrow:
                losses += train_in_halves(train, batch)
            else:
                losses.append(train(batch))
    norm = clip_gradients(objective, optimizers, scaler, config.clip_norm, need_norm=need_norm)
    optimizers.step(learning_rate, scaler)
    if scaler is not None:
        scaler.update()
    loss, nll = torch.stack(losses).sum(0)
    return Update(loss, nll, sum(batch.n_tokens for batch in batches), norm)


def _autocast(config: TrainConfig, device: torch.device) -> torch.autocast:
    """What a step computes in; of the thread that asks."""
    lower = AUTOCAST.get(config.precision)
    return torch.autocast(device.type, lower, enabled=lower is not None)


def clip_gradients(
    objective: nn.Module,
    optimizers: Optimizers,
    scaler: torch.amp.GradScaler | None,
    limit: float,
    *,
    need_norm: bool,
) -> Tensor | None:
    """The norm of the gradient before it was cut to ``limit``; None where nobody needs it."""
    if limit == 0 and not need_norm:
        return None
    if scaler is not None:
        for optimizer in optimizers.all:
            scaler.unscale_(optimizer)
    norm = nn.utils.get_total_norm(p.grad for p in objective.parameters() if p.grad is not None)
    # Gradients below the limit would all be multiplied by 1. To look costs nothing on a CPU alone.
    is_within = norm.device.type == "cpu" and float(whole(norm)) + 1e-6 <= limit
    if limit > 0 and not is_within:
        nn.utils.clip_grads_with_norm_(objective.parameters(), limit, norm)
    return whole(norm)


def seed_step(seed: int, step: int, rank: int) -> None:
    """Make all randomness of one update a function of the run's seed, the step and the process.

    So a resumed run draws what it would have drawn, whatever happened in between.
    """
    digest = hashlib.blake2b(f"{seed}/{step}/{rank}".encode(), digest_size=8).digest()
    torch.manual_seed(int.from_bytes(digest, "little") >> 1)
