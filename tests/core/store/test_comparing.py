"""Comparisons on shared items, checked on a small store in which every figure can be counted by hand."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from pytest import approx

from core import home
from core.__main__ import main
from core.events import Event, Recorded
from core.labs.check.lab import LAB as CHECK
from core.report import comparison_text
from core.store import comparing
from core.store.comparing import Compared, NotComparableError
from core.store.index import index
from core.store.store import Store
from tests.core.store.store_events import LABS, at, begun, ended, started, write
from tests.core.store.store_events import asked as a_call

GOOD, BAD, UNREAD = "as expected", "misled", "unread"
BY_HAND = "as expected, by hand"
"""The prediction came true, but a person wrote the question, so it does not count."""
PAIR = "by=model&of=control/a&of=control/b"
EXACT = f"{PAIR}&match=exact"

Tried = dict[str, tuple[str, str]]
"""For each new question its outcome by the updated and by the original parser."""


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


def asked(
    folder: Path,
    run: str,
    model: str,
    tried: dict[str, Tried],
    second: float = 0,
    of: dict[str, str] | None = None,
    doubt: str = "",
    **spec: Any,
) -> None:
    """Write a run of *Ask* over starter questions. The model answers yes to the new question `a`, else no."""
    model = model if "/" in model else f"control/{model}"
    events: list[Event] = [started(run, second, model=model, **spec).model_copy(update=of or {})]
    if simulator := spec.get("simulator"):
        events.append(a_call(run, "c1").model_copy(update={"role": "simulator", "model": simulator}))
    for number, (title, questions) in enumerate(tried.items(), start=1):
        case = f"q{number}"
        began = begun(run, case, number, len(tried), second + 1)
        events.append(began.model_copy(update={"data": {**began.data, "title": title}}))
        for place, (about, outcomes) in enumerate(questions.items(), start=1):
            said = "yes" if about == "a" else "no"
            other = "no" if about == "a" else "yes"
            repaired, paper = (
                {
                    "expected": said if outcome == GOOD else other, "observed": said,
                    "outcome": outcome.partition(",")[0],
                    "counts": outcome in (GOOD, BAD), "reason": "" if outcome in (GOOD, BAD) else "set aside",
                    **({"doubt": doubt} if doubt else {}),
                }
                for outcome in outcomes
            )  # fmt: skip
            data = {"about": about, "paper": paper, "repaired": repaired, "calls": []}
            item = f"cf-{place:02}"
            events.append(
                Recorded(run=run, at=at(second + 2), case=case, trial=item, record="trial", item=item, data=data)
            )
        done = ended(run, case, second + 3)
        events.append(done.model_copy(update={"data": {**done.data, "title": title, "model": model}}))
    write(folder, run, events)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("comparing")
    asked(folder / "journals", "run-a", "a", A)
    asked(folder / "journals", "run-b", "b", B)
    asked(folder / "journals", "run-c", "c", {"S9": same(a=GOOD, b=BAD)})
    asked(folder / "journals", "run-d", "d", {"S1": same(a=GOOD)})
    asked(folder / "journals", "run-d2", "d", {"S1": same(a=BAD, b=BY_HAND)}, second=60)
    with Store(folder / "store.duckdb", LABS) as store:
        index(store, folder / "journals")
        yield store


def found(store: Store, query: str) -> Compared:
    return comparing.compare_query(store, parse_qs(query))


def sentences(store: Store, query: str) -> comparison_text.Sentences:
    compared = found(store, query)
    judged = comparing.comparability_of(store, compared.asked.lab)
    return comparison_text.sentences(compared, judged, [one.name for one in compared.asked.subjects])


def test_two_models_on_the_questions_that_both_were_asked(store: Store) -> None:
    compared = found(store, EXACT)
    (pair,) = compared.pairs
    assert (pair.n, pair.undefined, pair.only_first, pair.only_second) == (7, 1, 1, 1)
    assert (pair.first_alone, pair.second_alone, pair.clusters) == (3, 0, 4)
    assert pair.difference.value == approx(0.375) and pair.test and pair.test.p == 0.25, "three of four starters agree"
    assert (compared.rows, compared.unplaced, compared.averaged) == ((9, 10), (0, 1), 0)
    assert compared.items == {"differ": 3, "agree": 4, "not shared": 3}
    assert (compared.shared, compared.true, compared.fixed) == (7, (6, 3), (4, 4))
    headline, chance, left_out = sentences(store, EXACT)
    assert headline == (
        "They share too little to be compared: 7 new questions of 4 starter questions with an outcome for both."
    ), "no headline about rates below ten"
    assert chance[0] == (
        "Of these, what the explanation led to expect came true 6 times for control/a and 3 times for control/b."
    )
    assert "come true 4 times for control/a and 4 times for control/b" in chance[1]
    assert len(chance) == 3 and "example, not a finding" in chance[2], "and no test in words"
    assert left_out[0].startswith("Not compared: 1 new question that both have") and "1 of control/b" in left_out[1]


FAILED = "its predictor failed the test"


def test_where_the_predictor_failed_there_is_no_verdict_to_compare(tmp_path: Path) -> None:
    asked(tmp_path / "journals", "run-a", "a", A)
    asked(tmp_path / "journals", "run-b", "b", B, doubt=FAILED)
    with Store(tmp_path / "store.duckdb", LABS) as store:
        index(store, tmp_path / "journals")
        compared = found(store, EXACT)
        assert (compared.shared, compared.items["not shared"], compared.doubtful) == (0, 10, (0, 9))
        said = sentences(store, EXACT)
        assert said.headline.startswith("No new question has an outcome for both")
        assert any("without a verdict" in one and "9 of control/b; not counted." in one for one in said.left_out)
        row = next(comparing.matrix(store, compared.asked).itertuples())
        assert list(row.said_1) in ([f"no verdict: {FAILED}"], []) and row.times_1 == 0
        everything = found(store, f"{EXACT}&doubtful=1")
        assert (everything.shared, everything.true, everything.doubtful) == (7, (6, 3), (0, 9))
        assert any("counted anyway" in one for one in sentences(store, f"{EXACT}&doubtful=1").left_out)


def test_the_matrix_comes_in_pages_with_what_differs_first(store: Store) -> None:
    compared = found(store, EXACT)
    pages = [comparing.matrix(store, compared.asked, compared.keys[first : first + 4]) for first in (0, 4, 8)]
    rows = [row for page in pages for row in page.itertuples()]
    assert [row.agree for row in rows] == ["differ"] * 3 + ["agree"] * 4 + ["not shared"] * 3
    assert len({(row.title, row.about) for row in rows}) == 10
    whole = list(comparing.matrix(store, compared.asked).itertuples(index=False))
    assert [(row.title, row.about) for row in rows] == [(row.title, row.about) for row in whole], "as the file has them"
    assert (rows[0].title, rows[0].about, rows[0].value_0, rows[0].value_1) == ("S1", "a", 1, 0)
    assert rows[0].place_1 == ("run-b", "q1", "cf-01") and list(rows[0].said_1) == [BAD]
    lacking = next(row for row in rows if row.about == "c")
    assert lacking.place_1 is None and not len(lacking.said_1), "never asked"
    unread = next(row for row in rows if (row.title, row.about) == ("S4", "b"))
    assert unread.times_0 == 0 and list(unread.said_0) == [UNREAD], "asked, and without an outcome"


def test_starter_questions_meet_by_the_share_that_came_true(store: Store) -> None:
    compared = found(store, PAIR)
    assert (compared.asked.match, compared.meet) == ("whole", {"exact": 7, "whole": 4}), "not where more meet"
    assert (compared.shared, compared.true, compared.pairs[0].only_second) == (4, (3.5, 2), 1)
    assert compared.fixed == (approx(1 / 3 + 1 / 2 + 1 / 2 + 1), 2), "what is best for one guess over the same shares"
    assert "4 starter questions with an outcome for both" in (said := sentences(store, PAIR)).headline
    assert "%" not in f"{said.headline} {said.chance}", "four are no rate"


def test_paper_rules_against_repaired_rules_row_by_row(store: Store) -> None:
    compared = found(store, "by=rules&model=control/a")
    (pair,) = compared.pairs
    assert (pair.n, pair.undefined, pair.first_alone, pair.second_alone) == (8, 1, 1, 0)
    assert compared.true == (7, 6) and compared.unplaced == (0, 0)
    first = comparing.matrix(store, compared.asked).iloc[0]
    assert (first["title"], first["about"], first["agree"]) == ("S1", "b", "differ")
    every = "&".join(f"model=control/{one}" for one in "abcd")
    assert found(store, f"by=rules&{every}").pairs[0].n == 8 + 9 + 2 + 2, "rows of several runs stay apart"


def test_several_results_count_by_their_mean_and_runs_by_themselves(store: Store) -> None:
    compared = found(store, "by=model&of=control/b&of=control/d&match=exact")
    assert (compared.shared, compared.true, compared.averaged) == (1, (0, 0.5), 1)
    (pair,) = found(store, "runs=run-d,run-d2&match=exact").pairs
    assert (pair.n, pair.first_alone, pair.test and pair.test.p) == (1, 1, 1)
    by_filter = found(store, "by=filter&of=model%3Dcontrol/a&of=model%3Dcontrol/b%26how%3Dcot&match=exact")
    assert by_filter.true == (6, 3)


def test_nothing_unpaired_is_given(store: Store) -> None:
    apart = "by=model&of=control/a&of=control/c"
    assert found(store, apart).pairs[0].difference.value is None and found(store, apart).asked.match == "whole"
    assert sentences(store, apart).headline.startswith("No starter question has an outcome for both")
    assert "There is no result of nobody here." in sentences(store, "by=model&of=control/a&of=nobody").left_out


def test_of_three_each_pair_has_its_own_items_and_all_tests_are_corrected(store: Store) -> None:
    compared = found(store, f"{EXACT}&of=control/d")
    assert [pair.n for pair in compared.pairs] == [7, 1, 1] and compared.shared == 1
    assert [pair.p_holm for pair in compared.pairs] == [0.75, 1, 1]
    chance = sentences(store, f"{EXACT}&of=control/d").chance
    assert "differ" not in " ".join(chance) and "in at least one pair" in chance[-1], "of so few no verdict"


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("by=outcome&of=misled&of=unread", "cannot be compared by 'outcome'"),
        ("by=model&of=control/a", "two to 5"),
        ("runs=1,2,3,4,5,6", "You named 6"),
        ("by=model&of=x&of=y", "None of them"),
    ],
)
def test_what_cannot_be_compared_is_said(store: Store, query: str, why: str) -> None:
    with pytest.raises(NotComparableError, match=why):
        found(store, query)


def test_what_somebody_may_not_see_is_in_no_comparison(store: Store) -> None:
    with pytest.raises(NotComparableError, match="None of them"):
        comparing.compare_query(store, parse_qs(PAIR), viewer="ann")
    assert (
        comparing.runs(store, ["run-a"], "ann") == {} and comparing.runs(store, ["run-a"], None)["run-a"].title == "S1"
    )


def of_starters(name: str, good: range, of: int, *, one: str = "") -> dict[str, Tried]:
    """`of` starter questions, each with a new question that no other has; the predictions in `good` came true."""
    tried = {f"Starter {n}": {f"{name} {n}?": (GOOD if n in good else BAD,) * 2} for n in range(of)}
    return {**tried, **({"Starter 0": {**tried["Starter 0"], one: (GOOD, GOOD)}} if one else {})}


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "store.duckdb", LABS) as store:
        yield store


def test_a_shared_new_question_changes_no_verdict(fresh: Store, tmp_path: Path) -> None:
    query = "by=model&of=m/good&of=m/worse"
    said = []
    for number, shared_question in enumerate(("", "The very same?")):
        folder = tmp_path / str(number)
        for name, good in (("m/good", range(54)), ("m/worse", range(36))):
            of = of_starters(name, good, 60, one=shared_question)
            asked(folder, f"run-{name[2:]}", name, of)
        fresh.clear()
        index(fresh, folder)
        compared = found(fresh, query)
        (pair,) = compared.pairs
        assert (compared.asked.match, compared.shared, compared.homes) == ("whole", 60, 60)
        assert pair.mean_first == approx(0.9) and pair.mean_second == approx(0.6) and (pair.p_holm or 0) < 0.001
        said.append((sentences(fresh, query).headline, *sentences(fresh, query).chance[-1:]))
        assert compared.meet == {"exact": number, "whole": 60}
        exact = sentences(fresh, f"{query}&match=exact")
        assert not number or exact.headline.startswith("They share too little to be compared: 1 new question")
        assert "no difference" not in " ".join(exact.chance)
    assert said[0] == said[1] and "90\u00a0% of the time for m/good and 60\u00a0% of the time" in said[0][0]


def test_questions_that_were_given_meet_as_they_are(fresh: Store, tmp_path: Path) -> None:
    tried = {f"Starter {n}": {f"Q{n}?": (GOOD, GOOD), f"R{n}?": (BAD, BAD)} for n in range(12)}
    asked(tmp_path / "journals", "run-own", "m/own", tried)
    given = {title: {f"Q{title[8:]}?": (GOOD, GOOD)} for title in tried}
    asked(tmp_path / "journals", "run-given", "m/given", given, given=[{"question": "?"}])
    index(fresh, tmp_path / "journals")
    compared = found(fresh, "by=model&of=m/own&of=m/given")
    assert (compared.asked.match, compared.shared, compared.true) == ("exact", 12, (12, 12)), "those questions alone"
    asked(tmp_path / "journals", "run-more", "m/given", {"Other": same(a=GOOD)})
    index(fresh, tmp_path / "journals")
    assert found(fresh, "by=model&of=m/own&of=m/given").asked.match == "whole", "not all of them were given"


def methods_of_three_models(folder: Path) -> None:
    """No model does better by either method if both were tried; but the best model was mostly asked by one of them."""
    for model, share, tried in (
        ("m/strong", 10, {"cot": 20, "posthoc": 60}),
        ("m/weak", 5, {"cot": 60, "posthoc": 20}),
    ):
        for how, number in tried.items():
            good = range(0, number) if share == 10 else range(0, number, 2)
            asked(folder, f"run-{model[2:]}-{how}", model, of_starters(f"{model} {how}", good, number), method=how)
    only = {f"Starter {n}": {f"only {n}?": (BAD, BAD)} for n in range(60)}
    asked(folder, "run-only", "m/only-cot", only, method="cot")
    asked(folder, "run-robot", "robot", of_starters("robot", range(60), 60), method="posthoc")


def test_methods_are_held_against_each_other_within_a_model(fresh: Store, tmp_path: Path) -> None:
    methods_of_three_models(tmp_path / "journals")
    index(fresh, tmp_path / "journals")
    query = "by=how&of=cot&of=posthoc"
    compared = found(fresh, query)
    (pair,) = compared.pairs
    assert compared.asked.strata == ("model",) and compared.robots == 60
    assert (pair.difference.value, pair.p_holm) == (0, 1), "no model differs"
    assert (compared.shared, compared.cells, compared.true) == (20, 40, (15, 15))
    headline, chance, left_out = sentences(fresh, query)
    assert headline.startswith("On the 20 starter questions (40 times with all else equal) with an outcome for both")
    assert "75\u00a0% of the time for cot and 75\u00a0% of the time for posthoc" in headline
    assert "Over 20 starter questions there is no difference." in chance
    assert "Only cot has m/only-cot (60 results)." in left_out and "60 results of robots left out" in " ".join(left_out)
    assert "Only results with the same model are compared." in left_out[-1]
    assert (pair.n, pair.only_first, pair.only_second, pair.undefined) == (20, 40, 40, 0)
    by_robot = found(fresh, f"{query}&model=control/robot&model=m/weak")
    assert by_robot.robots == 0 and ("control/robot", 60, (1,)) in by_robot.alone, "chosen, and with nothing to meet"
    rows = comparing.matrix(fresh, compared.asked)
    assert set(rows["among"]) == {"m/strong", "m/weak", "m/only-cot"}
    assert set(rows["about"]) == {""}, "a starter question has many new questions, of which none is named"
    with pytest.raises(NotComparableError, match="Only robots"):
        found(fresh, "by=how&of=posthoc&of=nothing&text=robot")


def test_one_run_on_a_data_set_unpairs_nothing(fresh: Store, tmp_path: Path) -> None:
    asked(tmp_path, "run-a", "m/a", of_starters("a", range(12), 12))
    asked(tmp_path, "run-b", "m/b", of_starters("b", range(6), 12), dataset="world")
    index(fresh, tmp_path)
    query = "by=model&of=m/a&of=m/b"
    assert found(fresh, query).shared == 0, "questions of a data set are no others"
    asked(tmp_path, "run-a2", "m/a", of_starters("a", range(9), 11), dataset="world")
    index(fresh, tmp_path)
    assert found(fresh, query).asked.strata == ("dataset",) and found(fresh, query).true == (9, 6)
    asked(tmp_path, "run-b2", "m/b", of_starters("b", range(1), 1))
    index(fresh, tmp_path)
    assert found(fresh, query).shared == 11 and found(fresh, query).cells == 12


def test_who_predicts_must_be_the_same(fresh: Store, tmp_path: Path) -> None:
    for how, simulator in (("cot", "m/one"), ("posthoc", "m/other")):
        asked(tmp_path, f"run-{how}", "m/x", of_starters(how, range(9), 12), method=how, simulator=simulator)
    asked(tmp_path, "run-cot-too", "m/x", of_starters("too", range(6), 12), method="cot", simulator="m/other")
    index(fresh, tmp_path)
    compared = found(fresh, "by=how&of=cot&of=posthoc")
    assert compared.asked.strata == ("as:simulator",) and compared.true == (6, 9)
    assert compared.alone == (("m/one", 12, (0,)),)


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
        compared = found(store, "by=how&of=attribution&of=redaction&model=control/fickle")
        assert (compared.asked.match, compared.shared, compared.true) == ("whole", 1, (1, 0))
        assert compared.pairs[0].undefined == 1, "undecided is no value"
        assert sorted(comparing.matrix(store, compared.asked)["title"]) == ["A · paragraph 1", "A · paragraph 2"]


@pytest.mark.thorough
def test_the_command_line_finds_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    asked(home.journals(), "run-a", "a", A)
    asked(home.journals(), "run-b", "b", B)
    assert main(["compare", "control/a", "control/b", "--match", "exact", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["true"], said["shared"], said["pairs"][0]["n"], said["lab"]) == ([6, 3], 7, 7, "simulatability")
    assert main(["compare", "--by", "rules", "--within", "model=control/a"]) == 0
    assert "came true 7 times for the updated parser and 6 times for the original parser" in capsys.readouterr().out
    assert main(["compare", "control/a"]) == 2 and "two to 5" in capsys.readouterr().err
