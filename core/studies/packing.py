"""Packs a study's journals into one archive, and unpacks them. Nothing is removed before its copy was read back and is
right: whenever the process ends, every journal is in the folder or in the archive, and the same call again completes
the work.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import NamedTuple

from .. import archives, journal, policy
from ..journal import JournalFullError, JournalInUseError
from ..runs import repack
from .plan import Study, StudyError
from .run_status import is_completed


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
        left_out |= repack.write(file, chosen, folder)
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
                        left_out[name] = "it was gone on with meanwhile"
            except JournalInUseError:
                left_out[name] = "it is still going on"
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
    repack.sync(folder)
    file.unlink()
    return len(packed)
