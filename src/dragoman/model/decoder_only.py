"""The decoder alone: a language model.

Letters: B sentences, T length, D d_model, V vocabulary.
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

from dragoman.config import ModelConfig
from dragoman.model.attention import Probe, View
from dragoman.model.cache import DecoderCache
from dragoman.model.decoder import Decoder
from dragoman.model.embeddings import Embedding, embed, make_positions
from dragoman.model.initialize import initialize
from dragoman.model.masks import decoder_mask
from dragoman.model.transformer import rotated, step_embedding, step_view


class DecoderOnly(nn.Module):
    """The logits of the next token from all before it.

    >>> import torch
    >>> config = ModelConfig(d_model=8, n_heads=2, n_layers=1, d_ff=16, vocab_size=11)
    >>> DecoderOnly(config)(torch.tensor([[1, 4, 5]])).shape
    torch.Size([1, 3, 11])
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = Embedding(config.vocab_size, config.d_model, pad_id=config.pad_id)
        self.positions = make_positions(config)
        self.decoder = Decoder(config, config.decoder_layers, cross=False)
        if config.tie == "none":
            self.output = nn.Linear(config.d_model, config.vocab_size, bias=False)
        initialize(self)

    @property
    def output_weight(self) -> Tensor:
        """The matrix that turns hidden states into logits: (V, D)."""
        return self.output.weight if self.config.tie == "none" else self.embedding.weight

    def forward(self, ids: Tensor, *, probe: Probe | None = None) -> Tensor:
        """(B, T) -> (B, T, V)."""
        p = self.config.dropout if self.training else 0.0
        x = embed(ids, self.embedding, positions=self.positions, dropout_p=p)
        mask = decoder_mask(ids, self.config.pad_id, self.config.window)
        view = rotated(View(mask=mask, probe=probe), self.config, ids.size(1), like=x)
        return functional.linear(self.decoder(x, None, view, View()), self.output_weight)

    def start(self, n_texts: int, *, n_beams: int = 1, capacity: int) -> DecoderCache:
        """Room for ``capacity`` positions of the beams of so many texts."""
        return self.decoder.start(
            None, None, n_sentences=n_texts, n_beams=n_beams, capacity=capacity
        )

    def step(self, ids: Tensor, cache: DecoderCache) -> Tensor:
        """The logits after one more token of each beam: (R,) -> (R, V)."""
        x = step_embedding(ids, cache, self.embedding, self.positions)  # (R, D)
        x = self.decoder.step(x, cache, step_view(self.config, cache, like=x))
        return functional.linear(x, self.output_weight)
