"""The names of rows in the list of cases and trials."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st
from pytest import MonkeyPatch
from streamlit.testing.v1 import AppTest

from core import entry, home
from core.events import Finished, Started
from core.journal import to_line
from core.store.filters import Filter
from core.store.index import Index
from core.store.listing import Selection
from core.store.store import Store
from pages.results import facets, lists
from pages.results.lists import questions


def test_a_case_is_listed_by_its_question_and_a_trial_by_what_it_asked(recorded: Path) -> None:
    """A case of Plant was once listed only by its cue."""
    with Store(recorded / "store.duckdb", entry.labs()) as store:
        rows = store.query("select lab, trial, about, title from items where about <> '' order by run, \"case\", trial")
    shown = rows.assign(question=questions(rows))
    cases, trials = shown[shown["trial"] == ""], shown[shown["trial"] != ""]
    assert {"plant", "consistency"} <= set(cases["lab"]) and (cases["question"] == cases["title"]).all()
    assert "simulatability" in set(trials["lab"]) and (trials["question"] == trials["about"]).all()


def test_an_excluded_repeat_is_listed_by_the_question_that_it_repeats(recorded: Path) -> None:
    with Store(recorded / "store.duckdb", entry.labs()) as store:
        repeats = Selection(store, Filter(chosen={"reason": ("duplicate",)}, recordings=True))
        rows = repeats.items().rows
        (one,) = repeats.row(repeats.items().places()[0])["about"]
        asked = {about for (about,) in store.rows("select about from trials where about <> ''")}
    assert len(rows) and set(rows["about"]) <= asked and questions(rows) == list(rows["about"])
    assert one == rows["about"].iloc[0]


def test_an_opened_case_is_drawn_before_list_and_filters_which_stay_if_the_page_is_drawn_again(
    page: Callable[..., AppTest], recorded: Path, monkeypatch: MonkeyPatch
) -> None:
    """A reader who opens a row once waited for the counts of all filters."""
    drawn = []

    def noted(module: Any, name: str) -> None:
        real = getattr(module, name)

        def draw(*given: Any) -> None:
            real(*given)
            drawn.append(name)

        monkeypatch.setattr(module, name, draw)

    for module, name in ((facets, "draw"), (lists, "cases_table"), (lists, "draw_open_case")):
        noted(module, name)
    with Store(recorded / "store.duckdb", entry.labs()) as store:
        ((run, case, trial),) = store.rows(
            "select run, \"case\", trial from items where lab = 'simulatability' and trial <> '' order by all limit 1"
        )
    row = {"recordings": "1", "run": run, "case": case, "trial": trial}
    app = page("browse", **row)
    assert not app.exception and drawn[-3:] == ["draw_open_case", "cases_table", "draw"]
    page("browse", recordings="1")
    assert drawn[-2:] == ["draw", "cases_table"]

    # As a key on the stage does.
    real, again = lists.draw_open_case, [1]
    monkeypatch.setattr(lists, "draw_open_case", lambda *given: st.rerun() if again and again.pop() else real(*given))
    page("browse", **row)
    assert drawn[-5:] == ["cases_table", "draw", "draw_open_case", "cases_table", "draw"]


def test_where_somebody_stopped_the_reading_the_page_says_what_is_missing_and_reads_it_when_asked(
    page: Callable[..., AppTest], monkeypatch: MonkeyPatch
) -> None:
    for run in ("run-1", "run-2"):
        begun = Started(run=run, lab="simulatability", spec={"question": "Can a penguin fly?"}, seed=0)
        (home.journals() / f"{run}.jsonl").write_bytes(
            to_line(begun, 1) + to_line(Finished(run=run, status="failed"), 2)
        )
    take_up = Index._take_up
    with monkeypatch.context() as stopped:
        stopped.setattr(Index, "_take_up", lambda one, *given: one.stop() or take_up(one, *given))
        app = page("browse")
    assert any("2 journals not read yet" in one.value for one in app.caption)
    app.button(key="read-rest").click().run()
    assert not app.exception and "read-rest" not in {one.key for one in app.button}
    assert entry.keeper().store.rows("select count(*) from runs where not recording") == [(2,)]
