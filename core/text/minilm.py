"""The small sentence encoder in NumPy. Importing PyTorch takes ten times as long as all sentences of a run, and a
newcomer's first run would wait for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float32]

WINDOW = 256
"""Most tokens of a text; the rest is cut, as in the model's own settings."""

HEADS, LAYERS, EPSILON = 12, 6, 1e-12

BATCH = 64
"""Most texts in one pass."""


class MiniLM:
    """all-MiniLM-L6-v2: a BERT of six layers whose last states are averaged over the tokens."""

    def __init__(self, folder: Path) -> None:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        self._weights: dict[str, Array] = load_file(folder / "model.safetensors")
        self._tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(WINDOW)
        self._tokenizer.no_padding()

    @property
    def width(self) -> int:
        """The number of dimensions of a vector."""
        return int(self._weights["embeddings.LayerNorm.weight"].shape[0])

    def encode(self, texts: Sequence[str]) -> Array:
        """Return vectors of length 1, shape (number of texts, width)."""
        import numpy as np

        ids = [one.ids for one in self._tokenizer.encode_batch(list(texts))]
        vectors = np.zeros((len(ids), self.width), np.float32)
        # Texts of one length need no padding, and so no mask.
        for _, alike in groupby(sorted(range(len(ids)), key=lambda at: len(ids[at])), key=lambda at: len(ids[at])):
            places = list(alike)
            for batch in (places[start : start + BATCH] for start in range(0, len(places), BATCH)):
                means = self._states(np.array([ids[at] for at in batch])).mean(axis=1)
                vectors[batch] = means / np.linalg.norm(means, axis=1, keepdims=True)
        return vectors

    def _states(self, ids: NDArray[np.int64]) -> Array:
        """Return the last layer's state of every token, shape (texts, tokens, width)."""
        import numpy as np
        from scipy.special import erf

        texts, tokens = ids.shape
        names = ("word_embeddings.weight", "position_embeddings.weight", "token_type_embeddings.weight")
        word, position, kind = (self._weights[f"embeddings.{name}"] for name in names)
        states = self._norm(word[ids] + position[:tokens] + kind[0], "embeddings.LayerNorm")
        size = self.width // HEADS
        for layer in (f"encoder.layer.{number}" for number in range(LAYERS)):
            query, key, value = (
                self._dense(states, f"{layer}.attention.self.{name}").reshape(texts, tokens, HEADS, size).swapaxes(1, 2)
                for name in ("query", "key", "value")
            )
            scores = query @ key.swapaxes(2, 3) / np.float32(size**0.5)
            shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
            seen = (shares / shares.sum(axis=-1, keepdims=True)) @ value
            mixed = seen.swapaxes(1, 2).reshape(texts, tokens, self.width)
            attended = self._dense(mixed, f"{layer}.attention.output.dense")
            states = self._norm(states + attended, f"{layer}.attention.output.LayerNorm")
            inner = self._dense(states, f"{layer}.intermediate.dense")
            # The exact GELU.
            inner = inner * np.float32(0.5) * (1 + erf(inner / np.float32(2**0.5)))
            states = self._norm(states + self._dense(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
        return states

    def _dense(self, states: Array, name: str) -> Array:
        return states @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _norm(self, states: Array, name: str) -> Array:
        import numpy as np

        away = states - states.mean(axis=-1, keepdims=True)
        deviation = np.sqrt((away**2).mean(axis=-1, keepdims=True) + np.float32(EPSILON))
        normal: Array = away / deviation * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
        return normal
