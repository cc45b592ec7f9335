"""Download a data set (`registry.py`) to the folder where the loaders look for it.

It appears there only when all its files are complete, match their known digests, and were unpacked and read
successfully. If a file's digest could not be computed in advance, it is recorded in `$EXPLAIN_HOME/downloads/pins.json`
at the first download; a file that differs later is refused.
"""

import gzip
import hashlib
import json
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple

from ..errors import ExplainError
from ..events import CallError
from ..home import home, write
from ..lease import Lease, LeaseHeldError
from ..models.download import DownloadRequest, Progress, altered, check, fetch, remote
from ..models.errors import failure
from . import registry
from .items import DatasetError
from .registry import UNKNOWN, Source, SourceFile, mirrored

# Unpack an archive from the network, trusting nothing in it.
#
# Only members that were asked for are written, under names made here, into a separate folder, and never more than a
# data set can have. A whole archive is refused if it contains a path that leads elsewhere, a link or a device, two
# members of one name, or more members or bytes than any data set has, and if it is cut short.


MOST_MEMBERS = 200_000
"""Maximum number of members of one archive. The largest known, IMDB's, has half as many."""

MOST_BYTES = 2 * 1024**3
"""Maximum size of one archive's unpacked content, whether it is kept or not."""

_LONGEST_NAME = 1_000
_LARGEST_HEADER = 1 << 20
_BLOCK = 1 << 20
_ENTRY = 46
"""The minimum number of bytes of an entry in a zip's directory, without its name."""


class ArchiveError(ExplainError, ValueError):
    """An archive was not unpacked; the message completes “It …”."""


class _Member(NamedTuple):
    """A member of an archive. `wrong` says why no archive may contain it, or is ''. `opened` returns a stream of its
    bytes.
    """

    name: str
    is_folder: bool
    wrong: str
    opened: Callable[[], IO[bytes] | None]


def unpack(archive: Path, keep: Sequence[str], folder: Path) -> None:
    """Unpack into `folder` those members of a .zip or .tar.gz whose path ends as one of `keep` says, each under that
    ending. Raises ArchiveError, even if no member has one of the endings, and OSError of the disk.
    """
    missing = set(keep)
    left = MOST_BYTES
    written: set[str] = set()
    try:
        for count, member in enumerate(_members(archive), start=1):
            if count > MOST_MEMBERS:
                raise ArchiveError(f"holds more than {MOST_MEMBERS:,} files")
            _check(member)
            if member.is_folder or (found := _kept(member.name, keep)) is None:
                continue
            pattern, name = found
            missing.discard(pattern)
            if name.casefold() in written or (folder / name).exists():
                raise ArchiveError(f"holds {name!r} twice")
            written.add(name.casefold())
            left -= _write(member, folder / name, left)
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, gzip.BadGzipFile, EOFError) as error:
        raise ArchiveError(f"is damaged or cut short ({str(error) or type(error).__name__})") from None
    except (NotImplementedError, UnicodeError, OverflowError, RecursionError) as error:
        raise ArchiveError(f"cannot be read ({type(error).__name__})") from None
    if missing:
        raise ArchiveError(f"holds no {sorted(missing)[0]}")


def _members(archive: Path) -> Iterator[_Member]:
    with archive.open("rb") as file:
        begins = file.read(4)
        file.seek(0)
        if begins[:2] == b"\x1f\x8b":
            yield from _of_tar(file)
        elif begins[:2] == b"PK":
            yield from _of_zip(file)
        else:
            raise ArchiveError("is neither a .zip nor a .tar.gz")


def _of_zip(file: BinaryIO) -> Iterator[_Member]:
    # Reading the directory of a hostile zip could use up all memory, so its length is checked first.
    end = zipfile._EndRecData(file)  # type: ignore[attr-defined]
    if end is None:
        raise zipfile.BadZipFile("its end is missing")
    if end[4] > MOST_MEMBERS or end[5] > MOST_MEMBERS * (_ENTRY + _LONGEST_NAME):
        raise ArchiveError(f"holds more than {MOST_MEMBERS:,} files")
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            if info.header_offset < 0:  # zipfile would seek there, which no file system takes
                raise zipfile.BadZipFile("a file of it begins before the archive does")
            kind = stat.S_IFMT(info.external_attr >> 16)
            wrong = ""
            if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                wrong = "a link or a device"
            elif info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                # Other compression methods may expand a few bytes to any size in one step.
                wrong = "encrypted, or packed in a way that is not read here"
            yield _Member(info.orig_filename, info.is_dir(), wrong, lambda info=info: archive.open(info))  # type: ignore[misc]


def _of_tar(file: BinaryIO) -> Iterator[_Member]:
    with gzip.open(file) as unpacked, tarfile.open(fileobj=_Bounded(unpacked), mode="r:") as archive:  # type: ignore[call-overload]
        while (info := archive.next()) is not None:
            archive.members.clear()  # otherwise all would be kept in memory
            wrong = "" if info.isdir() or (info.isreg() and not info.issparse()) else "a link or a device"
            yield _Member(info.name, info.isdir(), wrong, lambda info=info: archive.extractfile(info))  # type: ignore[misc]
        while unpacked.read(_BLOCK):  # read to the end, where the checksum is
            if unpacked.tell() > MOST_BYTES:
                raise _too_large()


class _Bounded:
    """The stream that tarfile reads from. It limits the total length and the size of a header."""

    def __init__(self, file: gzip.GzipFile) -> None:
        self._file = file

    def read(self, size: int) -> bytes:
        if size > _LARGEST_HEADER:
            raise ArchiveError("has a header that no data set has")
        self._within(self._file.tell() + size)
        return self._file.read(size)

    def seek(self, to: int) -> int:
        self._within(to)
        return self._file.seek(to)

    def tell(self) -> int:
        return self._file.tell()

    def _within(self, to: int) -> None:
        if to > MOST_BYTES + _LARGEST_HEADER:
            raise _too_large()


def _too_large() -> ArchiveError:
    return ArchiveError(f"unpacks to more than {MOST_BYTES / 1e9:.1f} GB")


def _check(member: _Member) -> None:
    """Raises ArchiveError for a member that no archive of data contains."""
    shown = repr(member.name[:80])
    if len(member.name) > _LONGEST_NAME:
        raise ArchiveError(f"holds a file with a name of {len(member.name):,} characters")
    parts = member.name.rstrip("/").split("/")
    if ".." in parts or parts[0] == "" or parts[0].endswith(":") or "\\" in member.name:
        raise ArchiveError(f"holds {shown}, a path that leads elsewhere")
    if not member.name.isprintable():
        raise ArchiveError(f"holds {shown}, a name with unprintable characters")
    if member.wrong:
        raise ArchiveError(f"holds {shown}, which is {member.wrong}")


def _kept(path: str, keep: Sequence[str]) -> tuple[str, str] | None:
    """Return the ending in `keep` that matches the path, and the matching part of the path; None if none matches."""
    parts = path.split("/")
    for pattern in keep:
        # With equally many slashes on both sides a * cannot match a slash.
        tail = "/".join(parts[-(pattern.count("/") + 1) :])
        if tail.count("/") == pattern.count("/") and fnmatchcase(tail, pattern):
            return pattern, tail
    return None


def _write(member: _Member, target: Path, most: int) -> int:
    """Write a member and return its size in bytes. Raises ArchiveError if it has more than `most`."""
    target.parent.mkdir(parents=True, exist_ok=True)
    source = member.opened()
    if source is None:
        raise ArchiveError(f"holds {member.name[:80]!r}, which is no file")
    size = 0
    with source, target.open("xb") as out:
        while block := source.read(_BLOCK):
            size += len(block)
            if size > most:
                raise _too_large()
            out.write(block)
    return size


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
    total = mb(sum(sizes))
    if len(sizes) < len(expected):
        total = f"a size that the server does not say, {total} or more"
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
    source: Source, progress: Progress = lambda done, size: None, expected: list[ExpectedFile] | None = None
) -> Path:
    """Download `source` into its folder, unless the folder exists already, and return the folder. Blocks. Resumes an
    interrupted download. `expected` is the result of `list_files`, if it was called before.

    Raises DownloadError, DiskFullError and what `progress` raises.
    """
    if source.is_here:
        return source.folder
    place = home() / "downloads" / source.name
    with _alone(source, place):
        try:
            return _get(source, place, progress, list_files(source) if expected is None else expected)
        except OSError as error:
            reason = error.strerror or str(error)
            raise failure("unwritten", title=source.title, folder=place, reason=reason) from None


def _get(source: Source, place: Path, progress: Progress, expected: list[ExpectedFile]) -> Path:
    total = sum(one.size for one in expected if one.size) if all(one.size for one in expected) else 0
    before = 0
    parts: list[Path] = []
    digests: dict[str, dict[str, Any]] = {}
    for one in expected:
        wanted, part = _wanted(source, one.url), place / _part(one)
        part.parent.mkdir(parents=True, exist_ok=True)
        fetch(wanted, one.size, part, lambda done, size, before=before: progress(before + done, total))  # type: ignore[misc]
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
    size, sha256, whence = None, about.sha256, "as the hub states it"
    if file.sha256 is not None:
        size, sha256, whence = file.bytes, file.sha256, "computed from the official file"
    elif (pin := pinned.get(file.url)) is not None:
        size, sha256, whence = pin["bytes"], pin["sha256"], f"recorded here on {pin.get('recorded', 'an earlier day')}"
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
