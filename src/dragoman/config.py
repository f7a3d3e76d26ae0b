"""The settings of a model, its data, its training and its decoding, each with its meaning.

A config is a frozen dataclass; a value that cannot work is refused when it is made, and all faults
of one table are reported together. ``config_loading.py`` reads them from TOML and ``--set``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Literal

from dragoman.errors import ConfigError
from dragoman.tokenize.vocabulary import PAD_ID

Norm = Literal["post", "pre"]
Activation = Literal["relu", "gelu", "swiglu"]
Positions = Literal["sinusoidal", "learned", "rotary"]
Tie = Literal["all", "decoder", "none"]
TokenizerKind = Literal["bpe", "unigram", "words", "characters", "symbols"]
OptimizerName = Literal["adam", "adamw", "muon"]
ScheduleName = Literal["noam", "inverse_sqrt", "cosine", "linear", "exponential", "constant"]
SmoothingForm = Literal["uniform", "kl"]
Precision = Literal["float32", "bf16", "fp16"]


def _doc(text: str) -> dict[str, str]:
    """Field metadata: one line that ``--help``, errors and the docs can show."""
    return {"doc": text}


class _Faults:
    """Collects what is wrong with one table, so that all of it is reported at once."""

    def __init__(self, table: str) -> None:
        self.table = table
        self.found: list[str] = []

    def unless(self, condition: bool, key: str, value: object, allowed: str) -> None:
        if not condition:
            self.found.append(f"{self.table}.{key} = {value!r}: must be {allowed}")

    def raise_if_any(self) -> None:
        if self.found:
            raise ConfigError("\n".join(self.found))


def _check_common(faults: _Faults, config: object, positive: str = "", share: str = "") -> None:
    """The two everyday rules: counts of at least one, and shares in [0, 1)."""
    for key in positive.split():
        value = getattr(config, key)
        faults.unless(value is None or value >= 1, key, value, "at least 1")
    for key in share.split():
        value = getattr(config, key)
        faults.unless(value is None or 0 <= value < 1, key, value, "at least 0 and below 1")


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """The shape of a Transformer; the defaults are the paper's base model (Table 3).

    >>> config = ModelConfig(d_model=128, n_heads=4, n_layers=4, d_ff=256, vocab_size=8000)
    >>> config.head_sizes, config.encoder_layers
    ((32, 32), 4)
    >>> ModelConfig(d_model=100, n_heads=8)
    Traceback (most recent call last):
    dragoman.errors.ConfigError: model.n_heads = 8: must be a divisor of d_model (100), or set d_k
    """

    d_model: int = field(default=512, metadata=_doc("width of every hidden state (D)"))
    n_heads: int = field(default=8, metadata=_doc("attention heads (H)"))
    n_layers: int = field(default=6, metadata=_doc("layers of the encoder and of the decoder"))
    n_encoder_layers: int | None = field(
        default=None, metadata=_doc("layers of the encoder, where they differ")
    )
    n_decoder_layers: int | None = field(
        default=None, metadata=_doc("layers of the decoder, where they differ")
    )
    d_ff: int = field(default=2048, metadata=_doc("inner width of the feed-forward network (F)"))
    d_k: int | None = field(
        default=None, metadata=_doc("width of a query or key of one head; d_model / n_heads")
    )
    d_v: int | None = field(
        default=None, metadata=_doc("width of a value of one head; d_model / n_heads")
    )
    dropout: float = field(
        default=0.1, metadata=_doc("dropout on embeddings and on the output of each sub-layer")
    )
    attention_dropout: float = field(
        default=0.0, metadata=_doc("dropout on attention weights; not in the paper, and slow")
    )
    feed_forward_dropout: float | None = field(
        default=None, metadata=_doc("dropout inside the feed-forward network; as dropout if unset")
    )
    norm: Norm = field(
        default="post", metadata=_doc("layer norm after the residual sum (the paper) or before")
    )
    activation: Activation = field(
        default="relu", metadata=_doc("non-linearity of the feed-forward network")
    )
    positions: Positions = field(
        default="sinusoidal", metadata=_doc("how a position is told from another")
    )
    tie: Tie = field(
        default="all",
        metadata=_doc("weights shared: source, target and output; target and output; none"),
    )
    window: int | None = field(
        default=None, metadata=_doc("self-attention sees this many positions to each side; all")
    )
    max_positions: int = field(
        default=1024, metadata=_doc("length that learned positions can tell apart")
    )
    vocab_size: int = field(default=37000, metadata=_doc("target vocabulary (V)"))
    src_vocab_size: int | None = field(
        default=None, metadata=_doc("source vocabulary, where it is another than the target's")
    )
    pad_id: int = field(default=PAD_ID, metadata=_doc("id of padding"))

    def __post_init__(self) -> None:
        faults = _Faults("model")
        _check_common(
            faults,
            self,
            positive="d_model n_heads n_layers n_encoder_layers n_decoder_layers d_ff d_k d_v"
            " window max_positions vocab_size src_vocab_size",
            share="dropout attention_dropout feed_forward_dropout",
        )
        if not faults.found:
            _check_model(faults, self)
        faults.raise_if_any()

    @property
    def encoder_layers(self) -> int:
        return self.n_layers if self.n_encoder_layers is None else self.n_encoder_layers

    @property
    def decoder_layers(self) -> int:
        return self.n_layers if self.n_decoder_layers is None else self.n_decoder_layers

    @property
    def head_sizes(self) -> tuple[int, int]:
        """(d_k, d_v) of one head."""
        default = self.d_model // self.n_heads
        return self.d_k or default, self.d_v or default

    @property
    def source_vocab(self) -> int:
        return self.vocab_size if self.src_vocab_size is None else self.src_vocab_size

    @property
    def inner_dropout(self) -> float:
        """Dropout inside the feed-forward network."""
        return self.dropout if self.feed_forward_dropout is None else self.feed_forward_dropout


def _check_model(faults: _Faults, config: ModelConfig) -> None:
    """What must hold between the fields of a model."""
    faults.unless(
        (config.d_k is not None and config.d_v is not None) or config.d_model % config.n_heads == 0,
        "n_heads",
        config.n_heads,
        f"a divisor of d_model ({config.d_model}), or set d_k",
    )
    faults.unless(
        config.positions != "sinusoidal" or config.d_model % 2 == 0,
        "d_model",
        config.d_model,
        "even for sinusoidal positions",
    )
    faults.unless(
        config.positions != "rotary" or config.head_sizes[0] % 2 == 0,
        "d_k",
        config.head_sizes[0],
        "even for rotary positions",
    )
    faults.unless(
        config.tie != "all" or config.source_vocab == config.vocab_size,
        "tie",
        config.tie,
        "'decoder' or 'none' where source and target vocabularies differ",
    )
    faults.unless(
        0 <= config.pad_id < min(config.vocab_size, config.source_vocab),
        "pad_id",
        config.pad_id,
        "an id of the vocabulary",
    )


@dataclass(frozen=True, kw_only=True)
class DataConfig:
    """How text becomes ids.

    >>> DataConfig(tokenizer="bpe", vocab_size=10_000).joint_vocab
    True
    """

    tokenizer: TokenizerKind = field(default="unigram", metadata=_doc("how text is cut in pieces"))
    vocab_size: int | None = field(
        default=None, metadata=_doc("pieces of the vocabulary; chosen from the corpus if unset")
    )
    joint_vocab: bool = field(
        default=True, metadata=_doc("one vocabulary for source and target, or one for each")
    )
    max_length: int = field(
        default=256, metadata=_doc("longest sentence in pieces; a longer pair is dropped, counted")
    )
    max_length_ratio: float = field(
        default=9.0, metadata=_doc("a pair whose lengths differ more than this is dropped, counted")
    )
    drop_duplicates: bool = field(
        default=True, metadata=_doc("keep only the first of exactly equal pairs")
    )
    min_frequency: int = field(
        default=2, metadata=_doc("words and characters seen less often than this become unknown")
    )
    sampling: float = field(
        default=0.0, metadata=_doc("BPE-dropout, or unigram sampling, at training time; 0 = off")
    )
    lowercase: bool = field(default=False, metadata=_doc("lower-case both sides"))
    byte_fallback: bool = field(
        default=True, metadata=_doc("spell unknown characters in bytes, so that nothing is unknown")
    )
    placeholders: tuple[str, ...] = field(
        default=(), metadata=_doc("strings that are always one piece of their own")
    )
    src_lang: str | None = field(default=None, metadata=_doc("language code of the source"))
    tgt_lang: str | None = field(default=None, metadata=_doc("language code of the target"))
    valid_size: int | None = field(
        default=None, metadata=_doc("pairs held out when no validation files are given; chosen")
    )

    def __post_init__(self) -> None:
        faults = _Faults("data")
        _check_common(
            faults, self, positive="max_length min_frequency valid_size", share="sampling"
        )
        faults.unless(
            self.vocab_size is None or self.vocab_size >= 8, "vocab_size", self.vocab_size, ">= 8"
        )
        faults.unless(
            self.max_length_ratio >= 1, "max_length_ratio", self.max_length_ratio, "at least 1"
        )
        faults.raise_if_any()


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """How a model is trained; the defaults are the paper's (section 5).

    >>> TrainConfig().betas
    (0.9, 0.98)
    """

    batch_tokens: int = field(
        default=4096, metadata=_doc("target tokens of one micro-batch, padding counted")
    )
    accumulate: int = field(
        default=1, metadata=_doc("micro-batches of one update, on each process")
    )
    optimizer: OptimizerName = field(default="adam", metadata=_doc("how gradients become updates"))
    learning_rate: float | None = field(
        default=None,
        metadata=_doc("peak learning rate; for noam the factor before d_model^-0.5 (1)"),
    )
    betas: tuple[float, float] = field(
        default=(0.9, 0.98), metadata=_doc("Adam's decay of the two moments")
    )
    eps: float = field(default=1e-9, metadata=_doc("Adam's epsilon"))
    schedule: ScheduleName = field(default="noam", metadata=_doc("learning rate against step"))
    warmup_steps: int = field(default=4000, metadata=_doc("steps of rising learning rate"))
    final_learning_rate: float = field(
        default=0.0, metadata=_doc("share of the peak at the end of cosine, linear, exponential")
    )
    label_smoothing: float = field(default=0.1, metadata=_doc("probability taken from the gold"))
    smoothing_form: SmoothingForm = field(
        default="uniform",
        metadata=_doc("spread over all V (the paper), or over V - 2, without gold and pad"),
    )
    clip_norm: float = field(
        default=0.0, metadata=_doc("largest norm of the gradient; 0 = not clipped")
    )
    weight_decay: float = field(default=0.0, metadata=_doc("decay of the weight matrices"))
    r_drop: float = field(
        default=0.0, metadata=_doc("weight of the R-Drop term between two dropout passes; 0 = off")
    )
    source_masking: float = field(
        default=0.0, metadata=_doc("share of source tokens replaced by <unk> while training")
    )
    precision: Precision = field(default="float32", metadata=_doc("arithmetic of the model"))
    compile: bool = field(default=False, metadata=_doc("use torch.compile"))
    fsdp: bool = field(
        default=False, metadata=_doc("shard the model over the processes (FSDP2) in place of DDP")
    )
    steps: int = field(default=100_000, metadata=_doc("updates, at most"))
    epochs: int | None = field(default=None, metadata=_doc("passes over the corpus, at most"))
    minutes: float | None = field(
        default=None, metadata=_doc("wall-clock budget; the schedule is fitted to it")
    )
    log_every: int = field(default=50, metadata=_doc("steps between lines of metrics.jsonl"))
    validate_every: int = field(default=1000, metadata=_doc("steps between validations"))
    checkpoint_every: int = field(default=1000, metadata=_doc("steps between checkpoints"))
    keep_last: int = field(default=5, metadata=_doc("newest checkpoints to keep"))
    keep_best: int = field(default=1, metadata=_doc("best checkpoints to keep"))
    average: int = field(
        default=5, metadata=_doc("checkpoints averaged at the end where that helps; 0 or 1 = none")
    )
    patience: int = field(
        default=0, metadata=_doc("validations without progress before stopping; 0 = never")
    )
    validate_bleu: bool = field(
        default=True, metadata=_doc("translate the validation set greedily and score it")
    )
    seed: int = field(default=1, metadata=_doc("seed of weights, data order and dropout"))

    def __post_init__(self) -> None:
        faults = _Faults("train")
        _check_common(
            faults,
            self,
            positive="batch_tokens accumulate steps epochs log_every validate_every"
            " checkpoint_every keep_last keep_best",
            share="label_smoothing source_masking",
        )
        for key in [
            "warmup_steps",
            "clip_norm",
            "weight_decay",
            "r_drop",
            "average",
            "patience",
            "seed",
            "final_learning_rate",
        ]:
            faults.unless(getattr(self, key) >= 0, key, getattr(self, key), "at least 0")
        for key in ("learning_rate", "minutes", "eps"):
            value = getattr(self, key)
            faults.unless(value is None or value > 0, key, value, "above 0")
        faults.unless(all(0 <= b < 1 for b in self.betas), "betas", self.betas, "in [0, 1)")
        faults.raise_if_any()


@dataclass(frozen=True, kw_only=True)
class DecodeConfig:
    """How translations are searched for; the defaults are the paper's (section 6.1).

    >>> DecodeConfig().beam
    4
    """

    beam: int = field(default=4, metadata=_doc("hypotheses kept at each step; 1 = greedy"))
    length_penalty: float = field(
        default=0.6, metadata=_doc("alpha of ((5 + length) / 6)^alpha; 0 = none")
    )
    max_extra: int = field(
        default=50, metadata=_doc("pieces a translation may have beyond those of its source")
    )
    n_best: int = field(default=1, metadata=_doc("translations given for each sentence"))

    def __post_init__(self) -> None:
        faults = _Faults("decode")
        _check_common(faults, self, positive="beam n_best")
        faults.unless(self.length_penalty >= 0, "length_penalty", self.length_penalty, "at least 0")
        faults.unless(self.max_extra >= 0, "max_extra", self.max_extra, "at least 0")
        faults.unless(
            self.n_best <= self.beam, "n_best", self.n_best, f"at most the beam ({self.beam})"
        )
        faults.raise_if_any()


@dataclass(frozen=True, kw_only=True)
class Config:
    """The four tables of one run.

    >>> Config().model.d_model
    512
    """

    model: ModelConfig = field(default_factory=ModelConfig)
    data: DataConfig = field(default_factory=DataConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
    decode: DecodeConfig = field(default_factory=DecodeConfig)


TABLES: dict[str, type] = {f.name: f.default_factory for f in fields(Config)}  # type: ignore[misc]
