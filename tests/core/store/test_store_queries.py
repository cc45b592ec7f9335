import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from store_events import CASE, LABS, answered, asked, at, begun, ended, failed, started, whole_run, write

from core.events import Recorded, Scored, Started
from core.labs.ask.records import Answer
from core.labs.base.declared import Cases
from core.store import listing, run_list
from core.store.filters import Filter
from core.store.index import index
from core.store.listing import Selection
from core.store.store import Store

PRECISION = Cases(("precision",))


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
    frame = run_list.runs(store)
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
    assert run_list.runs(store, limit=2).run.tolist() == ["ask-3", "ask-2"]
    assert run_list.runs(store, only=["probe-1", "'; drop table runs"]).run.tolist() == ["probe-1"]
    assert run_list.lab_of(store, "probe-1") == "find" and run_list.lab_of(store, "nobody") is None


def test_only_a_run_that_is_not_finished_is_asked_whether_it_lives(store: Store) -> None:
    asked_about = []

    def alive(run: str) -> bool:
        asked_about.append(run)
        return run == "ask-3"

    frame = run_list.runs(store, alive=alive).set_index("run").status
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
    frame = run_list.runs(store)
    assert list(frame.columns[-5:]) == ["n", "of", "precision", "generality_cosine", "miles"]
    assert "blisters" not in frame.columns, "which does not lead"
    rows = frame.astype(object).where(frame.notna(), None).set_index("run")
    shown = ["n", "of", "precision", "generality_cosine", "miles"]
    assert rows.loc["w", shown].tolist() == [3, 9, None, None, 4.5], "precision is no figure of that lab's"
    assert rows.loc["ask-1", shown].tolist() == [1, 2, 0.5, 0.7, None]
    assert rows.loc["ask-2", shown].tolist() == [1, 2, None, 0.7, None], "undefined, and yet of two"
    assert rows.loc["probe-1", shown].tolist() == [None] * 5
    with Store(store.path, {}) as bare:
        assert run_list.runs(bare).columns[-1] == "of", "without labs there are no figures"


def test_how_far_the_cases_of_a_run_are(store: Store, tmp_path: Path) -> None:
    some = [begun("m", f"q{n}", n, 40) for n in (1, 2, 3)]
    write(tmp_path / "journals", "m", [started("m", 400), *some, ended("m", "q2"), ended("m", "q1")])
    index(store, tmp_path / "journals")
    frame = run_list.runs(store).set_index("run")
    assert (frame.cases["m"], frame.done["m"]) == (40, 2)
    assert (frame.cases["ask-1"], frame.done["ask-1"]) == (1, 1)
    cases = store.query("select \"case\", number, status from cases where run = 'm' order by number")
    assert cases.values.tolist() == [["q1", 1, "done"], ["q2", 2, "done"], ["q3", 3, "running"]]


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
    assert said.run not in run_list.runs(store).run.tolist()
    simulations = store.query("from simulation where starts_with(run, 'ask-1') order by run, item, \"by\"")
    assert simulations[["run", "item", "by", "repaired"]].values.tolist() == [
        ["ask-1", "cf-01", "", "yes"],
        ["ask-1", "cf-01", "reader", "no"],
        ["ask-1", "cf-02", "", "unknown"],
        ["ask-1~ann", "cf-01", "ann", "no"],
    ]
    assert simulations.votes[0] == '["yes"]' and pd.isna(simulations.votes[1])
    (remark,) = store.query("select data from records where record = 'remark'").data
    assert json.loads(remark) == note


def test_an_answer_whose_question_is_lost_is_a_call_without_messages(store: Store, tmp_path: Path) -> None:
    write(tmp_path / "journals", "r", [answered("r", "c9", 0.5), asked("r", "c1", 1, item="starter")])
    index(store, tmp_path / "journals")
    calls = store.query("select call, messages, sampling from calls where run = 'r' order by \"at\"")
    assert calls.call.tolist() == ["c9", "c1"]
    assert pd.isna(calls.messages[0]) and pd.isna(calls.sampling[0])
    assert json.loads(calls.messages[1]) == [{"role": "user", "content": "Can penguins fly?"}]
    assert json.loads(calls.sampling[1])["max_tokens"] == 50


def test_scores_and_drops_are_rows(store: Store) -> None:
    scores = store.query("select metric, value, n, \"of\", low, high from scores where run = 'ask-1' order by metric")
    assert scores.metric.tolist() == ["generality_cosine", "precision"]
    assert scores[["value", "n", "of", "low", "high"]].iloc[1].tolist() == [0.5, 1, 2, 0.1, 0.9]
    drops = store.query("select \"case\", item, reason, rules from drops where run = 'ask-1'")
    assert drops.values.tolist() == [[CASE, "cf-02", "not simulatable", "repaired"]]


def test_faults(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "journals" / "ask-1.jsonl"
    path.write_bytes(path.read_bytes() + b"broken\n")
    index(store, tmp_path / "journals")
    assert store.query("select line from faults where run = 'ask-1'").line.tolist() == [20]
    assert run_list.runs(store).set_index("run").faults["ask-1"] == 1


def test_records_of_other_labs(store: Store) -> None:
    (finding,) = store.query("select data from records where run = 'probe-1' and record = 'finding'").data
    assert json.loads(finding) == {"input": 3}
    assert store.query("select item from explanation where run = 'ask-1'").item.tolist() == ["starter"]


def test_figures_have_a_row_a_case_and_metric(store: Store) -> None:
    of = Cases(("precision", "generality_cosine", "generality_bleu"), fields=("method", "generators"))
    frame = Selection(store).of_cases("simulatability", of)
    assert frame[["run", "metric"]].values.tolist() == [
        [run, metric] for run in ("ask-2", "ask-1") for metric in sorted(of.metrics)
    ]
    assert pd.isna(frame.value[2]) and frame.value[frame.metric == "generality_bleu"].isna().all()
    assert frame[["value", "low", "high", "n", "of"]].iloc[-1].tolist() == [0.5, 0.1, 0.9, 1, 2]
    assert frame[["model", "method", "title"]].iloc[-1].tolist() == ["control/fickle", "cot", "Can penguins fly?"]
    assert set(frame.generators) == {None}
    assert Selection(store).of_cases("walking", of).empty


def test_an_empty_store_answers_with_no_rows(empty: Store) -> None:
    assert run_list.runs(empty, alive=lambda run: True).empty
    rows = Selection(empty).of_cases("simulatability", Cases(("precision", "miles"), fields=("method",)))
    assert rows.empty and {"run", "at", "title", "model", "method", "metric", "value", "low"} <= set(rows.columns)
    assert {"n", "of", "precision", "generality_cosine", "miles"} <= set(run_list.runs(empty).columns)


def test_figures_of_cases_are_those_of_what_a_filter_leaves(store: Store, tmp_path: Path) -> None:
    """One row for each case and metric. A case without a figure stays, one in progress does not, and a run's only case
    has the run's figure.
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

    def rows(wanted: Filter = listing.EVERYTHING, of: Cases = PRECISION) -> list[list[Any]]:
        frame = Selection(store, wanted).of_cases("simulatability", of)
        chosen = frame[["run", "case", "value", "n", "of"]].astype(object)
        return chosen.where(frame[["run", "case", "value", "n", "of"]].notna(), None).values.tolist()

    of_m = [["m", "z", 0.25, 4, 5], ["m", "b", None, 0, 0]]
    assert rows(wanted=Filter(runs=("m",))) == of_m
    assert [row[2:] for row in rows(wanted=Filter(runs=("ask-1",)))] == [[0.5, 1, 2]]
    assert {row[0] for row in rows()} == {"m", "ask-1", "ask-2"}
    assert rows(of=PRECISION._replace(newest=1)) == of_m[:1]
    newest = Selection(store).of_cases("simulatability", PRECISION._replace(newest=1))
    assert newest.found.tolist() == [len(rows())]
    assert Selection(store, Filter(runs=("m",))).unfinished() == 1
    answers = PRECISION._replace(records={"answers": (Answer, ""), "call": (Answer, "call")})
    counted = Selection(store, Filter(runs=("ask-1", "m"))).of_cases("simulatability", answers)
    assert counted.groupby("run").answers.first().to_dict() == {
        "m": 0,
        "ask-1": len(store.query("from answer where run = 'ask-1'")),
    }
