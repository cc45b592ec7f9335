"""Recordings that come with the app as archives, unpacked at first use.

An archive is a bundle (`core.runs.bundle`) in the `packs` folder of the recordings. Its journals are unpacked into a
folder of the home, or into a temporary folder of this process if the home is not writable, and read from there.
"""

import hashlib
import logging
import os
import shutil
import tempfile
import time
import zipfile
import zlib
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from . import home

log = logging.getLogger(__name__)

FOLDER = "packs"
"""The name of the archives' folder inside the folder of recordings."""

MOST_BYTES = 200_000_000
"""Largest total size of one archive's unpacked journals; the archives that come with the app stay below a twentieth."""

DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError)
"""What zipfile raises while reading a file that is damaged, encrypted or not an archive."""

_WITHIN = "journals/"
_OLD = 24 * 3600
"""Age in seconds after which the folder of another version of the archives is removed."""


def folder(recordings: Path) -> Path | None:
    """Return the folder with the unpacked journals of the archives in `recordings`, unpacking them if necessary. None
    if there is no archive, or if it cannot be unpacked.
    """
    try:
        entries = [one for one in os.scandir(recordings / FOLDER) if one.name.endswith(".zip")]
        archives = tuple(sorted((one.path, one.stat().st_mtime_ns, one.stat().st_size) for one in entries))
    except OSError:
        return None
    if not archives:
        return None
    try:
        target = home.index("unpacked") / _digest(archives)
        if not target.is_dir():
            _unpack([path for path, _, _ in archives], target)
    except (OSError, home.DataDirError) as error:
        log.warning("%s cannot be unpacked: %s", recordings / FOLDER, error)
        return None
    return target


def journals(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Return the journals in an archive by file name, leaving out names that lead to another folder."""
    named = {one.filename.removeprefix(_WITHIN): one for one in archive.infolist()}
    return {
        name: one
        for name, one in named.items()
        if one.filename == _WITHIN + name and name.endswith(".jsonl") and Path(name).name == name
    }


@lru_cache(maxsize=8)
def _digest(archives: tuple[tuple[str, int, int], ...]) -> str:
    """Return a digest of what the archives contain. Times and sizes are part of the cache key, so that a changed
    archive is read again.
    """
    return hashlib.sha256(b"".join(Path(path).read_bytes() for path, _, _ in archives)).hexdigest()[:16]


def _unpack(archives: Sequence[str], target: Path) -> None:
    """Unpack the journals of the archives into a new folder, which appears in one step. Raises OSError."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, ignore_cleanup_errors=True) as beside:
        fresh = Path(beside) / target.name
        fresh.mkdir()
        for archive in archives:
            _unpack_one(archive, fresh)
        try:
            fresh.rename(target)
        except OSError:
            # Another process or thread may have created it first.
            if not target.is_dir():
                raise
    for other in target.parent.iterdir():
        with suppress(OSError):
            if other != target and time.time() - other.stat().st_mtime > _OLD:
                shutil.rmtree(other)


def _unpack_one(archive: str, target: Path) -> None:
    """Unpack one archive's journals into the folder; from a damaged archive, those before the damage. Raises
    OSError.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            found = journals(opened)
            # zipfile never reads more of a file than the size that the archive declares for it.
            if sum(one.file_size for one in found.values()) > MOST_BYTES:
                raise zipfile.BadZipFile(f"unpacked, it takes more than {MOST_BYTES // 1_000_000} MB")
            for name, one in found.items():
                if one.header_offset < 0:  # zipfile would seek there, which is an error of the file system
                    raise zipfile.BadZipFile(f"{name} begins before the archive does")
                (target / name).write_bytes(opened.read(one))
    except DAMAGED as error:
        log.warning("%s is damaged: %s", archive, error)
