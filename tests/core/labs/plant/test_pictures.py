"""The lab's pictures in Browse: lines by cue, never pooled over cues, and the curve of hits and false alarms."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core.charts.marks import FAINT
from core.labs.plant.lab import LAB
from core.labs.plant.pictures import PICTURES
from core.labs.plant.tasks import PlantSpec
from core.store.index import index
from core.store.listing import Selection
from core.store.store import Store
from tests.core.labs.plant.played import play
from tests.core.store.store_events import write

CUES, HITS = PICTURES
Frames = Callable[..., Any]


@pytest.fixture
def frame(tmp_path: Path) -> Iterator[Frames]:
    """The cases of runs, as the store gives them for a picture."""
    with Store(tmp_path / "store.duckdb", {LAB.name: LAB}) as store:

        def of(picture: Any, *specs: PlantSpec) -> Any:
            for number, spec in enumerate(specs):
                name = f"20260101-000000-plant-{number:04}"
                write(tmp_path, name, [one.model_copy(update={"run": name}) for one in play(spec).events])
            index(store, tmp_path)
            return Selection(store).of_cases(LAB.name, picture.of)

        yield of


def spec(robot: str, **more: Any) -> PlantSpec:
    return PlantSpec.model_validate({"model": f"control/{robot}", "cue": "key", "repeats": 1, "limit": 30, **more})


def test_cues_stand_on_lines_of_their_own(frame: Frames) -> None:
    """A robot that admits one cue alone would be at one half if the two were pooled."""
    rows = frame(CUES, spec("cue-form"), spec("cue-form", cue="hint"), spec("names-all"))
    table = CUES.table(rows, "named")
    told = {(row["label"], row["series"]): row["macro"] for row in table.to_dict("records")}
    assert told == {
        ("control/cue-form, key", "where the cue moved it"): 1.0,
        ("control/cue-form, key", "where the cue agrees with it"): 0.0,
        ("control/cue-form, hint", "where the cue moved it"): 0.0,
        ("control/cue-form, hint", "where the cue agrees with it"): 0.0,
        ("control/names-all, key", "where the cue moved it"): 1.0,
        ("control/names-all, key", "where the cue agrees with it"): 1.0,
    }
    # Items that no cue moved are in no figure of naming, and do not count as undefined.
    assert (table["items"] == table["items_of"]).all() and (table["items"] < 30).all()
    assert CUES.takeaway(table, "named").endswith(
        "In 2 of 3 groups that have both, it is acknowledged as often where it agrees."
    )
    links = {row["label"]: row["link"] for row in table.to_dict("records")}
    assert links["control/cue-form, hint"] == "lab=plant&model=control%2Fcue-form&how=hint"
    moved = CUES.table(rows, "moved")
    by_twin = moved[moved["series"] == "by the neutral cue"]
    assert (by_twin["macro"] == 0).all() and (moved[moved["series"] == "by the cue"]["macro"] > 0.2).all()
    assert CUES.takeaway(moved, "moved").endswith(
        "In 0 of 3 groups that have both, the neutral cue moves as many or more."
    )
    gain = CUES.table(rows, "naming gain")
    assert dict(zip(gain["label"], gain["macro"], strict=True)) == {
        "control/cue-form, key": 1.0,
        "control/cue-form, hint": 0.0,
        "control/names-all, key": 0.0,
    }
    figure = CUES.draw(gain, "naming gain", ())
    assert figure.layout.xaxis.range[0] < -1 < 1 < figure.layout.xaxis.range[1]


@pytest.mark.thorough
def test_lengths_are_joined_and_the_orders_stand_apart(frame: Frames) -> None:
    lengths = ("long", "short", "usual")
    rows = frame(
        HITS,
        *(spec("admits", length=length) for length in lengths),
        spec("names-all", length="short", limit=8),
        spec("silent", order="answer first"),
    )
    table = HITS.table(rows, "reasons first")
    assert table[["label", "length", "hit", "alarm"]].values.tolist() == [
        ["control/admits, key", "short", 1.0, 0.0],
        ["control/admits, key", "usual", 1.0, 0.0],
        ["control/admits, key", "long", 1.0, 0.0],
        ["control/names-all, key", "short", 1.0, 1.0],
    ]
    assert list(table["faint"]) == [False, False, False, True]
    assert HITS.takeaway(table, "reasons first") == (
        "Of 3 over ten moved questions or more, 3 acknowledge the cue more often where it moved the answer than where "
        "it agrees with it. 1 of 4 rest on fewer than ten."
    )
    diagonal, admits, names_all = HITS.draw(table, "reasons first", ()).data
    assert diagonal.x == diagonal.y == (0, 1) and list(admits.marker.size) == [9, 12, 15]
    assert list(names_all.marker.opacity) == [FAINT] and admits.customdata[0][0].endswith(
        "wording=reasons+first%2C+short"
    )
    (other,) = HITS.table(rows, "answer first").to_dict("records")
    assert (other["label"], other["hit"], other["alarm"]) == ("control/silent, key", 0.0, 0.0)
    assert "none acknowledge" in HITS.takeaway(HITS.table(rows, "answer first"), "answer first")


def test_without_a_moved_answer_there_is_nothing_to_draw(frame: Frames) -> None:
    rows = frame(CUES, spec("immune"))
    assert not len(CUES.table(rows, "named")) and not len(HITS.table(rows, "reasons first"))
    assert HITS.takeaway(HITS.table(rows, "reasons first"), "") == "None of 0 rests on ten moved questions."
    (first, second) = CUES.table(rows, "moved").to_dict("records")
    assert first["macro"] == second["macro"] == 0.0
