"""Which rows match: in memory, for runs side by side, and in the store, for Compare."""

from pathlib import Path
from urllib.parse import parse_qs

import pytest

from core import entry
from core.events import Event
from core.labs.base.declared import FACETS, Comparability
from core.store import comparing
from core.store.comparing import TestedItem, controlled, home, match_tests
from core.store.index import index
from core.store.store import Store
from tests.core.store.store_events import ended, started, write
from tests.core.store.test_comparing import BAD, GOOD, asked, same

OF_CHECK = Comparability("", whole="paragraph", tail=" · ")


def checked(folder: Path, run: str, *cases: str) -> None:
    """Write a run of *Check* over cases of a paragraph, a kind and a wording; "p1" twice means two with one title."""
    events: list[Event] = [started(run).model_copy(update={"lab": "consistency"})]
    for case in cases:
        paragraph, *kind = case.split("/")
        done = ended(run, case, outcome="faithful")
        title = {"title": f"A · {paragraph} · {', '.join(kind)}"}
        events.append(done.model_copy(update={"data": {**done.data, **title}}))
    write(folder, run, events)


def at_hand(store: Store, run: str) -> list[TestedItem]:
    with store.cursor() as cursor:
        cursor.execute(f"""select about, title, "case", {", ".join(FACETS)} from items where run = ?""", [run])
        return [
            TestedItem(about or "", title, case, dict(zip(FACETS, (value or "" for value in values), strict=True)))
            for about, title, case, *values in cursor.fetchall()
        ]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        (("p1/redaction/objective", "p2/redaction/objective"), ("p2/attribution/objective",), 1),
        (("p1/redaction/objective", "p1/attribution/objective"), ("p1/attribution/objective",), 1),
        (("p1/redaction/objective", "p1/attribution/objective"), ("p1/redaction/you", "p1/attribution/you"), 2),
        (("p1/redaction/you", "p1/redaction/objective"), ("p1/attribution/objective", "p1/redaction/you"), 1),
        (("p1/redaction/you",), ("p2/redaction/you",), 0),
    ],
)
def test_checks_meet_alike_at_hand_and_in_the_store(
    tmp_path: Path, first: tuple[str, ...], second: tuple[str, ...], both: int
) -> None:
    checked(tmp_path / "journals", "run-a", *first)
    checked(tmp_path / "journals", "run-b", *second)
    assert len(pairs(tmp_path, "whole")) == both


def test_new_questions_meet_alike_at_hand_and_in_the_store(tmp_path: Path) -> None:
    tried = {"S1": same(a=GOOD, b=BAD), "S2": same(a=GOOD, c=BAD)}
    asked(tmp_path / "journals", "run-a", "a", tried)
    asked(tmp_path / "journals", "run-b", "b", {"S2": same(a=BAD, d=GOOD), "S1": same(b=BAD, c=BAD)})
    assert pairs(tmp_path, "exact") == {("S1", "b"), ("S2", "a")}, "the same words for another starter are another item"


def pairs(folder: Path, match: str) -> set[tuple[str, str]]:
    """The rows of two runs that match, by title and words, checked in both ways."""
    with Store(folder / "store.duckdb", {lab.name: lab for lab in entry.LABS}) as store:
        index(store, folder / "journals")
        compared = comparing.compare_query(store, parse_qs(f"runs=run-a,run-b&match={match}"))
        found = comparing.matrix(store, compared.asked)
        columns = [at_hand(store, run) for run in ("run-a", "run-b")]
        terms = comparing.comparability_of(store, compared.asked.lab)
    in_store = [
        (row.place_0.case, row.place_1.case, row.about) for row in found.itertuples() if row.place_0 and row.place_1
    ]
    at_once = [
        (columns[0][a], columns[1][b]) for a, b in match_tests(columns, terms) if a is not None and b is not None
    ]
    assert sorted(in_store) == sorted((one.case, other.case, one.about) for one, other in at_once)
    return {(one.title, one.about) for one, _ in at_once}


@pytest.mark.parametrize(
    "title", ["A · B · redaction, you", "A · redaction", "A", "", " · redaction", "A · ", "A ·  · x", "· A · · B"]
)
def test_what_a_title_belongs_to_is_the_same_in_python_and_in_sql(tmp_path: Path, title: str) -> None:
    with Store(tmp_path / "store.duckdb", {lab.name: lab for lab in entry.LABS}) as store, store.cursor() as cursor:
        (found,) = cursor.execute(
            f"select {comparing.home_in_sql(OF_CHECK)} from (select ? as title)", [title]
        ).fetchone()
    assert found == home(title, OF_CHECK)


def test_what_two_have_twice_meets_in_order_and_what_has_no_name_by_its_case() -> None:
    twice = [TestedItem("q", "S"), TestedItem("q", "S")]
    assert match_tests([twice, twice[:1]], None) == [(0, 0), (1, None)]
    terms = Comparability("", nameless=("Your function",))
    mine = TestedItem("x", "Your function", "own")
    assert home("Your function", terms) == "" and home("Another", terms) == "Another"
    assert (
        match_tests([[mine], [mine]], terms) == [(0, 0)]
        and len(match_tests([[mine], [mine._replace(case="other")]], terms)) == 2
    )


def test_what_must_be_equal_besides() -> None:
    held = {
        "model": [{"m"}, {"n"}],
        "how": [{"cot", "posthoc"}, {"cot"}],
        "task": [{"t"}, {"t"}],
        "as:x": [{""}, {"m"}],
    }
    assert controlled(held, are_named=True) == ("how",), "what a run is throughout may differ"
    assert controlled(held, are_named=False) == ("model", "how"), "and who asks nobody meets any"
    assert controlled({"how": [set(), set()]}, are_named=False) == (), "what nobody has cannot differ"
