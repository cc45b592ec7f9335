"""Larger local models, fetched from the hub on request.

The hub's route is `<hub>/<repository>/resolve/main/<file>`. It redirects to where the bytes lie; the redirecting reply
names the file's sha256 (`X-Linked-Etag`) and size (`X-Linked-Size`).
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import threading
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple
from urllib.parse import quote

from core.events import Frozen
from core.models.errors import DiskFull, DownloadFailed, DownloadStopped

if TYPE_CHECKING:
    import httpx2

LIST = Path(__file__).resolve().parents[2] / "data" / "models.toml"

Progress = Callable[[int, int], None]
"""Called with bytes that are here and bytes in all."""

_BLOCK = 1 << 20
_TRIES = 4
_SPARE_BYTES = 200 * 1024**2
_SHA256 = re.compile(r"[0-9a-f]{64}")


class HubModel(Frozen):
    """A GGUF file on the hub. `sha256` None where the list does not give one: then the hub's own word is taken."""

    name: str
    title: str
    about: str = ""
    licence: str
    repo: str
    file: str
    size_bytes: int
    sha256: str | None = None


class Downloaded(NamedTuple):
    """`checked` tells what the file was compared with: the digest in our list, the hub's, or its size alone."""

    path: Path
    checked: Literal["list", "hub", "size"]


class _Promise(NamedTuple):
    """What the file should be. `size` in bytes."""

    size: int
    sha256: str | None
    checked: Literal["list", "hub", "size"]


def offered(path: Path = LIST) -> list[HubModel]:
    """The models that can be downloaded, smallest first."""
    models = [HubModel.model_validate(entry) for entry in tomllib.loads(path.read_text(encoding="utf-8"))["model"]]
    return sorted(models, key=lambda model: model.size_bytes)


def hub() -> str:
    """`$HF_ENDPOINT`, or the public hub."""
    return (os.environ.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/")


def address(model: HubModel) -> str:
    return f"{hub()}/{model.repo}/resolve/main/{quote(model.file)}"


def download(
    model: HubModel,
    folder: Path,
    progress: Progress = lambda done, size: None,
    stop: threading.Event | None = None,
) -> Downloaded:
    """Fetch `model` to `<folder>/<name>.gguf`. Blocks: for a thread. Goes on where an earlier download stopped.

    The file appears under its name only when it is whole and checked; until then it is `<name>.gguf.part`. `stop` ends
    the download from another thread. Raises DownloadFailed, DownloadStopped and DiskFull.
    """
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{model.name}.gguf"
    part = folder / f"{model.name}.gguf.part"
    with _alone(target):
        promise = _fetch(model, part, progress, stop or threading.Event())
        _check(model, part, promise)
        os.replace(part, target)
    return Downloaded(target, promise.checked)


_under_way: set[Path] = set()
_guard = threading.Lock()


@contextmanager
def _alone(target: Path) -> Iterator[None]:
    with _guard:
        if target in _under_way:
            raise DownloadFailed(f"{target.stem} is being downloaded already.", "Wait for that to end.")
        _under_way.add(target)
    try:
        yield
    finally:
        with _guard:
            _under_way.discard(target)


def _fetch(model: HubModel, part: Path, progress: Progress, stop: threading.Event) -> _Promise:
    """Bring `part` to its full length; a connection that is cut is taken up again a few times."""
    import httpx2

    with httpx2.Client(follow_redirects=True, timeout=httpx2.Timeout(30.0, connect=10.0)) as client:
        for tries in range(_TRIES):
            try:
                promise = _stream(client, model, part, progress, stop)
            except httpx2.RequestError as error:
                reason = str(error) or type(error).__name__
                if isinstance(error, httpx2.ConnectError):
                    break
            else:
                if promise is not None:
                    return promise
                reason = "the connection closed before the file was whole"
            if stop.wait(0.2 * tries):
                break
    raise DownloadFailed(
        f"{model.title} could not be fetched from {hub()}: {reason}.",
        "Check your network connection, then start the download again: it goes on where it stopped.",
    )


def _stream(
    client: httpx2.Client, model: HubModel, part: Path, progress: Progress, stop: threading.Event
) -> _Promise | None:
    """One request for what is missing; None where it ended too early. Raises httpx2.RequestError."""
    have = part.stat().st_size if part.exists() else 0
    headers = {"Range": f"bytes={have}-"} if have else {}
    # Without this the body may come compressed, and Range and size would count other bytes than ours.
    headers["Accept-Encoding"] = "identity"
    with client.stream("GET", address(model), headers=headers) as reply:
        if reply.status_code == 416:
            return _promise_after_416(reply, model, part, have)
        _accepted(reply, model)
        if reply.status_code != 206:
            have = 0
        promise = _promised(reply, model, have)
        _room_for(promise.size - have, part.parent, model)
        with part.open("ab" if have else "wb") as out:
            progress(have, promise.size)
            for block in reply.iter_bytes(_BLOCK):
                if stop.is_set():
                    raise DownloadStopped(
                        f"The download of {model.title} was stopped at {have / 1e6:.0f} MB.",
                        "Start it again and it goes on from there.",
                    )
                out.write(block)
                have += len(block)
                progress(have, promise.size)
            out.flush()
            os.fsync(out.fileno())
    return promise if have >= promise.size else None


def _promise_after_416(reply: httpx2.Response, model: HubModel, part: Path, have: int) -> _Promise | None:
    """The server has nothing from there on: the part is whole, or it is not a part of this file and goes."""
    size = re.fullmatch(r"bytes \*/(\d+)", reply.headers.get("content-range", ""))
    if size is not None and int(size[1]) == have:
        return _with_digest(reply, model, have)
    part.unlink(missing_ok=True)
    return None


def _accepted(reply: httpx2.Response, model: HubModel) -> None:
    status = reply.status_code
    if status in (200, 206):
        return
    if status == 404:
        raise DownloadFailed(
            f"{hub()} has no file {model.repo}/{model.file} (HTTP 404).",
            "It may have been renamed: get a GGUF file from the hub in a browser and give its path on the Models page.",
        )
    if status in (401, 403):
        raise DownloadFailed(
            f"{hub()} does not give out {model.repo}/{model.file} without an account (HTTP {status}).",
            "Get the file in a browser and give its path on the Models page.",
        )
    raise DownloadFailed(
        f"{hub()} answered HTTP {status} for {model.repo}/{model.file}.", "Try again in a while: what came is kept."
    )


def _promised(reply: httpx2.Response, model: HubModel, have: int) -> _Promise:
    if reply.status_code == 206:
        told = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", reply.headers.get("content-range", ""))
        if told is None or int(told[1]) != have:
            raise DownloadFailed(
                f"{hub()} sent another part of {model.file} than was asked for.", "Start the download again."
            )
        return _with_digest(reply, model, int(told[2]))
    return _with_digest(reply, model, int(reply.headers.get("content-length", model.size_bytes)))


def _with_digest(reply: httpx2.Response, model: HubModel, size: int) -> _Promise:
    if model.sha256 is not None:
        return _Promise(size, model.sha256, "list")
    # Only the hub's own replies are asked: the last one comes from wherever the bytes lie.
    for own in (*reply.history, reply):
        if str(own.url).startswith(f"{hub()}/"):
            for header in ("x-linked-etag", "etag"):
                digest = own.headers.get(header, "").removeprefix("W/").strip('"').lower()
                if _SHA256.fullmatch(digest):
                    return _Promise(size, digest, "hub")
    return _Promise(size, None, "size")


def _room_for(needed: int, folder: Path, model: HubModel) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed + _SPARE_BYTES:
        raise DiskFull(
            f"{model.title} needs {needed / 1e9:.1f} GB more, and {folder} has {free / 1e9:.1f} GB free.",
            "Make room, choose a smaller model, or move your data elsewhere with EXPLAIN_HOME.",
        )


def _check(model: HubModel, part: Path, promise: _Promise) -> None:
    """Raises DownloadFailed, and removes the file, where it is not what was promised."""
    with part.open("rb") as file:
        begins = file.read(4)
        file.seek(0)
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    size = part.stat().st_size
    if size != promise.size:
        wrong = f"it has {size:,} bytes instead of {promise.size:,}"
    elif promise.sha256 is not None and digest != promise.sha256:
        wrong = f"its sha256 is {digest[:12]}… instead of {promise.sha256[:12]}…"
    elif begins != b"GGUF":
        wrong = "it is not a GGUF model"
    else:
        return
    part.unlink()
    raise DownloadFailed(
        f"What came as {model.title} is not the file it should be: {wrong}. It was removed.",
        "Start the download again; if it happens twice, the file on the hub has changed or something on the way "
        "alters it.",
    )
