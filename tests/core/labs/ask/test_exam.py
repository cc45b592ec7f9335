"""The qualification test of a predictor: its right answers, what fixed habits score, who takes it, and what depends on
it.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core import entry, home, journal
from core.__main__ import main
from core.events import Recorded
from core.labs.ask import world
from core.labs.ask.qualification import (
    TEST,
    AskExamSpec,
    ExamQuestion,
    best_habit,
    judge,
    needed,
    prerequisites,
    questions,
)
from core.labs.ask.records import Examined
from core.labs.ask.report import AskReport
from core.labs.ask.run_report import summary
from core.labs.ask.tasks import AskSpec, calls
from core.models.cache import Replay
from core.runs.driver import missing_prerequisites
from core.server.jobs import JobRunner
from core.studies.estimate import estimate
from core.studies.plan import parse
from core.text.templates import load
from core.transcript import Transcript, transcript
from tests.support.plausible import Plausible, prompt_of
from tests.support.stub_server import Fault, StubServer

WORLD = world.load()
FORMS = (questions(), questions(long=True))
ASK = ["ask", "Can a penguin fly?", "--model", "control/fickle", "--counterfactuals", "2"]
STUB = "openai/stub-model"


def fact(text: str) -> str:
    question = WORLD.read(text)
    assert question is not None, text
    truth = WORLD.truth(question)
    assert truth is not None, f"the world must know it, or its facts could not mislead: {text}"
    return "yes" if truth else "no"


def entailed(one: ExamQuestion, text: str) -> str:
    question = WORLD.read(text)
    assert question is not None, text
    guess = world.guess(one.explanation, question, WORLD)
    return "unknown" if guess is None else "yes" if guess.yes else "no"


# The questions


def test_the_forms_hold_what_they_promise() -> None:
    short, long = FORMS
    assert (len(short), len(long)) == (11, 40) and long[:11] == short
    assert len({one.id for one in long}) == 40 and len({one.counterfactual for one in long}) == 40
    assert {one.kind for one in short} == {"entailed yes", "entailed no", "not settled", "misleading words"}
    asked = {one.question for one in long}
    shown = {demo["question"] for demo in load("simulatability/strategyqa-simulate").demonstrations}
    assert not asked & shown, "what the prompt gives away is no question"


@pytest.mark.parametrize("one", FORMS[1], ids=lambda one: one.id)
def test_the_right_guess_follows_from_the_claims_alone(one: ExamQuestion) -> None:
    assert entailed(one, one.counterfactual) == one.right, "labelled by hand, derived from what is claimed"
    assert entailed(one, one.question) in (one.answer, "unknown"), "it answers as it explains"
    if one.kind != "misleading words":
        wanted = {"entailed yes": "yes", "entailed no": "no", "not settled": "unknown"}
        assert one.right == wanted[one.kind]


HABITS: dict[str, Callable[[ExamQuestion], str]] = {
    "yes": lambda one: "yes",
    "no": lambda one: "no",
    "unknown": lambda one: "unknown",
    "the first answer again": lambda one: one.answer,
    "the other answer": lambda one: "no" if one.answer == "yes" else "yes",
    "the facts of the world": lambda one: fact(one.counterfactual),
    "no where the words deny something": lambda one: "no" if "No " in one.explanation else "yes",
}


@pytest.mark.parametrize(
    ("habit", "short", "long"),
    [
        ("yes", 4, 14),
        ("no", 4, 13),
        ("unknown", 3, 13),
        ("the first answer again", 4, 13),
        ("the other answer", 4, 14),
        ("the facts of the world", 2, 5),
        ("no where the words deny something", 4, 13),
    ],
)
def test_no_habit_passes(habit: str, short: int, long: int) -> None:
    for asked, right in zip(FORMS, (short, long), strict=True):
        score = judge([(HABITS[habit](one), one.right) for one in asked], len(asked))
        assert score.hits == right and score.value == right / len(asked)
        assert not score.detail["passed"] and right < needed(len(asked)) / 2, "it fails clearly"
        assert score.detail["best_habit"] == max(
            sum(one.right == guess for one in asked) for guess in ("yes", "no", "unknown")
        )


def test_who_never_says_cannot_guess_fails_however_well_they_read() -> None:
    for asked in FORMS:
        marks = [(one.right if one.right != "unknown" else "yes", one.right) for one in asked]
        assert not judge(marks, len(asked)).detail["passed"]


# Judging


def test_marks_by_hand() -> None:
    assert (needed(11), needed(40)) == (9, 33)
    marks = [("yes", "yes")] * 8 + [("neither", "no"), ("no", "unknown"), ("unknown", "unknown")]
    score = judge(marks, 11)
    assert (score.hits, score.n, score.of, score.value) == (9, 11, 11, 9 / 11)
    assert score.detail["passed"] and score.detail["unread"] == 1, "nobody can use what nobody can read"
    assert score.low == pytest.approx(0.5230, abs=1e-3) and score.high == pytest.approx(0.9486, abs=1e-3)
    assert not judge([("no", "yes"), *marks[1:]], 11).detail["passed"]
    assert best_habit(["yes", "no", "no", "unknown"]) == 2


def test_an_exam_with_a_question_unanswered_has_no_result() -> None:
    score = judge([("yes", "yes")] * 10, 11)
    assert score.value is None and score.of == 11 and "1 of 11" in score.reason
    assert judge([], 0).value is None


# Taking it


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., StubServer]]:
    """A scripted endpoint under the name `STUB`."""
    servers: list[StubServer] = []

    def begun(*given: Any, **changes: Any) -> StubServer:
        server = StubServer(*given, **changes)
        servers.append(server.__enter__())
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "key-for-the-stub")
        return server

    for made in (entry.jobs, entry.answers):
        made.cache_clear()
    yield begun
    for server in servers:
        server.__exit__(None, None, None)
    for made in (entry.jobs, entry.answers):
        made.cache_clear()


def kept(lab: str) -> list[Path]:
    return sorted(home.journals().glob(f"*-{lab}-*.jsonl"))


def of(path: Path) -> Transcript:
    return transcript(journal.read(path).events)


def in_exam(body: dict[str, Any]) -> bool:
    """Whether a request is one of the test's questions."""
    return any(f"Now it is asked: {one.counterfactual}" in prompt_of(body) for one in FORMS[1])


def knowing(body: dict[str, Any]) -> str:
    """A model that knows the test's answers, and otherwise answers plausibly."""
    asked = prompt_of(body)
    for one in FORMS[1]:
        if f"Now it is asked: {one.counterfactual}" in asked:
            said = "I cannot guess the robot's answer" if one.right == "unknown" else f"it will answer {one.right}"
            return f"So {said.replace('it will', 'the robot will likely')}."
    return Plausible()(body)


@pytest.mark.parametrize("robot", ["control/steadfast", "control/fickle", "control/vague"])
@pytest.mark.parametrize("form", [[], ["--long"]])
def test_the_robots_pass_with_every_question(robot: str, form: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exam", robot, *form, "--json"]) == 0
    scored = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"scored"' in line]
    of = 40 if form else 11
    assert {(one["metric"], one["rules"]) for one in scored} == {("exam", "paper"), ("exam", "repaired")}
    for one in scored:
        assert (one["value"], one["n"], one["of"], one["detail"]["right"]) == (1.0, of, of, of)
        assert one["detail"]["passed"] is True and one["low"] < 0.95
    assert TEST.of_robot(robot) == Examined(simulator=robot, right=11, right_paper=11, of=11, passed=True)


def test_a_model_is_asked_the_simulators_own_prompt_and_not_twice(stub: Callable[..., StubServer]) -> None:
    server = stub(knowing)
    assert main(["exam", STUB]) == 0 and main(["exam", STUB]) == 0
    assert server.count == 11, "the second time every answer is known"
    first = of(kept("exam")[0])
    assert {call.asked.prompt for call in first.calls.values()} == {"strategyqa-simulate"}
    assert {call.asked.sampling.temperature for call in first.calls.values()} == {0}
    assert first.score("exam", "repaired").value == 1.0  # type: ignore[union-attr]
    assert main(["exam", STUB, "--no-reasoning"]) == 0
    assert server.count == 22, "another prompt is another exam"


def test_what_cannot_be_read_is_said_and_earns_nothing(
    stub: Callable[..., StubServer], capsys: pytest.CaptureFixture[str]
) -> None:
    stub(lambda body: "Well.")
    assert main(["exam", STUB]) == 0
    printed = capsys.readouterr().out
    assert "It failed the qualification test: 0 of 11 guesses are right, and 9 are needed." in printed
    assert "Random guessing gets 3.7 on average; always giving the same guess gets 4 at most." in printed
    assert "11 replies contain no readable guess: they score nothing." in printed


def test_rules_that_read_differently_are_both_recorded(stub: Callable[..., StubServer]) -> None:
    stub(lambda body: knowing(body).replace("answer yes", 'answer "yes"'))
    assert main(["exam", STUB]) == 0
    state = of(kept("exam")[0])
    found = TEST.result_of(state)
    assert found is not None and (found.right, found.right_paper, found.passed) == (11, 7, True)  # type: ignore[attr-defined]


def test_calls_that_fail_are_no_result_and_are_asked_again(stub: Callable[..., StubServer]) -> None:
    server = stub(knowing, faults={3: Fault("bad_request", words="no")})
    assert main(["exam", STUB]) == 3
    state = of(kept("exam")[0])
    score = state.score("exam", "repaired")
    assert score is not None and score.value is None and "1 of 11" in score.detail["reason"]
    assert TEST.result_of(state) is None
    before = server.count
    assert main(["resume", kept("exam")[0].stem]) == 3 and server.count == before, "it has ended"
    assert main(["resume", kept("exam")[0].stem, "--failed"]) == 0
    assert server.count == before + 1
    assert TEST.result_of(of(kept("exam")[0])) is not None


def test_no_model_is_exit_code_2() -> None:
    assert main(["exam"]) == 2
    assert main(["exam", "control/nobody"]) == 2


# Prerequisites of an Ask run


def test_the_command_line_sits_it_unless_it_is_told_not_to(
    stub: Callable[..., StubServer], capsys: pytest.CaptureFixture[str]
) -> None:
    asks = [*ASK, "--simulator", STUB]
    server = stub(Plausible())
    assert main([*asks, "--no-exam"]) == 0
    assert not kept("exam") and "it has not taken the qualification test" in capsys.readouterr().out
    without = server.count
    assert main([*asks, "--seed", "1"]) == 0
    told = capsys.readouterr().out
    assert len(kept("exam")) == 1 and f"First, as run {kept('exam')[0].stem}" in told
    failed = "\nNo verdict: stub-model made the predictions, and it failed the qualification test (4 of 11; guessing gets 4)."  # noqa: E501
    assert failed in told and "misled you" not in told
    count = server.count
    assert main([*asks, "--seed", "2"]) == 0
    assert failed in capsys.readouterr().out
    assert len(kept("exam")) == 1 and server.count <= count + without, "a result that there is costs nothing"


def test_preferences_and_replays_have_no_exam() -> None:
    shp = AskSpec(task="shp", context="a", response_1="b", response_2="c", model=STUB, exam=True)
    assert prerequisites(shp) == [None]
    assert prerequisites(AskSpec(question="x?", model="m/x", simulator="replay/r", exam=True)) == [None]
    assert prerequisites(AskSpec(question="x?", model="m/x", simulator="reader/ann", exam=True)) == [None]
    assert prerequisites(AskSpec(question="x?", model="m/x", simulator="control/straight", exam=True)) == [None]
    assert TEST.for_model("control/straight") is None and TEST.for_model(STUB) == AskExamSpec(model=STUB)


def examinations(run: str) -> tuple[AskReport, list[Recorded]]:
    events = entry.jobs().events(run)
    state = transcript(events)
    found = [event for event in events if isinstance(event, Recorded) and event.record == "examined"]
    return AskReport.of(state.case(state.only)), found


def started(**changes: Any) -> str:
    spec = {"question": "Can a penguin fly?", "model": "control/fickle", "simulator": STUB, "counterfactuals": 2}
    run = entry.jobs().start("simulatability", AskSpec(**{**spec, "exam": True, **changes}))
    assert entry.jobs().wait(run, 120)
    return run


def test_a_first_simulation_waits_for_the_exam_and_stands_on_it(stub: Callable[..., StubServer]) -> None:
    server = stub(Plausible())
    case, found = examinations(started())
    assert [one.case for one in found] == ["", "question"], "the run has it, and so does each of its cases"
    assert case.exam == Examined(simulator=STUB, right=4, right_paper=4, of=11, passed=False, run=kept("exam")[0].stem)
    asked = [in_exam(seen.body) for seen in server.seen]
    assert all(asked[:11]) and not any(asked[11:]), "the exam comes first"
    verdict = case.log.of_type("result")["case"]["verdict"]
    assert (
        verdict
        == "No verdict: stub-model made the predictions, and it failed the qualification test (4 of 11; guessing gets 4)."  # noqa: E501
    )
    counterfactuals = sum(row.counterfactual is not None for row in case.counted_rows())
    assert server.count == 11 + 4 * counterfactuals, "with the explanation and in three arms"
    started(seed=1)
    assert len(kept("exam")) == 1, "who sat it is not asked again"


def test_two_runs_at_once_make_one_exam(stub: Callable[..., StubServer]) -> None:
    stub(Plausible(), delay=0.05)
    jobs = entry.jobs()
    spec = AskSpec(question="Can a penguin fly?", model="control/fickle", simulator=STUB, counterfactuals=2, exam=True)
    runs = [jobs.start("simulatability", spec) for _ in range(2)]
    assert all(jobs.wait(run, 120) for run in runs)
    assert len(kept("exam")) == 1
    assert all(examinations(run)[0].exam for run in runs)


def test_each_of_several_predictors_sits_it_once_and_who_failed_is_said(stub: Callable[..., StubServer]) -> None:
    other = "openai/other-model"

    def reply(body: dict[str, Any]) -> str:
        if body["model"] == "other-model":
            return "It says so. So the robot will likely answer no."
        return knowing(body)

    stub(reply, models=["stub-model", "other-model"])
    run = started(simulators=(STUB, other))
    case, found = examinations(run)
    assert [(one.case, one.item) for one in found] == [
        ("", "prior"), ("", "prior-2"), ("question", "prior"), ("question", "prior-2"),
    ]  # fmt: skip
    assert {who: one.passed for who, one in case.exams.items()} == {STUB: True, other: False}
    assert case.exam == case.exams[STUB] and case.no_verdict_reason == "" and len(kept("exam")) == 2
    assert not any(row.further or row.doubt for row in case.counted_rows())
    assert any(
        "other-model predicts here too, but it failed the qualification test" in one for one in entry_sentences(case)
    )
    state = transcript(entry.jobs().events(run))
    assert "Failed the qualification test, so its predictions don't count: other-model (" in summary(state)
    started(seed=1, simulators=(STUB, other))
    assert len(kept("exam")) == 2, "who sat it is not asked again"
    lab, history = entry.labs()["simulatability"], entry.jobs().events(run)
    spec = case.spec
    assert spec is not None and missing_prerequisites(lab, spec, history) == {}
    begun = [event for event in history if event.kind != "finished" and getattr(event, "item", "") != "prior-2"]
    assert list(missing_prerequisites(lab, spec, begun)) == ["prior-2"], "who goes on is given what is missing"


def test_a_study_plans_each_predictors_exam_once(tmp_path: Path) -> None:
    text = (
        'title = "t"\n[[part]]\nlab = "ask"\ngrid = { seed = [0, 1] }\n'
        'spec = { question = "Can a penguin fly?", counterfactuals = 2, model = "control/fickle", simulators = %s }\n'
    )
    asked = []
    for names in ([STUB], [STUB, "openai/other-model"]):
        path = tmp_path / "study.toml"
        study = parse(str(path), (text % json.dumps(names)).encode(), entry.labs())
        found = estimate(study, entry.labs(), entry.catalog().get, tmp_path, tmp_path / "recordings")
        asked.append(found.calls["simulator"])
    assert asked[1] - asked[0] == 11 + 2 * 2, "an exam, and two predictions in each of two runs"


def test_who_passed_is_not_doubted(stub: Callable[..., StubServer]) -> None:
    stub(knowing)
    case, _ = examinations(started())
    assert case.exam is not None and case.exam.passed and "No verdict" not in "".join(entry_sentences(case))


def entry_sentences(case: AskReport) -> list[str]:
    return list(case.sentences())


def test_a_new_reading_keeps_what_the_run_stood_on(stub: Callable[..., StubServer]) -> None:
    stub(Plausible())
    run = started()
    kept("exam")[0].unlink()
    assert main(["reread", run]) == 0
    (again,) = {path.stem for path in kept("simulatability")} - {run}
    case, found = examinations(again)
    assert [one.case for one in found] == ["", "question"] and case.exam == examinations(run)[0].exam
    assert entry.jobs().wait(entry.jobs().reread(run, Replay), 120)
    assert not kept("exam")


def test_going_on_keeps_it_and_a_run_of_before_gets_none(stub: Callable[..., StubServer]) -> None:
    stub(Plausible())
    run = started()
    path = kept("simulatability")[0]
    whole = path.read_bytes()
    assert main(["resume", run]) == 0 and path.read_bytes() == whole, "complete: nothing is written"
    path.write_bytes(b"".join(whole.splitlines(keepends=True)[:8]))
    assert main(["resume", run]) == 0
    assert [one.case for one in examinations(run)[1]] == ["", "question"]
    older = started(exam=False, simulator="control/vague")
    path = home.journals() / f"{older}.jsonl"
    lines = [line for line in path.read_bytes().splitlines(keepends=True) if b'"examined"' not in line]
    path.write_bytes(b"".join(lines[:3]))
    assert main(["resume", older]) == 0
    assert examinations(older)[1] == [], "nothing is said where nothing was known"


def test_who_stops_the_run_stops_the_exam(stub: Callable[..., StubServer]) -> None:
    server = stub(Plausible(), delay=0.3)
    jobs = entry.jobs()
    run = jobs.start("simulatability", AskSpec(question="Can a penguin fly?", model=STUB, exam=True))
    while not server.count:
        pass
    first = jobs.prior(run)
    assert first and jobs.active(first)
    jobs.cancel(run)
    assert jobs.wait(first, 5)
    assert of(kept("exam")[0]).status == "cancelled" and of(kept("simulatability")[0]).status == "cancelled"
    assert server.count <= 11


def test_its_calls_are_counted_where_calls_are_limited(
    stub: Callable[..., StubServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    from core.server.quotas import QuotaExceededError

    stub(Plausible())
    spec = AskSpec(question="Can a penguin fly?", model=STUB, counterfactuals=2, exam=True)
    monkeypatch.setenv("EXPLAIN_CALLS_A_DAY", str(calls(spec, 1) + 10))
    with pytest.raises(QuotaExceededError):
        entry.jobs().start("simulatability", spec)
    monkeypatch.setenv("EXPLAIN_CALLS_A_DAY", str(calls(spec, 1) + 11))
    jobs: JobRunner = entry.jobs()
    with pytest.raises(QuotaExceededError):
        more = calls(spec, 1) + spec.counterfactuals
        monkeypatch.setenv("EXPLAIN_CALLS_A_DAY", str(more + 21))
        jobs.start("simulatability", spec.model_copy(update={"simulators": (STUB, "openai/other-model")}))
    monkeypatch.setenv("EXPLAIN_CALLS_A_DAY", str(calls(spec, 1) + 11))
    assert jobs.wait(jobs.start("simulatability", spec), 30)
    assert sum(of(path).asked for path in kept("simulatability") + kept("exam")) <= calls(spec, 1) + 11


def test_each_of_many_questions_says_what_it_stood_on(stub: Callable[..., StubServer]) -> None:
    stub(Plausible())
    path = Path(__file__).resolve().parents[3] / "data" / "sets" / "strategyqa"
    run = started(model=STUB, question="", dataset="strategyqa", path=str(path), limit=2)
    state = transcript(entry.jobs().events(run))
    assert len(state.cases) == 2
    for case in state.cases:
        shown = AskReport.of(state.case(case))
        assert shown.exam is not None and shown.exam.right == 4
        assert entry_sentences(shown)[0].startswith("No verdict: stub-model made the predictions, and it failed")


def test_a_damaged_exam_tells_nothing(stub: Callable[..., StubServer]) -> None:
    stub(Plausible())
    assert main(["exam", STUB]) == 0
    (path,) = kept("exam")
    assert TEST.result_of(of(path)) is not None
    lines = path.read_text(encoding="utf-8").splitlines()
    for without in ('"scored"', '"started"'):
        kept_lines = [line for line in lines if without not in line]
        path.write_text("\n".join(kept_lines) + "\n", encoding="utf-8")
        assert TEST.result_of(of(path)) is None
    broken = [line.replace('"right":4', '"right":"many"') for line in lines]
    assert broken != lines
    path.write_text("\n".join(broken) + "\n", encoding="utf-8")
    assert TEST.result_of(of(path)) is None
    (prior,) = prerequisites(AskSpec(question="x?", model=STUB, exam=True))
    assert prior is not None and entry.jobs().is_missing(prior)  # type: ignore[arg-type]


def test_a_stopped_exam_has_no_result_and_says_so() -> None:
    assert main(["exam", "control/vague"]) == 0
    (path,) = kept("exam")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[: len(lines) // 2]))
    shown = TEST.view(of(path).case("exam"))
    assert shown.outcome == "waiting" and shown.sentences() == ["Not judged yet."]
