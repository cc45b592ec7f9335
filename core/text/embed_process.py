"""The sentence encoder in its own process, because its loading and encoding would slow down a page that polls.

`core.text.embed` runs it as a script with the model's folder and, if a package brought that folder, the package. When
ready, it writes a line of JSON with the vectors' width. Then it reads texts, one JSON list per line, and answers with
their vectors as float32, row by row, until standard input ends, which happens at the latest when the parent process
ends. If a file differs from the one that the package should bring, it names that file and exits.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from .. import package_data
from .minilm import BATCH, MiniLM

Encode = Callable[[list[str]], Any]
"""Returns vectors of length 1 as an array, shape (number of texts, width)."""


def main() -> None:
    """Encode until standard input ends."""
    # Ctrl-C reaches every process of the terminal; the parent decides when this one ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Redirected, so that nothing a library prints gets between the vectors.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    if sys.argv[2:] and (altered := package_data.altered(sys.argv[2], Path(sys.argv[1]))):
        answers.write(json.dumps({"altered": altered}).encode() + b"\n")
        answers.flush()
        return
    # With a thread on every core, threads spin while they wait, which is many times slower whenever anything else is
    # running.
    threads = max(1, (os.cpu_count() or 1) - 1)
    os.environ["OPENBLAS_NUM_THREADS"] = str(threads)
    width, encode = _small(Path(sys.argv[1])) if sys.argv[2:] else _any(sys.argv[1], threads)
    answers.write(json.dumps({"width": width}).encode() + b"\n")
    answers.flush()
    for line in sys.stdin:
        answers.write(encode(json.loads(line)).astype("float32").tobytes())
        answers.flush()


def _small(folder: Path) -> tuple[int, Encode]:
    """Return the width and the function of the small encoder, which loads in a fraction of a second."""
    model = MiniLM(folder)
    return model.width, model.encode


def _any(folder: str, threads: int) -> tuple[int, Encode]:
    """Return the width and the function of any encoder, by PyTorch, whose import takes seconds."""
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(threads)
    model = SentenceTransformer(folder, device="cpu", local_files_only=True)
    encode = partial(
        model.encode, batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False, convert_to_numpy=True
    )
    return int(model.get_embedding_dimension() or 0), encode


if __name__ == "__main__":
    main()
