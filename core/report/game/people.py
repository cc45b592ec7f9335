"""What people guessed about the trials of packs, in the same tables as a study's of what people say."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from ... import journal
from ...labs.base.lab import Lab
from ...studies import paper_tables, tables
from ...studies.plan import Planned, Study, TableOf
from ...studies.table_cells import Row
from .pack import Pack


def table(packs: Sequence[Pack], labs: Mapping[str, Lab], folders: Sequence[Path], said: Path) -> list[Row]:
    """The cells of the labs' tables of what people say, for the runs of these packs, which are in `folders`; empty if
    nobody said anything. `said` is the folder of what people said.
    """
    import pandas as pd

    by_folder: dict[Path, dict[str, Planned]] = {}
    for run in dict.fromkeys(run for pack in packs for run in pack.runs):
        path = journal.find(run, *folders)
        begun = journal.first_event(path) if path else None
        if path is None or begun is None or begun.lab not in labs:
            continue
        lab = labs[begun.lab]
        by_folder.setdefault(path.parent, {})[run] = Planned(run, lab, lab.spec.model_validate(begun.spec))
    asked = [(lab, one) for lab in labs.values() for one in lab.studies.tables if one.of_people]
    kinds = tuple(TableOf(kind=one.kind) for _, one in asked)
    frames = [
        tables.measured(
            Study(name="packs", title="", about="", controls=(), runs=tuple(runs.values()), tables=kinds),
            labs,
            folder,
            said=said,
        )
        for folder, runs in by_folder.items()
    ]
    if not frames:
        return []
    frame = pd.concat(frames, ignore_index=True)
    made = [cell for lab, one in asked if len(one.cases(frame)) for cell in paper_tables.table_cells(one, lab, frame)]
    return [{name: value for name, value in cell.items() if name != "behind"} for cell in made]
