"""Runs side by side: how their rows match, what the page says about them, and the links that lead there."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core import entry, home
from core.journal import read
from core.labs.ask.lab import LAB
from core.labs.ask.tasks import AskSpec
from core.labs.base.lab import Lab
from core.labs.base.report import Reading, Trial
from core.labs.base.spec import Spec
from core.labs.check.tasks import CheckSpec, shipped
from core.labs.probe.tasks import ProbeSpec
from core.report.scenes import of_case
from core.runs.library import list_recordings
from core.scene import AxisInterval, Card, Expect, Mark, Part, Plot, RunScene, Scene, Span, Tile, Verdict
from core.server.access import name_of_visitor
from core.store.comparing import TestedItem
from core.transcript import transcript
from pages.components.side_by_side import (  # fmt: skip
    ANSWERS,
    EXPECTED,
    LOOKS,
    OUTCOMES,
    SideCell,
    aligned,
    finding,
    of_cards,
    of_plot,
    of_tiles,
    outcome_bars,
    told_apart,
    verdict_line,
)
from tests.pages.conftest import in_address, scenes, staged, turned, words
from tests.support.waiting import until

Page = Callable[..., AppTest]
SIDE = "results/side.py"
PENGUIN = AskSpec(question="Can a penguin fly?", model="control/fickle", arms=("none",))


def runs_of(lab: str, *specs: Spec, owner: str = "") -> list[str]:
    runs = [entry.jobs().start(lab, spec, owner=owner) for spec in specs]
    assert all(entry.jobs().wait(run, 60) for run in runs)
    return runs


def outcomes(run: str) -> dict[str, str]:
    """The outcomes of the journal's own trials, by question."""
    state = entry.jobs().watch(run).transcript
    trials = state.case(state.only).of_type("trial").values()
    return {str(trial["about"]): str(trial["repaired"]["outcome"]) for trial in trials}


def cells(**states: Mark) -> list[SideCell]:
    return [SideCell(TestedItem(key), key, state) for key, state in states.items()]


def test_rows_meet_by_what_was_asked_and_nothing_is_left_unsaid() -> None:
    first = cells(a="kept", b="broken", only="kept", c="kept", d="kept")
    second = [*cells(d="failed", c="kept", b="kept"), *cells(a="kept", x="kept"), *cells(a="broken")]
    rows = aligned([first, second])
    titles = [row.there[0].title for row in rows]
    assert titles == ["a", "b", "c", "d", "only", "x", "a"], "what all were asked comes first"
    assert [row.differs for row in rows] == [[], [OUTCOMES], [], [], [], [], []]
    headline, more = finding(rows, ["one", "two"], "question")
    assert headline == "They differ on 1 of 3 questions."
    assert more == [
        "4 shared by all runs.",
        "Not compared: 1 question that both have (excluded, without a verdict, unreadable, failed or unfinished in "
        "one); 1 that only one has; 2 that only two has.",
    ]
    assert finding(aligned([cells(a="waiting"), cells()]), ["one", "two"], "check")[0] == (
        "No check has an outcome in every run."
    )
    assert told_apart([["m", "cot"], ["m", "posthoc"]]) == ["cot", "posthoc"]
    assert told_apart([["m", "cot"], ["m", "cot"]]) == ["m · cot (1)", "m · cot (2)"]


def test_the_same_answer_and_the_same_to_expect_are_two_things() -> None:
    """A robot that follows its rule and one that breaks it answer alike; only the expectations differ."""

    def answered(**both: str) -> list[SideCell]:
        """The expectation and the answer for each question."""
        told = {key: two.split() for key, two in both.items()}
        states: dict[str, Mark] = {
            key: "not settled" if expected == "unknown" else "kept" if expected == gave else "broken"
            for key, (expected, gave) in told.items()
        }
        return [SideCell(TestedItem(key), key, states[key], "", "", *told[key]) for key in both]

    def said(*columns: list[SideCell]) -> str:
        return finding(aligned(columns), ["one", "two", "three"][: len(columns)], "question")[0]

    keeps, breaks = answered(a="no no", b="yes yes", c="no no"), answered(a="yes no", b="yes yes", c="unknown no")
    assert said(keeps, breaks) == (
        "Their answers agree on 3 of 3 questions; what you could expect from their explanations differs on 2."
    )
    assert [row.differs for row in aligned([keeps, breaks])] == [[EXPECTED], [], [EXPECTED]]
    other = answered(a="no no", b="no no", c="no yes")
    assert said(keeps, other) == (
        "Their answers agree on 1 of 3 questions; what you could expect from their explanations differs on 1."
    )
    differs = [row.differs for row in aligned([keeps, other])]
    assert differs == [[], [ANSWERS, EXPECTED], [ANSWERS]], "b came true in both, and yet they differ"
    assert said(keeps, keeps, keeps[:1]) == (
        "Their answers agree on 1 of 1 question; what you could expect from their explanations agrees on each."
    )
    # If the predictor failed its test, answers can be compared, but expectations cannot.
    doubted = [keeps[0]._replace(state="in doubt"), *keeps[1:]]
    assert said(doubted, breaks) == (
        "Their answers agree on 3 of 3 questions; what you could expect from their explanations differs on 1 of "
        "2, and is in doubt on 1."
    )
    assert said(doubted, keeps).endswith("explanations agrees on 2, and is in doubt on 1.")
    assert aligned([doubted, breaks])[0].differs == []
    assert said(doubted[:1], breaks[:1]).endswith("what you could expect from their explanations is in doubt on each.")
    assert said(keeps, [*cells(a="failed", b="set aside", c="unread")]).startswith("No question has an outcome")
    assert said(keeps, cells(a="kept", b="kept")) == "They differ on none of 2 questions."


def test_a_row_is_what_was_put_to_the_test_by_the_trial_or_else_by_the_card() -> None:
    says = (Part(text="Can it?"), Part(text="more"))
    expects = (Expect(who="reader", value="yes"), Expect(who="other", value="no"))
    cards = (
        Card(id="a", number=1, mark="kept", parts=says, expects=expects, said="no"),
        Card(id="b", number=2, mark="broken", parts=says),
        Card(id="c", number=3, mark="waiting"),
    )
    scene, tried = Scene(lab="Ask", cards=cards), TestedItem("", "home", "q")
    trial = Trial.from_reading("Is *it*?", lambda rules: Reading(outcome="kept", counts=True))
    view: Any = SimpleNamespace(trials={"a": trial})
    found = of_cards(LAB, scene, view, tried, True)
    assert [(one.tried.about, one.title, one.state, one.card) for one in found] == [
        ("Is *it*?", r"Is \*it\*\?", "kept", "a"), ("Can it?", r"Can it\?", "broken", "b"), ("c", "c", "waiting", "c")
    ]  # fmt: skip
    assert [(one.expected, one.gave) for one in found] == [("yes", "no"), ("", ""), ("", "")]
    assert {one.tried.title for one in found} == {"home"} and {one.tried.case for one in found} == {"q"}
    untold = of_cards(LAB, scene, view, tried, False)
    assert {(one.expected, one.gave) for one in untold} == {("", "")}, "what comes is no answer of a model's own"
    check = entry.labs()["consistency"]
    whole = Scene(lab="Check", cards=(Card(id=check.listing.main_trial, number=1, mark="kept", parts=says),))
    assert [one.tried.about for one in of_cards(check, whole, view, tried, False)] == [""]


def test_of_a_plot_its_stretches_are_rows_and_of_a_run_its_cases() -> None:
    stretches = (
        AxisInterval(low=-1.23456, high=2, label="one", mark="kept"),
        AxisInterval(low=2, high=3, label="two"),
        AxisInterval(low=0, high=9, label="unseen", kind="unseen"),
    )
    found = of_plot(Scene(lab="Probe", plot=Plot(intervals=stretches)), TestedItem("", "f", "q"))
    assert [(one.tried.about, one.tried.title, one.title, one.state) for one in found] == [
        ("x from -1.235 to 2", "f", "x from -1.235 to 2", "kept"), ("x from 2 to 3", "f", "x from 2 to 3", "set aside")
    ]  # fmt: skip
    assert of_plot(Scene(lab="Ask"), TestedItem("")) == []
    tiles = (
        Tile(case="q1", number=1, title="*One*", mark="kept", outcome="held",
             sentence=Part(text="So it is.", spans=(Span(start=0, end=2, mark="strong"),))),
        Tile(case="q2", number=2, title="Two", mark="waiting", outcome="waiting"),
        Tile(case="q3", number=3, title="Three", mark="broken", outcome="misled"),
    )  # fmt: skip
    run = RunScene(lab="Ask", verdict=Verdict(headline=Part(text="")), tiles=tiles)
    made = of_tiles(run, lambda case, title: TestedItem("", title, case), {"held": "kept *to*"})
    assert [(one.tried.case, one.tried.title, one.state) for one in made] == [
        ("q1", "*One*", "kept"), ("q2", "Two", "waiting"), ("q3", "Three", "broken")
    ]  # fmt: skip
    assert [(one.title, one.text, one.label) for one in made] == [
        (r"\*One\*", r"**So** it is\.", r"kept \*to\*"), ("Two", "", ""), ("Three", "", "misled")
    ]  # fmt: skip


def test_each_column_has_a_verdict_of_at_most_eight_words_and_bars_over_the_same_rows() -> None:
    words: dict[Mark, str] = {"kept": "came true", "broken": "did not come true", "not settled": "not covered"}
    two: list[list[Mark]] = [["kept", "kept", "broken"], ["not settled", "not settled", "not settled"]]
    assert [verdict_line(marks, "kept", words, "question") for marks in two] == [
        "2 of 3 came true.", "3 of 3 not covered."
    ]  # fmt: skip
    assert verdict_line(two[0], None, words, "question") == "Unclear: 2 of 3 came true."
    assert verdict_line(two[1], None, words, "question") == "3 of 3 not covered."
    assert verdict_line(["broken"], "broken", words, "check") == "Did not come true."
    assert verdict_line([], "kept", words, "question") == "No question has an outcome."
    assert [[(bar.label, bar.hits, bar.n, bar.mark) for bar in bars] for bars in outcome_bars(two, words)] == [
        [("came true", 2, 3, "kept"), ("did not come true", 1, 3, "broken"), ("not covered", 0, 3, "not settled")],
        [("came true", 0, 3, "kept"), ("did not come true", 0, 3, "broken"), ("not covered", 3, 3, "not settled")],
    ]
    assert outcome_bars([["kept"], ["broken"]], words) == [(), ()]


def test_no_lab_has_words_for_a_longer_verdict() -> None:
    for lab in entry.labs().values():
        run = list_recordings(home.recordings()).of_lab(lab.name)
        words = of_recording(lab, run[0].run).words if run else {}
        for mark in LOOKS:
            for marks in ([mark], [mark] * 100):
                assert len(verdict_line(marks, None, words, "test point").split()) <= 8, (lab.name, mark)


def of_recording(lab: Lab, run: str) -> Scene:
    log = transcript(read(home.recordings() / f"{run}.jsonl").events)
    return of_case(lab, log, log.only)


def readings(run: str) -> dict[str, tuple[str, str]]:
    """What was expected and observed according to the journal's own trials, for those that can be compared."""
    state = entry.jobs().watch(run).transcript
    read = {str(one["about"]): one["repaired"] for one in state.case(state.only).of_type("trial").values()}
    return {about: (one["expected"], one["observed"]) for about, one in read.items() if one["outcome"] != "dropped"}


def test_the_three_robots_part_where_their_journals_do(page: Page) -> None:
    assert LAB.robots.demo_comparison is not None
    runs = runs_of("simulatability", *LAB.robots.demo_comparison().specs)
    app = page(SIDE, runs=",".join(runs))
    said, [stage] = words(app), staged(app)
    steadfast, fickle, vague = (outcomes(run) for run in runs)
    assert steadfast.keys() == fickle.keys() == vague.keys()
    known = [text for text in steadfast if "dropped" not in (steadfast[text], fickle[text], vague[text])]
    came = [readings(run) for run in runs]
    parted = sum(len({one[text][0] for one in came}) > 1 for text in known)
    assert all(len({one[text][1] for one in came}) == 1 for text in known), "all three answer by the facts"
    assert 0 < parted < len(known)
    assert (
        f"Their answers agree on {len(known)} of {len(known)} questions; what you could expect from their "
        f"explanations differs on {parted}."
    ) in said
    assert stage["mode"] == "beside" and stage["names"] == ["Robot A", "Robot B", "Robot C"], "who it was is the end"
    assert [differs for _, differs in stage["rows"]].count(EXPECTED) == parted
    texts = [{card.id: card.parts[0].text for card in scene.cards} for scene in scenes(app)]
    assert all(len({by_id[id] for by_id, id in zip(texts, ids, strict=True)}) == 1 for ids, _ in stage["rows"])
    assert len(stage["rows"]) == len(steadfast)
    assert "control/steadfast made the predictions." in said
    verdicts = [scene.verdict for scene in scenes(app)]
    kept = [sum(one[text][0] == one[text][1] for text in known) for one in came]
    for scene, verdict, hits in zip(scenes(app), verdicts, kept, strict=True):
        assert verdict and [bar.n for bar in verdict.bars] == [len(steadfast)] * len(verdict.bars)
        assert sum(bar.hits for bar in verdict.bars) == len(steadfast), "each row once"
        assert hits == 0 or f"{hits} of {len(steadfast)} came true." in verdict.headline.text
        assert scene.cards and len(verdict.more) > 0, "what its own verdict says follows below"
    marks = [card.mark for card in scenes(app)[1].cards]
    assert marks.count("broken") == list(fickle.values()).count("misled") > 0
    assert "The predictor could not tell from this explanation" in said and "All birds can fly" in said
    assert staged(page(SIDE, runs=",".join(runs), present="1"))[0]["mode"] == "tell"


def test_checks_of_one_paragraph_meet_whichever_the_kind_of_explanation(page: Page) -> None:
    both = CheckSpec(items=shipped("sentiment")[:2], explanations=("attribution",), model="control/decoy-lexicon")
    runs = runs_of("consistency", both, both.model_copy(update={"explanations": ("redaction",)}))
    said = words(page(SIDE, runs=",".join(runs)))
    assert "2 shared by all runs." in said and "Not compared" not in said
    assert "feature attribution" in said and "redaction" in said
    each = [both.model_copy(update={"items": both.items[:1], "explanations": (kind,)})
            for kind in ("attribution", "counterfactual")]  # fmt: skip
    alone = runs_of("consistency", *each)
    app = page(SIDE, runs=",".join(alone))
    [stage] = staged(app)
    assert [ids for ids, _ in stage["rows"]] == [["session", "session"]] and "of 1 check." in words(app)
    assert stage["names"] == ["Robot A, feature attribution", "Robot A, counterfactual"], "one robot, two ways"
    app = page(SIDE, runs=f"{alone[0]},{runs[0]}")
    assert not staged(app) and "1 shared by all runs." in words(app), "of several cases all are rows"


def test_several_functions_are_a_row_each_and_each_opens_row_against_row(page: Page) -> None:
    line = ProbeSpec(count=2, difficulty="easy", model="control/straight", probes=40, seed=3)
    runs = runs_of("find", line, line.model_copy(update={"model": "control/inventor"}))
    app = page(SIDE, runs=",".join(runs))
    assert "2 shared by all runs." in words(app)
    case = entry.jobs().watch(runs[0]).transcript.only
    app = page(SIDE, runs=",".join(runs), case=case)
    straight, inventor = scenes(app)
    assert "16 shared by all runs." in words(app) and " of 16 intervals." in words(app)
    parted = [ids for ids, differs in staged(app)[0]["rows"] if differs == OUTCOMES]
    by_id = [{card.id: card for card in scene.cards} for scene in (straight, inventor)]
    for one, other in parted:
        first, second = by_id[0][one], by_id[1][other]
        assert first.parts[0] == second.parts[0] and first.parts[1] != second.parts[1], "one input, two codes"
        assert (first.mark, second.mark) == ("kept", "broken")
    assert parted


def test_what_cannot_be_shown_is_said_in_its_place(page: Page) -> None:
    [ask] = runs_of("simulatability", PENGUIN)
    [check] = runs_of("consistency", CheckSpec(items=shipped("sentiment")[:1], model="control/decoy-lexicon"))
    said = words(page(SIDE, runs=f"{ask},{check}"))
    assert "a run of Ask and one of Check" in said and "They differ" not in said
    said = words(page(SIDE, runs=f"{ask},nothing-of-the-kind"))
    assert "There is nothing to compare it with." in said and "There is no run named" in said and "All birds" in said
    assert "press *Side by side*" in words(page(SIDE, runs=ask))
    assert "4 runs are named" in words(page(SIDE, runs=f"{ask},{check},c,d"))


def test_a_run_of_somebody_else_is_not_shown_until_it_is_shared(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLAIN_OTHERS", "no")
    specs = [PENGUIN, PENGUIN.model_copy(update={"model": "control/steadfast"})]
    runs = [runs_of("simulatability", spec, owner=name_of_visitor(who))[0]
            for spec, who in zip(specs, ("bob", "ann"), strict=True)]  # fmt: skip
    app = page("models.py")
    app.query_params["runs"] = ",".join(runs)
    app.session_state["visitor"] = "bob"
    said = words(turned(app, SIDE))
    assert "has not shared it" in said and "All birds can fly" in said and "except the penguin" not in said
    entry.jobs().keeping.share(runs[1], True)
    said = words(app.run())
    assert "except the penguin" in said and "Their answers agree" in said


def test_the_lab_s_page_begins_the_three_robots(page: Page) -> None:
    app = page("ask")
    app.button(key="sides-ask").click().run()
    assert not app.exception and len(in_address(app, "runs").split(",")) == 3
    until(lambda: len(list(home.journals().glob("*.jsonl"))) == 3)
