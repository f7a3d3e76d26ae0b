"""The sizes a model comes in: tiny, small, base and big (the last two are the paper's).

A preset sets the shape alone; everything else keeps its default and can still be set.
"""

from __future__ import annotations

from typing import Any

MODEL_PRESETS: dict[str, dict[str, Any]] = {
    "tiny": {"n_layers": 4, "d_model": 128, "d_ff": 256, "n_heads": 4, "dropout": 0.1},
    "small": {"n_layers": 3, "d_model": 256, "d_ff": 1024, "n_heads": 4, "dropout": 0.1},
    "base": {"n_layers": 6, "d_model": 512, "d_ff": 2048, "n_heads": 8, "dropout": 0.1},
    "big": {"n_layers": 6, "d_model": 1024, "d_ff": 4096, "n_heads": 16, "dropout": 0.3},
}
