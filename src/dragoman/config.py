"""The settings of a model, its data, its training and its decoding, each with its meaning.

A config is a frozen dataclass; a value that cannot work is refused when it is made, and all faults
of one table are reported together (``config_checks.py``). ``config_loading.py`` reads them from
TOML and ``--set``. A key that may be unset is unset by default: TOML has no word for nothing.
"""

# ruff: noqa: RUF009 - a ``setting`` is a dataclass field, not a value made once and shared.

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Literal

from dragoman.config_checks import Faults, check_ranges, setting, settle
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


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """The shape of a Transformer; the defaults are the paper's base model (Table 3).

    >>> config = ModelConfig(d_model=128, n_heads=4, n_layers=4, d_ff=256, vocab_size=8000)
    >>> config.head_sizes, config.encoder_layers
    ((32, 32), 4)
    >>> ModelConfig(d_model=-1)
    Traceback (most recent call last):
    dragoman.errors.ConfigError: model.d_model = -1: must be at least 1
    """

    d_model: int = setting(512, "width of every hidden state (D)")
    n_heads: int = setting(8, "attention heads (H)")
    n_layers: int = setting(6, "layers of the encoder and of the decoder")
    n_encoder_layers: int | None = setting(None, "layers of the encoder, where they differ")
    n_decoder_layers: int | None = setting(None, "layers of the decoder, where they differ")
    d_ff: int = setting(2048, "inner width of the feed-forward network (F)")
    d_k: int | None = setting(None, "width of a query or key of one head; d_model / n_heads")
    d_v: int | None = setting(None, "width of a value of one head; d_model / n_heads")
    dropout: float = setting(0.1, "dropout on embeddings and on the output of each sub-layer")
    attention_dropout: float = setting(
        0.0, "dropout on attention weights; not in the paper, and slow"
    )
    feed_forward_dropout: float | None = setting(
        None, "dropout inside the feed-forward network; as dropout if unset"
    )
    norm: Norm = setting("post", "layer norm after the residual sum (the paper) or before")
    activation: Activation = setting("relu", "non-linearity of the feed-forward network")
    positions: Positions = setting("sinusoidal", "how a position is told from another")
    tie: Tie = setting("all", "weights shared: source, target and output; target and output; none")
    window: int | None = setting(None, "self-attention sees this many positions to each side; all")
    max_positions: int = setting(1024, "length that learned positions can tell apart")
    vocab_size: int = setting(37000, "target vocabulary (V)")
    src_vocab_size: int | None = setting(
        None, "source vocabulary, where it is another than the target's"
    )
    pad_id: int = setting(PAD_ID, "id of padding")

    def __post_init__(self) -> None:
        faults = settle(self, "model")
        check_ranges(
            faults,
            self,
            positive="d_model n_heads n_layers n_encoder_layers n_decoder_layers d_ff d_k d_v"
            " window max_positions vocab_size src_vocab_size",
            not_negative="pad_id",
            share="dropout attention_dropout feed_forward_dropout",
        )
        _check_shape(faults, self)
        _check_vocabulary(faults, self)
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


def _check_shape(faults: Faults, config: ModelConfig) -> None:
    """What must hold between the widths of a model."""
    if not faults.sound("d_model", "n_heads", "d_k", "d_v", "positions"):
        return
    faults.unless(
        (config.d_k is not None and config.d_v is not None) or config.d_model % config.n_heads == 0,
        "n_heads",
        config.n_heads,
        f"a divisor of d_model ({config.d_model}), or set d_k and d_v",
    )
    if config.positions == "sinusoidal":
        faults.unless(
            config.d_model % 2 == 0, "d_model", config.d_model, "even for sinusoidal positions"
        )
    if config.positions == "rotary" and faults.sound("n_heads"):
        d_k = config.head_sizes[0]
        faults.unless(d_k % 2 == 0, "d_k", d_k, "even for rotary positions")


def _check_vocabulary(faults: Faults, config: ModelConfig) -> None:
    """What must hold between the vocabularies of a model."""
    if not faults.sound("vocab_size", "src_vocab_size", "tie", "pad_id"):
        return
    faults.unless(
        config.tie != "all" or config.source_vocab == config.vocab_size,
        "tie",
        config.tie,
        f"'decoder' or 'none' where src_vocab_size ({config.source_vocab})"
        f" is not vocab_size ({config.vocab_size})",
    )
    smallest = min(config.vocab_size, config.source_vocab)
    faults.unless(config.pad_id < smallest, "pad_id", config.pad_id, f"below {smallest}")


@dataclass(frozen=True, kw_only=True)
class DataConfig:
    """How text becomes ids.

    >>> DataConfig(tokenizer="bpe", vocab_size=10_000).joint_vocab
    True
    """

    tokenizer: TokenizerKind = setting("unigram", "how text is cut in pieces")
    vocab_size: int | None = setting(
        None, "pieces of the vocabulary; chosen from the corpus if unset"
    )
    joint_vocab: bool = setting(True, "one vocabulary for source and target, or one for each")
    max_length: int = setting(256, "longest sentence in pieces; a longer pair is dropped, counted")
    max_length_ratio: float = setting(
        9.0, "a pair whose lengths differ more than this is dropped, counted"
    )
    drop_duplicates: bool = setting(True, "keep only the first of exactly equal pairs")
    min_frequency: int = setting(2, "words and characters seen less often than this become unknown")
    sampling: float = setting(0.0, "BPE-dropout, or unigram sampling, at training time; 0 = off")
    lowercase: bool = setting(False, "lower-case both sides")
    byte_fallback: bool = setting(
        True, "spell unknown characters in bytes, so that nothing is unknown"
    )
    placeholders: tuple[str, ...] = setting((), "strings that are always one piece of their own")
    src_lang: str | None = setting(None, "language code of the source")
    tgt_lang: str | None = setting(None, "language code of the target")
    valid_size: int | None = setting(
        None, "pairs held out when no validation files are given; chosen"
    )

    def __post_init__(self) -> None:
        faults = settle(self, "data")
        check_ranges(faults, self, positive="max_length min_frequency valid_size", share="sampling")
        if faults.sound("vocab_size") and self.vocab_size is not None:
            faults.unless(self.vocab_size >= 8, "vocab_size", self.vocab_size, "at least 8")
        if faults.sound("max_length_ratio"):
            ratio = self.max_length_ratio
            faults.unless(ratio >= 1, "max_length_ratio", ratio, "at least 1")
        if faults.sound("placeholders"):
            whole = all(self.placeholders) and len(set(self.placeholders)) == len(self.placeholders)
            faults.unless(
                whole, "placeholders", self.placeholders, "strings, each once, none empty"
            )
        faults.raise_if_any()


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """How a model is trained; the defaults are the paper's (section 5).

    >>> TrainConfig().betas
    (0.9, 0.98)
    """

    batch_tokens: int = setting(4096, "target tokens of one micro-batch, padding counted")
    accumulate: int = setting(1, "micro-batches of one update, on each process")
    optimizer: OptimizerName = setting("adam", "how gradients become updates")
    learning_rate: float | None = setting(
        None, "peak learning rate; for noam the factor before d_model^-0.5 (1)"
    )
    betas: tuple[float, float] = setting((0.9, 0.98), "Adam's decay of the two moments")
    eps: float = setting(1e-9, "Adam's epsilon")
    schedule: ScheduleName = setting("noam", "learning rate against step")
    warmup_steps: int = setting(4000, "steps of rising learning rate")
    final_learning_rate: float = setting(
        0.0, "share of the peak at the end of cosine, linear, exponential"
    )
    label_smoothing: float = setting(0.1, "probability taken from the gold")
    smoothing_form: SmoothingForm = setting(
        "uniform", "spread over all V (the paper), or over V - 2, without gold and pad"
    )
    vocabulary_share: float = setting(
        1.0,
        "share of the vocabulary that the loss sums over beside the batch's own tokens, in all but"
        " the last fifth of the steps; 1 = all of it, always",
    )
    clip_norm: float = setting(0.0, "largest norm of the gradient; 0 = not clipped")
    weight_decay: float = setting(0.0, "decay of the weight matrices")
    r_drop: float = setting(0.0, "weight of the R-Drop term between two dropout passes; 0 = off")
    source_masking: float = setting(0.0, "share of source tokens replaced by <unk> while training")
    precision: Precision = setting("float32", "arithmetic of the model")
    compile: bool = setting(False, "use torch.compile")
    fsdp: bool = setting(False, "shard the model over the processes (FSDP2) in place of DDP")
    steps: int = setting(100_000, "updates, at most")
    epochs: int | None = setting(None, "passes over the corpus, at most")
    minutes: float | None = setting(None, "wall-clock budget; the schedule is fitted to it")
    log_every: int = setting(50, "steps between lines of metrics.jsonl")
    validate_every: int = setting(1000, "steps between validations; 0 = ten validations a run")
    checkpoint_every: int = setting(1000, "steps between checkpoints; 0 = at each validation")
    keep_last: int = setting(5, "newest checkpoints to keep")
    keep_best: int = setting(1, "best checkpoints to keep")
    average: int = setting(5, "checkpoints averaged at the end where that helps; 0 or 1 = none")
    patience: int = setting(0, "validations without progress before stopping; 0 = never")
    validate_bleu: bool = setting(True, "translate the validation set greedily and score it")
    seed: int = setting(1, "seed of weights, data order and dropout")

    def __post_init__(self) -> None:
        faults = settle(self, "train")
        check_ranges(
            faults,
            self,
            positive="batch_tokens accumulate steps epochs log_every keep_last keep_best",
            not_negative="validate_every checkpoint_every warmup_steps clip_norm weight_decay"
            " r_drop average patience seed final_learning_rate",
            above_zero="learning_rate minutes eps",
            share="label_smoothing source_masking",
        )
        if faults.sound("betas"):
            faults.unless(all(0 <= b < 1 for b in self.betas), "betas", self.betas, "in [0, 1)")
        if faults.sound("vocabulary_share", "r_drop"):
            share = self.vocabulary_share
            faults.unless(0 < share <= 1, "vocabulary_share", share, "above 0 and at most 1")
            faults.unless(share == 1 or self.r_drop == 0, "vocabulary_share", share, "1 for R-Drop")
        if faults.sound("seed"):
            faults.unless(self.seed < 2**63, "seed", self.seed, "below 2^63")
        faults.raise_if_any()


@dataclass(frozen=True, kw_only=True)
class DecodeConfig:
    """How translations are searched for; the defaults are the paper's (section 6.1).

    >>> DecodeConfig().beam
    4
    """

    beam: int = setting(4, "hypotheses kept at each step; 1 = greedy")
    length_penalty: float = setting(0.6, "alpha of ((5 + length) / 6)^alpha; 0 = none")
    max_extra: int = setting(50, "pieces a translation may have beyond those of its source")
    n_best: int = setting(1, "translations given for each sentence")

    def __post_init__(self) -> None:
        faults = settle(self, "decode")
        check_ranges(faults, self, positive="beam n_best", not_negative="length_penalty max_extra")
        if faults.sound("beam", "n_best"):
            allowed = f"at most the beam ({self.beam})"
            faults.unless(self.n_best <= self.beam, "n_best", self.n_best, allowed)
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
