"""The sentence encoder in its own process, because importing torch beside a page that polls takes several times as
long.

`core.text.embed` runs it as a script with the model's folder and, if a package brought that folder, the package. When
ready, it writes a line of JSON with the vectors' width. Then it reads texts, one JSON list per line, and answers with
their vectors as float32, row by row, until standard input ends, which happens at the latest when the parent process
ends. If a file differs from the one that the package should bring, it names that file and exits.
"""

import json
import os
import signal
import sys
from pathlib import Path

from .. import optional, package_data

BATCH = 64


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
    optional.find_packages()
    import torch
    from sentence_transformers import SentenceTransformer

    # With a thread on every core, torch's threads spin while they wait, which is many times slower whenever anything
    # else is running.
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
