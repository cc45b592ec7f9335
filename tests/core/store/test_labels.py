"""What labels say about the parsers, compared with figures worked out by hand."""

from pathlib import Path

import pytest

from core.events import Event, Recorded, Started
from core.labs.ask.lab import LAB as ASK
from core.labs.base.declared import READING, Judgement
from core.runs.context import recorded
from core.runs.labels import Label
from core.store import audits
from core.store.index import index
from core.store.store import Store
from tests.core.store.store_events import CASE, LABS, asked, at, begun, started, write

# expected; observed by the original and by the updated parser; Ann's judgement and value; Bob's judgement.
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


def test_labels_on_chosen_rows_are_counts_and_no_rate(store: Store) -> None:
    with store:
        one, other = audits.labelled_right(store, ASK, READING)
        # Bob calls the second wrong and does not say what it should be.
        assert one == ("updated parser", 5, 8)
        # The original parser read the fifth differently: nobody says whether that is right.
        assert other == ("original parser", 4, 7)
        simulator = Judgement("simulation", "", "good", "bad", "expected", "simulator")
        assert audits.labelled_right(store, ASK, simulator) == [("control/fickle", 2, 2)]
        assert audits.labelled_right(store, ASK, READING, viewer="bob") == [], "another's run"


def test_two_labellers_agree_as_often_as_they_do(store: Store) -> None:
    with store:
        assert audits.labellers(store, ASK, READING) == (2, 3, 2)
        assert audits.labellers(store, ASK, Judgement("simulation", "", "good", "bad")) is None


def test_a_label_counts_once_whichever_reading_of_the_run_was_looked_at(store: Store, tmp_path: Path) -> None:
    with store:
        events = [started("again", 50).model_copy(update={"reread_from": "r"}), begun("again", second=51)]
        reading = {"expected": "yes", "observed": "no", "outcome": "kept", "counts": True, "reason": ""}
        data = {"about": "?", "paper": reading, "repaired": reading}
        events.append(Recorded(run="again", at=at(52), case=CASE, trial="t0", record="trial", item="t0", data=data))
        write(tmp_path, "again", events)
        name = "again~labels-ann"
        word = recorded(name, Label(verdicts={"reading": "wrong"}), "t0", CASE, "t0", "labels-ann")
        about = Started(run=name, lab="simulatability", spec={}, seed=0, about="again", owner="ann")
        write(tmp_path, name, [about, word])
        index(store, tmp_path)
        one, _ = audits.labelled_right(store, ASK, READING)
        assert (one.right, one.n) == (4, 8), "her latest word stands, and no ninth"
