"""Who may look at whom: the masks of the model, and what the causal one does to attention."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dragoman.pictures.heatmap import Panel, draw_panels
from dragoman.pictures.style import Theme
from dragoman.tokenize.vocabulary import BOS_ID, PAD_ID, SPECIAL_PIECES

SENTENCE = ("the", "dog", "sees", "the", "cat", ".")
N_PADS = 2
WINDOW = 2


def draw_masks(path: Path, *, words: Sequence[str] = SENTENCE, theme: Theme = "light") -> None:
    """Draw the masks of a sentence with padding: padding, causal, both together, a window."""
    import torch

    from dragoman.model.masks import causal_mask, decoder_mask, encoder_mask, padding_mask

    real = [SPECIAL_PIECES[BOS_ID], *words]
    tokens = [*real, *[SPECIAL_PIECES[PAD_ID]] * N_PADS]
    n = len(tokens)
    ids = torch.tensor([[PAD_ID + 1 if i < len(real) else PAD_ID for i in range(n)]])
    masks = {
        "padding: encoder, cross": padding_mask(ids, PAD_ID).expand(1, 1, n, n),
        "causal: not ahead": causal_mask(n),
        "both: decoder": decoder_mask(ids, PAD_ID),
        f"window of {WINDOW}: option": encoder_mask(ids, PAD_ID, WINDOW),
    }
    draw_panels(
        [Panel(mask[0, 0].numpy(), tokens, tokens, title) for title, mask in masks.items()],
        path=path,
        title="Masks: a row may look at its filled cells",
        key="mask",
        theme=theme,
    )


def draw_causal(path: Path, *, words: Sequence[str] = SENTENCE, theme: Theme = "light") -> None:
    """Draw the same scores after softmax without a mask and with the causal mask."""
    import torch

    from dragoman.model.attention import scaled_dot_product_attention
    from dragoman.model.masks import causal_mask

    generator = torch.Generator().manual_seed(7)
    n = len(words)
    q, k = 1.6 * torch.randn(2, 1, 1, n, 16, generator=generator)
    v = torch.zeros_like(k)
    _, free = scaled_dot_product_attention(q, k, v)
    _, masked = scaled_dot_product_attention(q, k, v, causal_mask(n))
    draw_panels(
        [
            Panel(free[0, 0].numpy(), words, words, "bidirectional"),
            Panel(masked[0, 0].numpy(), words, words, "causal"),
        ],
        path=path,
        title="The same queries and keys, without and with the causal mask; each row sums to 1",
        rows="looks",
        columns="is looked at",
        theme=theme,
    )
