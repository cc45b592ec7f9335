"""Comparisons on shared items, held against a small store of which every figure can be counted by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from pytest import approx

from core import home
from core.__main__ import main
from core.events import Recorded
from core.labs.consistency.lab import LAB as CHECK
from core.store import compared_in_words, comparing, shared
from core.store.comparing import Compared
from core.store.index import index
from core.store.shared import NotComparable
from core.store.store import Store
from tests.core.store.store_events import LABS, at, begun, ended, started, write

GOOD, BAD, UNREAD = "as expected", "misled", "unread"
BY_HAND = "as expected, by hand"
"""Came true, but a person wrote the question: it does not count."""
PAIR = "by=model&of=control/a&of=control/b"

Tried = dict[str, tuple[str, str]]
"""By the new question: what came of it by repaired rules, and by the paper's."""


def same(**outcomes: str) -> Tried:
    return {about: (outcome, outcome) for about, outcome in outcomes.items()}


A = {
    "S1": {"a": (GOOD, GOOD), "b": (GOOD, BAD), "c": (GOOD, GOOD)},
    "S2": same(a=GOOD, b=BAD),
    "S3": same(a=GOOD, b=GOOD),
    "S4": {"a": (GOOD, GOOD), "b": (UNREAD, BAD)},
}
B = {
    "S1": same(a=BAD, b=GOOD),
    "S2": same(a=BAD, b=BAD),
    "S3": same(a=BAD, b=GOOD),
    "S4": {**same(a=GOOD, b=GOOD), "": (UNREAD, UNREAD)},
    "S5": same(a=GOOD),
}


def asked(folder: Path, run: str, model: str, tried: dict[str, Tried], second: float = 0, **spec: str) -> None:
    """A run of *Ask* over starter questions. What is asked first is answered yes, the rest no."""
    events = [started(run, second, model=f"control/{model}", **spec)]
    for number, (title, questions) in enumerate(tried.items(), start=1):
        case = f"q{number}"
        events.append(begun(run, case, number, len(tried), second + 1))
        events[-1] = events[-1].model_copy(update={"data": {**events[-1].data, "title": title}})
        for place, (about, outcomes) in enumerate(questions.items(), start=1):
            said = "yes" if about == "a" else "no"
            other = "no" if about == "a" else "yes"
            repaired, paper = (
                {
                    "expected": said if outcome == GOOD else other, "observed": said,
                    "outcome": outcome.partition(",")[0],
                    "counts": outcome in (GOOD, BAD), "reason": "" if outcome in (GOOD, BAD) else "set aside",
                }
                for outcome in outcomes
            )  # fmt: skip
            data = {"about": about, "paper": paper, "repaired": repaired, "calls": []}
            item = f"cf-{place:02}"
            events.append(
                Recorded(run=run, at=at(second + 2), case=case, trial=item, record="trial", item=item, data=data)
            )
        done = ended(run, case, second + 3)
        events.append(done.model_copy(update={"data": {**done.data, "title": title, "model": f"control/{model}"}}))
    write(folder, run, events)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("comparing")
    asked(folder / "journals", "run-a", "a", A)
    asked(folder / "journals", "run-b", "b", B, method="posthoc")
    asked(folder / "journals", "run-c", "c", {"S9": same(a=GOOD, b=BAD)})
    asked(folder / "journals", "run-d", "d", {"S1": same(a=GOOD)})
    asked(folder / "journals", "run-d2", "d", {"S1": same(a=BAD, b=BY_HAND)}, second=60)
    with Store(folder / "store.duckdb", LABS) as store:
        index(store, folder / "journals")
        yield store


def found(store: Store, query: str) -> Compared:
    return comparing.found(store, parse_qs(query))


def sentences(store: Store, query: str) -> compared_in_words.Sentences:
    compared = found(store, query)
    judged = shared.judged_of(store, compared.asked.lab)
    return compared_in_words.sentences(compared, judged, [one.name for one in compared.asked.subjects])


def test_two_models_on_the_questions_that_both_were_asked(store: Store) -> None:
    compared = found(store, PAIR)
    (pair,) = compared.pairs
    assert (pair.n, pair.undefined, pair.only_first, pair.only_second) == (7, 1, 1, 1)
    assert (pair.first_alone, pair.second_alone, pair.clusters) == (3, 0, 4)
    assert pair.difference.value == approx(0.375) and pair.test and pair.test.p == 0.25, "three of four starters agree"
    assert (compared.rows, compared.unplaced, compared.averaged) == ((9, 10), (0, 1), 0)
    assert compared.items == {"parted": 3, "same": 4, "not shared": 3}
    assert (compared.shared, compared.true, compared.fixed) == (7, (6, 3), (4, 4))
    headline, chance, left_out = sentences(store, PAIR)
    assert headline == (
        "On the 7 new questions with an outcome for both, what the explanation led to expect came true 6 times for "
        "control/a and 3 times for control/b."
    )
    assert "come true 4 times for control/a and 4 times for control/b" in chance[0]
    assert "25\u00a0% of the time by chance alone" in chance[1] and "example, not a finding" in chance[2]
    assert left_out[0].startswith("Not among them: 1 new question that both have") and "1 of control/b" in left_out[1]


def test_the_matrix_comes_in_pages_with_what_differs_first(store: Store) -> None:
    compared = found(store, PAIR)
    pages = [shared.matrix(store, compared.asked, compared.keys[first : first + 4]) for first in (0, 4, 8)]
    rows = [row for page in pages for row in page.itertuples()]
    assert [row.agree for row in rows] == ["parted"] * 3 + ["same"] * 4 + ["not shared"] * 3
    assert len({(row.title, row.about) for row in rows}) == 10
    whole = list(shared.matrix(store, compared.asked).itertuples(index=False))
    assert [(row.title, row.about) for row in rows] == [(row.title, row.about) for row in whole], "as the file has them"
    assert (rows[0].title, rows[0].about, rows[0].value_0, rows[0].value_1) == ("S1", "a", 1, 0)
    assert rows[0].place_1 == ("run-b", "q1", "cf-01") and list(rows[0].said_1) == [BAD]
    lacking = next(row for row in rows if row.about == "c")
    assert lacking.place_1 is None and not len(lacking.said_1), "never asked"
    unread = next(row for row in rows if (row.title, row.about) == ("S4", "b"))
    assert unread.times_0 == 0 and list(unread.said_0) == [UNREAD], "asked, and without an outcome"


def test_starter_questions_meet_by_the_share_that_came_true(store: Store) -> None:
    compared = found(store, f"{PAIR}&match=whole")
    assert (compared.shared, compared.true, compared.pairs[0].only_second) == (4, (3.5, 2), 1)
    assert "On the 4 starter questions" in (headline := sentences(store, f"{PAIR}&match=whole").headline)
    assert "88\u00a0% of the time for control/a and 50\u00a0% of the time for control/b" in headline


def test_paper_rules_against_repaired_rules_row_by_row(store: Store) -> None:
    compared = found(store, "by=rules&model=control/a")
    (pair,) = compared.pairs
    assert (pair.n, pair.undefined, pair.first_alone, pair.second_alone) == (8, 1, 1, 0)
    assert compared.true == (7, 6) and compared.unplaced == (0, 0)
    first = shared.matrix(store, compared.asked).iloc[0]
    assert (first["title"], first["about"], first["agree"]) == ("S1", "b", "parted")
    assert found(store, "by=rules").pairs[0].n == 8 + 9 + 2 + 2, "rows of several runs stay apart"


def test_several_results_count_by_their_mean_and_runs_by_themselves(store: Store) -> None:
    compared = found(store, "by=model&of=control/b&of=control/d")
    assert (compared.shared, compared.true, compared.averaged) == (1, (0, 0.5), 1)
    (pair,) = found(store, "runs=run-d,run-d2").pairs
    assert (pair.n, pair.first_alone, pair.test and pair.test.p) == (1, 1, 1)
    assert found(store, "by=how&of=cot&of=posthoc&model=control/a&model=control/b").true == (6, 3)
    by_filter = found(store, "by=filter&of=model%3Dcontrol/a&of=model%3Dcontrol/b%26how%3Dposthoc")
    assert by_filter.true == (6, 3)


def test_nothing_unpaired_is_given(store: Store) -> None:
    apart = "by=model&of=control/a&of=control/c"
    assert found(store, apart).pairs[0].difference.value is None and found(store, apart).asked.match == "whole"
    assert sentences(store, apart).headline.startswith("No starter question has an outcome for both")
    assert "There is no result of nobody here." in sentences(store, "by=model&of=control/a&of=nobody").left_out


def test_of_three_each_pair_has_its_own_items_and_all_tests_are_corrected(store: Store) -> None:
    compared = found(store, f"{PAIR}&of=control/d")
    assert [pair.n for pair in compared.pairs] == [7, 1, 1] and compared.shared == 1
    assert [pair.p_holm for pair in compared.pairs] == [0.75, 1, 1]
    assert "Of 3 pairs none differs by more than chance" in " ".join(sentences(store, f"{PAIR}&of=control/d").chance)


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("by=outcome&of=misled&of=unread", "cannot compare by 'outcome'"),
        ("by=model&of=control/a", "two to 5"),
        ("runs=1,2,3,4,5,6", "6 are named"),
        ("by=model&of=x&of=y", "None of them"),
    ],
)
def test_what_cannot_be_compared_is_said(store: Store, query: str, why: str) -> None:
    with pytest.raises(NotComparable, match=why):
        found(store, query)


def test_what_somebody_may_not_see_is_in_no_comparison(store: Store) -> None:
    with pytest.raises(NotComparable, match="None of them"):
        comparing.found(store, parse_qs(PAIR), viewer="ann")
    assert (
        comparing.runs(store, ["run-a"], "ann") == {} and comparing.runs(store, ["run-a"], None)["run-a"].title == "S1"
    )


def test_explanations_of_one_paragraph_meet_without_their_names(tmp_path: Path) -> None:
    for how, outcomes in (("attribution", ("faithful", "unfaithful")), ("redaction", ("unfaithful", "undecided"))):
        run, events = f"run-{how}", []
        for number, outcome in enumerate(outcomes, start=1):
            done = ended(run, f"p{number}/{how}/objective", outcome=outcome)
            title = {"title": f"A · paragraph {number} · {how}, objective"}
            events.append(done.model_copy(update={"data": {**done.data, **title}}))
        began = started(run).model_copy(update={"lab": "consistency"})
        write(tmp_path / "journals", run, [began, *events])
    with Store(tmp_path / "store.duckdb", {CHECK.name: CHECK}) as store:
        index(store, tmp_path / "journals")
        compared = found(store, "by=how&of=attribution&of=redaction")
        assert (compared.asked.match, compared.shared, compared.true) == ("whole", 1, (1, 0))
        assert compared.pairs[0].undefined == 1, "undecided is no value"
        assert sorted(shared.matrix(store, compared.asked)["title"]) == ["A · paragraph 1", "A · paragraph 2"]


def test_the_command_line_finds_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    asked(home.journals(), "run-a", "a", A)
    asked(home.journals(), "run-b", "b", B)
    assert main(["compare", "control/a", "control/b", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["true"], said["shared"], said["pairs"][0]["n"], said["lab"]) == ([6, 3], 7, 7, "simulatability")
    assert main(["compare", "--by", "rules", "--within", "model=control/a"]) == 0
    assert "came true 7 times for repaired rules and 6 times for paper rules" in capsys.readouterr().out
    assert main(["compare", "control/a"]) == 2 and "two to 5" in capsys.readouterr().err
