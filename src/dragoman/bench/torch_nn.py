"""torch.nn.Transformer written the usual way, as tutorials do it; always there.

Training: embeddings of its own, boolean masks, a linear layer over all positions, padding included,
``nn.CrossEntropyLoss(ignore_index=PAD, label_smoothing=0.1)``, Adam. Decoding: at each step the
decoder runs over the whole beginning, for it has no cache.

Letters: B sentences, S source length, T target length, N beams, V vocabulary, D d_model.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from dragoman.batches.batch import Batch
from dragoman.bench.peer import Decode, TrainStep, Weights, is_plain
from dragoman.config import ModelConfig
from dragoman.model.positional_encoding import sinusoidal_encoding
from dragoman.tokenize.vocabulary import BOS_ID, EOS_ID, PAD_ID

MAX_LEN = 1024


@dataclass(frozen=True)
class TorchNN:
    """PyTorch's own module in the hands of somebody who has read its tutorial."""

    name: str = "torch.nn.Transformer"
    package: str = "torch"

    def is_installed(self) -> bool:
        return True

    def train_step(self, shape: ModelConfig, batches: Sequence[Batch]) -> TrainStep:
        model = UsualTransformer(shape).train()
        return usual_step(model, model, batches)

    def decoder(self, shape: ModelConfig, weights: Weights | None = None) -> Decode | None:
        if weights is not None and not is_plain(shape):
            return None
        model = UsualTransformer(shape)
        if weights is not None:
            model.take(weights)
        model.eval().requires_grad_(False)

        @torch.inference_mode()
        def decode(
            batches: Sequence[Tensor], *, beam: int, max_tokens: int, is_forced: bool
        ) -> list[list[int]]:
            found = []
            for src_ids in batches:
                best = search(model, src_ids, beam=beam, max_tokens=max_tokens, is_forced=is_forced)
                found += [cut(row) for row in best.tolist()]
            return found

        return decode


class UsualTransformer(nn.Module):
    """Embedding, ``nn.Transformer``, output: what the tutorials put together.

    >>> model = UsualTransformer(ModelConfig(d_model=8, n_heads=2, n_layers=1, d_ff=16))
    >>> model(torch.tensor([[5, 6, 2]]), torch.tensor([[1, 7]])).shape  # (B, T, V)
    torch.Size([1, 2, 37000])
    """

    table: Tensor  # (L, D)

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.d_model = config.d_model
        self.embedding = nn.Embedding(config.vocab_size, config.d_model, padding_idx=PAD_ID)
        nn.init.normal_(self.embedding.weight, std=config.d_model**-0.5)
        with warnings.catch_warnings():  # in pre-norm it tells what it is not made for
            warnings.simplefilter("ignore")
            self.body = nn.Transformer(
                config.d_model,
                config.n_heads,
                config.encoder_layers,
                config.decoder_layers,
                config.d_ff,
                config.dropout,
                batch_first=True,
                norm_first=config.norm == "pre",
            )
        self.register_buffer("table", sinusoidal_encoding(MAX_LEN, config.d_model).float())
        self.dropout = nn.Dropout(config.dropout)
        self.output = nn.Linear(config.d_model, config.vocab_size, bias=False)
        self.output.weight = self.embedding.weight

    def embed(self, ids: Tensor) -> Tensor:
        """(B, T) -> (B, T, D)."""
        scaled = self.embedding(ids) * math.sqrt(self.d_model)
        return self.dropout(scaled + self.table[: ids.size(1)])

    def forward(self, src_ids: Tensor, tgt_ids: Tensor) -> Tensor:
        """The logits of every next token: (B, S), (B, T) -> (B, T, V)."""
        hidden = self.body(
            self.embed(src_ids),
            self.embed(tgt_ids),
            tgt_mask=_future(tgt_ids),
            src_key_padding_mask=src_ids == PAD_ID,
            tgt_key_padding_mask=tgt_ids == PAD_ID,
            memory_key_padding_mask=src_ids == PAD_ID,
        )
        return self.output(hidden)

    def encode(self, src_ids: Tensor) -> Tensor:
        """(B, S) -> (B, S, D)."""
        with warnings.catch_warnings():  # its nested tensors are said to be a prototype
            warnings.simplefilter("ignore")
            return self.body.encoder(self.embed(src_ids), src_key_padding_mask=src_ids == PAD_ID)

    def next_logits(self, tgt_ids: Tensor, memory: Tensor, src_ids: Tensor) -> Tensor:
        """The logits of the next token, the decoder run over all before it: (B, T) -> (B, V)."""
        hidden = self.body.decoder(
            self.embed(tgt_ids),
            memory,
            tgt_mask=_future(tgt_ids),
            memory_key_padding_mask=src_ids == PAD_ID,
        )
        return self.output(hidden[:, -1])

    def take(self, weights: Weights) -> None:
        """Take over the weights of a model of ours, which in post-norm has no last norms."""
        if "encoder.final_norm.weight" not in weights:
            self.body.encoder.norm = self.body.decoder.norm = None
        named = {their_name(name): weight for name, weight in weights.items()}
        named["output.weight"] = named["embedding.weight"]
        self.load_state_dict({**named, "table": self.table})


def usual_step(
    model: nn.Module, logits: Callable[[Tensor, Tensor], Tensor], batches: Sequence[Batch]
) -> TrainStep:
    """A step as everybody writes it, over all positions, by (B, S), (B, T) -> (B, T, V)."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9)
    criterion = nn.CrossEntropyLoss(ignore_index=PAD_ID, label_smoothing=0.1)

    def step() -> None:
        for batch in batches:
            optimizer.zero_grad()
            scores = logits(batch.src_ids, batch.tgt_in)
            criterion(scores.flatten(0, 1), batch.tgt_out.flatten()).backward()
            optimizer.step()

    return step


def search(
    model: UsualTransformer, src_ids: Tensor, *, beam: int, max_tokens: int, is_forced: bool
) -> Tensor:
    """The best of a simple batched beam search, greedy where the beam is one: (B, S) -> (B, T)."""
    n_sentences = src_ids.size(0)
    memory = model.encode(src_ids).repeat_interleave(beam, dim=0)
    src_ids = src_ids.repeat_interleave(beam, dim=0)
    first = torch.arange(n_sentences)[:, None] * beam
    tgt_ids = torch.full((n_sentences * beam, 1), BOS_ID)
    scores = torch.full((n_sentences, beam), -torch.inf)
    scores[:, 0] = 0.0
    done = torch.zeros(n_sentences * beam, dtype=torch.bool)
    for _ in range(max_tokens):
        log_probs = model.next_logits(tgt_ids, memory, src_ids).log_softmax(-1)  # (B * N, V)
        log_probs[:, [PAD_ID, BOS_ID]] = -torch.inf
        if is_forced:
            log_probs[:, EOS_ID] = -torch.inf
        log_probs[done] = -torch.inf
        log_probs[done, PAD_ID] = 0.0  # what has ended stays as it is
        total = scores[:, :, None] + log_probs.view(n_sentences, beam, -1)
        scores, places = total.flatten(1).topk(beam, dim=-1)  # (B, N)
        rows = (first + places // log_probs.size(1)).flatten()
        tokens = (places % log_probs.size(1)).flatten()
        tgt_ids = torch.cat([tgt_ids[rows], tokens[:, None]], dim=1)
        done = done[rows] | (tokens == EOS_ID)
        if bool(done.all()):
            break
    return tgt_ids[::beam, 1:]


def cut(ids: Sequence[int]) -> list[int]:
    """A row of generated ids without what was padded.

    >>> cut([7, 8, EOS_ID, PAD_ID])
    [7, 8, 2]
    """
    return [number for number in ids if number != PAD_ID]


def _future(ids: Tensor) -> Tensor:
    return nn.Transformer.generate_square_subsequent_mask(ids.size(1), dtype=torch.bool)


def their_name(name: str) -> str:
    """What one of our weights is called in the usual model.

    >>> their_name("decoder.layers.0.cross_attention.qkv.bias")
    'body.decoder.layers.0.multihead_attn.in_proj_bias'
    """
    stack, part, *rest = name.split(".")
    if part == "final_norm":
        return f"body.{stack}.norm.{rest[0]}"
    if part != "layers":
        return name
    number, part, *rest = rest
    if part.endswith("_norm"):
        norms = ["self_attention_norm", "cross_attention_norm", "feed_forward_norm"]
        if stack == "encoder":
            norms.remove("cross_attention_norm")
        theirs = f"norm{norms.index(part) + 1}.{rest[0]}"
    elif part == "feed_forward":
        theirs = f"linear{rest[0][1]}.{rest[1]}"
    else:
        attention = "self_attn" if part == "self_attention" else "multihead_attn"
        matrix = f"in_proj_{rest[1]}" if rest[0] == "qkv" else f"out_proj.{rest[1]}"
        theirs = f"{attention}.{matrix}"
    return f"body.{stack}.layers.{number}.{theirs}"
