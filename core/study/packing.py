"""A study's journals in one file, and back. Nothing is removed before what takes its place was read back and is right;
whatever ends the process in between, every journal can be read, and doing it again ends what was begun.
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
    """The file, how many runs it holds, its bytes and those of the journals in it, and the runs that are not in it."""

    file: Path
    runs: int
    bytes: int
    unpacked: int
    left_out: dict[str, str]


def pack(study: Study, folder: Path) -> Packing:
    """Put the journals of the study's completed runs into `packs/<study>.zip`, those that were packed before too. What
    people said of the runs stays where it is. Raises JournalFull, and then everything is as it was, and JournalInUse
    where somebody else is packing it.
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
    # What is in the pack word for word goes; what was written on meanwhile stays, and goes before the pack's.
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
    sizes = [one.stat().st_size for one in packs.journals(file)]
    return Packing(file, len(sizes), file.stat().st_size, sum(sizes), left_out)


def unpack(study: Study, folder: Path) -> int:
    """Put the journals of the study's pack back into the folder, each as a file of its own; how many. Raises
    JournalFull, and then the pack stays.
    """
    file = _file(study, folder)
    found = list(packs.journals(file)) if file.exists() else []
    for one in found:
        path = folder / one.name
        if not path.exists():
            journal.put(path, one.read_bytes())
    if found:
        repack.sync(folder)
        file.unlink()
    return len(found)
