from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from store_events import CASE, LABS, answered, asked, at, begun, ended, failed, started, trial, whole_run, write

from core.events import Recorded, Scored, Started
from core.labs.simulatability.records import Answer
from core.store import figures, queries
from core.store.filters import Filter
from core.store.index import index
from core.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Three Ask runs (one undefined, one not finished) and one of another lab."""
    folder = tmp_path / "journals"
    write(folder, "ask-1", whole_run("ask-1", 0.5))
    write(folder, "ask-2", whole_run("ask-2", None, second=100))
    write(folder, "ask-3", [started("ask-3", 200), asked("ask-3", "c0001", 201)])
    other = Started(run="probe-1", at=at(50), lab="find", spec={"title": "sine"}, seed=0)
    finding = Recorded(run="probe-1", at=at(51), record="finding", item="p1", data={"input": 3})
    write(folder, "probe-1", [other, finding, failed("probe-1", None, 52)])
    with Store(tmp_path / "store.duckdb", LABS) as store:
        index(store, folder)
        yield store


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "empty.duckdb", LABS) as store:
        yield store


def test_runs_newest_first(store: Store) -> None:
    frame = queries.runs(store)
    assert frame.run.tolist() == ["ask-3", "ask-2", "probe-1", "ask-1"]
    assert frame.status.tolist() == ["running", "completed", "running", "completed"]
    assert frame.dropped.tolist() == [0, 1, 0, 1]
    assert frame.answered.tolist() == [0, 1, 0, 1]
    assert frame.title.astype(object).where(frame.title.notna(), None).tolist() == [
        None,
        "Can penguins fly?",
        "sine",
        "Can penguins fly?",
    ]
    assert queries.runs(store, lab="find").run.tolist() == ["probe-1"]
    assert queries.runs(store, limit=2).run.tolist() == ["ask-3", "ask-2"]
    assert queries.runs(store, lab="'; drop table runs").empty


def test_only_a_run_that_is_not_finished_is_asked_whether_it_lives(store: Store) -> None:
    asked_about = []

    def alive(run: str) -> bool:
        asked_about.append(run)
        return run == "ask-3"

    frame = queries.runs(store, alive=alive).set_index("run").status
    assert frame.to_dict() == {
        "ask-3": "running",
        "ask-2": "completed",
        "probe-1": "interrupted",
        "ask-1": "completed",
    }
    assert sorted(asked_about) == ["ask-3", "probe-1"]


def test_runs_have_the_leading_figures_of_their_labs(store: Store, tmp_path: Path) -> None:
    def scored(metric: str, value: float | None, **more: str) -> Scored:
        rules = more.pop("rules", "repaired")
        return Scored.model_validate(
            {"run": "w", "metric": metric, "value": value, "n": 3, "of": 9, "rules": rules, **more}
        )

    walk = Started(run="w", at=at(300), lab="walking", spec={}, seed=0)
    scores = [
        scored("miles", 4.5),
        scored("miles", 9.5, rules="paper"),
        scored("miles", 7.5, case="a"),
        scored("miles", 8.5, item="hills"),
        scored("blisters", 2),
        scored("precision", 0.1),
    ]
    write(tmp_path / "journals", "w", [walk, *scores])
    index(store, tmp_path / "journals")
    frame = queries.runs(store)
    assert list(frame.columns[-5:]) == ["n", "of", "precision", "generality_cosine", "miles"]
    assert "blisters" not in frame.columns, "which does not lead"
    rows = frame.astype(object).where(frame.notna(), None).set_index("run")
    shown = ["n", "of", "precision", "generality_cosine", "miles"]
    assert rows.loc["w", shown].tolist() == [3, 9, None, None, 4.5], "precision is no figure of that lab's"
    assert rows.loc["ask-1", shown].tolist() == [1, 2, 0.5, 0.7, None]
    assert rows.loc["ask-2", shown].tolist() == [1, 2, None, 0.7, None], "undefined, and yet of two"
    assert rows.loc["probe-1", shown].tolist() == [None] * 5
    assert queries.runs(store, rules="paper").set_index("run").miles["w"] == 9.5
    with Store(store.path, {}) as bare:
        assert queries.runs(bare).columns[-1] == "of", "without labs there are no figures"


def test_how_far_the_cases_of_a_run_are(store: Store, tmp_path: Path) -> None:
    some = [begun("m", f"q{n}", n, 40) for n in (1, 2, 3)]
    write(tmp_path / "journals", "m", [started("m", 400), *some, ended("m", "q2"), ended("m", "q1")])
    index(store, tmp_path / "journals")
    frame = queries.runs(store).set_index("run")
    assert (frame.cases["m"], frame.done["m"]) == (40, 2)
    assert (frame.cases["ask-1"], frame.done["ask-1"]) == (1, 1)
    cases = queries.cases(store, "m")
    assert cases[["case", "number", "status"]].values.tolist() == [
        ["q1", 1, "done"],
        ["q2", 2, "done"],
        ["q3", 3, "running"],
    ]
    assert queries.cases(store).run.tolist() == ["m", "m", "m", "ask-2", "ask-1"], "the newest run first"
    assert queries.cases(store, limit=2).case.tolist() == ["q1", "q2"]
    assert queries.cases(store, lab="walking").empty
    assert len(queries.cases(store, lab="simulatability")) == 5


def test_trials_of_a_run_and_of_a_case(store: Store, tmp_path: Path) -> None:
    events = [
        started("m", 400),
        *(begun("m", case, number, 2) for number, case in enumerate(("z", "b"), start=1)),
        *(trial("m", item, case=case) for case in ("b", "z") for item in ("cf-02", "cf-01")),
    ]
    write(tmp_path / "journals", "m", events)
    index(store, tmp_path / "journals")
    frame = queries.trials(store, "m")
    assert frame[["case", "trial"]].values.tolist() == [["z", "cf-01"], ["z", "cf-02"], ["b", "cf-01"], ["b", "cf-02"]]
    assert frame.calls.tolist()[0] == ["c0002", "c0004"]
    assert queries.trials(store, "m", "b").trial.tolist() == ["cf-01", "cf-02"]
    assert queries.trials(store, "ask-1").counts_repaired.tolist() == [True, False]
    assert queries.trials(store, "nobody").empty


def test_what_people_say_about_a_run_is_no_run(store: Store, tmp_path: Path) -> None:
    said = Started(run="ask-1~ann", at=at(500), lab="simulatability", spec={}, seed=0, about="ask-1")
    guess = {"simulator": "ann", "votes": ["no"], "paper": "no", "repaired": "no"}
    note = {"kind": "note", "words": "hm"}
    events = [
        Recorded(run=said.run, at=at(501), case=CASE, record=record, item="cf-01", data=data, by="ann")
        for record, data in (("simulation", guess), ("remark", note))
    ]
    write(tmp_path / "journals", said.run, [said, *events])
    index(store, tmp_path / "journals")
    assert said.run not in queries.runs(store).run.tolist()
    own = queries.records(store, "ask-1", "simulation")
    assert own[["item", "by", "repaired"]].values.tolist() == [
        ["cf-01", "", "yes"],
        ["cf-01", "reader", "no"],
        ["cf-02", "", "unknown"],
    ]
    assert own.votes.tolist() == [["yes"], None, ["unknown"]]
    people = queries.records(store, "ask-1", "simulation", people=True)
    assert people[["run", "case", "by", "repaired"]].values.tolist() == [["ask-1~ann", CASE, "ann", "no"]]
    assert queries.records(store, "ask-1", "remark", people=True).data.tolist() == [note]
    assert queries.records(store, "ask-1", "remark").empty


def test_one_run(store: Store) -> None:
    row = queries.run(store, "ask-1")
    assert row is not None
    assert (row["spec"]["method"], row["prompts"], row["versions"]) == ("cot", {"explain": "abc"}, {})
    assert (row["seed"], row["answered"]) == (7, 1)
    assert queries.run(store, "nobody") is None
    gone = queries.run(store, "ask-3", alive=lambda run: False)
    assert gone is not None
    assert gone["status"] == "interrupted"


def test_calls_of_a_run_and_of_an_item(store: Store, tmp_path: Path) -> None:
    events = [
        answered("r", "c9", 0.5),
        asked("r", "c2", 2, item="cf-01", case="q1/you"),
        asked("r", "c3", 3, item="cf-01", case="q1"),
        asked("r", "c4", 4, item="cf-01", case="q1/human"),
        asked("r", "c1", 1, item="starter"),
        answered("r", "c1"),
    ]
    write(tmp_path / "journals", "r", events)
    index(store, tmp_path / "journals")
    frame = queries.calls(store, "r")
    assert frame.call.tolist() == ["c9", "c1", "c2", "c3", "c4"]
    assert frame.messages.tolist()[1] == [{"role": "user", "content": "Can penguins fly?"}]
    assert (frame.messages.tolist()[0], frame.sampling.tolist()[0]) == ([], {})
    assert frame.sampling.tolist()[2]["max_tokens"] == 50
    assert (frame.tools.tolist()[1], frame.tool_calls.tolist()[2]) == ([], [])
    assert queries.calls(store, "r", item="cf-01").call.tolist() == ["c2", "c3", "c4"]
    assert queries.calls(store, "r", "q1/you").call.tolist() == ["c2", "c3"], "with what its item's cases share"
    assert queries.calls(store, "r", "q1").call.tolist() == ["c3"]
    assert queries.calls(store, "r", "q1/you", "starter").empty
    assert queries.calls(store, "nobody").empty


def test_scores(store: Store) -> None:
    frame = queries.scores(store, "ask-1")
    assert frame.metric.tolist() == ["generality_cosine", "precision"]
    assert frame[["value", "n", "of", "low", "high"]].iloc[1].tolist() == [0.5, 1, 2, 0.1, 0.9]
    assert len(queries.scores(store)) == 4
    assert queries.scores(store, rules="paper").empty


def test_drops_under_given_rules(store: Store) -> None:
    assert queries.drops(store, "ask-1")[["case", "item", "reason", "rules"]].values.tolist() == [
        [CASE, "cf-02", "not simulatable", "repaired"]
    ]
    assert len(queries.drops(store, "ask-1", "repaired")) == 1
    assert queries.drops(store, "ask-1", "paper").empty


def test_faults(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "journals" / "ask-1.jsonl"
    path.write_bytes(path.read_bytes() + b"broken\n")
    index(store, tmp_path / "journals")
    assert queries.faults(store, "ask-1").line.tolist() == [20]
    assert queries.runs(store).set_index("run").faults["ask-1"] == 1


def test_records_of_other_labs(store: Store) -> None:
    assert queries.records(store, "probe-1", "finding")[["item", "data"]].values.tolist() == [["p1", {"input": 3}]]
    assert queries.records(store, "probe-1", "other").empty
    assert queries.records(store, "ask-1", "explanation").item.tolist() == ["starter"]


def test_figures_have_one_row_a_run_that_was_scored(store: Store) -> None:
    metrics = ["precision", "generality_cosine", "generality_bleu"]
    frame = figures.of_runs(store, "simulatability", metrics, fields=["method", "task", "generators"])
    assert frame.run.tolist() == ["ask-2", "ask-1"]
    assert pd.isna(frame.precision[0])
    assert frame[["precision", "generality_cosine", "low", "high", "n", "of"]].iloc[1].tolist() == [
        0.5, 0.7, 0.1, 0.9, 1, 2,
    ]  # fmt: skip
    assert frame[["model", "method", "task", "title", "rules"]].iloc[1].tolist() == [
        "control/fickle",
        "cot",
        "strategyqa",
        "Can penguins fly?",
        "repaired",
    ]
    assert frame.generality_bleu.isna().all()
    assert frame.generators.tolist() == [None, None]
    assert figures.of_runs(store, "simulatability", metrics, rules="paper").empty
    assert figures.of_runs(store, "simulatability", ["generality_bleu", "precision"]).empty, "the first decides"
    assert figures.of_runs(store, "walking", metrics).empty


def test_an_empty_store_answers_with_no_rows(empty: Store) -> None:
    assert queries.runs(empty, alive=lambda run: True).empty
    assert queries.scores(empty).empty
    assert queries.cases(empty).empty
    assert queries.trials(empty, "r", "c").empty
    assert queries.records(empty, "r", "answer").empty
    assert queries.records(empty, "r", "remark", people=True).empty
    rows = figures.of_runs(empty, "simulatability", ["precision", "miles"], fields=["method"])
    assert list(rows.columns) == [
        "run", "at", "title", "model", "method", "low", "high", "n", "of", "precision", "miles", "rules",
    ]  # fmt: skip
    assert rows.empty
    assert {"n", "of", "precision", "generality_cosine", "miles"} <= set(queries.runs(empty).columns)
    assert "messages" in queries.calls(empty, "r")


def test_figures_of_cases_are_those_of_what_a_filter_leaves(store: Store, tmp_path: Path) -> None:
    """A row a case and metric; a case without a figure stays, one that goes on does not, a run's only case has the
    run's.
    """
    scored = {"run": "m", "metric": "precision", "rules": "repaired", "value": 0.25, "n": 4, "of": 5}
    events = [
        started("m", 400),
        *(begun("m", case, number, 3) for number, case in enumerate(("z", "b", "a"), start=1)),
        Scored.model_validate({**scored, "case": "z"}),
        Scored.model_validate(scored),
        ended("m", "z"),
        ended("m", "b"),
    ]
    write(tmp_path / "journals", "m", events)
    index(store, tmp_path / "journals")

    def rows(**more: Any) -> list[list[Any]]:
        frame = figures.of_cases(store, "simulatability", ["precision"], **more)
        chosen = frame[["run", "case", "value", "n", "of"]].astype(object)
        return chosen.where(frame[["run", "case", "value", "n", "of"]].notna(), None).values.tolist()

    of_m = [["m", "z", 0.25, 4, 5], ["m", "b", None, 0, 0]]
    assert rows(wanted=Filter(runs=("m",))) == of_m
    assert [row[2:] for row in rows(wanted=Filter(runs=("ask-1",)))] == [[0.5, 1, 2]]
    assert {row[0] for row in rows()} == {"m", "ask-1", "ask-2"}
    assert rows(newest=1) == of_m[:1]
    assert figures.of_cases(store, "simulatability", ["precision"], newest=1).found.tolist() == [len(rows())]
    assert figures.unfinished(store, Filter(runs=("m",))) == 1
    assert figures.of_runs(store, "simulatability", ["precision"], Filter(runs=("ask-1",))).run.tolist() == ["ask-1"]
    answers = {"answers": (Answer, ""), "call": (Answer, "call")}
    counted = figures.of_cases(store, "simulatability", ["precision"], Filter(runs=("ask-1", "m")), records=answers)
    assert counted.groupby("run").answers.first().to_dict() == {
        "m": 0,
        "ask-1": len(queries.records(store, "ask-1", "answer")),
    }
