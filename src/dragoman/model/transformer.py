"""The Transformer (Figure 1): encoder and decoder, from ids to logits.

Three ways through it: ``forward`` gives the logits of a whole padded batch; ``hidden`` gives the
decoder's states of the real target tokens alone and is what training uses, so that padding never
meets the vocabulary; ``start`` and ``step`` decode one position at a time with a cache.

Letters: B sentences, S source length, T target length, D d_model, V vocabulary, N beams,
R = B * N hypotheses, P real target tokens.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional

from dragoman.config import ModelConfig
from dragoman.model import whole_step
from dragoman.model.attention import Probe, View
from dragoman.model.cache import DecoderCache
from dragoman.model.decoder import Decoder
from dragoman.model.embeddings import Embedding, embed, make_positions
from dragoman.model.encoder import Encoder
from dragoman.model.initialize import initialize
from dragoman.model.masks import decoder_mask, encoder_mask, padding_mask, window_mask
from dragoman.model.packing import PACK_FROM, Packing
from dragoman.model.rotary import Rotation
from dragoman.model.whole_encoder import KeysAndValues, read_in_one_call
from dragoman.model.whole_step import WholeStep, places_of


class Transformer(nn.Module):
    """The encoder–decoder model of the paper.

    >>> config = ModelConfig(d_model=8, n_heads=2, n_layers=1, d_ff=16, vocab_size=11)
    >>> model = Transformer(config)
    >>> src_ids, tgt_ids = torch.tensor([[4, 5, 2]]), torch.tensor([[1, 6]])
    >>> model(src_ids, tgt_ids).shape  # (B, T, V)
    torch.Size([1, 2, 11])
    """

    in_one_call = True  # decoding steps by ``whole_step.py`` where it knows how
    _kept: tuple[object, Tensor] | None = None  # the output matrix the other way round

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        width, pad_id = config.d_model, config.pad_id
        if config.tie == "all":
            self.embedding = Embedding(config.vocab_size, width, pad_id=pad_id)
        else:
            self.src_embedding = Embedding(config.source_vocab, width, pad_id=pad_id)
            self.tgt_embedding = Embedding(config.vocab_size, width, pad_id=pad_id)
        self.src_positions = make_positions(config)
        self.tgt_positions = make_positions(config)
        self.encoder = Encoder(config, config.encoder_layers)
        self.decoder = Decoder(config, config.decoder_layers)
        if config.tie == "none":
            self.output = nn.Linear(width, config.vocab_size, bias=False)
        initialize(self)

    @property
    def output_weight(self) -> Tensor:
        """The matrix that turns hidden states into logits: (V, D)."""
        if self.config.tie == "none":
            return self.output.weight
        return self.embedding.weight if self.config.tie == "all" else self.tgt_embedding.weight

    def forward(self, src_ids: Tensor, tgt_ids: Tensor, *, probe: Probe | None = None) -> Tensor:
        """The logits of every next token: (B, S), (B, T) -> (B, T, V)."""
        memory = self.encode(src_ids, probe=probe)
        return self.decode(tgt_ids, memory, src_ids, probe=probe)

    def encode(self, src_ids: Tensor, *, probe: Probe | None = None) -> Tensor:
        """What the encoder makes of the source: (B, S) -> (B, S, D)."""
        mask = encoder_mask(src_ids, self.config.pad_id, self.config.window)
        return self._encode(src_ids, View(mask=mask, probe=probe))

    def decode(
        self, tgt_ids: Tensor, memory: Tensor, src_ids: Tensor, *, probe: Probe | None = None
    ) -> Tensor:
        """The logits of every next token, given the memory of src_ids: (B, T) -> (B, T, V)."""
        pad_id = self.config.pad_id
        own = View(mask=decoder_mask(tgt_ids, pad_id, self.config.window), probe=probe)
        cross = View(mask=padding_mask(src_ids, pad_id), probe=probe)
        return self.logits(self._decode(tgt_ids, memory, own, cross))

    def hidden(
        self, src_ids: Tensor, tgt_ids: Tensor, src: Packing | None, tgt: Packing | None
    ) -> Tensor:
        """The decoder's states at the real target tokens, in order: (B, S), (B, T) -> (P, D).

        ``src`` and ``tgt`` say where the real tokens stand (``Packing.of``); None: everywhere.
        Padding must be on the right, as in every batch that training makes.
        """
        config = self.config
        pack_src = src if src is not None and src.padding >= PACK_FROM else None
        pack_tgt = tgt if tgt is not None and tgt.padding >= PACK_FROM else None
        src_mask = None if src is None else padding_mask(src_ids, config.pad_id)
        own_mask = src_mask
        if config.window is not None:
            own_mask = encoder_mask(src_ids, config.pad_id, config.window)
        memory = self._encode(src_ids, View(mask=own_mask, queries=pack_src, keys=pack_src))
        if config.window is None:  # padding on the right is in the future of every real token
            own = View(causal=True, queries=pack_tgt, keys=pack_tgt)
        else:
            mask = decoder_mask(tgt_ids, config.pad_id, config.window)
            own = View(mask=mask, queries=pack_tgt, keys=pack_tgt)
        cross = View(mask=src_mask, queries=pack_tgt, keys=pack_src)
        x = self._decode(tgt_ids, memory, own, cross)
        if pack_tgt is not None:
            return x
        return x.flatten(0, 1) if tgt is None else tgt.pack(x)

    def logits(self, hidden: Tensor) -> Tensor:
        """(…, D) -> (…, V)."""
        rows = self.output_rows()
        return functional.linear(hidden, self.output_weight) if rows is None else hidden @ rows

    def output_rows(self) -> Tensor | None:
        """The output matrix with V numbers in a row, kept until the weights change: (D, V).

        A processor goes through it up to twice as fast, but needs the other one for embeddings.
        None where logits are not made with it.
        """
        weight = self.output_weight
        is_known = not (weight.requires_grad or weight.is_inference())  # whether it changes
        if not (is_known and weight.device.type == "cpu" and torch.is_inference_mode_enabled()):
            return None
        state = (id(weight), weight.data_ptr(), weight._version)
        kept = self._kept
        if kept is None or kept[0] != state:
            kept = self._kept = state, weight.detach().t().contiguous()
        return kept[1]

    def start(self, src_ids: Tensor, *, n_beams: int, capacity: int) -> DecoderCache:
        """Encode the sources, and make room for ``capacity`` target positions of each beam."""
        is_token = padding_mask(src_ids, self.config.pad_id)
        mask = None if bool(is_token.all()) else is_token
        in_one_call = self._goes_in_one_call(mask, capacity=max(capacity, src_ids.size(1)))
        made = self._read_in_one_call(src_ids, mask) if in_one_call else None
        cache = self.decoder.start(
            self.decoder.read(self.encode(src_ids)) if made is None else made,
            mask,
            n_sentences=src_ids.size(0),
            n_beams=n_beams,
            capacity=capacity,
        )
        if in_one_call:
            embedding = self._target_embedding()
            places = places_of(self.config, self.tgt_positions, capacity, like=embedding.weight)
            cache.whole_step = WholeStep(self.decoder, embedding, places, cache)
        return cache

    def _goes_in_one_call(self, mask: Tensor | None, *, capacity: int) -> bool:
        weight = self.output_weight
        return self.in_one_call and whole_step.knows(self.config, weight, mask, capacity=capacity)

    def _read_in_one_call(self, src_ids: Tensor, mask: Tensor | None) -> KeysAndValues | None:
        """Keys and values of the memory in each layer; None where it cannot be."""
        embedding = self._source_embedding()
        length, weight = src_ids.size(1), embedding.weight
        return read_in_one_call(
            src_ids,
            mask,
            embedding=embedding,
            places=places_of(self.config, self.src_positions, length, like=weight),
            encoder=self.encoder,
            decoder=self.decoder,
        )

    def step(self, ids: Tensor, cache: DecoderCache) -> Tensor:
        """The logits after one more token of each hypothesis: (R,) -> (R, V)."""
        return self.logits(self.step_hidden(ids, cache))

    def step_hidden(self, ids: Tensor, cache: DecoderCache) -> Tensor:
        """The decoder's states after one more token of each hypothesis: (R,) -> (R, D)."""
        if cache.whole_step is not None:
            return cache.whole_step(ids, cache)
        x = step_embedding(ids, cache, self._target_embedding(), self.tgt_positions)  # (R, D)
        return self.decoder.step(x, cache, step_view(self.config, cache, like=x))

    def _encode(self, src_ids: Tensor, view: View) -> Tensor:
        x = self._embed(src_ids, self._source_embedding(), self.src_positions, view.queries)
        return self.encoder(x, rotated(view, self.config, src_ids.size(1), like=x))

    def _decode(self, tgt_ids: Tensor, memory: Tensor, own: View, cross: View) -> Tensor:
        x = self._embed(tgt_ids, self._target_embedding(), self.tgt_positions, own.queries)
        own = rotated(own, self.config, tgt_ids.size(1), like=x)
        return self.decoder(x, memory, own, cross)

    def _source_embedding(self) -> Embedding:
        return self.embedding if self.config.tie == "all" else self.src_embedding

    def _target_embedding(self) -> Embedding:
        return self.embedding if self.config.tie == "all" else self.tgt_embedding

    def _embed(
        self,
        ids: Tensor,
        embedding: Embedding,
        positions: nn.Module | None,
        packing: Packing | None,
    ) -> Tensor:
        p = self.config.dropout if self.training else 0.0
        return embed(ids, embedding, positions=positions, packing=packing, dropout_p=p)


def rotated(view: View, config: ModelConfig, length: int, *, like: Tensor) -> View:
    """The view with rotary positions 0 … length - 1, where the model uses them."""
    if config.positions != "rotary":
        return view
    positions = torch.arange(length, device=like.device)
    return replace(view, rotation=Rotation.at(positions, config.head_sizes[0], like.dtype))


def step_embedding(
    ids: Tensor, cache: DecoderCache, embedding: Embedding, positions: nn.Module | None
) -> Tensor:
    """What enters the first layer of a decoding step: (R,) -> (R, D)."""
    x = embedding(ids)
    return x if positions is None else x + positions(cache.length + 1, x)[cache.length]


def step_view(config: ModelConfig, cache: DecoderCache, *, like: Tensor) -> View:
    """What the newest position may look at: all that came before it, or its window."""
    cache.open_position()
    rotation, mask = None, cache.ancestors
    if config.positions == "rotary":
        at = torch.tensor([cache.length], device=like.device)
        rotation = Rotation.at(at, config.head_sizes[0], like.dtype)
    if config.window is not None:
        near = window_mask(cache.length + 1, config.window, like.device)[:, :, -1:]  # (1, 1, 1, t)
        near = near.repeat_interleave(cache.n_beams, dim=3)
        mask = near if mask is None else mask.masked_fill(~near, -torch.inf)
    return View(mask=mask, rotation=rotation)
