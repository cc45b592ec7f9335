"""The names of rows in the list of cases and trials."""

from __future__ import annotations

from pathlib import Path

from core import entry
from core.store.store import Store
from pages.results.lists import questions


def test_a_case_is_listed_by_its_question_and_a_trial_by_what_it_asked(recorded: Path) -> None:
    """A case of Plant was once listed only by its cue."""
    with Store(recorded / "store.duckdb", entry.labs()) as store:
        rows = store.query("select lab, trial, about, title from items where about <> '' order by run, \"case\", trial")
    shown = rows.assign(question=questions(rows))
    cases, trials = shown[shown["trial"] == ""], shown[shown["trial"] != ""]
    assert {"plant", "consistency"} <= set(cases["lab"]) and (cases["question"] == cases["title"]).all()
    assert "simulatability" in set(trials["lab"]) and (trials["question"] == trials["about"]).all()
