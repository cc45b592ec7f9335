"""A study's journals in one file, and back. Nothing is removed before its copy was read back and is right: whenever the
process ends, every journal can be read, and the same call again completes the work.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from core import journal, packs
from core.journal import JournalInUse
from core.runs import repack
from core.study.plan import Study
from core.study.standing import is_completed


class Packing(NamedTuple):
    """The file, its runs, its size and that of the journals in it; which runs are left out, and why."""

    file: Path
    runs: int
    bytes: int
    unpacked: int
    left_out: dict[str, str]


def pack(study: Study, folder: Path) -> Packing:
    """Put the journals of the study's completed runs into `packs/<study>.zip`, those that were packed before too. The
    journals of what people said stay. Raises JournalFull, which changes nothing, and JournalInUse while another process
    packs the study.
    """
    file = _file(study, folder)
    file.parent.mkdir(exist_ok=True)
    with journal.held(file):
        return _pack(study, folder, file)


def _file(study: Study, folder: Path) -> Path:
    return folder / packs.FOLDER / f"{study.name}{packs.ENDING}"


def _pack(study: Study, folder: Path, file: Path) -> Packing:
    chosen, left_out = [], {}
    for run in study.all:
        path = journal.at(folder, run.id)
        if not is_completed(path):
            left_out[run.id] = "it has not completed"
        elif isinstance(path, packs.Packed) and path.parent != file:
            left_out[run.id] = f"it lies in {path.parent.name}, the pack of another study"
        else:
            chosen.append(run.id)
    if not chosen:
        return Packing(file, 0, 0, 0, left_out)
    plain = [folder / f"{run}.jsonl" for run in chosen if (folder / f"{run}.jsonl").exists()]
    if plain:
        left_out |= repack.write(file, chosen, folder)
    # A journal equal to its copy is removed; one that was written to meanwhile stays, and is read in place of the copy.
    for path in plain:
        if path.stem in left_out:
            continue
        try:
            with journal.held(path):
                if path.read_bytes() == packs.Packed(file / path.name).read_bytes():
                    path.unlink()
                else:
                    left_out[path.stem] = "it was gone on with meanwhile"
        except JournalInUse:
            left_out[path.stem] = "it is still going on"
    sizes = [packed.stat().st_size for packed in packs.journals(file)]
    return Packing(file, len(sizes), file.stat().st_size, sum(sizes), left_out)


def unpack(study: Study, folder: Path) -> int:
    """Put the journals of the study's pack back into the folder as files; how many. Raises JournalFull, and then keeps
    the pack.
    """
    file = _file(study, folder)
    journals = list(packs.journals(file)) if file.exists() else []
    for packed in journals:
        path = folder / packed.name
        if not path.exists():
            journal.put(path, packed.read_bytes())
    if journals:
        repack.sync(folder)
        file.unlink()
    return len(journals)
