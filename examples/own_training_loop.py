"""The whole of training in sixty lines, for those who write their own loop.

    python examples/own_training_loop.py

It trains on the built-in German-English grammar and translates a few sentences it has not seen.
Change any line: the corpus, the model, the loss, the schedule.
"""

from __future__ import annotations

import sys

import torch

from dragoman.batches.batch import make_batch, pad_sources
from dragoman.batches.bucketing import plan_epoch
from dragoman.config import DataConfig, ModelConfig, TrainConfig
from dragoman.corpus.tasks import generate
from dragoman.decoding.greedy import greedy
from dragoman.evaluation.scores import bleu_score
from dragoman.model.packing import Packing
from dragoman.model.transformer import Transformer
from dragoman.tokenize.tokenizer import Tokenizer
from dragoman.training.label_smoothing import Smoothing
from dragoman.training.optimizer import Optimizers
from dragoman.training.schedule import learning_rate
from dragoman.training.vocabulary_loss import vocabulary_loss


def main(steps: int = 400, n_pairs: int = 20_000, seed: int = 1) -> float:
    """Train for so many steps; the BLEU on 200 unseen sentences."""
    torch.manual_seed(seed)
    # 1. Text to ids.
    train = list(generate("grammar", n_pairs, split="train", seed=seed))
    tokenizer = Tokenizer.train(
        ((e.src, e.tgt) for e in train), DataConfig(vocab_size=1500), seed=1
    )
    src = tokenizer.encode_batch([e.src for e in train], "src")
    tgt = tokenizer.encode_batch([e.tgt for e in train], "tgt")
    lengths = [torch.tensor([len(row) for row in rows]).numpy() for rows in (src, tgt)]
    # 2. A model, the paper's with the norm in front.
    config = ModelConfig(
        d_model=128,
        n_heads=4,
        n_layers=2,
        d_ff=256,
        norm="pre",
        vocab_size=tokenizer.tgt_vocab_size,
    )
    model = Transformer(config)
    smoothing = Smoothing.of("uniform", 0.1, vocab_size=config.vocab_size)
    settings = TrainConfig(optimizer="muon", schedule="cosine", learning_rate=8e-3, warmup_steps=50)
    optimizers = Optimizers(model, settings)
    # 3. The loop.
    step, epoch = 0, 0
    while step < steps:
        for indices in plan_epoch(*lengths, batch_tokens=2048, seed=seed, epoch=epoch)[
            : steps - step
        ]:
            batch = make_batch((src[i], tgt[i]) for i in indices)
            packing = Packing.of(batch.tgt_in, config.pad_id)
            gold = batch.tgt_out.flatten() if packing is None else packing.pack(batch.tgt_out)
            hidden = model.hidden(
                batch.src_ids, batch.tgt_in, Packing.of(batch.src_ids, config.pad_id), packing
            )
            losses = vocabulary_loss(hidden, model.output_weight, gold, smoothing)
            (losses.loss / batch.n_tokens).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            step += 1
            optimizers.step(learning_rate(step, settings, d_model=128, total_steps=steps))
            if step % 50 == 0:
                print(f"step {step}: {losses.nll.item() / batch.n_tokens:.3f}", file=sys.stderr)
        epoch += 1
    # 4. Unseen sentences.
    model.eval()
    test = list(generate("grammar", 200, split="test", seed=seed))
    rows = tokenizer.encode_batch([e.src for e in test], "src")
    translations = tokenizer.decode_batch(greedy(model, pad_sources(rows)))
    for example, translation in list(zip(test, translations, strict=True))[:5]:
        print(f"{example.src}\n  -> {translation}\n  == {example.tgt}")
    return bleu_score(translations, [e.tgt for e in test])


if __name__ == "__main__":
    print(f"BLEU {main():.1f}")
