"""Recordings that ship in archives, unpacked at first use.

An archive is a bundle (`core.runs.bundle`) in the folder `packs` of the recordings. Its journals are unpacked into a
folder of the home, or of this process where the home cannot be written to, and read there.
"""

from __future__ import annotations

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
"""Where the archives lie, in the folder of recordings."""

MOST_BYTES = 200_000_000
"""Of one archive when unpacked; no archive that ships takes a twentieth of it."""

DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError)
"""What zipfile raises while it reads a file that is damaged, encrypted or no archive."""

_WITHIN = "journals/"
_OLD = 24 * 3600
"""Seconds after which a folder that another version of the archives was unpacked into is removed."""


def folder(recordings: Path) -> Path | None:
    """The folder with the journals of the archives of `recordings`; None where there is no archive or no room."""
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
    """The journals in an archive by the names of their files. A name that leads to another folder is left out."""
    named = {one.filename.removeprefix(_WITHIN): one for one in archive.infolist()}
    return {
        name: one
        for name, one in named.items()
        if one.filename == _WITHIN + name and name.endswith(".jsonl") and Path(name).name == name
    }


@lru_cache(maxsize=8)
def _digest(archives: tuple[tuple[str, int, int], ...]) -> str:
    """Of what the archives hold. Their times and sizes are given so that it is computed again when one changes."""
    return hashlib.sha256(b"".join(Path(path).read_bytes() for path, _, _ in archives)).hexdigest()[:16]


def _unpack(archives: Sequence[str], target: Path) -> None:
    """Put the journals of the archives into a new folder, which appears in one step. Raises OSError."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, ignore_cleanup_errors=True) as beside:
        fresh = Path(beside) / target.name
        fresh.mkdir()
        for archive in archives:
            _unpack_one(archive, fresh)
        try:
            fresh.rename(target)
        except OSError:
            # Another process or thread may have been first.
            if not target.is_dir():
                raise
    for other in target.parent.iterdir():
        with suppress(OSError):
            if other != target and time.time() - other.stat().st_mtime > _OLD:
                shutil.rmtree(other)


def _unpack_one(archive: str, target: Path) -> None:
    """Put the archive's journals into the folder; of a damaged one those before the damage. Raises OSError."""
    try:
        with zipfile.ZipFile(archive) as opened:
            found = journals(opened)
            # zipfile reads no more of a file than the size that the archive gives for it.
            if sum(one.file_size for one in found.values()) > MOST_BYTES:
                raise zipfile.BadZipFile(f"unpacked, it takes more than {MOST_BYTES // 1_000_000} MB")
            for name, one in found.items():
                (target / name).write_bytes(opened.read(one))
    except DAMAGED as error:
        log.warning("%s is damaged: %s", archive, error)
