"""Predictors: test results that come with the app, one test for many runs, and the default predictor."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core import entry, home, journal
from core.__main__ import main
from core.events import Frozen
from core.labs.ask import qualification
from core.labs.ask.qualification import TEST, AskExamSpec
from core.labs.ask.records import Examined
from core.labs.ask.tasks import AskSpec
from core.labs.base.lab import Lab, Prerequisite
from core.labs.base.spec import Spec
from core.models.local import SHIPPED
from core.runs import driver
from core.studies import estimate
from core.studies.plan import read as study_of
from core.transcript import transcript
from tests.core.labs.ask.test_exam import examinations, in_exam, kept, knowing, of
from tests.support.plausible import Plausible
from tests.support.stub_server import Fault, StubServer

LOCAL = f"local/{SHIPPED}"
SAT = sorted(home.priors().glob("*.jsonl"))
READER, OTHER = "openai/reader", "openai/other"


@pytest.fixture(autouse=True)
def in_this_home() -> Iterator[None]:
    for made in (entry.jobs, entry.answers):
        made.cache_clear()
    yield
    for made in (entry.jobs, entry.answers):
        made.cache_clear()


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., StubServer]]:
    """A scripted endpoint that has every model."""
    servers: list[StubServer] = []

    def begun(*given: Any, **changes: Any) -> StubServer:
        server = StubServer(*given, models=("reader", "other"), **changes)
        servers.append(server.__enter__())
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "key-for-the-stub")
        return server

    yield begun
    for server in servers:
        server.__exit__(None, None, None)


def some_know(body: dict[str, Any]) -> str:
    """The model called reader knows the test's answers; no other does."""
    return knowing(body) if body["model"] == "reader" else Plausible()(body)


def everything(run: str) -> bool:
    return True


def stands_on(**changes: Any) -> Frozen | None:
    spec = AskSpec.model_validate({"question": "Can a penguin fly?", "exam": True, **changes})
    (first,) = qualification.prerequisites(spec)
    assert isinstance(first, Prerequisite)
    return driver.record_of(first, home.journals(), everything)


# Results that come with the app


@pytest.mark.parametrize("path", SAT, ids=lambda path: path.stem)
def test_what_ships_is_an_exam_that_was_sat_whole_by_the_prompt_and_questions_of_now(path: Path) -> None:
    contents = journal.read(path)
    state = transcript(contents.events)
    assert contents.faults == [] and state.status == "completed" and state.started is not None
    spec = AskExamSpec.model_validate(state.started.spec)
    assert state.started.prompts == TEST.prompts(spec), "prompt or questions were changed: it has to be sat again"
    assert {call.asked.model for call in state.calls.values()} == {spec.model}
    assert len(state.calls) >= len(spec.questions) == (40 if spec.reads == "steps" else 11), "as runs would ask it"
    words = path.read_text(encoding="utf-8")
    assert "/home/" not in words and "file:" not in words, "nothing of the machine that it was made on"
    found = TEST.result_of(state)
    assert found is not None and found.run == path.stem  # type: ignore[attr-defined]
    shown = TEST.view(state.case("exam"))
    assert shown.score.detail["passed"] == found.passed, "by what is needed now"  # type: ignore[attr-defined]
    assert sum(guess.repaired == guess.right for guess in shown.marks.values()) == found.right  # type: ignore[attr-defined]
    assert f"`{spec.model}`" in (listed := (home.priors() / "README.md").read_text(encoding="utf-8"))
    assert f"{found.right} of {found.of} right, {'passed' if found.passed else 'failed'}" in listed  # type: ignore[attr-defined]


def test_a_first_run_of_the_model_that_ships_does_not_wait_for_its_exam() -> None:
    known = stands_on(model=LOCAL)
    assert isinstance(known, Examined) and (known.simulator, known.of) == (LOCAL, 11)
    (first,) = qualification.prerequisites(AskSpec(question="Can a penguin fly?", model=LOCAL, exam=True))
    assert isinstance(first, Prerequisite) and not entry.jobs().is_missing(first) and not kept("exam")
    assert stands_on(model=LOCAL, reasoning=False) is None, "by another prompt nobody knows"
    assert stands_on(model="local/another") is None
    steps = stands_on(model=LOCAL, reads="steps")
    assert isinstance(steps, Examined) and steps.of == 40
    assert entry.jobs().events(known.run), "each mark leads to its raw answer"
    assert entry.jobs().is_recording(known.run), "nobody writes to it"


def test_other_questions_are_another_exam(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qualification, "questions", lambda long=False: FEWER)
    assert stands_on(model=LOCAL) is None


FEWER = qualification.questions()[:10]


def test_what_was_sat_here_goes_before_what_came_with_the_app() -> None:
    path = next(
        one
        for one in SAT
        if (begun := journal.first_event(one)) and AskExamSpec(**begun.spec) == AskExamSpec(model=LOCAL)
    )
    shutil.copy(path, home.journals() / f"20991231-235959-exam-{'0' * 16}.jsonl")
    assert [run for run, _ in entry.jobs().runs_of_spec(TEST, AskExamSpec(model=LOCAL))] == [
        f"20991231-235959-exam-{'0' * 16}",
        path.stem,
    ]


# One qualification test for many runs

STUDY = """
at_once = 3
lab = "ask"
spec = { question = "Can a penguin fly?", model = "control/fickle", simulator = "openai/other", exam = true }
grid = { seed = [1, 2, 3] }
"""


def planned(path: Path) -> dict[str, int]:
    found = estimate.estimate(
        study_of(path, entry.labs()), entry.labs(), entry.catalog().get, home.journals(), home.recordings()
    )
    return found.calls


@pytest.mark.thorough
def test_a_study_counts_the_exam_once_and_sits_it_once(stub: Callable[..., StubServer], tmp_path: Path) -> None:
    server = stub(Plausible(), delay=0.05)
    path = tmp_path / "three.toml"
    path.write_text(STUDY, encoding="utf-8")
    without = tmp_path / "without.toml"
    without.write_text(STUDY.replace("exam = true", "exam = false"), encoding="utf-8")
    more = {role: planned(path)[role] - calls for role, calls in planned(without).items()}
    assert more == {"explainer": 0, "generator": 0, "simulator": 11, "answerer": 0}
    assert main(["study", "run", str(path)]) == 0
    assert [of(path).asked for path in kept("exam")] == [11] and all(in_exam(seen.body) for seen in server.seen[:11])
    for run in study_of(path, entry.labs()).runs:
        shown, _ = examinations(run.id)
        assert shown.exam is not None and shown.exam.right == 4, "each says what it stood on"
    again = tmp_path / "again.toml"
    again.write_text(STUDY.replace("[1, 2, 3]", "[4]"), encoding="utf-8")
    without.write_text(again.read_text(encoding="utf-8").replace("exam = true", "exam = false"), encoding="utf-8")
    assert planned(again) == planned(without), "it has been sat"


def test_an_exam_of_which_a_call_failed_is_no_result_and_is_sat_again(stub: Callable[..., StubServer]) -> None:
    stub(Plausible(), faults={3: Fault("bad_request", words="no")})
    ask = ["ask", "Can a penguin fly?", "--model", "control/fickle", "--simulator", OTHER, "--counterfactuals", "1"]
    assert main([*ask, "--exam"]) == 0
    (run,) = kept("simulatability")
    shown, found = examinations(run.stem)
    assert shown.exam is None and found == []
    assert shown.no_verdict_reason == "the predictor has not taken the qualification test", (
        "which is neither passed nor failed"
    )
    assert main([*ask, "--exam", "--seed", "1"]) == 0
    (again,) = {*kept("simulatability")} - {run}
    shown, _ = examinations(again.stem)
    assert shown.exam is not None and len(kept("exam")) == 2


# Which model predicts if none is named


def exam_spec(model: str, **changes: Any) -> AskExamSpec:
    return AskExamSpec(model=model, **({"long": True} if changes.get("reads") == "steps" else {}), **changes)


def sat(*results: tuple[str, int], **changes: Any) -> Callable[..., Iterator[tuple[Spec, Frozen]]]:
    def made(lab: Lab, read: Any) -> Iterator[tuple[Spec, Frozen]]:
        assert lab is TEST and read == TEST.result_of
        for model, right in results:
            yield (
                exam_spec(model, **changes),
                Examined(simulator=model, right=right, right_paper=right, of=11, passed=right >= 9),
            )

    return made


def settled(made: Any, at_hand: Callable[[str], bool] = everything, **changes: Any) -> AskSpec:
    spec = AskSpec.model_validate({"question": "x?", "model": "m/own", **changes})
    return qualification.choose_predictor(spec, changes, at_hand, made)


def chosen(made: Any, at_hand: Callable[[str], bool] = everything, **changes: Any) -> str:
    return settled(made, at_hand, **changes).simulator


def test_another_model_predicts_that_passed_and_is_at_hand_else_the_model_itself() -> None:
    results = sat(("m/own", 11), ("m/good", 9), ("m/better", 10), ("m/poor", 8), ("control/fickle", 11))
    assert chosen(results) == "m/better"
    assert chosen(results, lambda id: id != "m/better") == "m/good"
    assert chosen(results, lambda id: id in ("m/own", "m/poor")) == "m/own", "who failed predicts for nobody else"
    assert chosen(sat()) == "m/own"
    assert chosen(results, reasoning=False) == "m/own", "by that prompt nobody passed"
    assert chosen(sat(("m/good", 9), reasoning=False), reasoning=False) == "m/good"
    assert chosen(sat(("m/good", 33), long=True)) == "m/own", "the long form decides nothing about runs"


def test_how_they_passed_is_how_they_read() -> None:
    steps = sat(("m/small", 11), reads="steps")
    found = settled(steps)
    assert (found.simulator, found.reads) == ("m/small", "steps")
    own = settled(sat(("m/own", 11), reads="steps"))
    assert (own.simulator, own.reads) == ("m/own", "steps"), "it failed in its own words, and passed in steps"
    assert settled(steps, votes=3).simulator == "m/own", "there are no votes on steps"
    both = lambda lab, read: [*sat(("m/prose", 11))(lab, read), *steps(lab, read)]  # noqa: E731
    assert settled(both).reads == "prose", "of who does as well, who needs no help"
    assert settled(both, reads="steps").simulator == "m/small"
    named = settled(steps, simulator="m/other")
    assert (named.simulator, named.reads) == ("m/other", "prose"), "who is named is asked as the run says"
    short = lambda lab, read: [(AskExamSpec(model="m/small", reads="steps"), one) for _, one in steps(lab, read)]  # noqa: E731
    assert settled(short).simulator == "m/own", "in steps the long exam counts"


def test_robots_replays_preferences_and_paper_rules_stay_as_they_were() -> None:
    results = sat(("m/good", 11))
    for model in ("control/fickle", "replay/r"):
        assert chosen(results, model=model) == model
    assert chosen(results, rules="paper") == "m/own"
    assert chosen(results, task="shp", context="a", response_1="b", response_2="c") == "m/own"


def test_the_command_line_chooses_who_passed_unless_one_is_named(
    stub: Callable[..., StubServer], capsys: pytest.CaptureFixture[str]
) -> None:
    stub(some_know)
    assert main(["exam", READER]) == 0 and main(["exam", OTHER]) == 0
    ask = ["ask", "Can a penguin fly?", "--counterfactuals", "1", "--json"]

    def predicts(*more: str) -> str:
        capsys.readouterr()
        assert main([*ask, *more]) == 0
        started = json.loads(capsys.readouterr().out.splitlines()[0])
        return str(started["spec"]["simulator"])

    assert predicts("--model", OTHER) == READER
    assert predicts("--model", READER) == READER, "the other failed"
    assert predicts("--model", OTHER, "--simulator", OTHER) == OTHER
    assert predicts("--model", "control/fickle") == "control/fickle"


def test_a_model_is_at_hand_whose_endpoint_is_connected(
    stub: Callable[..., StubServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    stub(Plausible())
    for model, is_at_hand in (
        ("openai/whatever", True),
        ("control/fickle", True),
        (LOCAL, True),
        ("local/nowhere", False),
        ("elsewhere/model", False),
    ):
        assert entry.catalog().is_at_hand(model) == is_at_hand, model
    monkeypatch.delenv("OPENAI_BASE_URL")
    monkeypatch.delenv("OPENAI_API_KEY")
    assert not entry.catalog().is_at_hand("openai/whatever"), "without a key"
