"""Lists of results: what has a row, what a filter leaves, pages, and what a facet counts."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pandas as pd
import pytest

from core.events import Asked, Finished, Fork, Message, Recorded
from core.report import export
from core.store import listing
from core.store.filters import Filter, Range, from_query, phrases
from core.store.index import index
from core.store.listing import Listed, RowPlace, Selection
from core.store.store import Store
from tests.core.store.store_events import (
    LABS,
    asked,
    at,
    begun,
    ended,
    failed,
    started,
    trial,
    whole_run,
    write,
)

RUNS = 9


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Nine complete runs an hour apart, each with a trial that has an outcome and an excluded one; one run that stopped
    before its first case, and one whose only case failed.
    """
    folder = tmp_path_factory.mktemp("listing")
    for number in range(RUNS):
        events = whole_run(f"run-{number}", precision=number / 10, second=3600 * number)
        if number % 2:
            events[0] = started(f"run-{number}", 3600 * number, model="openai/other", method="posthoc")
        write(folder / "journals", f"run-{number}", events)
    write(folder / "journals", "broken", [started("broken", 90_000), failed("broken", None, 90_001)])
    lost = [
        *(started("lost", 99_000), begun("lost", second=99_001), asked("lost", "c0001", 99_002)),
        failed("lost", "c0001", 99_003),
        ended("lost", second=99_004, outcome="failed"),
        Finished(run="lost", at=at(99_005), status="failed"),
    ]
    write(folder / "journals", "lost", lost)
    with Store(folder / "store.duckdb", LABS) as store:
        index(store, folder / "journals")
        yield store


def runs_of(found: Listed) -> list[str]:
    return list(found.rows["run"])


def test_every_run_has_a_row_and_what_failed_says_how(store: Store) -> None:
    found = Selection(store).items()
    assert found.total == 2 * RUNS + 2 and found.first == 1 and found.is_last
    rows = found.rows.set_index("run")
    assert rows.loc["broken", ["case", "outcome", "error", "status"]].tolist() == ["", "", "TimedOut", "running"]
    assert rows.loc["lost", ["trial", "outcome", "error", "status"]].tolist() == ["", "failed", "TimedOut", "failed"]
    kept, aside = rows.loc["run-4"].itertuples()
    assert (kept.about, kept.expected, kept.observed, kept.outcome) == ("Can an ostrich fly?", "yes", "no", "otherwise")
    assert (kept.reason, aside.reason) == ("", "not simulatable") and bool(kept.differ) and not aside.differ
    assert (kept.how, kept.task, kept.explanation) == ("cot", "strategyqa", "Birds fly.")


def test_one_row_is_found_by_its_place(store: Store) -> None:
    page = Selection(store).items()
    rows = [Selection(store).row(place).astype(object).fillna("") for place in page.places()]
    listed = page.rows.astype(object).fillna("").to_dict("records")
    assert [row.to_dict("records") for row in rows] == [[row] for row in listed]
    assert Selection(store).row(RowPlace("run-4", "question", "cf-99")).empty


@pytest.mark.parametrize("sort", list(listing.SORTS))
def test_pages_forth_and_back_hold_every_row_once(store: Store, sort: str) -> None:
    whole = Selection(store).items(sort=sort).places()
    forth: list[RowPlace] = []
    found = Selection(store).items(sort=sort, limit=7)
    while True:
        assert found.first == len(forth) + 1 and found.total == len(whole)
        forth += found.places()
        if found.is_last:
            break
        found = Selection(store).items(sort=sort, after=forth[-1], limit=7)
    assert forth == whole and len(set(forth)) == len(forth)
    back = Selection(store).items(sort=sort, before=whole[14], limit=7)
    assert back.places() == whole[7:14] and back.first == 8


@pytest.mark.parametrize("sort", list(listing.SORTS))
def test_runs_of_one_moment_have_an_order_too(tmp_path: Path, sort: str) -> None:
    """A filter's test once failed now and then, where runs of one moment were indexed in another order."""
    for number in (3, 1, 2):
        write(tmp_path / "journals", f"run-{number}", whole_run(f"run-{number}"))
    orders = []
    for names in (["run-1", "run-2", "run-3"], ["run-3", "run-2", "run-1"]):
        with Store(tmp_path / f"{names[0]}.duckdb", LABS) as store:
            for name in names:
                write(tmp_path / names[0], name, whole_run(name))
                index(store, tmp_path / names[0])
            place, one = RowPlace("run-2", "question"), Selection(store)
            whole = one.items(sort=sort).places()
            paged = [*one.items(sort=sort, limit=2).places(), *one.items(sort=sort, after=whole[1], limit=9).places()]
            assert paged == whole and len(set(whole)) == 6
            orders.append((whole, one.run_ids(), one.cases(9), list(one.elsewhere(place)["run"])))
    assert orders[0] == orders[1]


def test_prompts_and_answers_are_searched_once_for_all_questions_of_a_page(tmp_path: Path) -> None:
    """Each of a dozen questions searched them anew, a second and a half each among 200,000 trials."""
    deep = Filter(text="yes.", deep=True)
    with Store(tmp_path / "store.duckdb", LABS) as store:
        for number in (1, 2):
            write(tmp_path / "journals", f"run-{number}", whole_run(f"run-{number}"))
            index(store, tmp_path / "journals")
            before, one = listing._in_calls.cache_info().misses, Selection(store, deep)
            assert one.count() == one.items().total == sum(one.facet("lab").values()) == 2 * number
            assert listing._in_calls.cache_info().misses == before + 1
        assert Selection(store, Filter(text="no such words", deep=True)).count() == 0


def test_words_in_prompts_are_text_and_are_found_in_any_case(tmp_path: Path) -> None:
    prompt = (Message(role="user", content="Is *this* (perhaps) an ÉLAN?"),)
    events = [one.model_copy(update={"messages": prompt}) if isinstance(one, Asked) else one for one in whole_run("r")]
    with Store(tmp_path / "store.duckdb", LABS) as store:
        write(tmp_path / "journals", "r", events)
        index(store, tmp_path / "journals")
        found = {
            words: Selection(store, Filter(text=f'"{words}"', deep=True)).count() > 0
            for words in ("is *THIS* (perhaps)", "élan?", "Élan", "elan", "(.*)", "this", ".this.", "\\w")
        }
    assert [words for words, is_there in found.items() if is_there] == ["is *THIS* (perhaps)", "élan?", "Élan", "this"]


def test_a_page_after_a_row_that_is_gone_is_the_first_and_says_so(store: Store) -> None:
    found = Selection(store).items(after=RowPlace("gone", "question", "cf-01"), limit=3)
    assert found.lost and found.first == 1 and found.places() == Selection(store).items(limit=3).places()


@pytest.mark.parametrize(
    ("wanted", "rows"),
    [
        (Filter({"model": ("openai/other",)}), 0),
        (Filter({"as:explainer": ("control/fickle",)}), 2 * RUNS + 1),
        (Filter({"how": ("posthoc",)}), 8),
        (Filter({"how": ("posthoc", "cot")}), 2 * RUNS + 1),
        (Filter({"outcome": ("otherwise",), "how": ("cot",)}), 5),
        (Filter({"reason": ("not simulatable",)}), RUNS),
        (Filter({"error": ("TimedOut",)}), 2),
        (Filter({"status": ("completed",)}), 2 * RUNS),
        (Filter({"status": ("interrupted",)}), 1),
        (Filter({"differs": ("differ",)}), RUNS + 1),
        (Filter(text="OSTRICH"), 2 * RUNS),
        (Filter(text='"birds fly" ostrich'), 2 * RUNS),
        (Filter(text="fly birds' %_"), 0),
        (Filter(text="yes."), 0),
        (Filter(text="yes.", deep=True), 2 * RUNS),
        (Filter(text="PENGUINS fly?", deep=True), 2 * RUNS + 1),
        (Filter(text='"PENGUINS FLY?"', deep=True), 2 * RUNS + 1),
        (Filter(text="penguins.fly", deep=True), 0),
        (Filter(text="(penguins", deep=True), 0),
        (Filter(text="penguıns", deep=True), 0),
        (Filter(ranges=(Range("precision", 0.3, 0.55),)), 6),
        (Filter(ranges=(Range("precision", None, 0.05),)), 2),
        (Filter(runs=("run-1", "lost")), 3),
        (Filter(since=date(2026, 5, 5)), 2),
        (Filter(until=date(2026, 5, 4)), 2 * RUNS),
        (Filter(recordings=True), 0),
    ],
)
def test_a_filter_leaves_what_it_says_and_survives_its_address(store: Store, wanted: Filter, rows: int) -> None:
    stopped = ["broken"]
    found = Selection(store, wanted, stopped=stopped).items()
    assert (found.total, len(found.rows)) == (rows, rows)
    assert Selection(store, wanted, stopped=stopped).count() == rows
    assert from_query(wanted.query()) == wanted


def test_facets_count_what_each_choice_would_leave(store: Store) -> None:
    chosen = Filter({"how": ("posthoc",), "outcome": ("otherwise",)})
    assert Selection(store, chosen).facet("how") == {"cot": 5, "posthoc": 4}, "whatever is chosen of the facet itself"
    assert Selection(store, chosen).facet("outcome") == {"otherwise": 4, "unread": 4}
    assert Selection(store, stopped=["broken"]).facet("status") == {
        "completed": 2 * RUNS, "failed": 1, "interrupted": 1,
    }  # fmt: skip
    assert Selection(store).facet("as:explainer") == {"control/fickle": 2 * RUNS + 1}
    assert Selection(store).facet("reason") == {"not simulatable": RUNS}, "what counts has no reason"
    assert listing.roles(store) == ["explainer"]


def test_what_misled_all_is_found_with_what_misled_and_what_is_in_doubt_by_itself(tmp_path: Path) -> None:
    events = whole_run("apart")
    events[-1:-1] = [
        trial("apart", "cf-03", outcome="misled"),
        trial("apart", "cf-04", outcome="misled all"),
        trial("apart", "cf-05", outcome="misled all", doubt="the predictor failed the qualification test"),
    ]
    write(tmp_path / "journals", "apart", events)
    with Store(tmp_path / "store.duckdb", LABS) as store:
        index(store, tmp_path / "journals")

        def found(facet: str, *values: str) -> list[str]:
            return sorted(Selection(store, Filter({facet: values})).items().rows["trial"])

        assert (
            found("outcome", "misled") == ["cf-03", "cf-04", "cf-05"] and found("outcome", "misled all")[0] == "cf-04"
        )
        counts = Selection(store).facet("outcome")
        assert (counts["misled"], counts["misled all"]) == (3, 2) and next(iter(counts)) == "misled"
        assert found("doubt", "doubt") == ["cf-05"] and "cf-05" not in found("doubt", "sure")
        assert Selection(store).facet("doubt") == {"sure": 3, "doubt": 1}
        assert store.query("select doubt_repaired from trials where trial = 'cf-05'").iloc[0, 0].startswith("the pred")
        taken = export.rows(Selection(store, Filter({"outcome": ("misled",)})))
        doubts = taken[taken["trial"] == "cf-05"].set_index("rules")["doubt"]
        assert doubts["repaired"] == "the predictor failed the qualification test" and pd.isna(doubts["paper"])
        assert b"the predictor failed the qualification test" in export.table(
            taken, "csv"
        ) and b'"doubt":null' in export.table(taken, "jsonl")


def test_runs_a_page_at_a_time(store: Store) -> None:
    whole = runs_of(Selection(store).runs())
    assert whole[:3] == ["lost", "broken", "run-8"] and len(whole) == RUNS + 2
    second = Selection(store).runs(after=RowPlace(whole[3]), limit=4)
    assert runs_of(second) == whole[4:8] and (second.first, second.total) == (5, RUNS + 2)
    back = Selection(store).runs(before=RowPlace(whole[4]), limit=3)
    assert runs_of(back) == whole[1:4] and back.first == 2
    assert runs_of(Selection(store).runs(oldest=True)) == whole[::-1]
    some = Selection(store, Filter({"outcome": ("otherwise",)})).runs()
    assert set(some.rows["found"]) == {1} and some.total == RUNS


def test_the_same_question_elsewhere(store: Store) -> None:
    others = Selection(store).elsewhere(RowPlace("run-4", "question", "cf-01"))
    assert len(others) == RUNS and "run-4" not in set(others["run"]) and set(others["how"]) == {"cot", "posthoc"}


def test_what_belongs_to_somebody_else_is_neither_listed_nor_counted(tmp_path: Path) -> None:
    for who in ("ann", "bob"):
        events = whole_run(f"of-{who}")
        events[0] = events[0].model_copy(update={"owner": who})
        write(tmp_path / "journals", f"of-{who}", events)
    with Store(tmp_path / "store.duckdb", LABS) as store:
        index(store, tmp_path / "journals")
        assert set(runs_of(Selection(store, viewer="ann").items())) == {"of-ann"}
        assert Selection(store, viewer="ann").facet("owner") == {"ann": 2}
        assert Selection(store, viewer="ann").facet("outcome") == {"otherwise": 1, "unread": 1}
        assert Selection(store, Filter(runs=("of-bob",)), viewer="ann").count() == 0
        assert Selection(store, viewer="ann").elsewhere(RowPlace("of-ann", "question")).empty
        assert len(Selection(store, viewer="ann").row(RowPlace("of-ann", "question", "cf-01"))) == 1
        assert Selection(store, viewer="ann").row(RowPlace("of-bob", "question", "cf-01")).empty
        assert runs_of(Selection(store, viewer="bob").runs()) == ["of-bob"]


def test_a_run_that_grows_has_each_of_its_rows_once(tmp_path: Path) -> None:
    events = whole_run("r")
    with Store(tmp_path / "store.duckdb", LABS) as store:
        for end in range(1, len(events) + 1):
            write(tmp_path / "journals", "r", events[:end])
            index(store, tmp_path / "journals")
            found = Selection(store).items()
            assert found.total >= 1 and len(set(found.places())) == found.total
        assert found.total == 2
        (tmp_path / "journals" / "r.jsonl").unlink()
        index(store, tmp_path / "journals")
        assert Selection(store).items().total == 0 and listing.roles(store) == [], "gone with its journal"


def test_an_address_that_nobody_made_is_taken_for_what_it_holds() -> None:
    query = {"outcome": ["x" * 501, "misled"], "nothing": ["1"], "since": ["yesterday"], "score": ["a:b:c", "p:1:"]}
    assert from_query(query) == Filter({"outcome": ("misled",)}, ranges=(Range("p", 1.0, None),))
    assert phrases('a "b c" d"e') == ["a", "b c", "d", "e"]


def test_answers_of_other_models_to_the_questions_of_a_run(tmp_path: Path) -> None:
    models = {"fickle": "control/fickle", "first": "openai/a", "again": "openai/a", "last": "openai/b", "edited": "o/c"}
    for name, model in models.items():
        events = whole_run(name)
        for number, event in enumerate(events):
            if isinstance(event, Recorded) and event.record == "result":
                events[number] = event.model_copy(update={"data": event.data | {"model": model}})
        events[0] = started(name, model=model).model_copy(
            update={"forked_from": Fork(run="fickle", case="question", call="c0001", text="")}
            if name == "edited"
            else {}
        )
        write(tmp_path / "journals", name, events[:-1] if name == "last" else events)
    asked, question = "Can penguins fly?", "Can an ostrich fly?"
    with Store(tmp_path / "store.duckdb", LABS) as store:
        index(store, tmp_path / "journals")
        cases, others = Selection(store).answers_of_others("fickle")
        assert cases == [(asked, [(question, "yes", "no")])] and others == {
            "openai/a": {(asked, question): ["no", "no"]}
        }
        assert Selection(store).answers_of_others("first").others == {}, "robots, an edited answer, an unfinished run"
        assert Selection(store).answers_of_others("nothing") == ([], {})
        assert Selection(store, viewer="ann").answers_of_others("fickle") == ([], {})
