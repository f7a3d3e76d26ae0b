"""Translate with an ONNX export: onnxruntime computes, NumPy keeps the tokens, no PyTorch.

    dragoman export runs/deen --to onnx -o deen-onnx
    echo "Ein Hund rennt." | python examples/translate_with_onnx.py deen-onnx

Greedy search in its plainest form, for reading and for taking elsewhere: the encoder is called
once, the decoder once for each token, and what it keeps, keys and values, goes in again.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import onnxruntime

from dragoman.tokenize.tokenizer import Tokenizer

PAD, BOS, EOS = 0, 1, 2
MAX_EXTRA = 50  # tokens that a translation may have beyond its source


def open_graph(path: Path) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


def translate(folder: Path, lines: Iterable[str]) -> Iterator[str]:
    """The translation of each line, one at a time."""
    tokenizer = Tokenizer.load(folder / "tokenizer")
    encoder, decoder = open_graph(folder / "encoder.onnx"), open_graph(folder / "decoder.onnx")
    for line in lines:
        ids = tokenizer.encode(line.strip())
        yield tokenizer.decode(search(encoder, decoder, ids)) if ids else ""


def search(
    encoder: onnxruntime.InferenceSession, decoder: onnxruntime.InferenceSession, ids: list[int]
) -> list[int]:
    """The likeliest token at every step, up to the end of the sentence."""
    mask, memory_keys, memory_values = encoder.run(None, {"src_ids": np.array([[*ids, EOS]])})
    memory = {"mask": mask, "memory_keys": memory_keys, "memory_values": memory_values}
    keys, values = memory_keys[:, :, :, :0], memory_values[:, :, :, :0]  # of no token yet
    said: list[int] = []
    while len(said) < len(ids) + MAX_EXTRA:
        newest = np.array([said[-1] if said else BOS])
        inputs = {"ids": newest, "keys": keys, "values": values, **memory}
        logits, keys, values = decoder.run(None, inputs)
        logits[:, [PAD, BOS]] = -np.inf  # never said
        token = int(logits[0].argmax())
        if token == EOS:
            break
        said.append(token)
    return said


def main(folder: str, lines: Iterable[str] = sys.stdin) -> list[str]:
    """Print the translation of each line, and give them all back."""
    found = []
    for text in translate(Path(folder), lines):
        print(text, flush=True)
        found.append(text)
    return found


if __name__ == "__main__":
    main(sys.argv[1])
