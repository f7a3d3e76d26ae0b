"""Adam with the paper's settings (5.3), AdamW, and Muon for the matrices inside the layers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from dragoman.config import TrainConfig
from dragoman.model.embeddings import Embedding
from dragoman.model.positional_encoding import LearnedPositions
from dragoman.training.distributed import spread
from dragoman.training.muon import Muon


class Optimizers:
    """One or two optimizers that step together, with a state that is named by parameter.

    >>> model = nn.Linear(2, 1)
    >>> optimizers = Optimizers(model, TrainConfig())
    >>> model(torch.ones(1, 2)).sum().backward()
    >>> optimizers.step(learning_rate=0.1)
    >>> sorted(optimizers.state())[0]
    'bias/exp_avg'
    """

    def __init__(self, model: nn.Module, config: TrainConfig) -> None:
        self.names: dict[Tensor, str] = {p: name for name, p in model.named_parameters()}
        self.all = list(_make(model, config))

    def step(self, learning_rate: float, scaler: torch.amp.GradScaler | None = None) -> None:
        """Update every parameter, then forget the gradients."""
        for optimizer in self.all:
            for group in optimizer.param_groups:
                group["lr"] = learning_rate
            if scaler is None:
                optimizer.step()
            else:
                scaler.step(optimizer)
        self.forget_gradients()

    def forget_gradients(self) -> None:
        for optimizer in self.all:
            optimizer.zero_grad(set_to_none=True)

    def state(self) -> dict[str, Tensor]:
        """Everything that the next step depends on, as tensors named ``parameter/quantity``."""
        found: dict[str, Tensor] = {}
        for optimizer in self.all:
            for parameter, state in optimizer.state.items():
                for key, value in state.items():
                    tensor = value if isinstance(value, Tensor) else torch.tensor(value)
                    found[f"{self.names[parameter]}/{key}"] = tensor
        return found

    def load_state(self, saved: dict[str, Tensor]) -> None:
        """Take over what ``state`` gave, for the same model and the same settings."""
        parameters = {name: parameter for parameter, name in self.names.items()}
        owners = {p: o for o in self.all for group in o.param_groups for p in group["params"]}
        for full_name, value in saved.items():
            name, key = full_name.rsplit("/", 1)
            parameter = parameters[name]
            value = value.to(parameter.device, copy=True)  # a fused step wants all of it there
            owners[parameter].state[parameter][key] = spread(value, parameter)


def _make(model: nn.Module, config: TrainConfig) -> Iterable[Optimizer]:
    """The optimizers of a config, each with the parameters that it moves."""
    matrices, others = _split(model)
    adam = torch.optim.Adam if config.optimizer == "adam" else torch.optim.AdamW
    settings: dict[str, Any] = {"lr": 0.0, "betas": config.betas, "eps": config.eps, "fused": True}
    if config.optimizer != "muon":
        decayed = [{"params": matrices, "weight_decay": config.weight_decay}] if matrices else []
        kept = [{"params": others, "weight_decay": 0.0}] if others else []
        yield adam(decayed + kept, **settings)
        return
    yield Muon(matrices, weight_decay=config.weight_decay)
    yield adam([{"params": others, "weight_decay": 0.0}], **settings)


def _split(model: nn.Module) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
    """The matrices inside the layers; and all else: embeddings, output, norms and biases."""
    tables = {id(m.weight) for m in model.modules() if isinstance(m, Embedding | LearnedPositions)}
    output = getattr(model, "output", None)
    if output is not None:
        tables.add(id(output.weight))
    parameters = [p for p in model.parameters() if p.requires_grad]
    inside = {id(p) for p in parameters if p.ndim == 2 and id(p) not in tables}
    return (
        [p for p in parameters if id(p) in inside],
        [p for p in parameters if id(p) not in inside],
    )
