"""Unpack an archive from the network, trusting nothing in it.

Only members that were asked for are written, under names made here, into a separate folder, and never more than a data
set can have. A whole archive is refused if it contains a path that leads elsewhere, a link or a device, two members of
one name, or more members or bytes than any data set has, and if it is cut short.
"""

import gzip
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO, BinaryIO, NamedTuple

from ..errors import ExplainError

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
