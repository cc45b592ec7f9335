"""What labels tell of who read: against figures worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.events import Event, Recorded, Started
from core.lab import READING, Judgement
from core.labs.simulatability.lab import LAB as ASK
from core.runs.labels import Label
from core.runs.run import recorded
from core.store import labels
from core.store.index import index
from core.store.store import Store
from tests.core.store.store_events import CASE, LABS, asked, at, begun, started, write

# expected, observed by paper rules, observed by repaired rules; what Ann and Bob say of the reading, and should be.
ROWS = [
    ("yes", "yes", "yes", "right", "", "right"),
    ("yes", "no", "no", "right", "", "wrong"),
    ("no", None, "no", "right", "", "right"),
    ("no", "yes", "no", "wrong", "yes", ""),
    ("no", "yes", "no", "wrong", "", ""),
]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    run, said = "r", dict[str, list[Event]](ann=[], bob=[])
    events: list[Event] = [started(run), begun(run), asked(run, "c1").model_copy(update={"role": "simulator"})]
    for number, (expected, paper, repaired, ann, should, bob) in enumerate(ROWS):
        reading = {"expected": expected, "outcome": "kept", "counts": True, "reason": ""}
        data = {"about": "?", "paper": reading | {"observed": paper}, "repaired": reading | {"observed": repaired}}
        trial = f"t{number}"
        events.append(Recorded(run=run, at=at(2), case=CASE, trial=trial, record="trial", item=trial, data=data))
        simulation = {"simulation": "good"} if number < 2 else {}
        label = Label(verdicts={"reading": ann, **simulation}, should={"reading": should} if should else {})
        said["ann"].append(recorded("r~labels-ann", label, trial, CASE, trial, "labels-ann"))
        if bob:
            label = Label(verdicts={"reading": bob})
            said["bob"].append(recorded("r~labels-bob", label, trial, CASE, trial, "labels-bob"))
    write(tmp_path, run, events)
    for who, words in said.items():
        name = f"r~labels-{who}"
        write(tmp_path, name, [Started(run=name, lab="simulatability", spec={}, seed=0, about=run, owner=who), *words])
    store = Store(tmp_path / "store.duckdb", LABS)
    index(store, tmp_path)
    return store


def test_what_each_reader_is_worth_by_the_labels(store: Store) -> None:
    with store:
        one, other = labels.borne_out(store, ASK, READING)
        # Bob holds the second wrong and does not say what it should be.
        assert (one.reader, one.right, one.n) == ("repaired rules", 5, 8)
        # Truth and reading: yes yes (2), no no (3), yes no (1): recalls 2/3 and 1, agreed 5/6, by chance 1/2.
        assert (one.balanced.value, one.balanced.n) == (pytest.approx((2 / 3 + 1) / 2), 6)
        assert one.kappa.value == pytest.approx((5 / 6 - 1 / 2) / (1 - 1 / 2))
        # The fifth was read otherwise by the paper's rules: nobody says whether that is right.
        assert (other.reader, other.right, other.n, other.balanced.n) == ("paper rules", 4, 7, 6)
        # Yes yes (3), no no (1), no nothing (2).
        assert other.balanced.value == pytest.approx((1 + 1 / 3) / 2)
        (simulator,) = labels.borne_out(store, ASK, Judgement("simulation", "", "good", "bad", "expected", "simulator"))
        assert (simulator.reader, simulator.right, simulator.n) == ("control/fickle", 2, 2)
        assert simulator.balanced.value is None, "one class is no test"
        assert labels.borne_out(store, ASK, READING, viewer="bob") == [], "another's run"


def test_two_labellers_agree_as_far_as_they_do(store: Store) -> None:
    with store:
        both = labels.labellers(store, ASK, READING)
        assert both is not None and (both.people, both.n) == (2, 3)
        # Right right, right wrong, right right: agreed 2/3, by chance 2/3; alpha = 1 - (2/6) / (2·5·1/(6·5)) = 0.
        assert both.kappa.value == pytest.approx(0.0) and both.alpha == pytest.approx(0.0)
        assert labels.labellers(store, ASK, Judgement("simulation", "", "good", "bad")) is None
