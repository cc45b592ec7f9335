"""A run that was reparsed counts once for every visitor, and says what changed."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from core.labs.ask.lab import LAB as ASK
from core.labs.base.declared import Cases
from core.report import export
from core.store import comparing, listing, run_list
from core.store.filters import Filter, from_query
from core.store.index import index
from core.store.listing import Selection
from core.store.store import Store
from tests.core.store.store_events import LABS, started, write
from tests.core.store.store_events import whole_run as events_of
from tests.core.store.test_comparing import BAD, GOOD, UNREAD, asked, same

FIRST = {"S1": same(a=UNREAD, b=GOOD), "S2": same(a=BAD)}
SECOND = {"S1": same(a=GOOD, b=GOOD), "S2": same(a=BAD)}
THIRD = {"S1": same(a=GOOD, b=BAD), "S2": same(a=GOOD)}


def again(folder: Path, run: str, of: str, tried: dict[str, dict[str, tuple[str, str]]], second: float) -> None:
    asked(folder, run, "m/x", tried, second, of={"reread_from": of})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    folder = tmp_path / "journals"
    asked(folder, "run-1", "m/x", FIRST)
    again(folder, "run-2", "run-1", SECOND, 100)
    again(folder, "run-3", "run-2", THIRD, 200)
    asked(folder, "other", "m/y", FIRST, 50)
    with Store(tmp_path / "store.duckdb", LABS) as store:
        index(store, folder)
        yield store


def test_it_is_counted_once_everywhere(store: Store) -> None:
    assert Selection(store).run_ids() == ["run-3", "other"]
    assert Selection(store).count() == 6 and Selection(store).items().total == 6
    assert Selection(store).facet("model") == {"m/x": 3, "m/y": 3}
    assert Selection(store).facet("outcome") == {GOOD: 3, BAD: 2, UNREAD: 1}
    assert set(export.rows(Selection(store))["run"]) == {"run-3", "other"}
    assert set(Selection(store).of_cases(ASK.name, Cases(("precision",)))["run"]) == {"run-3", "other"}
    compared = comparing.compare_query(store, parse_qs("by=model&of=m/x&of=m/y&match=exact"))
    assert (compared.rows, compared.averaged, compared.true) == ((3, 3), 0, (1, 1))
    assert "run-3" not in set(Selection(store).elsewhere(listing.RowPlace("run-1", "q1"))["run"])


def test_the_others_are_found_where_they_are_asked_for(store: Store) -> None:
    older = Filter(older=True)
    assert Selection(store, older).run_ids() == ["run-2", "run-1"] and from_query(older.query()) == older
    assert older.is_everything
    assert Selection(store, Filter(runs=("run-1", "run-3"))).run_ids() == ["run-3", "run-1"]
    compared = comparing.compare_query(store, parse_qs("runs=run-1,run-3&match=exact"))
    assert compared.rows == (3, 3) and compared.shared == 2
    assert [one.run for one in run_list.versions(store, "run-2")] == ["run-1", "run-2", "run-3"]
    assert [one.counts for one in run_list.versions(store, "run-2")] == [False, False, True]
    assert run_list.versions(store, "other") == [("other", "", True)]


def test_which_counts_is_of_whoever_looks_and_of_what_came_to_its_end(tmp_path: Path) -> None:
    whole = events_of("mine")
    write(tmp_path, "mine", [whole[0].model_copy(update={"owner": "ann", "shared": True}), *whole[1:]])
    broken = events_of("broken", second=100)[:-1]
    write(tmp_path, "broken", [broken[0].model_copy(update={"reread_from": "mine", "owner": "ann"}), *broken[1:]])
    theirs = events_of("theirs", second=200)
    write(tmp_path, "theirs", [theirs[0].model_copy(update={"reread_from": "mine", "owner": "bob"}), *theirs[1:]])
    write(tmp_path, "circle", [started("circle", 300).model_copy(update={"reread_from": "circle", "owner": "ann"})])
    with Store(tmp_path / "store.duckdb", LABS) as store:
        index(store, tmp_path)
        assert Selection(store).run_ids() == ["circle", "theirs"]
        assert Selection(store, viewer="ann").run_ids() == ["circle", "mine"], "not a reading that stopped"
        assert Selection(store, viewer="bob").run_ids() == ["theirs"]
        assert Selection(store, replace(Filter(), older=True), viewer="ann").run_ids() == ["broken"]


def test_what_changed_is_said(store: Store) -> None:
    changes, of = run_list.changed(store, "run-2", "run-3")
    assert [(one.case, one.about, one.before, one.now) for one in changes] == [
        ("q1", "b", GOOD, BAD),
        ("q2", "a", BAD, GOOD),
    ]
    assert run_list.changes_sentence(changes, of, {GOOD: "came true", BAD: "did not"}) == (
        "2 of 3 outcomes changed: “b”: came true, now did not; “a”: did not, now came true."
    )
    assert run_list.changes_sentence([], 3, {}) == "No outcome changed (3 compared)."
    many, of = [one._replace(before="") for one in changes * 4], 9
    assert run_list.changes_sentence(many, of, {}).endswith(
        "; and 3 more."
    ) and "not there, now misled" in run_list.changes_sentence(many, of, {})
