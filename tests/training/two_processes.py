"""The same trainings in a world of any size, for test_distributed.py.

Run as a script under the variables that torchrun sets, or imported and run in a world of one.

Each micro-batch of an update has six pairs: one process takes them all, two take half of them each.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
from torch.nn.parallel import DistributedDataParallel

from dragoman.batches.batch import make_batch
from dragoman.config import ModelConfig, TrainConfig
from dragoman.errors import TrainingError
from dragoman.model.transformer import Transformer
from dragoman.training.distributed import join_world, whole, wrap
from dragoman.training.optimizer import Optimizers
from dragoman.training.step import Objective, update

SIZES = {"d_model": 12, "n_heads": 3, "n_layers": 2, "d_ff": 11, "vocab_size": 13, "dropout": 0.0}
N_STEPS = 3
SCENARIOS = {
    "adam": {},
    "clipped": {"clip_norm": 0.05, "optimizer": "adamw", "weight_decay": 0.1},
    "accumulated": {"accumulate": 2},
    "muon": {"optimizer": "muon", "weight_decay": 0.1},
    "fsdp": {"fsdp": True},
    "fsdp-accumulated": {"fsdp": True, "accumulate": 2, "clip_norm": 0.05},
    "fsdp-muon": {"fsdp": True, "optimizer": "muon", "weight_decay": 0.1},
    "fsdp-untied": {"fsdp": True, "tie": "none", "norm": "pre"},
}


def micro_batches(world, step, accumulate):
    """What this process sees in one update; over all processes it is the same in every world."""
    rng = np.random.default_rng(step)
    pairs = [
        tuple(rng.integers(4, 13, rng.integers(1, 7)) for _ in "st") for _ in range(6 * accumulate)
    ]
    n = 6 // world.size
    starts = range(world.rank * n, len(pairs), 6)
    return [make_batch(pairs[start : start + n]) for start in starts]


def train(world, *, restore_at=None, tie="all", norm="post", **options):
    """Weights, optimizer state and what was told, after a few updates.

    Before the step ``restore_at`` model and optimizers are thrown away and built again.
    """
    config = TrainConfig(**options)
    model, objective, optimizers = build(world, config, tie, norm)
    n_sent = count_sent(objective)
    told = []
    for step in range(1, N_STEPS + 1):
        if step == restore_at:
            weights = whole_tensors(model.state_dict())
            state = whole_tensors(optimizers.state())
            model, objective, optimizers = build(world, config, tie, norm, weights=weights)
            optimizers.load_state(state)
        batches = micro_batches(world, step, config.accumulate)
        (n_tokens,) = world.sum([float(sum(batch.n_tokens for batch in batches))])
        done = update(
            objective,
            optimizers,
            batches,
            config=config,
            world=world,
            n_tokens=n_tokens,
            learning_rate=0.01,
            need_norm=True,
        )
        told.append([*world.sum([float(done.loss), float(done.nll)]), float(done.grad_norm)])
    return {
        "weights": whole_tensors(model.state_dict()),
        "state": whole_tensors(optimizers.state()),
        "told": told,
        "sent": len(n_sent),
    }


def build(world, config, tie, norm, weights=None):
    torch.manual_seed(1)
    model = Transformer(ModelConfig(**SIZES, tie=tie, norm=norm)).double()
    if weights is not None:
        model.load_state_dict(weights)
    objective = wrap(Objective(model, config), world, fsdp=config.fsdp)
    return model, objective.train(), Optimizers(model, config)


def whole_tensors(tensors):
    return {name: whole(t).detach().clone() for name, t in tensors.items()}


def count_sent(objective):
    """A list that grows by one each time that DDP sends gradients along."""
    sent = []

    def hook(state, bucket):
        sent.append(bucket.index())
        return allreduce_hook(state, bucket)

    if isinstance(objective, DistributedDataParallel):
        objective.register_comm_hook(None, hook)
    return sent


def run_all(world):
    found = {name: train(world, **options) for name, options in SCENARIOS.items()}
    for name in ("adam", "muon", "fsdp", "fsdp-muon"):
        found[f"{name}-restored"] = train(world, restore_at=3, **SCENARIOS[name])
    found["shared"] = world.share({"rank": world.rank})
    found["gathered"] = world.gather(world.rank)
    found["sum"] = world.sum([2.0**51 + world.rank, 1.0])
    world.wait()
    return found


def fail_on_rank_one(world):
    train(world)
    if world.rank == 1:
        raise TrainingError("the loss became NaN on rank 1")
    train(world)  # waits for gradients that never come


def main(task: str, out_dir: str) -> None:
    with join_world("cpu") as world:
        if task == "fail":
            fail_on_rank_one(world)
        torch.save(run_all(world), Path(out_dir) / f"rank{world.rank}.pt")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(*sys.argv[1:])
