"""Packs: the journals of many runs in one file, read where they lie.

`packs/<name>.zip` in a folder of journals is a bundle (`core.runs.bundle`) of runs that completed, whole or not there
at all, and never changed. A journal that lies in the folder as a file of its own goes before what packs hold of its
name.
"""

from __future__ import annotations

import io
import logging
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

log = logging.getLogger(__name__)

FOLDER = "packs"
"""Where packs lie, in the folder of journals."""

ENDING = ".zip"

_WITHIN = "journals/"

if TYPE_CHECKING:
    _Path = Path
else:
    # Before Python 3.12 only the system's own kind of path can be the base of another.
    _Path = type(Path())


class Packed(_Path):
    """The path of a journal in a pack: `<pack>/<run>.jsonl`. It can be read as any other path, and not written."""

    def open(self, mode: str = "r", *_: Any, **__: Any) -> IO[Any]:  # type: ignore[override]
        """What the journal holds, for reading bytes. Raises FileNotFoundError; OSError where the pack is damaged;
        PermissionError for any other mode.
        """
        if mode != "rb":
            raise PermissionError(f"{self} is in a pack, which is read-only")
        return io.BytesIO(self.read_bytes())

    def read_bytes(self) -> bytes:
        """All of the journal. Raises FileNotFoundError, and OSError where the pack is damaged."""
        with _in_pack(self) as (pack, info):
            return pack.read(info)

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """The pack's, with the journal's own size. Raises FileNotFoundError."""
        with _in_pack(self) as (_, info):
            of_pack = os.stat(os.path.dirname(self))
            fields = {
                name: getattr(of_pack, name) for name in dir(of_pack) if name.startswith("st_") and name != "st_size"
            }
            return os.stat_result((*of_pack[:6], info.file_size, *of_pack[7:]), fields)

    def exists(self, *, follow_symlinks: bool = True) -> bool:
        """Whether the pack is there and holds it."""
        try:
            with _in_pack(self):
                return True
        except OSError:
            return False

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        """The same."""
        return self.exists()


@contextmanager
def _in_pack(path: Packed) -> Iterator[tuple[zipfile.ZipFile, zipfile.ZipInfo]]:
    """The pack that a journal lies in, and its entry there. Raises FileNotFoundError; OSError for a damaged pack."""
    name = os.path.dirname(path)
    try:
        status = os.stat(name)
        pack = _opened(name, status.st_mtime_ns, status.st_size)
        yield pack, pack.getinfo(_WITHIN + path.name)
    except (KeyError, NotADirectoryError, IsADirectoryError):
        raise FileNotFoundError(f"{path} is not there") from None
    except (zipfile.BadZipFile, zlib.error) as error:
        raise OSError(f"{name} is damaged: {error}") from None


@lru_cache(maxsize=16)
def _opened(pack: str, modified: int, size: int) -> zipfile.ZipFile:
    """The pack as it was at that time; its list of ten thousand journals takes a tenth of a second to read."""
    return zipfile.ZipFile(pack)


def packs(folder: Path) -> list[Path]:
    """The packs of a folder of journals."""
    try:
        return sorted(Path(one) for one in os.scandir(folder / FOLDER) if one.name.endswith(ENDING))
    except OSError:
        return []


def journals(pack: Path) -> Iterator[Packed]:
    """The journals in a pack; none where it is damaged, which the log says."""
    try:
        status = pack.stat()
        names = _opened(str(pack), status.st_mtime_ns, status.st_size).namelist()
    except (OSError, zipfile.BadZipFile) as error:
        log.warning("%s cannot be read: %s", pack, error)
        return
    yield from (Packed(pack / name.removeprefix(_WITHIN)) for name in names if name.startswith(_WITHIN))


def folder(path: Path) -> Path:
    """The folder of journals to which a journal belongs, whether it lies there or in one of its packs."""
    return path.parents[2] if isinstance(path, Packed) else path.parent


def find(run: str, folder: Path) -> Packed | None:
    """The run's journal in a pack of the folder; None where none has it."""
    places = (Packed(pack / f"{run}.jsonl") for pack in packs(folder))
    return next((place for place in places if place.exists()), None)
