from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from store_events import answered, asked, at, failed, started, whole_run, write

from core.events import Event, Recorded, Scored, Started
from core.store import queries
from core.store.index import index
from core.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Three Ask runs (one undefined, one not finished) and one of another lab."""
    folder = tmp_path / "journals"
    write(folder, "ask-1", whole_run("ask-1", 0.5))
    write(folder, "ask-2", whole_run("ask-2", None, second=100))
    write(folder, "ask-3", [started("ask-3", 200), asked("ask-3", "c0001", 201)])
    other = Started(run="probe-1", at=at(50), lab="find", spec={"function": "sine"}, seed=0)
    finding = Recorded(run="probe-1", at=at(51), record="finding", item="p1", data={"input": 3})
    write(folder, "probe-1", [other, finding, failed("probe-1", None, 52)])
    with Store(tmp_path / "store.duckdb") as store:
        index(store, folder)
        yield store


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "empty.duckdb") as store:
        yield store


def test_runs_newest_first(store: Store) -> None:
    found = queries.runs(store)
    assert found.run.tolist() == ["ask-3", "ask-2", "probe-1", "ask-1"]
    assert found.status.tolist() == ["running", "completed", "running", "completed"]
    assert found.dropped.tolist() == [0, 1, 0, 1]
    assert found.answered.tolist() == [0, 1, 0, 1]
    assert found.title.tolist() == ["Can penguins fly?", "Can penguins fly?", "sine", "Can penguins fly?"]
    assert queries.runs(store, lab="find").run.tolist() == ["probe-1"]
    assert queries.runs(store, limit=2).run.tolist() == ["ask-3", "ask-2"]
    assert queries.runs(store, lab="'; drop table runs").empty


def test_only_a_run_that_is_not_finished_is_asked_whether_it_lives(store: Store) -> None:
    asked_about = []

    def alive(run: str) -> bool:
        asked_about.append(run)
        return run == "ask-3"

    found = queries.runs(store, alive=alive).set_index("run").status
    assert found.to_dict() == {
        "ask-3": "running",
        "ask-2": "completed",
        "probe-1": "interrupted",
        "ask-1": "completed",
    }
    assert sorted(asked_about) == ["ask-3", "probe-1"]


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
        asked("r", "c2", 2, item="cf-01"),
        asked("r", "c1", 1, item="starter"),
        answered("r", "c1"),
    ]
    write(tmp_path / "journals", "r", events)
    index(store, tmp_path / "journals")
    found = queries.calls(store, "r")
    assert found.call.tolist() == ["c9", "c1", "c2"]
    assert found.messages.tolist()[1] == [{"role": "user", "content": "Can penguins fly?"}]
    assert (found.messages.tolist()[0], found.sampling.tolist()[0]) == ([], {})
    assert found.sampling.tolist()[2]["max_tokens"] == 50
    assert queries.calls(store, "r", item="cf-01").call.tolist() == ["c2"]
    assert queries.calls(store, "nobody").empty


def test_scores(store: Store) -> None:
    found = queries.scores(store, "ask-1")
    assert found.metric.tolist() == ["generality_cosine", "precision"]
    assert found[["value", "n", "of", "low", "high"]].iloc[1].tolist() == [0.5, 1, 2, 0.1, 0.9]
    assert len(queries.scores(store)) == 4
    assert queries.scores(store, rules="paper").empty


def test_drops_under_given_rules(store: Store) -> None:
    assert queries.drops(store, "ask-1")[["item", "reason", "rules"]].values.tolist() == [
        ["cf-02", "not simulatable", "repaired"]
    ]
    assert len(queries.drops(store, "ask-1", "repaired")) == 1
    assert queries.drops(store, "ask-1", "paper").empty


def test_faults(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "journals" / "ask-1.jsonl"
    path.write_bytes(path.read_bytes() + b"broken\n")
    index(store, tmp_path / "journals")
    assert queries.faults(store, "ask-1").line.tolist() == [16]
    assert queries.runs(store).set_index("run").faults["ask-1"] == 1


def test_records_of_other_labs(store: Store) -> None:
    assert queries.recorded(store, "probe-1", "finding")[["item", "data"]].values.tolist() == [["p1", {"input": 3}]]
    assert queries.recorded(store, "probe-1", "other").empty


def test_a_case(store: Store) -> None:
    found = queries.ask_case(store, "ask-1").astype(object)
    rows = found.where(found.notna(), None).set_index("item")
    columns = ["text", "simulator", "expected", "guessed", "said", "reason", "origin"]
    assert rows.loc["cf-01", columns].tolist() == [
        "Can an ostrich fly?",
        "control/fickle",
        "yes",
        "no",
        "no",
        None,
        "generated",
    ]
    assert rows.loc["cf-02", columns].tolist()[2:6] == ["unknown", None, "yes", "not simulatable"]
    assert found.simulation_calls.tolist() == [[], []]
    assert queries.ask_case(store, "ask-1", "paper").reason.isna().all()
    assert queries.ask_case(store, "nobody").empty
    assert queries.explanations(store, "ask-1").item.tolist() == ["starter"]


def test_scatter_has_one_row_a_run_that_was_scored(store: Store) -> None:
    found = queries.ask_scatter(store)
    assert found.run.tolist() == ["ask-2", "ask-1"]
    assert pd.isna(found.precision[0])
    assert found[["precision", "generality_cosine", "n", "of"]].iloc[1].tolist() == [0.5, 0.7, 1, 2]
    assert found[["model", "method", "task", "question"]].iloc[1].tolist() == [
        "control/fickle",
        "cot",
        "strategyqa",
        "Can penguins fly?",
    ]
    assert found.generality_bleu.isna().all()
    assert queries.ask_scatter(store, "paper").empty


def test_an_empty_store_answers_with_no_rows(empty: Store) -> None:
    assert queries.runs(empty, alive=lambda run: True).empty
    assert queries.scores(empty).empty
    assert queries.ask_scatter(empty).empty
    assert {"run", "precision", "generality_cosine"} <= set(queries.ask_scatter(empty).columns)
    assert "messages" in queries.calls(empty, "r")


def check_run(run: str, explanations: list[str], scores: dict[str, float | None]) -> list[Event]:
    spec = {"title": "two reviews", "task": "sentiment", "model": "control/x", "explanations": explanations}
    found: list[Event] = [Started(run=run, at=at(0), lab="consistency", spec=spec, seed=0)]
    data = {
        "paragraph": "p", "explanation": explanations[0], "wording": "you-removed", "label": "positive",
        "before_repaired": "positive", "after_repaired": "unknown", "faithful_repaired": "yes", "faithful_paper": "no",
        "control_repaired": 0.5, "masked": 0.1, "over_redacted": False,
    }  # fmt: skip
    item = f"p/{explanations[0]}/you-removed"
    found.append(Recorded(run=run, at=at(1), record="consistency", item=item, data=data))
    for group, value in scores.items():
        found.append(
            Scored(run=run, at=at(2), metric="faithfulness", value=value, n=3, of=4, rules="repaired", item=group)
        )
    return found


def test_checks_and_their_scores(tmp_path: Path) -> None:
    folder = tmp_path / "journals"
    write(folder, "one", check_run("one", ["redaction"], {"": 0.75}))
    write(folder, "two", check_run("two", ["attribution", "redaction"], {"": None, "redaction/you-removed": 1.0}))
    with Store(tmp_path / "store.duckdb") as store:
        index(store, folder)
        checks = queries.checks(store, "one")
        assert checks[["before", "after", "faithful", "control", "masked"]].values.tolist() == [
            ["positive", "unknown", "yes", 0.5, 0.1]
        ]
        assert queries.checks(store, rules="paper")["faithful"].tolist() == ["no", "no"]
        scores = queries.check_scores(store).set_index(["run", "item"])
        assert scores.loc[("one", "")]["explanation"] == "redaction", "the only one"
        assert scores.loc[("two", "")]["explanation"] == "" and pd.isna(scores.loc[("two", "")]["faithfulness"])
        wording = scores.loc[("two", "redaction/you-removed")]
        assert (wording["explanation"], wording["wording"], wording["faithfulness"]) == (
            "redaction",
            "you-removed",
            1.0,
        )
        assert queries.check_scores(store, rules="paper").empty
