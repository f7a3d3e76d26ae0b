"""One training step (forward, loss, backward, Adam) beside torch.nn.Transformer, as a ratio.

    python -m benchmarks.train_step [--json]

The usual way: ``torch.nn.Transformer`` with embeddings of its own, boolean masks, a linear layer
over all positions and ``nn.CrossEntropyLoss(ignore_index=pad, label_smoothing=0.1)``, Adam. Same
sizes, same batch, same threads, dropout 0.1 on both sides (inside the feed-forward network too).
Random ids, with lengths drawn so that the share of padding is as asked.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.side_by_side import ratios
from dragoman.batches.batch import Batch, make_batch
from dragoman.config import ModelConfig, TrainConfig
from dragoman.model.transformer import Transformer
from dragoman.presets import MODEL_PRESETS
from dragoman.training.allocator import keep_large_blocks
from dragoman.training.distributed import World
from dragoman.training.optimizer import Optimizers
from dragoman.training.step import Objective, update

PAD = 0
CASES = [("tiny", 10_000, 4096), ("base", 10_000, 1024)]
PADDING = [0.3, 0.05, 0.0]


class UsualTransformer(nn.Module):
    """torch.nn.Transformer as tutorials write it."""

    def __init__(self, config: ModelConfig, max_len: int = 512) -> None:
        super().__init__()
        self.d_model = config.d_model
        self.src = nn.Embedding(config.vocab_size, config.d_model, padding_idx=PAD)
        self.src.weight.data.normal_(0, config.d_model**-0.5)
        self.body = nn.Transformer(
            config.d_model,
            config.n_heads,
            config.n_layers,
            config.n_layers,
            config.d_ff,
            config.dropout,
            batch_first=True,
        )
        position = torch.arange(max_len)[:, None]
        rate = torch.exp(torch.arange(0, config.d_model, 2) * (-math.log(1e4) / config.d_model))
        table = torch.zeros(max_len, config.d_model)
        table[:, 0::2], table[:, 1::2] = torch.sin(position * rate), torch.cos(position * rate)
        self.register_buffer("table", table)
        self.dropout = nn.Dropout(config.dropout)
        self.output = nn.Linear(config.d_model, config.vocab_size, bias=False)
        self.output.weight = self.src.weight

    def embed(self, ids: Tensor) -> Tensor:
        return self.dropout(self.src(ids) * math.sqrt(self.d_model) + self.table[: ids.size(1)])

    def forward(self, src_ids: Tensor, tgt_ids: Tensor) -> Tensor:
        future = nn.Transformer.generate_square_subsequent_mask(tgt_ids.size(1), dtype=torch.bool)
        out = self.body(
            self.embed(src_ids),
            self.embed(tgt_ids),
            tgt_mask=future,
            src_key_padding_mask=src_ids == PAD,
            tgt_key_padding_mask=tgt_ids == PAD,
            memory_key_padding_mask=src_ids == PAD,
        )
        return self.output(out)


def random_batch(vocab_size: int, target_tokens: int, padding: float, seed: int = 1) -> Batch:
    """About ``target_tokens`` positions with this share of padding on both sides."""
    generator = np.random.default_rng(seed)
    longest = 24
    # Lengths uniform on [a, longest] have the mean longest * (1 - padding).
    shortest = max(1, round(longest * (1 - 2 * padding)))
    rows = target_tokens // longest
    lengths = generator.integers(shortest, longest, size=(rows, 2), endpoint=True) - 1
    lengths[0] = longest - 1
    pairs = [tuple(generator.integers(4, vocab_size, n) for n in pair) for pair in lengths]
    return make_batch(pairs)  # type: ignore[arg-type]


def our_step(config: ModelConfig, batch: Batch) -> Callable[[], object]:
    train, world = TrainConfig(), World()
    model = Transformer(config)
    objective, optimizers = Objective(model, train), Optimizers(model, train)
    objective.train()
    return lambda: update(
        objective,
        optimizers,
        [batch],
        config=train,
        world=world,
        n_tokens=batch.n_tokens,
        learning_rate=1e-4,
    )


def usual_step(config: ModelConfig, batch: Batch) -> Callable[[], object]:
    model = UsualTransformer(config).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9)
    criterion = nn.CrossEntropyLoss(ignore_index=PAD, label_smoothing=0.1)

    def step() -> None:
        optimizer.zero_grad()
        logits = model(batch.src_ids, batch.tgt_in)
        criterion(logits.flatten(0, 1), batch.tgt_out.flatten()).backward()
        optimizer.step()

    return step


def measure(preset: str, vocab_size: int, tokens: int, padding: float, repeats: int) -> dict:
    """Seconds and ratio of one case."""
    torch.manual_seed(1)
    config = ModelConfig(**MODEL_PRESETS[preset], vocab_size=vocab_size)
    batch = random_batch(vocab_size, tokens, padding)
    candidates = {
        "dragoman": our_step(config, batch),
        "torch.nn.Transformer": usual_step(config, batch),
    }
    timings, faster = ratios(candidates, "dragoman", repeats=repeats)
    share = 1 - (batch.n_tokens + batch.n_src_tokens) / (
        batch.src_ids.numel() + batch.tgt_in.numel()
    )
    quotients = faster["torch.nn.Transformer"]
    return {
        "preset": preset,
        "padding": round(share, 3),
        "target_tokens": batch.n_tokens,
        "tokens_per_second": {
            name: round(batch.n_tokens / timing.median) for name, timing in timings.items()
        },
        "ratio": round(statistics.median(quotients), 2),
        "ratio_spread": [round(min(quotients), 2), round(max(quotients), 2)],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    keep_large_blocks()  # for both: it is a matter of the process
    found = [
        measure(preset, vocab_size, tokens, padding, options.repeats)
        for preset, vocab_size, tokens in CASES
        for padding in PADDING
    ]
    if options.json:
        print(json.dumps({"threads": options.threads, "cases": found}, indent=2))
        return
    print(f"training step, {options.threads} threads, float32; target tokens/s and ratio")
    for case in found:
        speeds = "  ".join(f"{name} {v:,}" for name, v in case["tokens_per_second"].items())
        low, high = case["ratio_spread"]
        print(
            f"  {case['preset']:5} padding {case['padding']:4.0%}  {speeds}"
            f"  ratio {case['ratio']:.2f} ({low:.2f}-{high:.2f})"
        )


if __name__ == "__main__":
    main()
