"""Downloads on request, with `huggingface_hub`: files from any server, and from the hub larger local models and the
folders of other models.

The library knows the hub's routes, headers, mirrors and tokens, and resumes after a broken connection. This module adds
what `hf_hub_download` (2.4) does not do: an incomplete file is kept, so that a stopped download can be resumed; the
file is compared with its sha256; and a person can stop it. So the bytes come through `http_get`, which
`hf_hub_download` uses too, into a file of ours.
"""

import hashlib
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar
from urllib.parse import unquote

from .. import package_data
from ..events import CallError, Frozen
from .errors import failure

Progress = Callable[[int, int], None]
"""Called with the bytes received and the bytes in all (0 if the server does not say), before each block is written.
What it raises ends the download, which can be resumed.
"""

_BLOCK = 1 << 20
"""Bytes after which data are written and the stop is checked; on a slow line the library's 10 MB take minutes."""

_PATIENCE = 30.0
"""Seconds for an answer about a file."""

_SPARE_BYTES = 200 * 1024**2
_SHA256 = re.compile(r"[0-9a-f]{64}")


class HubModel(Frozen):
    """A GGUF file on the hub. If `sha256` is None, because our list has none, the hub's own value is used."""

    name: str
    title: str
    about: str = ""
    licence: str
    repo: str
    file: str
    size_bytes: int
    sha256: str | None = None


class HubFolder(Frozen):
    """A model on the hub that consists of several files: those that `data/weights.toml` lists under its `name`, at this
    revision (a commit).
    """

    name: str
    title: str
    repo: str
    revision: str


class DownloadRequest(NamedTuple):
    """A file to download. `title` names it in messages, which also say what to do by hand (`by_hand`, an imperative).
    `most`: the download fails once it is larger (bytes).
    """

    title: str
    url: str
    by_hand: str
    most: int | None = None


class Remote(NamedTuple):
    """What a server says about a file before it sends it. `size` in bytes; `tag` differs between versions of the file.

    A field is None, or '', if the server does not say it. Only the hub gives a `sha256`, and only for large files.
    """

    size: int | None
    sha256: str | None
    tag: str


@cache
def downloadable() -> Sequence[HubModel]:
    """The models that can be downloaded, smallest first."""
    return tuple(sorted(package_data.rows("models", "model", HubModel), key=lambda model: model.size_bytes))


def hub() -> str:
    """The address of the hub: `$HF_ENDPOINT`, or the public hub."""
    return (os.environ.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/")


def download(model: HubModel, folder: Path, progress: Progress = lambda done, size: None) -> Path:
    """Download `model` to `<folder>/<name>.gguf`. Blocks: for use in a thread, one for each model (`Fetches`). Resumes
    an earlier download that stopped.

    The file gets its name only when it is complete and checked; until then it is `<name>.gguf.part`. A file in the
    hub's own cache on this machine is copied from there. Raises DownloadError, DiskFullError, and what `progress`
    raises.
    """
    from huggingface_hub import hf_hub_url, try_to_load_from_cache

    url = hf_hub_url(model.repo, model.file, endpoint=hub())
    wanted = DownloadRequest(model.title, url, "give its path on the Models page")
    part = folder / f"{model.name}.gguf.part"
    size, sha256 = model.size_bytes, model.sha256
    folder.mkdir(parents=True, exist_ok=True)
    if not _copied(wanted, try_to_load_from_cache(model.repo, model.file), size, sha256, part, progress):
        about = remote(wanted)
        size, sha256 = about.size if about.size is not None else size, sha256 or about.sha256
        fetch(wanted, size, part, progress)
    check(wanted, part, size, sha256)
    with part.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise altered(wanted, part, "it is not a GGUF model")
    return part.replace(part.with_suffix(""))


def download_folder(model: HubFolder, folder: Path, progress: Progress = lambda done, size: None) -> Path:
    """Download the files of `model` that are missing in `folder` or are not the right ones, and return the folder.
    Blocks, resumes and raises like `download`; `progress` is about all files together.
    """
    from huggingface_hub import hf_hub_url, try_to_load_from_cache

    files = package_data.weights_of(model.name)
    before, whole = 0, sum(file.size_bytes for file in files)

    def advance(done: int, size: int) -> None:
        progress(before + done, whole)

    for file in files:
        target, part = folder / file.name, folder / f"{file.name}.part"
        if package_data.digest(target) != file.sha256:
            url = hf_hub_url(model.repo, file.name, revision=model.revision, endpoint=hub())
            wanted = DownloadRequest(model.title, url, f"copy the model's files into {folder}")
            cached = try_to_load_from_cache(model.repo, file.name, revision=model.revision)
            target.parent.mkdir(parents=True, exist_ok=True)
            if not _copied(wanted, cached, file.size_bytes, file.sha256, part, advance):
                fetch(wanted, file.size_bytes, part, advance)
            check(wanted, part, file.size_bytes, file.sha256)
            part.replace(target)
        before += file.size_bytes
    progress(whole, whole)
    return folder


def _copied(
    wanted: DownloadRequest, cached: object, size: int, sha256: str | None, part: Path, progress: Progress
) -> bool:
    """Copy the file from the hub's cache on this machine to `part`; False if it is not at the path `cached` with this
    size and digest. Without a digest of ours it is unknown what the file should be.
    """
    there = Path(cached) if isinstance(cached, str) else None
    if there is None or there.stat().st_size != size or package_data.digest(there) != sha256:
        return False
    _room_for(size, part.parent, wanted)
    progress(0, size)
    shutil.copyfile(there, part)
    progress(size, size)
    return True


def remote(wanted: DownloadRequest) -> Remote:
    """Ask the server about a file. Raises DownloadError."""
    with _in_words(wanted):
        about = _about(wanted.url)
    return about


def _about(url: str) -> Remote:
    from huggingface_hub import get_hf_file_metadata, get_session
    from huggingface_hub.utils import hf_raise_for_status  # type: ignore[attr-defined]  # documented, not re-exported

    if _on_hub(url):
        about = get_hf_file_metadata(url, endpoint=hub())
        etag = about.etag or ""
        # The etag of a large file is its sha256.
        return Remote(about.size, etag.lower() if _SHA256.fullmatch(etag.lower()) else None, etag)
    response = get_session().head(url, headers=_headers(url), timeout=_PATIENCE)
    if response.status_code in (405, 501):  # a server that does not answer HEAD
        return Remote(None, None, "")
    hf_raise_for_status(response)
    length = response.headers.get("Content-Length", "")
    tag = response.headers.get("ETag") or response.headers.get("Last-Modified") or ""
    return Remote(int(length) if length.isdecimal() else None, None, tag)


def fetch(wanted: DownloadRequest, size: int | None, part: Path, progress: Progress) -> None:
    """Download into the file `part` up to its full length, `size` bytes, resuming where it ended before; without a size
    it begins again. Raises DownloadError and DiskFullError, OSError for the disk, and what `progress` raises: `part` is
    kept.
    """
    from huggingface_hub import constants
    from huggingface_hub.errors import HfHubHTTPError
    from huggingface_hub.file_download import http_get

    constants.DOWNLOAD_CHUNK_SIZE = _BLOCK
    with _in_words(wanted):
        have = part.stat().st_size if part.exists() else 0
        if have and (size is None or have > size):  # a part of another file, or possibly so
            part.unlink()
            have = 0
        _room_for((size or 0) - have, part.parent, wanted)
        progress(have, size or 0)
        with part.open("ab") as out:
            # After a cut, the hub's address is asked again, not the one that it redirected to: that one is signed for
            # an hour.
            bar: Any = _steps(wanted, have, size or 0, progress)
            try:
                http_get(
                    wanted.url,
                    out,
                    resume_size=have,
                    headers=_headers(wanted.url),
                    expected_size=size,
                    tqdm_class=bar,
                )
            except OSError as error:
                if error.errno is not None or isinstance(error, HfHubHTTPError):  # of the disk, or a refusal
                    raise
                # The library received more or fewer bytes than the server announced. Fewer can be resumed; `check`
                # finds more.
                if size is None or out.tell() < size:
                    raise _cut(wanted, "the connection closed before the file was whole") from None
            out.flush()
            os.fsync(out.fileno())


def _on_hub(url: str) -> bool:
    return url.startswith(f"{hub()}/")


def _headers(url: str) -> dict[str, str]:
    """Headers for the request. A token is sent only to the hub. Without `identity` the body may be compressed, and
    ranges would count different bytes than ours.
    """
    from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]  # documented, not re-exported

    return {**build_hf_headers(token=None if _on_hub(url) else False), "Accept-Encoding": "identity"}


@contextmanager
def _in_words(wanted: DownloadRequest) -> Iterator[None]:
    """Turn what the library or the server refuses into DownloadError. Raises DownloadError."""
    import httpx2
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

    try:
        yield
    except OfflineModeIsEnabled:
        raise failure("offline", title=wanted.title) from None
    except HfHubHTTPError as error:
        raise _refused(wanted, error.response.status_code) from None
    except (httpx2.RequestError, httpx2.InvalidURL) as error:
        raise _cut(wanted, str(error) or type(error).__name__) from None


def _cut(wanted: DownloadRequest, reason: str) -> CallError:
    return failure("cut", title=wanted.title, hub=_server(wanted.url), reason=reason)


def _server(url: str) -> str:
    return hub() if _on_hub(url) else "/".join(url.split("/")[:3])


def _steps(wanted: DownloadRequest, have: int, size: int, progress: Progress) -> type[object]:
    """A class that the library uses as a progress bar: it reports each block's length before the block is written."""

    class Steps:
        def __init__(self, *, initial: int = 0, **_: object) -> None:
            # `initial` is 0 if the server begins again, whatever was requested.
            self.done = initial
            if initial != have:
                progress(initial, size)

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def update(self, length: int) -> None:
            self.done += length
            if wanted.most is not None and self.done > wanted.most:
                raise failure("endless", title=wanted.title, mb=wanted.most / 1e6)
            progress(self.done, size)

    return Steps


def _refused(wanted: DownloadRequest, status: int) -> CallError:
    name = "not_on_hub" if status in (404, 410) else "hub_failed"
    if status in (401, 403) and _on_hub(wanted.url):
        name = "account_wanted"
    server = _server(wanted.url)
    file = unquote(re.sub(r"/resolve/\w+/", "/", wanted.url.removeprefix(f"{server}/"), count=1))
    return failure(name, hub=server, file=file, status=status, by_hand=wanted.by_hand)


def _room_for(needed: int, folder: Path, wanted: DownloadRequest) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed + _SPARE_BYTES:
        raise failure("disk_full", title=wanted.title, needed=needed / 1e9, folder=folder, free=free / 1e9)


def check(wanted: DownloadRequest, part: Path, size: int | None, sha256: str | None) -> str:
    """The sha256 of a downloaded file. Raises DownloadError, and removes the file, if its size (bytes) or digest
    differs from the one given.
    """
    with part.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    came = part.stat().st_size
    if size is not None and came != size:
        raise altered(wanted, part, f"it has {came:,} bytes instead of {size:,}")
    if sha256 is not None and digest != sha256:
        raise altered(wanted, part, f"its sha256 is {digest[:12]}… instead of {sha256[:12]}…")
    return digest


def altered(wanted: DownloadRequest, part: Path, wrong: str) -> CallError:
    """The failure to raise for a downloaded file that is not what it should be; `part` is removed."""
    part.unlink()
    return failure("altered", title=wanted.title, wrong=wrong)


# Downloads in progress, each in a thread of its own, so that a page can come and go.


class Named(Protocol):
    """Something that can be downloaded."""

    @property
    def name(self) -> str:
        """Its name, unique within its kind."""

    @property
    def title(self) -> str:
        """Its title for people."""


What = TypeVar("What", bound=Named)


@dataclass
class Fetch:
    """One download, with its bytes; `failure` or `downloaded` is set when it is over."""

    done: int = 0
    size: int = 0
    failure: CallError | None = None
    downloaded: Path | None = None
    stop: threading.Event = field(default_factory=threading.Event)

    @property
    def going(self) -> bool:
        """Whether the download is still in progress."""
        return self.failure is None and self.downloaded is None


class Fetches(Generic[What]):
    """The process's downloads of one kind, by name. `get` downloads one, and returns the file or folder."""

    def __init__(self, get: Callable[[What, Progress], Path]) -> None:
        self._get = get
        self._by_name: dict[str, Fetch] = {}
        self._turn = threading.Lock()

    def start(self, what: What) -> Fetch:
        """Begin to download `what`, or resume where it stopped; returns the download in progress if there is one."""
        with self._turn:
            fetch = self._by_name.get(what.name)
            if fetch is None or not fetch.going:
                fetch = self._by_name[what.name] = Fetch()
                threading.Thread(
                    target=self._run, args=[what, fetch], name=f"download {what.name}", daemon=True
                ).start()
        return fetch

    def get(self, name: str) -> Fetch | None:
        """The download of that name, in progress or over; None if none was begun."""
        return self._by_name.get(name)

    def _run(self, what: What, fetch: Fetch) -> None:
        def progress(done: int, size: int) -> None:
            if fetch.stop.is_set():
                raise failure("stopped", title=what.title, mb=fetch.done / 1e6)
            fetch.done, fetch.size = done, size

        try:
            fetch.downloaded = self._get(what, progress)
        except CallError as ended:
            fetch.failure = ended
        except OSError as error:
            fetch.failure = CallError(f"{what.title} could not be written: {error.strerror}.")
