"""Forks: answers that do not depend on an edit are reused, and only the rest is asked; and the ways to store a run."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from core import entry, journal
from core.events import Answered, Asked, Event, Failed, Fork, Started, Usage
from core.journal import Journal, JournalInUseError
from core.labs.ask.tasks import AskSpec
from core.labs.check.tasks import CheckSpec, Item  # type: ignore[attr-defined]
from core.labs.probe.tasks import ProbeSpec
from core.models.settings import cost, price_of
from core.runs.driver import new_predictions, stored_resolve
from core.runs.engine import RunIO, RunRequest, execute
from core.runs.labels import Kept, Label
from core.runs.library import RunNotFoundError
from core.server.access import RunAccess, Visitor
from core.server.jobs import JobRunner
from core.store.filters import Filter
from core.store.index import index
from core.store.listing import Selection
from core.store.store import Store
from tests.core.labs.probe.playing import CONCLUSION
from tests.support.plausible import Plausible, telling
from tests.support.small_lab import LAB, Echoing, EchoSpec
from tests.support.stub_server import StubServer

Reply = Callable[[dict[str, Any]], str]
ANN, BOB = Visitor("ann"), Visitor("bob")


def calls(jobs: JobRunner, run: str) -> dict[str, tuple[Asked, Answered]]:
    events = jobs.events(run)
    answers = {event.call: event for event in events if isinstance(event, Answered)}
    asked = {event.call: event for event in events if isinstance(event, Asked)}
    return {call: (event, answers[call]) for call, event in asked.items() if call in answers}


def said(jobs: JobRunner, run: str) -> dict[tuple[str, str, str, int], str]:
    """The answers by their places."""
    return {(a.role, a.item, a.trial, a.repeat): b.text for a, b in calls(jobs, run).values()}


@pytest.mark.parametrize(
    ("role", "item", "text"),
    [
        ("explainer", "starter", "No bird can fly. So the answer is no."),
        (
            "generator",
            "cf-02",
            "Can a kite fly?\nYour guess: So the robot will likely answer yes.",
        ),
        ("answerer", "cf-03", "Stones are heavy. So the answer is no."),
    ],
)
def test_only_what_depends_on_the_edit_leaves_for_the_model(tmp_path: Path, role: str, item: str, text: str) -> None:
    with StubServer(Plausible()) as server:
        # Without the answer cache, so that reused answers can come only from the run.
        jobs = JobRunner(tmp_path, entry.labs(), entry.catalog((server.config(),)).get)
        model = "stub/stub-model"
        fields = {"generators": (model,), "simulator": model, "arms": ("none",), "counterfactuals": 4, "exam": False}
        first = jobs.start("simulatability", AskSpec(question="Can a penguin fly?", model=model, **fields))
        assert jobs.wait(first, 120)
        before = calls(jobs, first)
        assert server.count == len(before) > 10
        call = next(name for name, (asked, _) in before.items() if (asked.role, asked.item) == (role, item))
        fork = Fork(run=first, case=before[call][0].case, call=call, text=text)
        plan = jobs.plan(fork)
        assert server.count == len(before), "trying out asks nobody"
        assert plan.applies and plan.kept > 0

        second = jobs.fork(fork)
        assert jobs.wait(second, 30)
        after, known = calls(jobs, second), {asked.fingerprint for asked, _ in before.values()}
        news = [asked for asked, answer in after.values() if not answer.cached]
        assert server.count - len(before) == len(news) and not known & {asked.fingerprint for asked in news}
        assert plan.most is not None and plan.least.total() <= len(news) <= plan.most
        assert [(asked.item, answer.text) for asked, answer in after.values() if answer.edited] == [(item, text)]
        if role == "answerer":
            assert not news and plan.least.total() == 0, "nothing is asked because of what was said at the end"
        else:
            assert {asked.role for asked in news} >= {"simulator"}
        if role == "generator":
            kept = {place: answer for place, answer in said(jobs, first).items() if place[1] == "cf-01"}
            assert kept and kept.items() <= said(jobs, second).items()
            assert any("kite" in asked.messages[-1].content for asked in news if asked.role == "answerer")
        begun = journal.first_event(tmp_path / f"{second}.jsonl")
        assert begun and begun.forked_from == fork


COMMANDS = ("PYTHON(function.py 1 2)", "PYTHON(function.py 3 4)", "PYTHON(function.py 5)")


def agent(body: dict[str, Any]) -> str:
    """An interpreter that makes these experiments in turn, then concludes."""
    said = sum(message["role"] == "assistant" for message in body["messages"])
    return (*COMMANDS, CONCLUSION)[min(said, len(COMMANDS))]


FILM = Item(id="film", task="sentiment", paragraph="A superb and wonderful film.")
CHECK = CheckSpec(items=(FILM,), explanations=("attribution",), model="stub/stub-model", controls=0)
EDITS = {
    "Probe: an agent's message": (
        ProbeSpec(own="2*x", model="stub/stub-model", rounds=3), agent, COMMANDS[1], "PYTHON(function.py 7 8)",
        2, "(7, 14)",
    ),
    "Probe: its first": (
        ProbeSpec(own="2*x", model="stub/stub-model", rounds=3), agent, COMMANDS[0], "PYTHON(function.py 7 8)",
        3, "(7, 14)",
    ),
    "Check: an explanation": (CHECK, telling(explain="- superb"), "- superb", "- wonderful", 1, "superb and [RE"),
}  # fmt: skip


@pytest.mark.parametrize(("spec", "reply", "old", "new", "asked_again", "seen"), EDITS.values(), ids=list(EDITS))
def test_in_every_lab_only_what_depends_on_the_edit_is_asked_again(
    tmp_path: Path, spec: ProbeSpec | CheckSpec, reply: Reply, old: str, new: str, asked_again: int, seen: str
) -> None:
    with StubServer(reply) as server:
        jobs = JobRunner(tmp_path, entry.labs(), entry.catalog((server.config(),)).get)
        run = jobs.start("find" if isinstance(spec, ProbeSpec) else "consistency", spec)
        assert jobs.wait(run, 60)
        before, count = calls(jobs, run), server.count
        call = next(
            name for name, (asked, answer) in before.items() if answer.text == old and asked.role != "classifier"
        )
        fork = Fork(run=run, case=before[call][0].case, call=call, text=new)
        plan = jobs.plan(fork)
        assert server.count == count and plan.applies and plan.least.total() == asked_again
        assert all(usage.prompt_tokens for _, usage in plan.again), "what it took before is known"
        second = jobs.fork(fork)
        assert jobs.wait(second, 60)
        assert server.count - count == asked_again
        assert all(seen in str(one.body["messages"]) for one in server.seen[count:]), "each follows from the edit"
        assert [answer.text for _, answer in calls(jobs, second).values() if answer.edited] == [new]


def test_calls_cost_what_the_list_says_and_nothing_where_they_run_here() -> None:
    listed = price_of("openai/gpt-4.1")
    assert listed
    paid = ("openai/gpt-4.1", Usage(prompt_tokens=1_000_000, completion_tokens=500_000))
    robot = ("control/fickle", Usage())
    assert cost([robot]) == (0.0, None)
    assert cost([paid, robot, paid]) == (pytest.approx(2 * listed.prompt + listed.completion), listed.date)
    assert cost([paid, ("openai/gpt-4.1", Usage())]) is None is cost([("stub/stub-model", paid[1])]), "not known"


def test_a_fork_has_the_cases_that_share_the_answer_and_goes_on_after_a_stop(tmp_path: Path) -> None:
    model = Echoing()
    jobs = JobRunner(tmp_path, {"echo": LAB}, lambda id: model)
    run = jobs.start("echo", EchoSpec(words=("a", "b", "c"), times=2))
    assert jobs.wait(run, 10)
    asked = {event.item: event for event in jobs.events(run) if isinstance(event, Asked) and event.case.endswith("2-b")}
    one = asked["echo-1"]
    fork = jobs.fork(Fork(run=run, case=one.case, call=one.call, text="x"))
    assert jobs.wait(fork, 10)
    assert list(jobs.watch(fork).transcript.cases) == ["all/2-b"]
    whole = tmp_path / f"{fork}.jsonl"
    answered = len(calls(jobs, fork))
    lines = whole.read_bytes().splitlines(keepends=True)
    whole.write_bytes(b"".join(lines[:3]))
    jobs.resume(fork)
    assert jobs.wait(fork, 10)
    assert len(calls(jobs, fork)) == answered and list(jobs.watch(fork).transcript.cases) == ["all/2-b"]
    assert [answer.text for _, answer in calls(jobs, fork).values() if answer.edited] == ["x"]
    assert jobs.watch(fork).transcript.score("repeated", "repaired") is not None
    assert not list(jobs.runs_of_spec(LAB, EchoSpec(words=("a", "b", "c"), times=2)))[1:], (
        "a fork serves nobody as the run"
    )
    jobs.keeping.delete(run)
    whole.write_bytes(b"".join(lines[:3]))
    with pytest.raises(RunNotFoundError):
        jobs.resume(fork)
    with pytest.raises(RunNotFoundError, match="has no call c9"):
        jobs.plan(Fork(run=fork, case="", call="c9", text=""))


def test_labels_hiding_and_titles_are_found_in_the_store_and_deleting_can_be_undone(tmp_path: Path) -> None:
    folder = tmp_path / "journals"
    jobs = JobRunner(folder, {"echo": LAB}, lambda id: Echoing(mishears=frozenset("b")))
    ann, bob = RunAccess(jobs, ANN), RunAccess(jobs, BOB)
    one, other = (jobs.start("echo", EchoSpec(words=("a", "b"), times=1)) for _ in range(2))
    assert jobs.wait(one, 10) and jobs.wait(other, 10)
    ann.run(one).label("all/1-a", "", Label(verdicts={"reading": "right"}))
    ann.run(one).label("all/1-a", "", Label(verdicts={"reading": "wrong"}, should={"reading": "no"}, tags=("odd",)))
    bob.run(one).label("all/1-a", "", Label(verdicts={"reading": "right"}, note="Looks fine."))
    assert {who: said[-1].data["verdicts"] for who, said in ann.run(one).labels().items()} == {
        "labels-ann": {"reading": "wrong"},
        "labels-bob": {"reading": "right"},
    }
    with Store(tmp_path / "store.duckdb", {"echo": LAB}) as store:

        def rows(**wanted: object) -> list[tuple[str, str]]:
            index(store, folder)
            frame = Selection(store, Filter(**wanted)).items().rows  # type: ignore[arg-type]
            return list(zip(frame["run"], frame["case"], strict=True))

        labelled = [(one, "all/1-a")]
        assert rows(chosen={"label": ("reading: wrong",)}) == labelled == rows(chosen={"tag": ("odd",)})
        assert rows(chosen={"label": ("reading: good",)}) == [] and len(rows()) == 4
        assert Selection(store).facet("label") == {"reading: right": 1, "reading: wrong": 1}
        assert Selection(store).facet("tag") == {"odd": 1}

        ann.own_run(one).keep(Kept(title="The odd one", hidden=True))
        assert {run for run, _ in rows()} == {other} and {run for run, _ in rows(hidden=True)} == {one}
        ann.own_run(one).keep(Kept(title="The odd one"))
        assert len(rows()) == 4 and ann.run(one).kept().title == "The odd one"

        files = {path.name: path.read_bytes() for path in folder.glob(f"{one}*.jsonl")}
        assert len(files) == 4
        ann.own_run(one).delete()
        assert {run for run, _ in rows()} == {other} and not list(folder.glob(f"{one}*.jsonl"))
        with pytest.raises(RunNotFoundError):
            bob.undo(one)
        ann.undo(one)
        assert {path.name: path.read_bytes() for path in folder.glob(f"{one}*.jsonl")} == files and len(rows()) == 4
    with journal.Journal(folder / f"{other}.jsonl"), pytest.raises(JournalInUseError):
        ann.own_run(other).delete()


def test_only_the_predictions_of_another_predictor_are_asked_and_a_run_that_stopped_continues_with_them(
    tmp_path: Path,
) -> None:
    spec = AskSpec(question="Can a penguin fly?", model="control/fickle", counterfactuals=4)
    lab = entry.labs()["simulatability"]
    first: list[Event] = []
    asyncio.run(execute(RunRequest(lab, spec, "first"), RunIO(entry.catalog().get, first.append, live=False)))
    request = new_predictions(lab, spec, "first", first, "control/vague")
    asked = Counter[str]()

    def counted(id: str) -> Any:
        robot = entry.catalog().get(id)

        class Counted:
            id = robot.id

            async def answer(self, *given: Any) -> Any:
                asked[robot.id] += 1
                return await robot.answer(*given)

        return Counted()

    again: list[Event] = []
    models = stored_resolve("first", first, ["control/vague"], counted)
    asyncio.run(execute(request, RunIO(models, again.append, live=False)))
    assert set(asked) == {"control/vague"} and isinstance(again[0], Started) and again[0].predicted_from == "first"
    texts = [
        {(one.role, one.item, one.repeat): answer.text for one, answer in pairs(events) if one.role != "simulator"}
        for events in (first, again)
    ]
    assert texts[0] == texts[1] and texts[0]
    assert {one.model for one, _ in pairs(again) if one.role == "simulator"} == {"control/vague"}
    # What was not asked before, of a model that does not predict, is not asked now either.
    other = new_predictions(
        lab, spec.model_copy(update={"question": "Can a robin fly?"}), "first", first, "control/vague"
    )
    refused: list[Event] = []
    asyncio.run(execute(other, RunIO(models, refused.append, live=False)))
    assert any(isinstance(event, Failed) and "only the predictor is asked" in event.message for event in refused)
    # A run that stopped continues in the same way.
    folder = tmp_path / "journals"
    folder.mkdir()
    for name, events in (("first", first), (request.id, again[: len(again) // 2])):
        with Journal(folder / f"{name}.jsonl", new=True) as written:
            for event in events:
                written.append(event)
    asked.clear()
    jobs = JobRunner(folder, entry.labs(), counted)
    jobs.resume(request.id)
    assert jobs.wait(request.id, 60)
    assert set(asked) <= {"control/vague"} and jobs.events(request.id)[-1].kind == "finished"


def test_nothing_is_predicted_again_where_no_model_predicts() -> None:
    lab = entry.labs()["consistency"]
    spec = CheckSpec(model="control/honest-lexicon")
    with pytest.raises(ValueError, match="No model predicts in Check"):
        new_predictions(lab, spec, "first", [], "control/vague")


def pairs(events: Sequence[Event]) -> list[tuple[Asked, Answered]]:
    answers = {event.call: event for event in events if isinstance(event, Answered)}
    return [(event, answers[event.call]) for event in events if isinstance(event, Asked) and event.call in answers]
