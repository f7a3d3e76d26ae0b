"""Train a Transformer to copy its input, with NumPy and nothing else.

    python examples/copy_task_numpy.py

It sounds easy. But the model begins with no idea of order or of sameness: it has to find out that
the third target piece has to do with the third source piece, which is attention's job, and that
"say what you see there" is the right thing to do with it. Afterwards it copies sequences that it
has never seen, and the table at the end shows where it looked.
"""

from __future__ import annotations

import time

import numpy as np

from dragoman.config import ModelConfig
from dragoman.reference import Transformer
from dragoman.reference.adam import Adam
from dragoman.reference.gradients_transformer import loss_and_gradients
from dragoman.reference.initialize import initialize
from dragoman.reference.schedule import noam

PAD, BOS, EOS = 0, 1, 2  # 3, "unknown", is not needed here
FIRST_SYMBOL, VOCAB_SIZE, MAX_LEN = 4, 14, 10  # ten symbols, 4 … 13

CONFIG = ModelConfig(d_model=32, n_heads=4, n_layers=1, d_ff=64, vocab_size=VOCAB_SIZE)


def random_sequences(rng: np.random.Generator, n: int, *, held_out: bool = False) -> np.ndarray:
    """n sequences of 1 to 10 random symbols, filled up with padding: (n, 10).

    One sequence in five, those whose ids add up to a multiple of 5, is kept for the exam.
    """
    ids = rng.integers(FIRST_SYMBOL, VOCAB_SIZE, (20 * n, MAX_LEN))  # more than we need
    lengths = rng.integers(1, MAX_LEN + 1, (20 * n, 1))
    ids = np.where(np.arange(MAX_LEN) < lengths, ids, PAD)
    return ids[(ids.sum(axis=1) % 5 == 0) == held_out][:n]


def copy_batch(src_ids: np.ndarray) -> dict[str, np.ndarray]:
    """What one training step needs: the source, the target shifted right, and the target."""
    n = len(src_ids)
    tgt_in = np.column_stack([np.full(n, BOS), src_ids])  # (n, 11), begins with BOS
    tgt_out = np.column_stack([src_ids, np.full(n, PAD)])  # (n, 11), ends with EOS
    tgt_out[np.arange(n), (src_ids != PAD).sum(axis=1)] = EOS
    return {"src_ids": src_ids, "tgt_in": tgt_in, "tgt_out": tgt_out}


def exact_match(model: Transformer, src_ids: np.ndarray) -> float:
    """The share of sequences that come out exactly as they went in."""
    copies = model.greedy(src_ids, bos_id=BOS, eos_id=EOS, max_len=MAX_LEN + 1)
    pairs = zip(src_ids, copies, strict=True)
    return float(np.mean([row[row != PAD].tolist() == copy for row, copy in pairs]))


def show_attention(model: Transformer) -> None:
    """Where the decoder looked while it copied one sequence, averaged over the heads."""
    batch = copy_batch(np.array([[7, 4, 9, 12, 5, 4]]))
    weights: dict[str, np.ndarray] = {}
    model(batch["src_ids"], batch["tgt_in"], record=weights)
    cross = weights["decoder.0.cross"][0].mean(axis=0)  # (T, S)
    print("\nto write  it looked at  " + "".join(f"{i:6d}" for i in batch["src_ids"][0]))
    for piece, row in zip(batch["tgt_out"][0], cross, strict=True):
        name = "EOS" if piece == EOS else str(piece)
        print(f"{name:>8}{'':16}" + "".join(f"{w:6.2f}" for w in row))


def main(steps: int = 800, seed: int = 1, batch_size: int = 64) -> float:
    """Train, show progress, and give back the exact-match accuracy on 500 unseen sequences."""
    rng = np.random.default_rng(seed)
    unseen = random_sequences(rng, 500, held_out=True)
    params = initialize(CONFIG, seed, dtype=np.float32)
    model, adam = Transformer(CONFIG, params), Adam(params)
    print(f"{sum(p.size for p in params.values()):,} parameters")
    started = time.perf_counter()
    for step in range(1, steps + 1):
        batch = copy_batch(random_sequences(rng, batch_size))
        loss, grads = loss_and_gradients(params, CONFIG, **batch)
        rate = noam(step, d_model=CONFIG.d_model, warmup_steps=200, factor=0.5)
        adam.update(grads, learning_rate=rate)
        if step % 100 == 0:
            seconds = time.perf_counter() - started
            print(f"step {step:5,} | loss {loss:.3f} | lr {rate:.1e} | {seconds:4.0f} s")
    accuracy = exact_match(model, unseen)
    print(f"copies {accuracy:.1%} of 500 unseen sequences exactly")
    show_attention(model)
    return accuracy


if __name__ == "__main__":
    main()
