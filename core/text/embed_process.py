"""The sentence encoder in a process of its own: beside a page that polls, importing torch takes several times as long.

Run as a script, by `core.text.embed`, with the model's folder and, where a package brought it, that package. When it is
ready it writes a line of JSON with the vectors' width. Then it reads texts, a list in a line of JSON, and answers with
their vectors as float32, row after row, until standard input ends: at the latest when the process that started it does,
however that happens. Where a file is not the one that the package should bring, it names that file and ends.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from .. import package_data

BATCH = 64


def main() -> None:
    """Encode until standard input ends."""
    # Ctrl-C goes to every process of the terminal; the one that started this decides when it ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Whatever a library prints must not get between the vectors.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    if sys.argv[2:] and (altered := package_data.altered(sys.argv[2], Path(sys.argv[1]))):
        answers.write(json.dumps({"altered": altered}).encode() + b"\n")
        answers.flush()
        return
    import torch
    from sentence_transformers import SentenceTransformer

    # With a thread on every core, torch waits by spinning as soon as anything else is busy: many times slower.
    torch.set_num_threads(max(1, (os.cpu_count() or 1) - 1))
    model = SentenceTransformer(sys.argv[1], device="cpu", local_files_only=True)
    answers.write(json.dumps({"width": model.get_embedding_dimension()}).encode() + b"\n")
    answers.flush()
    for line in sys.stdin:
        vectors = model.encode(
            json.loads(line),
            batch_size=BATCH,
            normalize_embeddings=True,
            show_progress_bar=False,
            convert_to_numpy=True,
        )
        answers.write(vectors.astype("float32").tobytes())
        answers.flush()


if __name__ == "__main__":
    main()
