"""Files of studies: those that come with the app and those that people keep in `$EXPLAIN_HOME/studies`, a file written
from a person's choices, and the archive of a study's journals.
"""

import contextlib
import os
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, count, islice, product
from pathlib import Path
from typing import Any, NamedTuple

import tomli_w
from pydantic import ValidationError

from .. import home, journal, policy
from ..home import write
from ..journal import JournalFullError, JournalInUseError
from ..labs.base.lab import Lab
from ..package_data import ROOT
from ..runs import bundle
from ..runs.context import complaints
from .plan import MOST_EXCLUDED, Study, StudyError, parse
from .run_status import is_completed

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}")

SHIPPED = ROOT / "studies"


def own_folder(home: Path) -> Path:
    """The folder of the studies that people wrote."""
    return home / "studies"


def files(home: Path) -> dict[str, Path]:
    """Every study's file by name: people's own first, then those that come with the app; if both have a name, people's
    own.
    """
    paths = sorted(SHIPPED.glob("*.toml")) + sorted(own_folder(home).glob("*.toml"))
    # A link to a file that is gone is no study any more.
    kept = {path.stem: path for path in paths if _NAME.fullmatch(path.stem) and path.exists()}
    return dict(sorted(kept.items(), key=lambda study: (study[1].parent == SHIPPED, study[0])))


def name_for(text: str) -> str:
    """A study's name from its title: the words, in a form that is valid in an address."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60].strip("-")


def save_study(home: Path, name: str, content: bytes, labs: Mapping[str, Lab]) -> Study:
    """Save a study's file under that name. Raises StudyError if the name is invalid or another study has it, and
    OSError if the file cannot be written.
    """
    if not _NAME.fullmatch(name):
        raise StudyError("A study's name begins with a letter or digit, and has letters, digits, - and _; 60 at most.")
    study = parse(f"{name}.toml", content, labs)
    known = files(home).get(name)
    if known is not None and known.read_bytes() != content:
        raise StudyError(f"There is another study named {name}. Give this one another name.")
    if known is None:
        write(own_folder(home) / f"{name}.toml", content)
    return study


def free_name(home: Path, name: str, content: bytes) -> str:
    """`name`, followed by a number if another study has that name."""
    known = files(home)
    names = chain([name], (f"{name[:55]}-{number}" for number in count(2)))
    return next(unused for unused in names if unused not in known or known[unused].read_bytes() == content)


def list_study(home: Path, file: Path, title: str) -> None:
    """List the study of a file elsewhere among people's own, by a link, so that later changes of the file are followed.
    Raises OSError if the link cannot be made.
    """
    file, folder = file.resolve(), own_folder(home)
    listed = {path.resolve() for path in folder.glob("*.toml")}
    if file in listed or file.parent in (SHIPPED.resolve(), folder.resolve()):
        return
    name = file.stem if _NAME.fullmatch(file.stem) else name_for(title) or "study"
    folder.mkdir(parents=True, exist_ok=True)
    link = folder / f"{free_name(home, name, file.read_bytes())}.toml"
    link.unlink(missing_ok=True)  # one to a file that is gone, or a copy with the same content
    link.symlink_to(file)


# Writes a study's file from a person's choices: each setting has one value, or several, which make a grid.


Point = dict[str, Any]

MOST_POINTS = 2_000
"""The most combinations of a part, each of which is checked; for more, write the file by hand."""


@dataclass(frozen=True)
class Composed:
    """The file's text. Of the `points` of its grid, `left_out` are impossible and excluded; `why` has each reason
    once.
    """

    text: str
    points: int
    left_out: int
    why: tuple[str, ...]


Chosen = Mapping[str, Sequence[Any]]
"""The chosen values of each setting of a lab's specification, for one part of a study."""


def compose(parts: Sequence[tuple[Lab, Chosen]], general: Mapping[str, Any]) -> Composed:
    """Write a study of these parts, each a grid of one lab. `general` has the file's other fields, as core.studies.plan
    reads them; None and empty values are left out.

    Raises StudyError if a part has too many combinations, or no possible one.
    """
    made = []
    for number, (lab, chosen) in enumerate(parts, 1):
        try:
            made.append(_part(lab, chosen))
        except StudyError as error:
            raise StudyError(f"Part {number}: {error}") if len(parts) > 1 else error from None
    faults = [fault for _, of_part in made for fault in of_part]
    file = {name: value for name, value in general.items() if value not in (None, "")}
    file |= {"part": [part for part, _ in made]} if len(made) > 1 else made[0][0]
    text = tomli_w.dumps({**file, "table": _tables(parts)})
    why = dict.fromkeys(fault for fault in faults if fault)
    return Composed(text, len(faults), sum(map(bool, faults)), tuple(why))


def _part(lab: Lab, chosen: Chosen) -> tuple[dict[str, Any], list[str]]:
    """A part as it is in the file, and what is wrong with each point of its grid, "" if nothing is."""
    spec = {name: values[0] for name, values in chosen.items() if len(values) == 1}
    grid = {name: list(values) for name, values in chosen.items() if len(values) > 1}
    points = [dict(zip(grid, values, strict=True)) for values in islice(product(*grid.values()), MOST_POINTS + 1)]
    if len(points) > MOST_POINTS:
        raise StudyError(f"These are more than {MOST_POINTS:,} combinations. Choose fewer, or write the file by hand.")
    faults = [_fault(lab, {**spec, **point}) for point in points]
    if all(faults):
        raise StudyError(faults[0])
    exclude = _excluded(points, [bool(fault) for fault in faults])
    if len(exclude) > MOST_EXCLUDED:
        raise StudyError(f"Too many of these combinations are not possible. The first: {next(filter(None, faults))}")
    part = {"lab": lab.path, "spec": spec, "grid": grid, "exclude": exclude}
    return {name: value for name, value in part.items() if value}, faults


def _fault(lab: Lab, fields: Point) -> str:
    try:
        lab.spec.model_validate(fields)
    except ValidationError as error:
        return complaints(error)[0]
    return ""


def _excluded(points: Sequence[Point], wrong: Sequence[bool]) -> list[Point]:
    """The wrong points, described as briefly as possible: values that no possible point has, then pairs of them, then
    single points.
    """
    excluded: list[Point] = []
    bad = [point for point, is_wrong in zip(points, wrong, strict=True) if is_wrong]
    good = [point for point, is_wrong in zip(points, wrong, strict=True) if not is_wrong]
    for size in (1, 2, len(points[0])):
        for point in bad:
            for axes in combinations(point, size):
                values = {axis: point[axis] for axis in axes}
                is_known = any(known.items() <= point.items() for known in excluded)
                if not is_known and not any(values.items() <= kept.items() for kept in good):
                    excluded.append(values)
    return excluded


def _tables(parts: Sequence[tuple[Lab, Chosen]]) -> list[dict[str, Any]]:
    labs = {lab.path: lab for lab, _ in parts}
    return [
        {"title": lab.title, **({"lab": path} if len(labs) > 1 else {})}
        | _table(lab, [chosen for other, chosen in parts if other.path == path])
        for path, lab in labs.items()
    ]


def _table(lab: Lab, parts: Sequence[Chosen]) -> dict[str, Any]:
    """A row for each combination of what varies within a part or between parts, and a column for each way to explain;
    seeds are only repeats.
    """
    names = dict.fromkeys(name for chosen in parts for name in chosen)
    varied = [
        name
        for name in names
        if any(len(chosen.get(name, ())) > 1 or chosen.get(name) != parts[0].get(name) for chosen in parts)
    ]
    rows = [
        name
        for name in ("model", *varied)
        if name in lab.spec.model_fields and name not in (lab.listing.method_field, "seed")
    ]
    return {"rows": list(dict.fromkeys(rows)), "columns": ["how"]}


# Packs a study's journals into one archive, and unpacks them. Nothing is removed before its copy was read back and
# is right: whenever the process ends, every journal is in the folder or in the archive, and the same call again
# completes the work.


# Archives of journals: a new archive replaces the old one in one step, after it was read back and checked.


def write_archive(file: Path, runs: list[str], folder: Path) -> dict[str, str]:
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
        left_out |= write_archive(file, chosen, folder)
    if not file.exists():
        return Packing(file, 0, 0, 0, left_out)
    with zipfile.ZipFile(file) as archive:
        packed = home.archived_journals(archive)
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
            packed = home.archived_journals(archive)
            for name, one in packed.items():
                if not (path := folder / name).exists():
                    journal.write_atomic(path, archive.read(one))
    except (*home.DAMAGED_ARCHIVE, OSError) as error:
        raise JournalFullError(f"{file} could not be unpacked ({error}). It stays as it is.") from None
    sync(folder)
    file.unlink()
    return len(packed)
