"""Download a data set (`sources.py`) to the folder where the loaders look for it.

It appears there only when all its files are complete, match their known digests, and were unpacked and read
successfully. If a file's digest could not be computed in advance, it is recorded in `$EXPLAIN_HOME/downloads/pins.json`
at the first download; a file that differs later is refused.
"""

import hashlib
import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from ..events import CallError
from ..home import home, write
from ..lease import Lease, LeaseHeldError
from ..models.download import DownloadRequest, Progress, altered, check, fetch, remote
from ..models.errors import failure
from . import registry
from .archives import MOST_BYTES, ArchiveError, unpack
from .items import DatasetError
from .sources import UNKNOWN, Source, SourceFile, mirrored


class ExpectedFile(NamedTuple):
    """A file to be downloaded from `url`, with its `size` (bytes) and `sha256` if known, and the source of the digest
    (`whence`). `tag` identifies the version of the file on the server.
    """

    file: SourceFile
    url: str
    size: int | None
    sha256: str | None
    whence: str
    tag: str

    @property
    def digest(self) -> str:
        """The digest in words."""
        return UNKNOWN if self.sha256 is None else f"{self.sha256} ({self.whence})"


def list_files(source: Source) -> list[ExpectedFile]:
    """Ask the servers about every file of a source, and compare the answers with what is known. Raises
    DownloadError.
    """
    return [_expected(source, file, pins()) for file in source.files]


def about(source: Source, expected: list[ExpectedFile]) -> list[str]:
    """Return the lines to show before a download: the data set's page, licence, size, and target folder."""
    sizes = [one.size for one in expected if one.size is not None]
    total = (
        mb(sum(sizes))
        if len(sizes) == len(expected)
        else f"a size that the server does not say, {mb(sum(sizes))} or more"
    )
    return [
        f"{source.title}: {source.page}",
        f"Licence: {source.licence}",
        f"Download: {total}, into {source.folder}",
        *([source.note] if source.note else []),
        f"Addresses of the files: known from {source.about_address}",
    ]


def about_files(expected: list[ExpectedFile]) -> list[str]:
    """Return a line for each file with its address, size and digest."""
    return [f"{one.url}: {UNKNOWN if one.size is None else mb(one.size)}, sha256 {one.digest}" for one in expected]


def mb(size: int) -> str:
    """Format a number of bytes."""
    return f"{size / 1e6:,.1f} MB" if size >= 100_000 else f"{size:,} bytes"


def get(
    source: Source,
    progress: Progress = lambda done, size: None,
    stop: threading.Event | None = None,
    expected: list[ExpectedFile] | None = None,
) -> Path:
    """Download `source` into its folder, unless the folder exists already, and return the folder. Blocks. Resumes an
    interrupted download. Setting `stop` from another thread ends it; `expected` is the result of `list_files`, if it
    was called before.

    Raises DownloadError, DownloadStoppedError and DiskFullError.
    """
    if source.is_here:
        return source.folder
    place = home() / "downloads" / source.name
    with _alone(source, place):
        try:
            return _get(source, place, progress, stop, list_files(source) if expected is None else expected)
        except OSError as error:
            reason = error.strerror or str(error)
            raise failure("unwritten", title=source.title, folder=place, reason=reason) from None


def _get(
    source: Source, place: Path, progress: Progress, stop: threading.Event | None, expected: list[ExpectedFile]
) -> Path:
    total = sum(one.size for one in expected if one.size) if all(one.size for one in expected) else 0
    before = 0
    parts: list[Path] = []
    digests: dict[str, dict[str, Any]] = {}
    for one in expected:
        wanted, part = _wanted(source, one.url), place / _part(one)
        part.parent.mkdir(parents=True, exist_ok=True)
        fetch(wanted, one.size, part, lambda done, size, before=before: progress(before + done, total), stop)  # type: ignore[misc]
        digest = check(wanted, part, one.size, None)
        if one.sha256 not in (None, digest):
            part.unlink()
            raise _other(source, one.file, f"has the sha256 {digest} instead of {one.sha256}", one.whence)
        before += part.stat().st_size
        parts.append(part)
        if one.file.sha256 is None:
            about = {"sha256": digest, "bytes": part.stat().st_size, "from": one.url, "recorded": str(date.today())}
            digests[one.file.url] = about
    fresh = place / "unpacked"
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        for one, part in zip(expected, parts, strict=True):
            _unpack(source, one, part, fresh)
        _check_readable(source, fresh, place)
        if new := {url: about for url, about in digests.items() if url not in pins()}:
            write(_pins_file(), json.dumps({**pins(), **new}, indent=1).encode())
        source.folder.parent.mkdir(parents=True, exist_ok=True)
        fresh.rename(source.folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    shutil.rmtree(place)
    return source.folder


def pins() -> dict[str, dict[str, Any]]:
    """Return the digests recorded in this home, by official address: `sha256`, `bytes`, `from` and `recorded` (a date).
    Raises DownloadError if the file cannot be read.
    """
    try:
        held = json.loads(_pins_file().read_bytes())
        return {url: dict(about, sha256=str(about["sha256"]), bytes=int(about["bytes"])) for url, about in held.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise failure("pins_broken", file=_pins_file()) from None


def _pins_file() -> Path:
    return home() / "downloads" / "pins.json"


@contextmanager
def _alone(source: Source, place: Path) -> Iterator[None]:
    """Raises DownloadError if another thread or process is downloading the source."""
    try:
        lease = Lease(place.with_name(f"{source.name}.lease"))
    except LeaseHeldError as held:
        raise failure("fetched_elsewhere", title=source.title, who=held.who) from None
    try:
        yield
    finally:
        lease.release()


def _wanted(source: Source, url: str) -> DownloadRequest:
    return DownloadRequest(
        source.title, url, f"put what it holds into $EXPLAIN_HOME/datasets/{source.name}", MOST_BYTES
    )


def _expected(source: Source, file: SourceFile, pinned: dict[str, dict[str, Any]]) -> ExpectedFile:
    url = mirrored(source, file)
    about = remote(_wanted(source, url))
    if file.sha256 is not None:
        known: tuple[int | None, str | None, str] = file.bytes, file.sha256, "computed from the official file"
    elif (pin := pinned.get(file.url)) is not None:
        known = pin["bytes"], pin["sha256"], f"recorded here on {pin.get('recorded', 'an earlier day')}"
    else:
        known = None, about.sha256, "as the hub states it"
    size, sha256, whence = known
    if size is not None and about.size not in (None, size):
        raise _other(source, file, f"has {about.size:,} bytes instead of {size:,}", whence)
    if sha256 is not None and about.sha256 not in (None, sha256):
        raise _other(source, file, f"has the sha256 {about.sha256} instead of {sha256}", whence)
    return ExpectedFile(file, url, about.size if size is None else size, sha256, whence, about.tag)


def _other(source: Source, file: SourceFile, differs: str, whence: str) -> CallError:
    return failure("other_file", title=source.title, url=file.url, differs=differs, whence=whence, pins=_pins_file())


def _part(one: ExpectedFile) -> str:
    """Return the name of the file for incomplete content. It differs for another address or version."""
    version = hashlib.sha256(f"{one.url}\n{one.tag}\n{one.size}".encode()).hexdigest()[:12]
    return f"{one.file.to.replace('/', '-') or one.file.url.rpartition('/')[2]}.{version}.part"


def _unpack(source: Source, one: ExpectedFile, part: Path, fresh: Path) -> None:
    if not one.file.keep:
        target = fresh / one.file.to
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(part, target)
        return
    try:
        unpack(part, one.file.keep, fresh)
    except ArchiveError as refused:
        raise altered(_wanted(source, one.url), part, f"the archive {refused}") from None


def _check_readable(source: Source, fresh: Path, place: Path) -> None:
    """Raises DownloadError if a loader finds no items, for example in an error page or a changed layout."""
    try:
        for name in source.datasets:
            registry.require_items(registry.find(name).read(fresh, None), name)
    except DatasetError as error:
        shutil.rmtree(place)
        wrong = str(error).replace(f"{fresh}/", "").rstrip(".")
        raise failure("altered", title=source.title, wrong=wrong) from None
