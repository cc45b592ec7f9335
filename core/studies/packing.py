"""Packs a study's journals into one archive, and unpacks them. Nothing is removed before its copy was read back and is
right: whenever the process ends, every journal is in the folder or in the archive, and the same call again completes
the work.
"""

import contextlib
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from .. import archives, journal, policy
from ..journal import JournalFullError, JournalInUseError
from ..runs import bundle
from .plan import Study, StudyError
from .run_status import is_completed

# Archives of journals: a new archive replaces the old one in one step, after it was read back and checked.


def write(file: Path, runs: list[str], folder: Path) -> dict[str, str]:
    """Write the archive `file` of these runs; returns the runs that are not in it, each with the reason. Raises
    JournalFullError, in which case no archive was written.
    """
    beside = file.with_name(f".{file.name}.part")
    try:
        with beside.open("wb") as target:
            written = bundle.write(target, runs, (folder,), with_words=False)
            target.flush()
            os.fsync(target.fileno())
        _check(beside, written.left_out, folder)
        beside.replace(file)
        sync(file.parent)
    except (OSError, zipfile.BadZipFile) as error:
        beside.unlink(missing_ok=True)
        why = getattr(error, "strerror", None) or error
        raise JournalFullError(f"{file} could not be written ({why}). The journals are as they were.") from None
    return written.left_out


def _check(archive: Path, left_out: Mapping[str, str], folder: Path) -> None:
    """Check a new archive. Raises OSError if it is damaged, or if a run that is not in it would be lost."""
    with zipfile.ZipFile(archive) as back:
        if (damaged := back.testzip()) is not None:
            raise OSError(f"{damaged} is not what was written")
    for run, why in left_out.items():
        if not (folder / f"{run}.jsonl").exists():
            raise OSError(f"{run} would be lost: {why}")


def sync(folder: Path) -> None:
    """Flush a folder's directory entries to disk, if the system can do that."""
    with contextlib.suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


class Packing(NamedTuple):
    """The archive, the number of its runs, its size and that of the journals in it, in bytes; and which runs are left
    out, and why.
    """

    file: Path
    runs: int
    bytes: int
    unpacked: int
    left_out: dict[str, str]


def pack(study: Study, folder: Path) -> Packing:
    """Pack the journals of the study's completed runs into `archives/<study>.zip`, from which `unpack` restores them.
    The journals of what people said stay. Raises JournalFullError, in which case nothing changes, and JournalInUseError
    while another process packs the study.
    """
    file = _file(study, folder)
    file.parent.mkdir(exist_ok=True)
    with journal.exclusive(file):
        return _pack(study, folder, file)


def refuse_packed(study: Study, folder: Path) -> None:
    """Check that the study is not packed, since journals in an archive cannot be read. Raises StudyError if it is."""
    if (file := _file(study, folder)).exists():
        raise StudyError(f"The runs of this study are packed in {file}. Unpack them first (`study unpack`).")


def _file(study: Study, folder: Path) -> Path:
    return folder / "archives" / f"{study.name}.zip"


def _pack(study: Study, folder: Path, file: Path) -> Packing:
    chosen, left_out = [], {}
    for run in study.all:
        path = journal.path_for(folder, run.id)
        if not path.exists() and file.exists():
            continue
        if not is_completed(path):
            left_out[run.id] = "it has not completed"
        elif policy.limit("days_kept") is not None and (begun := journal.first_event(path)) and begun.owner:
            left_out[run.id] = "it is a visitor's, and would be kept longer than visitors' runs are"
        else:
            chosen.append(run.id)
    if chosen and not file.exists():
        left_out |= write(file, chosen, folder)
    if not file.exists():
        return Packing(file, 0, 0, 0, left_out)
    with zipfile.ZipFile(file) as archive:
        packed = archives.journals(archive)
        # A journal equal to its copy is removed; one that was written to meanwhile stays.
        for name in chosen:
            path = folder / f"{name}.jsonl"
            try:
                with journal.exclusive(path):
                    if path.name not in packed:
                        left_out[name] = "it is not in the archive: unpack the study, and pack it again"
                    elif path.read_bytes() == archive.read(packed[path.name]):
                        path.unlink()
                    else:
                        left_out[name] = "it was continued in the meantime"
            except JournalInUseError:
                left_out[name] = "it is still in progress"
    size = sum(one.file_size for one in packed.values())
    return Packing(file, len(packed), file.stat().st_size, size, left_out)


def unpack(study: Study, folder: Path) -> int:
    """Restore the journals of the study's archive to the folder; returns how many. Raises JournalFullError if that
    fails, for example because the archive is damaged, and then keeps the archive.
    """
    file = _file(study, folder)
    if not file.exists():
        return 0
    try:
        with zipfile.ZipFile(file) as archive:
            packed = archives.journals(archive)
            for name, one in packed.items():
                if not (path := folder / name).exists():
                    journal.write_atomic(path, archive.read(one))
    except (*archives.DAMAGED, OSError) as error:
        raise JournalFullError(f"{file} could not be unpacked ({error}). It stays as it is.") from None
    sync(folder)
    file.unlink()
    return len(packed)
