"""What differs when many processes train one model under ``torchrun``.

One process is the world of size 1: every function here works in it without a process group, so
that the rest of the code has one path.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from dragoman.model.device import pick_device


@dataclass(frozen=True)
class World:
    """Which process this is, of how many, and on which device it computes."""

    rank: int = 0
    size: int = 1
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))

    @property
    def is_first(self) -> bool:
        """The process that writes files and prints."""
        return self.rank == 0

    def sum(self, numbers: list[float]) -> list[float]:
        """Each number added up over all processes, exact for counts below 2^53."""
        if self.size == 1:
            return numbers
        tensor = torch.tensor(numbers, dtype=torch.float64, device=self.device)
        dist.all_reduce(tensor)
        return [float(x) for x in tensor.tolist()]

    def share(self, value: Any) -> Any:
        """The first process's value, in every process."""
        if self.size == 1:
            return value
        box = [value]
        dist.broadcast_object_list(box, src=0, device=self.device)
        return box[0]

    def gather(self, value: Any) -> list[Any]:
        """The values of all processes, in the order of their ranks."""
        if self.size == 1:
            return [value]
        boxes: list[Any] = [None] * self.size
        dist.all_gather_object(boxes, value)
        return boxes

    def wait(self) -> None:
        """Go on when every process has come here."""
        if self.size > 1:
            dist.barrier()


@contextmanager
def join_world(device_name: str | None = None, *, timeout_minutes: float = 30) -> Iterator[World]:
    """The world this process belongs to: ``torchrun``'s, or a world of its own."""
    device = pick_device(device_name)
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        yield World(device=device)
        return
    if device.type == "cuda":
        torch.cuda.set_device(device)
    backend = "nccl" if device.type == "cuda" else "gloo"
    dist.init_process_group(backend, timeout=timedelta(minutes=timeout_minutes))
    try:
        yield World(rank=dist.get_rank(), size=size, device=device)
    finally:
        dist.destroy_process_group()


def wrap(module: nn.Module, world: World, *, fsdp: bool) -> nn.Module:
    """The module with its gradients added over all processes; itself in a world of one."""
    if world.size == 1:
        return module
    if fsdp:
        return _shard(module)
    ids = [world.device.index] if world.device.type == "cuda" else None
    return nn.parallel.DistributedDataParallel(module, device_ids=ids, gradient_as_bucket_view=True)


def _shard(module: nn.Module) -> nn.Module:
    """FSDP2: each layer, then what is left, has its parameters spread over the processes."""
    from torch.distributed.fsdp import fully_shard  # takes a second to import

    from dragoman.model.decoder import DecoderLayer
    from dragoman.model.encoder import EncoderLayer

    for part in module.modules():
        if isinstance(part, EncoderLayer | DecoderLayer):
            fully_shard(part)
    fully_shard(module)
    return module


@contextmanager
def gradient_sync(module: nn.Module, *, enabled: bool) -> Iterator[None]:
    """Without it, gradients stay on this process until a later pass sends them along."""
    if isinstance(module, nn.parallel.DistributedDataParallel) and not enabled:
        with module.no_sync():
            yield
        return
    set_sync = getattr(module, "set_requires_gradient_sync", None)  # an FSDP2 module has it
    if callable(set_sync):
        set_sync(enabled)
    yield


def whole(tensor: Tensor) -> Tensor:
    """The tensor itself, gathered where FSDP has spread it over the processes."""
    full = getattr(tensor, "full_tensor", None)
    return tensor if full is None else full()


def spread(tensor: Tensor, like: Tensor) -> Tensor:
    """The tensor spread over the processes as ``like`` is; itself where ``like`` is whole."""
    mesh = getattr(like, "device_mesh", None)
    if mesh is None or tensor.ndim == 0:
        return tensor
    from torch.distributed.tensor import distribute_tensor

    return distribute_tensor(tensor, mesh, getattr(like, "placements", None))
