"""Columns of a person's own file are facets, columns of exports and SQL, and rows of a study's tables."""

import asyncio
import json
from pathlib import Path

import pandas as pd
import pytest

from core import entry, home
from core.__main__ import main
from core.journal import Journal
from core.labs.ask.tasks import AskSpec
from core.report import export
from core.runs.context import recorded
from core.runs.engine import RunIO, RunRequest, execute
from core.runs.labels import BY, Label
from core.store import comparing
from core.store.comparing import NotComparableError
from core.store.filters import Filter, from_query
from core.store.index import index
from core.store.listing import Selection, groups
from core.store.store import Store
from core.studies import table_cells, tables
from core.studies.plan import read, run_id

ITEMS = [
    {"q": "Can a penguin fly?", "gold": "no", "domain": "birds", "by": "Ann"},
    {"q": "Can an ostrich fly?", "gold": "no", "domain": "birds", "by": "Bob"},
    {"q": "Can a robin fly?", "gold": "yes", "domain": "to'y$s", "by": "Ann"},
]
COLUMNS = {"question": "q", "answer": "gold"}


def data_set() -> str:
    folder = home.home() / "datasets"
    folder.mkdir(exist_ok=True)
    (folder / "items.jsonl").write_text("\n".join(map(json.dumps, ITEMS)), encoding="utf-8")
    return "file:items.jsonl"


@pytest.fixture
def run() -> str:
    spec = AskSpec(model="control/fickle", dataset=data_set(), columns=COLUMNS, counterfactuals=2)
    with Journal(home.journals() / "run.jsonl", new=True) as written:
        request = RunRequest(entry.labs()["simulatability"], spec, "run", study="birds")
        asyncio.run(execute(request, RunIO(entry.catalog().get, written.append, live=False)))
    return "run"


def test_a_column_is_a_facet_and_part_of_the_address(run: str, tmp_path: Path) -> None:
    with Store(tmp_path / "store.duckdb", entry.labs()) as store:
        index(store, home.journals())
        every = Selection(store)
        assert sorted(every.extra_columns()) == ["by", "domain"]
        assert set(every.facet("extra:domain")) == {"birds", "to'y$s"}
        only = from_query({"extra:domain": ["to'y$s"]})
        assert only.query() == {"extra:domain": ["to'y$s"]}
        titles = {title for (title,) in every.by(only).found("select title from wanted")}
        assert titles == {"Can a robin fly?"}
        # A facet is counted under all filters but its own.
        assert every.by(only).facet("extra:domain") == every.facet("extra:domain")
        assert set(every.by(only).facet("extra:by")) == {"Ann"}
        assert every.by(Filter(chosen={"extra:mood": ("good",)})).count() == 0
        # Other people see neither the rows nor the names of their columns.
        assert Selection(store, viewer="somebody").extra_columns() == []


def test_rows_and_queries_are_written_to_files_with_the_columns(
    run: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "rows.parquet"
    assert main(["rows", "--where", "run = 'run'", "-o", str(file)]) == 0
    rows = pd.read_parquet(file)
    assert f"{len(rows)} rows written" in capsys.readouterr().out
    assert set(rows["extra.domain"]) == {"birds", "to'y$s"} and set(rows["extra.by"]) == {"Ann", "Bob"}
    assert set(rows["study"]) == {"birds"} and not rows["recording"].any()
    tried = rows[rows["observed"].notna()].iloc[0]
    assert dict(zip(rows["title"], rows["gold"], strict=True)) == {item["q"]: item["gold"] for item in ITEMS}
    assert tried["explanation"] and len(json.loads(tried["calls"])) >= len(json.loads(tried["answers"])) > 0
    capsys.readouterr()
    recorded = tmp_path / "recorded.csv"
    assert main(["rows", "--where", "run not like 'study-%' and outcome = 'misled all'", "-o", str(recorded)]) == 0
    rows = pd.read_csv(recorded)
    assert rows["recording"].all() and f"{len(rows)} rows of runs that came with the app" in capsys.readouterr().out
    found = tmp_path / "found.csv"
    assert main(["query", 'select "case", name, value from extra_columns', "-o", str(found)]) == 0
    assert len(pd.read_csv(found)) == 2 * len(ITEMS)
    assert main(["query", "select 1", "-o", str(found)]) == 2
    assert "already exists" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main(["query", "select 1", "-o", str(tmp_path / "rows.xlsx")])
    assert "should end in .csv, .parquet, .jsonl" in capsys.readouterr().err
    assert len(pd.read_csv(found)) == 2 * len(ITEMS) and not (tmp_path / "rows.xlsx").exists()


def test_a_study_s_table_has_a_row_for_each_value(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(
        f"""
        title = "Domains"
        [[part]]
        lab = "ask"
        [part.spec]
        model = "control/fickle"
        dataset = "{data_set()}"
        columns = {{ question = "q", answer = "gold" }}
        counterfactuals = 2
        [[table]]
        rows = ["extra.domain"]
        columns = ["extra.mood"]
        metrics = ["precision"]
        """,
        encoding="utf-8",
    )
    assert main(["study", "run", str(study)]) == 0
    read_study = read(study, entry.labs())
    cases = tables.measured(read_study, entry.labs(), home.journals())
    # A robot's runs are controls, which a table does not show.
    shown = tables.rows(read_study, entry.labs(), cases.assign(control=False))
    assert {row["row"] for row in shown if row["table"] != "Controls"} >= {"birds", "to'y$s"}


def test_a_study_s_table_has_a_row_for_each_label(tmp_path: Path) -> None:
    """Labels of cases by a scheme of one's own: the majority's, also if they come after the run was read."""
    study = tmp_path / "study.toml"
    text = f"""
        title = "Labels"
        [[part]]
        lab = "ask"
        [part.spec]
        model = "control/fickle"
        dataset = "{data_set()}"
        columns = {{ question = "q", answer = "gold" }}
        counterfactuals = 2
        [[table]]
        rows = ["label.reason"]
        metrics = ["precision"]
        """
    study.write_text(text, encoding="utf-8")
    assert main(["study", "run", str(study)]) == 0
    planned, kept = read(study, entry.labs()), dict[str, pd.DataFrame]()
    [run] = [one.id for one in planned.all if one.spec.model_dump().get("columns") == COLUMNS]

    def rows() -> dict[str, float]:
        frame = tables.measured(planned, entry.labs(), home.journals(), kept)
        frame = frame[frame["run"] == run].assign(control=False)
        cells = tables.rows(planned, entry.labs(), frame)
        return {cell["row"]: cell["of"] for cell in cells if cell["table"] == "Ask: Precision"}

    def say(who: str, case: str, *labels: str, trial: str = "") -> None:
        with Journal(home.journals() / f"{run}~{BY}{who}.jsonl") as written:
            written.append(recorded(run, Label(own={"reason": labels} if labels else {}), trial, case=case, by=who))

    cases = tables.measured(planned, entry.labs(), home.journals(), kept)
    first, second, third = cases[cases["run"] == run]["case"].unique()
    assert rows() == {"not labelled": 3}
    assert table_cells.bytes_said(planned, entry.labs(), home.journals()) == 0
    for who, label in (("ann", "vague"), ("bob", "fine"), ("eve", "vague")):
        say(who, first, label)
    for who, label in (("ann", "vague"), ("bob", "fine")):
        say(who, second, label)
    say("ann", third, "fine")
    say("ann", third, "circular", "vague")
    say("ann", third, "fine", trial="cf-1")
    assert rows() == {"vague": 1, "labelled differently": 1, "circular, vague": 1}
    assert table_cells.bytes_said(planned, entry.labs(), home.journals()) > 0
    say("ann", third)
    assert rows() == {"vague": 1, "labelled differently": 1, "not labelled": 1}, "a label can be taken back"


def test_the_same_bytes_under_two_paths_are_one_data_set(tmp_path: Path) -> None:
    lab, name = entry.labs()["simulatability"], data_set()
    same, other, kind = (tmp_path / file for file in ("copy.jsonl", "other.jsonl", "items.csv"))
    content = (home.home() / "datasets" / "items.jsonl").read_bytes()
    same.write_bytes(content)
    kind.write_bytes(content)
    other.write_bytes(content + b"\n")

    def named(dataset: str) -> str:
        return run_id(lab, AskSpec(model="control/fickle", dataset=dataset, columns=COLUMNS, counterfactuals=2))

    assert named(name) == named(f"file:{same}"), "the path does not matter"
    assert len({named(name), named(f"file:{other}"), named(f"file:{kind}")}) == 3, "content and format do"


def test_columns_of_a_damaged_journal_are_left_out(tmp_path: Path) -> None:
    def lines() -> list[str]:
        begun = {"title": "t", "number": 1, "of": 1, "columns": ["no", "mapping"]}
        made = AskSpec(model="control/fickle", question="Can a robin fly?").model_dump(mode="json")
        started = {"kind": "started", "run": "odd", "lab": "simulatability", "spec": made, "seed": 0, "schema": 3}
        record = {"kind": "recorded", "run": "odd", "case": "one", "item": "case", "record": "begun", "data": begun}
        return [json.dumps({**one, "at": "2026-01-01T00:00:00Z"}) for one in (started, record)]

    (home.journals() / "odd.jsonl").write_text("\n".join(lines()) + "\n", encoding="utf-8")
    with Store(tmp_path / "store.duckdb", entry.labs()) as store:
        assert index(store, home.journals()) == ["odd"]
        assert Selection(store).extra_columns() == [] and Selection(store).count() == 1


def test_the_values_of_a_column_are_compared(run: str, tmp_path: Path) -> None:
    with Store(tmp_path / "store.duckdb", entry.labs()) as store:
        index(store, home.journals())
        query = {"by": ["extra:by"], "of": ["Ann", "Bob"], "model": ["control/fickle"], "match": ["exact"]}
        compared = comparing.compare_query(store, query)
        every = Selection(store, Filter(chosen={"model": ("control/fickle",)}))
        assert compared.rows == tuple(
            every.by(every.filter.choosing("extra:by", [name])).count() for name in ("Ann", "Bob")
        )
        assert compared.rows[0] > compared.rows[1] > 0
        with pytest.raises(NotComparableError, match="extra:NAME"):
            comparing.compare_query(store, {**query, "by": ["mood"]})


def test_groups_count_what_one_counts_by_hand(run: str, tmp_path: Path) -> None:
    with Store(tmp_path / "store.duckdb", entry.labs()) as store:
        index(store, home.journals())
        lab, every = entry.labs()["simulatability"], Selection(store)
        found = {one.value: one for one in groups(every, lab, "extra:domain")}
        rows = export.rows(every)
        rows = rows[rows["rules"] == "repaired"]
        for value, one in found.items():
            ours = rows[rows["extra.domain"] == value]
            counted = ours[(ours["counts"] == True) & ours["doubt"].isna()]  # noqa: E712  it may be null
            kept = counted["outcome"].isin(lab.that_mean("kept"))
            assert (one.rows, one.counted) == (len(ours), len(counted))
            assert one.kept.value == (pytest.approx(kept.mean()) if len(counted) else None)
        assert set(found) == {"birds", "to'y$s"} and sum(one.counted for one in found.values()) > 0
        assert {one.value for one in groups(every, lab, "model")} == {"control/fickle"}
        assert sum(one.rows for one in groups(every, lab, "outcome")) == every.count()
        with pytest.raises(ValueError, match="cannot be grouped by 'mood'"):
            groups(every, lab, "mood")


def test_another_predictor_of_a_study_s_answers_widens_its_multiverse(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(
        f"""
        title = "Predictors"
        [[part]]
        lab = "ask"
        [part.spec]
        model = "control/fickle"
        dataset = "{data_set()}"
        columns = {{ question = "q", answer = "gold" }}
        counterfactuals = 3
        """,
        encoding="utf-8",
    )
    assert main(["study", "run", str(study)]) == 0
    read_study = read(study, entry.labs())

    def spread() -> list[str]:
        cases = tables.measured(read_study, entry.labs(), home.journals()).assign(control=False)
        rows = tables.rows(read_study, entry.labs(), cases)
        return [row["column"] for row in rows if row["table"].startswith("Multiverse")]

    assert not any("simulator" in column for column in spread())
    (first,) = (run.id for run in read_study.runs)
    assert main(["repredict", first, "--simulator", "control/vague"]) == 0
    assert any("moved by simulator (control/fickle, control/vague)" in column for column in spread())


def test_pictures_are_grouped_by_a_column(run: str, tmp_path: Path) -> None:
    with Store(tmp_path / "store.duckdb", entry.labs()) as store:
        index(store, home.journals())
        lab = entry.labs()["simulatability"]
        for one in lab.listing.pictures:
            rows = Selection(store).of_cases(lab.name, one.of, "domain")
            assert set(rows["extra:domain"]) == {"birds", "to'y$s"}
            table, whole = one.table(rows, one.choices[0]), one.table(rows.drop(columns="extra:domain"), one.choices[0])
            assert len(table) == 2 * len(whole) == 2, one.name
            assert all("to'y$s" in label or "birds" in label for label in table["label"]), one.name
            column = next(name for name in ("items", "n") if name in table)
            assert sorted(table[column]) == [1, 2] and whole[column].tolist() == [3], one.name
        rows = Selection(store).of_cases(lab.name, lab.listing.pictures[0].of, "no such column")
        assert set(rows["extra:no such column"]) == {""}
