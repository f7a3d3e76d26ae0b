from __future__ import annotations

import numpy as np
import pytest

from dragoman.pictures.heatmap import draw_attention


@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (40, 2)])
def test_attention_is_drawn_at_any_size(tmp_path, shape):
    path = tmp_path / "attention.png"
    queries, keys = ([f"w{i}" for i in range(n)] for n in shape)
    draw_attention(np.full(shape, 0.5), queries, keys, path=path, title="layer 1")
    assert path.read_bytes()[:4] == b"\x89PNG"
