"""Runs of lines that are probably not translations of each other, found by lengths alone.

Long sentences have long translations. If a line was lost on one side, the lengths of what follows
agree no more line by line, but they do again when one side is moved by a line. So we ask of every
shift k how well the length of source line i agrees with that of target line i + k:

    u, v    log-lengths in standard deviations from their means
    rho     correlation of u and v in the well-aligned parts
    fit     log p(u, v) - log p(u) p(v), for normal u, v with correlation rho: the evidence, in
            nats, that the two lines belong together

and look for the path through shifts that has the most evidence, where each change of shift costs
``CHANGE_COST`` nats (Viterbi's algorithm, over blocks of lines). The cost is what keeps chance from
raising an alarm: e^-30 for each place where a run could begin. "No shift fits" is a state of its
own, for lines that went astray by more than the shifts we try.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MAX_SHIFT = 3
BLOCK = 10  # lines that share a shift, for speed; the edges of a run are then made exact
CHANGE_COST = 30.0
MIN_LINES = 60
MIN_CORRELATION = 0.35  # below this lengths say too little about which lines belong together
MAX_CORRELATION = 0.9
# Parts of one corpus differ: headings agree less in length than prose. A part counts as unrelated
# only where its correlation is below this share of the corpus's own.
LOOSE = 0.4
_WINDOW = 200
_CLIP = 2.5  # standard deviations; one odd line must not count like ten
_UNRELATED = 2 * MAX_SHIFT + 1  # the state after those of shifts -MAX_SHIFT … MAX_SHIFT
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Drift:
    """Lines ``start`` to ``end`` (from 0, end excluded) whose partner stands ``shift`` lines on.

    ``shift`` is None where no small shift makes the lines fit.
    """

    start: int
    end: int
    shift: int | None


def find_drift(src_lens: NDArray[np.integer], tgt_lens: NDArray[np.integer]) -> list[Drift]:
    """The runs of lines that are very likely misaligned; empty for a corpus that is in order.

    >>> rng = np.random.default_rng(1)
    >>> lens = rng.integers(10, 200, size=1000)
    >>> find_drift(lens, lens + rng.integers(0, 9, size=1000))
    []
    >>> [(drift.start, drift.shift) for drift in find_drift(lens, np.delete(lens, 500))]
    [(501, -1)]
    """
    n = min(src_lens.size, tgt_lens.size)
    if n < MIN_LINES:
        return []
    u, v = (_standardize(lens[:n]) for lens in (src_lens, tgt_lens))
    if not (u.any() and v.any()):  # all lines equally long
        return []
    rho = min(_own_correlation(u, v), MAX_CORRELATION)
    if rho < MIN_CORRELATION:
        return []
    fit = _evidence(u, v, rho)
    path = _best_path(_sum_blocks(fit))
    return _runs(fit, path)


def _standardize(lens: NDArray[np.integer]) -> Floats:
    logs = np.log1p(lens.astype(np.float64))
    spread = logs.std()
    return np.clip((logs - logs.mean()) / (spread or 1.0), -_CLIP, _CLIP)


def _shifted(v: Floats, shift: int) -> Floats:
    """v[i + shift] at i, and 0 (a line of middling length) beyond the ends."""
    moved = np.zeros_like(v)
    if shift >= 0:
        moved[: v.size - shift] = v[shift:]
    else:
        moved[-shift:] = v[:shift]
    return moved


def _own_correlation(u: Floats, v: Floats) -> float:
    """The correlation of lengths in this corpus, each window at its best shift."""
    n_windows = max(1, u.size // _WINDOW)
    best = np.full(n_windows, -1.0)
    for shift in range(-MAX_SHIFT, MAX_SHIFT + 1):
        moved = _shifted(v, shift)
        for i, (a, b) in enumerate(
            zip(np.array_split(u, n_windows), np.array_split(moved, n_windows), strict=True)
        ):
            if a.std() > 0 and b.std() > 0:
                best[i] = max(best[i], float(np.corrcoef(a, b)[0, 1]))
    return float(np.quantile(best, 0.75))  # a good part is enough to learn it from


def _evidence(u: Floats, v: Floats, rho: float) -> Floats:
    """Evidence of each line for each state: (n, states)."""
    rest = 1 - rho**2
    loose = -0.5 * np.log(rest) - rho**2 * (1 - LOOSE) / rest  # expected of such a part, a line
    fit = np.full((u.size, 2 * MAX_SHIFT + 2), loose)
    for state in range(2 * MAX_SHIFT + 1):
        w = _shifted(v, state - MAX_SHIFT)
        distance = rho**2 * (u**2 + w**2) - 2 * rho * u * w
        fit[:, state] = -0.5 * np.log(rest) - distance / (2 * rest)
    return fit


def _sum_blocks(fit: Floats) -> Floats:
    n_blocks = -(-len(fit) // BLOCK)
    padded = np.zeros((n_blocks * BLOCK, fit.shape[1]))
    padded[: len(fit)] = fit
    summed: Floats = padded.reshape(n_blocks, BLOCK, -1).sum(axis=1)
    return summed


def _best_path(fit: Floats) -> list[int]:
    """The state of each block on the path with the most evidence, less the cost of its changes."""
    n_states = fit.shape[1]
    total = np.full(n_states, -CHANGE_COST)
    total[MAX_SHIFT] = 0.0  # a corpus is taken to begin straight
    came_from = np.empty((len(fit), n_states), dtype=np.int8)
    stay = np.arange(n_states)
    for i, gains in enumerate(fit):
        best = int(total.argmax())
        changed = total[best] - CHANGE_COST
        came_from[i] = np.where(total >= changed, stay, best)
        total = np.maximum(total, changed) + gains
    state = int(total.argmax())
    path = [state]
    for i in range(len(fit) - 1, 0, -1):
        state = int(came_from[i, state])
        path.append(state)
    return path[::-1]


def _runs(fit: Floats, path: list[int]) -> list[Drift]:
    """Stretches of the path that are not straight, with edges exact to the line."""
    edges = [0]
    states = [path[0]]
    for block in range(1, len(path)):
        if path[block] != path[block - 1]:
            edges.append(_exact_edge(fit, block * BLOCK, path[block - 1], path[block]))
            states.append(path[block])
    edges.append(len(fit))
    runs: list[Drift] = []
    for start, end, state in zip(edges[:-1], edges[1:], states, strict=True):
        shift = None if state == _UNRELATED else state - MAX_SHIFT
        if shift == 0:
            continue
        while runs and runs[-1].end == start and None in (runs[-1].shift, shift):
            # Beside lines that fit nowhere, a shift that seems to fit is most likely chance.
            start, shift = runs.pop().start, None
        runs.append(Drift(start, end, shift))
    return runs


def _exact_edge(fit: Floats, near: int, before: int, after: int) -> int:
    """The line, among those near a block's edge, where the change of state fits best."""
    low, high = max(0, near - BLOCK), min(len(fit), near + BLOCK)
    gain = fit[low:high, before] - fit[low:high, after]
    return low + int(np.concatenate([[0.0], gain.cumsum()]).argmax())
