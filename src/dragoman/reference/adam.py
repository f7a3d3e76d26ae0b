"""Adam (5.3): each weight moves by its mean gradient, divided by the gradient's usual size."""

from __future__ import annotations

import numpy as np

from dragoman.reference.parameters import Params


class Adam:
    """Adam with the paper's settings; ``update`` changes the parameters it was made for.

    >>> params = {"w": np.array([1.0])}
    >>> adam = Adam(params)
    >>> adam.update({"w": np.array([1000.0])}, learning_rate=0.1)  # size 1 at first, by design
    >>> params["w"].round(6).tolist()
    [0.9]
    """

    def __init__(
        self, params: Params, *, betas: tuple[float, float] = (0.9, 0.98), eps: float = 1e-9
    ) -> None:
        self.params = params
        self.betas = betas
        self.eps = eps
        self.step = 0
        self.mean = {name: np.zeros_like(value) for name, value in params.items()}
        self.square = {name: np.zeros_like(value) for name, value in params.items()}

    def update(self, grads: Params, *, learning_rate: float) -> None:
        """One step against the gradients: w ← w − lr · m̂ / (√v̂ + ε).

        m and v are running means of g and g²; they begin at zero, and dividing them by 1 − βᵗ
        makes up for that.
        """
        self.step += 1
        beta1, beta2 = self.betas
        for name, g in grads.items():
            self.mean[name] = beta1 * self.mean[name] + (1 - beta1) * g
            self.square[name] = beta2 * self.square[name] + (1 - beta2) * g**2
            m_hat = self.mean[name] / (1 - beta1**self.step)
            v_hat = self.square[name] / (1 - beta2**self.step)
            self.params[name] -= learning_rate * m_hat / (np.sqrt(v_hat) + self.eps)
