"""Pictures of one explained sentence, chosen by name: attention, heads, causal, beam, flow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from dragoman.config_checks import no_such
from dragoman.decoding.explanation import Explanation, FloatArray
from dragoman.decoding.heads import Head
from dragoman.errors import ConfigError
from dragoman.pictures.beam_tree import draw_beam
from dragoman.pictures.flow import draw_flow
from dragoman.pictures.heatmap import Panel, draw_attention, draw_heads, draw_panels
from dragoman.pictures.style import Theme

What = Literal["attention", "heads", "causal", "beam", "flow"]
Kind = Literal["encoder", "decoder", "cross"]
AXES: dict[str, tuple[str, str]] = {
    "encoder": ("source piece", "looks at source piece"),
    "decoder": ("says", "looks at what was said"),
    "cross": ("says", "looks at source piece"),
}


@dataclass(frozen=True)
class View:
    """Which attention to draw: encoder self, decoder self or cross, its layer, and its head.

    Where all is left open it is the mean of the heads that align words; else the last layer, and
    the mean of all heads.
    """

    kind: Kind | None = None
    layer: int | None = None  # from 0
    head: int | None = None  # from 0

    def name(self, explanation: Explanation) -> str:
        """The name of the attention; refused where the model has no such layer or head."""
        model = explanation.model
        side = "encoder" if self.kind == "encoder" else "decoder"
        last = model[f"n_{side}_layers"] - 1
        layer = last if self.layer is None else self.layer
        if not 0 <= layer <= last:
            raise ConfigError(f"layer {layer}: the {side}'s layers of this model are 0 to {last}")
        if self.head is not None and not 0 <= self.head < model["n_heads"]:
            heads = model["n_heads"] - 1
            raise ConfigError(f"head {self.head}: the heads of this model are 0 to {heads}")
        if self.kind is None and self.layer is None:
            return str(model["alignment_heads"][0][0])
        return f"{side}.{layer}.{'cross' if self.kind in (None, 'cross') else 'self'}"

    def weights(self, explanation: Explanation) -> tuple[FloatArray, str]:
        """The weights that are meant, (L, M), and which they are in words."""
        name = self.name(explanation)
        if self.head is not None:
            return explanation.attention[name][self.head], f"{name}, head {self.head}"
        if self.kind is None and self.layer is None:
            heads = explanation.model["alignment_heads"]
            chosen = np.mean([explanation.attention[each][head] for each, head in heads], axis=0)
            return chosen, f"the heads that align: {name_heads(heads)}"
        return explanation.attention[name].mean(0), f"{name}, mean of all heads"


def name_heads(heads: Sequence[Head]) -> str:
    """Heads in few words, those of a layer together.

    >>> name_heads([("decoder.1.cross", 0), ("decoder.1.cross", 2), ("decoder.2.cross", 1)])
    'decoder.1.cross 0 2, decoder.2.cross 1'
    """
    by_name: dict[str, list[str]] = {}
    for name, head in heads:
        by_name.setdefault(name, []).append(str(head))
    return ", ".join(f"{name} {' '.join(numbers)}" for name, numbers in by_name.items())


def draw_explanation(
    explanation: Explanation,
    path: Path,
    *,
    what: What = "attention",
    view: View | None = None,
    theme: Theme = "light",
) -> None:
    """Draw one picture of an explanation into a PNG, SVG or PDF file."""
    if what not in get_args(What):
        raise ConfigError(f"{what}: {no_such('picture', what, known=get_args(What))}")
    view = view or View()
    if what == "beam":
        draw_beam(explanation, path, theme=theme)
    elif what == "flow":
        draw_flow(explanation, path, theme=theme)
    elif what == "causal":
        _draw_causal(explanation, path, view=view, theme=theme)
    else:
        _draw_one(explanation, path, view=view, theme=theme, all_heads=what == "heads")


def _draw_one(
    explanation: Explanation, path: Path, *, view: View, theme: Theme, all_heads: bool
) -> None:
    name = view.name(explanation)
    queries, keys = explanation.axes(name)
    rows, columns = AXES[view.kind or "cross"]
    if all_heads:
        draw_heads(
            explanation.attention[name],
            queries,
            keys,
            path=path,
            title=f"{_texts(explanation)}\n{name}, all heads",
            rows=rows,
            columns=columns,
            theme=theme,
        )
        return
    weights, which = view.weights(explanation)
    draw_attention(
        weights,
        queries,
        keys,
        path=path,
        title=f"{_texts(explanation)}\n{which}",
        rows=rows,
        columns=columns,
        theme=theme,
    )


def _draw_causal(explanation: Explanation, path: Path, *, view: View, theme: Theme) -> None:
    """Encoder self-attention, which sees all, beside that of the decoder, which sees the past."""
    panels = []
    for kind, what in (("encoder", "bidirectional"), ("decoder", "causal")):
        own = View("encoder" if kind == "encoder" else "decoder", view.layer, view.head)
        weights, which = own.weights(explanation)
        panels.append(Panel(weights, *explanation.axes(own.name(explanation)), f"{what}: {which}"))
    draw_panels(panels, path=path, title=_texts(explanation), columns="looks at", theme=theme)


def _texts(explanation: Explanation) -> str:
    off = ", ".join(f"{name}:{head}" for name, head in explanation.heads_off)
    without = f"\nwithout {off}" if off else ""
    return f"{explanation.source.text}\n{explanation.target.text}{without}"
