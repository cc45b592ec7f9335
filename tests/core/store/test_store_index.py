import json
from datetime import datetime
from pathlib import Path
from typing import Any

from store_events import (
    CASE,
    LABS,
    NOON,
    answered,
    asked,
    at,
    begun,
    content,
    count,
    ended,
    failed,
    one,
    started,
    trial,
    whole_run,
    write,
)

from core import journal
from core.events import Dropped, Event, Finished, Recorded, Resumed, Scored, Started
from core.store.index import index, rebuild
from core.store.store import Store
from tests.attacks.journals import sealed

ROOT = Path(__file__).resolve().parents[3]


def test_a_whole_run(store: Store, folder: Path) -> None:
    path = write(folder, "r1", whole_run("r1"))
    assert index(store, folder) == ["r1"]
    run = one(store, "from runs")
    assert (run["run"], run["lab"], run["status"], run["seed"]) == ("r1", "simulatability", "completed", 7)
    assert (run["title"], run["model"]) == ("Can penguins fly?", "control/fickle")
    assert run["at"] == NOON.replace(tzinfo=None)
    assert (run["seconds"], run["finished_at"]) == (9.0, at(9).replace(tzinfo=None))
    assert (run["answered"], run["failed"], run["error"]) == (1, 0, None)
    assert (run["journal"], run["bytes"], run["lines"]) == (str(path), path.stat().st_size, 19)
    assert (run["app"], run["commit"], run["about"], run["cases"]) == ("1.2", "0123abc", "", 1)
    assert json.loads(run["spec"])["method"] == "cot"
    assert json.loads(run["prompts"]) == {"explain": "abc"}
    call = one(store, "from calls")
    assert (call["call"], call["item"], call["text"], call["seconds"]) == ("c0001", "starter", "Yes.", 0.5)
    assert (call["case"], call["trial"]) == (CASE, "")
    assert (call["prompt_tokens"], call["completion_tokens"], call["cached"]) == (12, 3, False)
    assert json.loads(call["messages"]) == [{"role": "user", "content": "Can penguins fly?"}]
    assert json.loads(call["sampling"])["max_tokens"] == 50
    explanation = one(store, "from explanation")
    assert (explanation["item"], explanation["question"]) == ("starter", "Can penguins fly?")
    assert (explanation["explanation_repaired"], explanation["gold"]) == ("Birds fly. <b>All</b>", None)
    simulation = one(store, "from simulation where item = 'cf-01' and \"by\" = ''")
    assert (json.loads(simulation["votes"]), simulation["repaired"]) == (["yes"], "yes")
    assert (simulation["case"], simulation["trial"]) == (CASE, "cf-01")
    assert one(store, "from simulation where \"by\" = 'reader'")["repaired"] == "no"
    case = one(store, "from cases")
    assert (case["case"], case["lab"], case["number"], case["of"], case["status"]) == (
        CASE,
        "simulatability",
        1,
        1,
        "done",
    )
    assert (case["outcome_paper"], case["outcome_repaired"], case["trials"], case["counted"]) == (
        "kept",
        "misled",
        2,
        1,
    )
    assert (case["at"], case["ended_at"]) == (at(1).replace(tzinfo=None), at(8).replace(tzinfo=None))
    tried = one(store, "from trials where trial = 'cf-01'")
    assert (tried["about"], tried["expected_paper"], tried["observed_repaired"]) == ("Can an ostrich fly?", "yes", "no")
    assert (tried["outcome_paper"], tried["counts_paper"], tried["reason_paper"]) == ("unread", False, "unparsed")
    assert (tried["outcome_repaired"], tried["counts_repaired"], tried["reason_repaired"]) == ("otherwise", True, "")
    assert json.loads(tried["calls"]) == ["c0002", "c0004"]
    counts = {"counterfactual": 2, "simulation": 3, "answer": 2, "scores": 2, "drops": 1, "records": 0, "faults": 0}
    counts |= {"cases": 1, "trials": 2}
    assert {table: count(store, table) for table in counts} == counts


def test_nothing_new_changes_nothing(store: Store, folder: Path) -> None:
    write(folder, "r1", whole_run("r1"))
    index(store, folder)
    before = content(store)
    assert index(store, folder) == []
    assert content(store) == before


def test_the_journal_s_own_writer(store: Store, folder: Path) -> None:
    events = whole_run("r1")
    with journal.Journal(folder / "r1.jsonl") as written:
        for event in events[:6]:
            written.append(event)
        assert index(store, folder) == ["r1"]
        assert one(store, "from runs")["status"] == "running"
        for event in events[6:]:
            written.append(event)
    assert index(store, folder) == ["r1"]
    assert one(store, "from runs")["status"] == "completed"
    with Store(folder.parent / "other.duckdb", LABS) as other:
        rebuild(other, folder)
        assert content(other) == content(store)


def test_an_answer_completes_a_row_indexed_before(store: Store, folder: Path) -> None:
    events: list[Event] = [started("r"), asked("r", "c1"), asked("r", "c2")]
    write(folder, "r", events)
    index(store, folder)
    assert one(store, "from calls where call = 'c1'")["text"] is None
    write(folder, "r", [*events, answered("r", "c1"), failed("r", "c2")])
    index(store, folder)
    assert one(store, "from calls where call = 'c1'")["text"] == "Yes."
    call = one(store, "from calls where call = 'c2'")
    assert (call["error"], call["hint"], call["text"]) == ("TimedOut", "Try a smaller model.", None)
    assert (call["item"], call["at"]) == ("starter", at(1).replace(tzinfo=None))
    run = one(store, "from runs")
    assert (run["answered"], run["failed"], run["error"]) == (1, 1, None)


def test_a_case_that_begins_in_one_pass_and_ends_in_another(store: Store, folder: Path) -> None:
    events: list[Event] = [started("r"), begun("r", "a", 1, 2), begun("r", "b", 2, 2)]
    write(folder, "r", events)
    index(store, folder)
    cases = store.query('select "case", status, title, number, trials from cases order by number')
    assert cases.astype(object).where(cases.notna(), None).values.tolist() == [
        ["a", "running", "About a", 1, None],
        ["b", "running", "About b", 2, None],
    ]
    events += [ended("r", "a", second=20), Finished(run="r", at=at(21), status="cancelled")]
    write(folder, "r", events)
    index(store, folder)
    case = one(store, "from cases where status = 'done'")
    assert (case["case"], case["number"], case["of"], case["lab"]) == ("a", 1, 2, "simulatability")
    assert (case["at"], case["ended_at"]) == (at(1).replace(tzinfo=None), at(20).replace(tzinfo=None))
    assert (one(store, "from runs")["cases"], one(store, "from runs")["title"]) == (2, "About a")
    events += [Resumed(run="r", at=at(30)), ended("r", "a", second=31, outcome="kept")]
    write(folder, "r", events)
    index(store, folder)
    case = one(store, "from cases where status = 'done'")
    assert (case["outcome_repaired"], case["number"], case["at"]) == ("kept", 1, at(1).replace(tzinfo=None))


def test_items_of_one_name_in_two_cases_are_two(store: Store, folder: Path) -> None:
    def of_case(case: str, n: int) -> list[Event]:
        place: dict[str, Any] = {"run": "r", "at": at(2), "case": case, "item": "cf-01"}
        return [
            Recorded(**place, record="answer", data={"call": f"c{n}", "paper": case, "repaired": case}),
            Recorded(**place, record="odd", data={"of": case}),
            Dropped(**place, reason="unparsed"),
            Scored(**place, metric="precision", value=n, n=1, of=1, rules="paper"),
            trial("r", "cf-01", case=case),
        ]

    write(folder, "r", [started("r"), *of_case("a", 1), *of_case("b", 2)])
    index(store, folder)
    for table in ("answer", "records", "drops", "scores", "trials"):
        cases = store.query(f'select "case" from {table} order by 1')["case"].tolist()
        assert cases == ["a", "b"], table


def test_what_two_people_say_stands_beside_what_the_lab_says(store: Store, folder: Path) -> None:
    def guess(who: str, text: str, second: float) -> Recorded:
        data = {"simulator": who, "paper": text, "repaired": text}
        return Recorded(run=f"r~{who}", at=at(second), case=CASE, record="simulation", item="cf-01", data=data, by=who)

    write(folder, "r", whole_run("r"))
    for who in ("ann", "bo"):
        said = Started(run=f"r~{who}", at=at(20), lab="simulatability", spec={}, seed=0, about="r")
        write(folder, f"r~{who}", [said, guess(who, "yes", 21), guess(who, f"no, says {who}", 22)])
    index(store, folder)
    assert store.query("select run, about from runs order by run").values.tolist() == [
        ["r", ""],
        ["r~ann", "r"],
        ["r~bo", "r"],
    ]
    said = store.query("select \"by\", repaired from simulation where item = 'cf-01' order by 1").values.tolist()
    assert said == [["", "yes"], ["ann", "no, says ann"], ["bo", "no, says bo"], ["reader", "no"]]


def test_a_person_cannot_end_a_case(store: Store, folder: Path) -> None:
    false = [event.model_copy(update={"by": "eve"}) for event in (begun("r"), ended("r"), trial("r", "cf-01"))]
    write(folder, "r", [started("r"), *false])
    index(store, folder)
    assert (count(store, "cases"), count(store, "trials"), count(store, "records")) == (0, 0, 3)
    assert one(store, "from runs")["title"] is None


def test_an_answer_after_a_failure_and_a_failure_after_an_answer(store: Store, folder: Path) -> None:
    first: list[Event] = [started("r"), asked("r", "c1"), failed("r", "c1"), asked("r", "c2"), answered("r", "c2")]
    write(folder, "r", [*first, answered("r", "c1"), failed("r", "c2")])
    index(store, folder)
    rows = store.query("select call, text, error from calls order by call").to_dict("records")
    assert [(row["call"], row["text"] == "Yes.", row["error"] == "TimedOut") for row in rows] == [
        ("c1", True, False),
        ("c2", False, True),
    ]


def test_a_failed_run_that_is_resumed(store: Store, folder: Path) -> None:
    drop = Dropped(run="r", at=at(3), item="cf-01", reason="error")
    other = Dropped(run="r", at=at(3), item="cf-02", reason="unparsed")
    events: list[Event] = [
        started("r"),
        drop,
        other,
        failed("r", None, 4),
        Finished(run="r", at=at(5), status="failed"),
    ]
    write(folder, "r", events)
    index(store, folder)
    run = one(store, "from runs")
    assert (run["status"], run["error"], run["seconds"]) == ("failed", "TimedOut", 5.0)
    assert count(store, "drops") == 2
    events += [Resumed(run="r", at=at(1000)), Finished(run="r", at=at(1002), status="completed")]
    write(folder, "r", events)
    index(store, folder)
    run = one(store, "from runs")
    assert (run["status"], run["error"], run["message"], run["seconds"]) == ("completed", None, None, 7.0)
    assert one(store, "from drops")["item"] == "cf-02"


def test_a_note_long_after_the_end_is_no_running_time(store: Store, folder: Path) -> None:
    guess = {"simulator": "reader", "paper": "no", "repaired": "no"}
    note = Recorded(run="r", at=at(5000), record="simulation", item="cf-02", data=guess, by="reader")
    write(folder, "r", [*whole_run("r"), note])
    index(store, folder)
    run = one(store, "from runs")
    assert (run["status"], run["seconds"], run["last_at"]) == ("completed", 9.0, at(5000).replace(tzinfo=None))


def test_times_are_kept_in_utc(store: Store, folder: Path) -> None:
    line = b'{"kind":"started","run":"r","at":"2026-05-04T14:00:00+02:00","schema":3,"lab":"x","spec":{},"seed":0}'
    (folder / "r.jsonl").write_bytes(sealed(line))
    index(store, folder)
    assert one(store, "from runs")["at"] == datetime(2026, 5, 4, 12)


def test_the_latest_event_wins_within_and_across_passes(store: Store, folder: Path) -> None:
    def scored(value: float) -> Scored:
        return Scored(run="r", at=at(value), metric="precision", value=value, n=1, of=1, rules="paper")

    write(folder, "r", [started("r"), scored(1), scored(2)])
    index(store, folder)
    assert one(store, "from scores")["value"] == 2
    write(folder, "r", [started("r"), scored(1), scored(2), scored(3)])
    index(store, folder)
    assert one(store, "from scores")["value"] == 3


def test_records_without_a_table_and_fields_without_a_column(store: Store, folder: Path) -> None:
    odd = {"call": 7, "paper": "yes", "repaired": None, "mood": [1, {"a": "ü"}], "extra": "mine", "run": "x", "By": 0}
    events: list[Event] = [
        started("r"),
        Recorded(run="r", at=at(1), record="session", item="s1", data={"a": [1, None]}),
        Recorded(run="r", at=at(1), record="answer", item="cf-01", data=odd),
    ]
    write(folder, "r", events)
    index(store, folder)
    assert json.loads(one(store, "from records")["data"]) == {"a": [1, None]}
    answer = one(store, "from answer")
    assert (answer["run"], answer["item"], answer["paper"], answer["repaired"]) == ("r", "cf-01", "yes", None)
    assert answer["call"] is None
    assert json.loads(answer["extra"]) == {
        "call": 7,
        "mood": [1, {"a": "ü"}],
        "extra": "mine",
        "run": "x",
        "By": 0,
    }


def test_a_record_of_a_lab_that_the_store_knows_only_by_its_types(store: Store, folder: Path) -> None:
    data = {
        "place": "moor",
        "pace": "fast",
        "steps": 9000,
        "hours": 2,
        "raining": True,
        "begun": "2026-05-04T14:00:00+02:00",
        "companions": ["Bo"],
        "mood": 7,
        "case": "leather",
        "Place": "hill",
    }
    bad = {"place": 3, "steps": 1.5, "hours": 10**400, "raining": "no", "begun": "at noon"}
    start = Started(run="w", at=at(0), lab="walking", spec={"title": "To the sea"}, seed=0)
    walks = [
        Recorded(run="w", at=at(n), case="c", trial="t", record="longwalk", item=f"w{n}", data=some)
        for n, some in enumerate((data, bad))
    ]
    write(folder, "w", [start, *walks])
    index(store, folder)
    row = one(store, "from long_walk where item = 'w0'")
    assert (row["run"], row["case"], row["trial"], row["by"]) == ("w", "c", "t", "")
    assert (row["place"], row["pace"], row["steps"], row["hours"], row["raining"]) == ("moor", "fast", 9000, 2.0, True)
    assert row["begun"] == datetime(2026, 5, 4, 12)
    assert (json.loads(row["companions"]), json.loads(row["mood"])) == (["Bo"], 7)
    assert json.loads(row["extra"]) == {"case": "leather", "Place": "hill"}
    row = one(store, "from long_walk where item = 'w1'")
    assert [row[name] for name in ("place", "steps", "hours", "raining", "begun")] == [None] * 5
    assert json.loads(row["extra"]) == bad
    assert one(store, "from runs")["title"] == "To the sea"


def test_the_title_of_a_run_is_its_spec_s_or_its_first_case_s(store: Store, folder: Path) -> None:
    write(folder, "a", [started("a", title="Two birds"), begun("a", "x", 1, 2), begun("a", "y", 2, 2)])
    write(
        folder, "b", [started("b", title=7, model=None), begun("b", "x", 1, 2), begun("b", "y", 2, 2), asked("b", "c")]
    )
    index(store, folder)
    assert store.query("select title from runs order by run").title.tolist() == ["Two birds", "About x"]
    assert one(store, "from runs where run = 'b'")["model"] == "control/fickle"
