"""Larger local models, fetched from the hub on request, by `huggingface_hub`.

It knows the hub's routes, headers, mirrors and tokens, and takes up a connection that is cut. What `hf_hub_download`
(2.4) does not do is done here: what came is kept when a download ends early (it removes it, so a stopped download would
begin again), the file is compared with its sha256, and a person can stop it. So the bytes come through `http_get`, on
which it stands too, into a file of ours.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, Self

from core import shipped
from core.events import CallFailed, Frozen
from core.models.errors import failure

Progress = Callable[[int, int], None]
"""Called with bytes that are here and bytes in all."""

_BLOCK = 1 << 20
"""Bytes after which what came is written and the stop is looked at; on a slow line the library's 10 MB take minutes."""

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


class _Promise(NamedTuple):
    """What the file should be. `size` in bytes; without a `sha256` that is all there is to compare it with."""

    size: int
    sha256: str | None


def offered() -> list[HubModel]:
    """The models that can be downloaded, smallest first."""
    return sorted(shipped.rows("models", "model", HubModel), key=lambda model: model.size_bytes)


def hub() -> str:
    """`$HF_ENDPOINT`, or the public hub."""
    return (os.environ.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/")


def download(
    model: HubModel,
    folder: Path,
    progress: Progress = lambda done, size: None,
    stop: threading.Event | None = None,
) -> Path:
    """Fetch `model` to `<folder>/<name>.gguf`. Blocks: for a thread, one for each model
    (`core.models.fetches`). Goes on where an earlier download stopped.

    The file appears under its name only when it is whole and checked; until then it is `<name>.gguf.part`. What lies in
    the hub's own cache on this machine already is copied from there. `stop` ends the download from another thread.
    Raises DownloadFailed, DownloadStopped and DiskFull.
    """
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{model.name}.gguf"
    part = folder / f"{model.name}.gguf.part"
    cached = _cached(model)
    if cached is not None:
        promise = _Promise(model.size_bytes, model.sha256)
        _copy(model, cached, part, progress)
    else:
        promise = _fetch(model, part, progress, stop or threading.Event())
    _check(model, part, promise)
    os.replace(part, target)
    return target


def _cached(model: HubModel) -> Path | None:
    """The file in the hub's cache on this machine, if it is there whole; only where our list says what it should be."""
    from huggingface_hub import try_to_load_from_cache

    there = try_to_load_from_cache(model.repo, model.file)
    if model.sha256 is None or not isinstance(there, str) or Path(there).stat().st_size != model.size_bytes:
        return None
    with open(there, "rb") as file:
        return Path(there) if hashlib.file_digest(file, "sha256").hexdigest() == model.sha256 else None


def _copy(model: HubModel, cached: Path, part: Path, progress: Progress) -> None:
    _room_for(model.size_bytes, part.parent, model)
    progress(0, model.size_bytes)
    shutil.copyfile(cached, part)
    progress(model.size_bytes, model.size_bytes)


def _fetch(model: HubModel, part: Path, progress: Progress, stop: threading.Event) -> _Promise:
    """Bring `part` to its full length and say what it should be."""
    import httpx2
    from huggingface_hub import constants, get_hf_file_metadata, hf_hub_url
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]  # documented, not re-exported

    constants.DOWNLOAD_CHUNK_SIZE = _BLOCK
    url = hf_hub_url(model.repo, model.file, endpoint=hub())
    try:
        about = get_hf_file_metadata(url, endpoint=hub())
        promise = _promised(model, about.etag, about.size)
        have = part.stat().st_size if part.exists() else 0
        if have > promise.size:  # a part of another file
            part.unlink()
            have = 0
        _room_for(promise.size - have, part.parent, model)
        progress(have, promise.size)
        with part.open("ab") as out:
            # Without `identity` the body may come compressed, and ranges would count other bytes than ours. The hub's
            # address is asked again after a cut, not the one it sent us to: that one is signed for an hour.
            headers = {**build_hf_headers(), "Accept-Encoding": "identity"}
            bar: Any = _steps(model, have, promise.size, progress, stop)
            http_get(url, out, resume_size=have, headers=headers, expected_size=promise.size, tqdm_class=bar)
            out.flush()
            os.fsync(out.fileno())
    except OfflineModeIsEnabled:
        raise failure("offline", title=model.title) from None
    except HfHubHTTPError as error:
        raise _refused(model, error.response.status_code) from None
    except httpx2.RequestError as error:
        raise _cut(model, str(error) or type(error).__name__) from None
    except OSError as error:
        if error.errno is not None:  # of the disk
            raise
        # The library has counted more or fewer bytes than the hub named. Fewer may yet come; more are for `_check`.
        if part.stat().st_size < promise.size:
            raise _cut(model, "the connection closed before the file was whole") from None
    return promise


def _cut(model: HubModel, reason: str) -> CallFailed:
    return failure("cut", title=model.title, hub=hub(), reason=reason)


def _steps(model: HubModel, have: int, size: int, progress: Progress, stop: threading.Event) -> type[object]:
    """What the library takes for a progress bar: it passes each block's length on before the block is written."""

    class Steps:
        def __init__(self, *, initial: int = 0, **_: object) -> None:
            # 0 where the server begins again, whatever was asked for.
            self.done = initial
            if initial != have:
                progress(initial, size)

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def update(self, length: int) -> None:
            if stop.is_set():
                raise failure("stopped", title=model.title, mb=self.done / 1e6)
            self.done += length
            progress(self.done, size)

    return Steps


def _promised(model: HubModel, etag: str | None, size: int | None) -> _Promise:
    """`etag` and `size` (bytes) as the hub gives them: the etag of a large file is its sha256."""
    digest = (etag or "").lower()
    sha256 = model.sha256 or (digest if _SHA256.fullmatch(digest) else None)
    return _Promise(model.size_bytes if size is None else size, sha256)


def _refused(model: HubModel, status: int) -> CallFailed:
    name = {404: "not_on_hub", 401: "account_wanted", 403: "account_wanted"}.get(status, "hub_failed")
    return failure(name, hub=hub(), file=f"{model.repo}/{model.file}", status=status)


def _room_for(needed: int, folder: Path, model: HubModel) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed + _SPARE_BYTES:
        raise failure("disk_full", title=model.title, needed=needed / 1e9, folder=folder, free=free / 1e9)


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
    raise failure("altered", title=model.title, wrong=wrong)
