"""What a model costs, by arithmetic alone: parameters by part, FLOPs a token, memory.

Letters: S source length, T target length, D d_model, H heads, K d_k, U d_v, F d_ff, V vocabulary.
A product of (L, A) and (A, B) counts 2·L·A·B FLOPs. Sums, norms, softmax and biases are left out:
they are less than a hundredth of the work of any model worth counting.
"""

from __future__ import annotations

from dataclasses import dataclass

from dragoman.config import ModelConfig, OptimizerName, Precision


def count_parameters(config: ModelConfig) -> dict[str, int]:
    """Parameters by part of the model; their sum is the size of ``Transformer(config)``.

    >>> parts = count_parameters(ModelConfig(vocab_size=37_000))
    >>> parts["embedding"], sum(parts.values())
    (18944000, 63082496)
    """
    d, v = config.d_model, config.vocab_size
    n_enc, n_dec = config.encoder_layers, config.decoder_layers
    attention, feed_forward, norm = _attention(config), _feed_forward(config), 2 * d
    final = norm if config.norm == "pre" else 0
    return {
        "embedding": v * d if config.tie == "all" else (config.source_vocab + v) * d,
        "positions": 2 * config.max_positions * d if config.positions == "learned" else 0,
        "encoder.self_attention": n_enc * attention,
        "encoder.feed_forward": n_enc * feed_forward,
        "encoder.norm": n_enc * 2 * norm + final,
        "decoder.self_attention": n_dec * attention,
        "decoder.cross_attention": n_dec * attention,
        "decoder.feed_forward": n_dec * feed_forward,
        "decoder.norm": n_dec * 3 * norm + final,
        "output": v * d if config.tie == "none" else 0,
    }


def flops_per_token(config: ModelConfig, *, src_len: int, tgt_len: int) -> float:
    """FLOPs of a forward pass of one sentence pair, for each of its target tokens.

    Masked positions are computed and thrown away, so that neither the causal mask nor a window
    saves anything. Training costs three times as much: the backward pass makes two products, for
    the inputs and for the weights, of every one of the forward pass.

    >>> round(flops_per_token(ModelConfig(vocab_size=37_000), src_len=32, tgt_len=32) / 1e6, 1)
    127.1
    """
    d, v = config.d_model, config.vocab_size
    d_k, d_v = (config.n_heads * size for size in config.head_sizes)
    queries_and_output = 2 * d * (d_k + d_v)  # for each token that looks
    keys_and_values = 2 * d * (d_k + d_v)  # for each token looked at
    look = 2 * (d_k + d_v)  # for each pair of them: a score and a share of the value
    feed_forward = 2 * d * config.d_ff * _matrices(config)
    encoder = src_len * (queries_and_output + keys_and_values + src_len * look + feed_forward)
    decoder = tgt_len * (queries_and_output + keys_and_values + tgt_len * look + feed_forward)
    cross = tgt_len * (queries_and_output + src_len * look) + src_len * keys_and_values
    output = tgt_len * 2 * d * v
    total = config.encoder_layers * encoder + config.decoder_layers * (decoder + cross) + output
    return total / tgt_len


@dataclass(frozen=True)
class Memory:
    """Bytes that training holds at once; weights alone are what translating needs.

    >>> Memory(weights=4, gradients=4, optimizer=8, activations=100).total
    116
    """

    weights: int
    gradients: int
    optimizer: int
    activations: int

    @property
    def total(self) -> int:
        return self.weights + self.gradients + self.optimizer + self.activations


def estimate_memory(
    config: ModelConfig,
    *,
    batch_tokens: int,
    optimizer: OptimizerName = "adam",
    precision: Precision = "float32",
) -> Memory:
    """The memory of one update with ``batch_tokens`` source and as many target tokens.

    Weights and gradients take 4 bytes a parameter (mixed precision keeps float32 weights), Adam
    8 for its two moments, Muon 4 for its one moment of the layers' matrices and Adam's 8 for the
    rest. Activations are what the backward pass needs again: for each token of each sub-layer its
    input, the sum that is normalized and the dropout mask (3D); in attention also queries, keys,
    values and context (2HK + 2HU); in the feed-forward network 3F (5F for swiglu), or F (relu),
    2F (gelu), 4F (swiglu) without dropout; at the output the logits and their softmax (2V). Each
    is 4 bytes, 2 in bf16 and fp16. Attention weights are never stored by the fused kernel; on a
    CPU, where short sentences are attended to without it, they and the system's own buffers come on
    top.

    >>> estimate_memory(ModelConfig(vocab_size=37_000), batch_tokens=4096).weights
    252329984
    """
    parts = count_parameters(config)
    n_parameters = sum(parts.values())
    matrices = sum(n for part, n in parts.items() if "attention" in part or "feed" in part)
    moments = 8 * n_parameters - (4 * matrices if optimizer == "muon" else 0)
    size = 4 if precision == "float32" else 2
    kept = _kept_for_source(config) + _kept_for_target(config) + 2 * config.vocab_size
    return Memory(
        weights=4 * n_parameters,
        gradients=4 * n_parameters,
        optimizer=moments,
        activations=size * batch_tokens * kept,
    )


def _attention(config: ModelConfig) -> int:
    """Parameters of one multi-head attention: queries, keys, values and output, with biases."""
    d_k, d_v = (config.n_heads * size for size in config.head_sizes)
    return (config.d_model + 1) * (2 * d_k + d_v) + (d_v + 1) * config.d_model


def _feed_forward(config: ModelConfig) -> int:
    """Parameters of one feed-forward network, with biases."""
    inner = config.d_ff * (_matrices(config) - 1)
    return (config.d_model + 1) * inner + (config.d_ff + 1) * config.d_model


def _matrices(config: ModelConfig) -> int:
    """How many (D, F) matrices a feed-forward network has; swiglu has a gate besides."""
    return 3 if config.activation == "swiglu" else 2


def _kept_for_source(config: ModelConfig) -> int:
    """Numbers that the backward pass needs of one source token."""
    d_k, d_v = (config.n_heads * size for size in config.head_sizes)
    layer = _kept_around(config) + 2 * (d_k + d_v) + _kept_inside(config)
    return config.encoder_layers * layer + config.decoder_layers * (d_k + d_v)


def _kept_for_target(config: ModelConfig) -> int:
    """Numbers that the backward pass needs of one target token, before the output."""
    d_k, d_v = (config.n_heads * size for size in config.head_sizes)
    cross = _kept_around(config) + d_k + d_v
    layer = _kept_around(config) + 2 * (d_k + d_v) + cross + _kept_inside(config)
    return config.decoder_layers * layer


def _kept_around(config: ModelConfig) -> int:
    """Input, sum and, with dropout, mask of one sub-layer."""
    return (3 if config.dropout else 2) * config.d_model


def _kept_inside(config: ModelConfig) -> int:
    """What a feed-forward sub-layer keeps of one token."""
    without = {"relu": 1, "gelu": 2, "swiglu": 4}
    dropped = {"relu": 3, "gelu": 3, "swiglu": 5}
    widths = (dropped if config.inner_dropout else without)[config.activation]
    return _kept_around(config) + widths * config.d_ff
