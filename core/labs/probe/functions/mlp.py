"""Small networks that approximate a function (FIND, "approximation"): one input, 64 ReLU units, one output."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from ....events import Frozen
from .atoms import Numbers

HIDDEN = 64
POINTS = 600


class MLP(Frozen):
    """`y = v · relu(w x + b) + c` with 64 hidden units; each tuple has 64 entries."""

    w: tuple[float, ...]
    b: tuple[float, ...]
    v: tuple[float, ...]
    c: float

    def __call__(self, x: Numbers) -> Numbers:
        """Return the values on an array of any shape."""
        hidden = np.maximum(np.asarray(x, float)[..., None] * np.array(self.w) + np.array(self.b), 0)
        return np.asarray(hidden @ np.array(self.v) + self.c)


def fit(f: Callable[[Numbers], Numbers], low: float, high: float, rng: np.random.Generator) -> MLP:
    """Return a network close to `f` on [low, high], in milliseconds and the same for the same `rng` state.

    The published networks were trained by gradient descent for 10,000 epochs on 10,000 points (docs/measuring.md §4.1).
    Here each unit gets a random kink and direction, and the output weights are the least-squares solution: the same
    class of functions, piecewise linear with 64 kinks, without the training. Points where `f` is not finite are left
    out.
    """
    x = np.linspace(low, high, POINTS)
    with np.errstate(all="ignore"):
        y = np.real(f(x))
    x, y = x[np.isfinite(y)], y[np.isfinite(y)]
    kinks = np.sort(rng.uniform(low, high, HIDDEN))
    w = rng.choice([-1.0, 1.0], HIDDEN)
    b = -w * kinks
    hidden = np.maximum(x[:, None] * w + b, 0)
    features = np.column_stack([hidden, np.ones_like(x)])
    # A little ridge keeps the weights of near-parallel units from cancelling each other in the millions.
    ridge = 1e-6 * len(x) * np.eye(HIDDEN + 1)
    weights = np.linalg.solve(features.T @ features + ridge, features.T @ y)
    return MLP(w=tuple(w.tolist()), b=tuple(b.tolist()), v=tuple(weights[:-1].tolist()), c=float(weights[-1]))


def load(path: Path) -> MLP:
    """Load the published weights in `mlp_approx_model.pt`. Only tensors are read from the file, never code.

    Raises ValueError if the file is not such a network, OSError if it cannot be read.
    """
    import torch

    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
        w, b = state["layers.0.weight"].flatten().tolist(), state["layers.0.bias"].tolist()
        v, c = state["layers.2.weight"].flatten().tolist(), float(state["layers.2.bias"].item())
    except OSError:
        raise
    except Exception as error:  # torch raises half a dozen kinds for a file that is not one of its own
        raise ValueError(f"{path.name} holds no network of one input, {HIDDEN} units and one output") from error
    if not len(w) == len(b) == len(v) == HIDDEN:
        raise ValueError(f"{path.name} has {len(w)} hidden units, not {HIDDEN}")
    return MLP(w=tuple(w), b=tuple(b), v=tuple(v), c=c)
