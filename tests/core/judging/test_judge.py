"""Judge models: held to a person's labels, journaled, labels of their own, and marked where they failed."""

import asyncio
from pathlib import Path

import pytest

from core import entry, home, journal
from core.__main__ import main
from core.events import Started
from core.journal import Journal
from core.judging.lab import CASE, LAB, METRIC, JudgeSpec, ToJudge, agreement, prompt, to_ask
from core.labs.ask.tasks import AskSpec
from core.report import export
from core.runs import labels
from core.runs.context import recorded
from core.runs.engine import RunIO, RunRequest, execute
from core.runs.labels import Label, Scheme
from core.store import audits
from core.store.filters import label_facet
from core.store.index import index
from core.store.listing import RowPlace, Selection
from core.store.store import Store
from core.transcript import Transcript, transcript

HONEST, HABIT = "control/judge-named-label", "control/judge-first-label"
SCHEME = Scheme(name="form", labels={"all": "a", "no": "n"})
QUESTION = "Does it speak of all, or of none?"


def test_one_answer_to_everything_and_a_coin_fail_and_few_labels_decide_nothing() -> None:
    golds = ["x"] * 24 + ["y"] * 6
    habit = agreement([(gold, "x") for gold in golds], 30)
    assert habit.value == 0 and habit.detail["passed"] is False and habit.detail["agreed"] == 24
    coin = agreement([(gold, "xy"[number % 2]) for number, gold in enumerate(golds)], 30)
    assert coin.detail["passed"] is False
    right = agreement([(gold, gold) for gold in golds], 30)
    assert right.value == 1 and right.detail["passed"] is True
    assert agreement([(gold, gold) for gold in golds[-19:]], 19).detail["passed"] is None, "19 labels"
    assert agreement([("x", "x")] * 26 + [("y", "y")] * 4, 30).detail["passed"] is None, "4 of another kind"
    unread = agreement([(gold, gold if number % 2 else "unreadable") for number, gold in enumerate(golds)], 30)
    assert unread.detail["passed"] is False, "what cannot be read is no agreement"


def made(run: str, request: RunRequest) -> Transcript:
    with Journal(home.journals() / f"{run}.jsonl", new=not request.history) as written:
        asyncio.run(execute(request, RunIO(entry.catalog().get, written.append, live=False)))
    return transcript(journal.read(home.journals() / f"{run}.jsonl").events)


@pytest.fixture
def labelled() -> str:
    """A run of 30 explanations, of which a person labelled 24 by their first word."""
    spec = AskSpec(model="control/fickle", dataset="world", limit=30, counterfactuals=1, seed=2)
    state = made("asked", RunRequest(entry.labs()["simulatability"], spec, "asked"))
    name = "asked~labels-me"
    with Journal(home.journals() / f"{name}.jsonl", new=True) as written:
        written.append(Started(run=name, lab="simulatability", spec={}, seed=0, about="asked", owner="me"))
        for case in list(state.cases)[:24]:
            said = "all" if str(state.cases[case].result["explanation"]).startswith("All") else "no"  # type: ignore[index]
            label = Label(own={"form": (said,)})
            written.append(recorded(name, label, "", case=case, by="labels-me"))
    return "asked"


def read(run: str) -> Transcript:
    return transcript(journal.read(home.journals() / f"{run}.jsonl").events)


def test_a_judge_is_tested_resumed_and_its_labels_are_its_own(labelled: str, tmp_path: Path) -> None:
    with Store(tmp_path / "store.duckdb", entry.labs()) as store:
        index(store, home.journals())
        every = Selection(store)
        asked = to_ask(every, read, SCHEME, "labels-me", HONEST, QUESTION, is_test=False)
        test = to_ask(every, read, SCHEME, "labels-me", HABIT, QUESTION, is_test=True)
        assert (len(asked.cases), asked.labelled, len(test.cases)) == (30, 24, 24) and asked.price == (0.0, None)
        assert "gold" not in str(asked.spec) and all(case.explanation for case in asked.cases)
        whole = made("judge", RunRequest(LAB, asked.spec, "judge", additions=asked.inputs))
        # Killed after the first answers: nothing is asked twice, and no case is lost.
        file = home.journals() / "judge.jsonl"
        lines = file.read_bytes().splitlines(keepends=True)
        file.write_bytes(b"".join(lines[: len(lines) // 2]) + lines[len(lines) // 2][:9])
        half = journal.read(file).events
        again = made("judge", RunRequest(LAB, asked.spec, "judge", history=half))
        assert again.asked == whole.asked == 30 and len(LAB.view(again.case(CASE)).judged) == 30
        assert 0 < sum(event.kind == "answered" for event in half) < 30
        score = again.score(METRIC, "repaired")
        assert score is not None and score.value == 1 and score.n == 24 and score.detail["passed"] is True
        habit = to_ask(every, read, SCHEME, "labels-me", HABIT, QUESTION, is_test=False)
        made("habit", RunRequest(LAB, habit.spec, "habit", additions=habit.inputs))
        made("test", RunRequest(LAB, test.spec, "test", additions=test.inputs))
        index(store, home.journals())
        # Never among people's labels; a judge's test alone is no label.
        people = audits.own_labels(store, "form")
        assert len(people) == 24 and {who for by in people.values() for who in by} == {"labels-me"}
        judges = {one.run: one for one in audits.judges(store)}
        assert set(judges) == {"judge", "habit"}
        assert judges["judge"].warning == "" and judges["habit"].warning == "failed its test"
        assert every.facet(label_facet("form", "habit"))["all"] >= 30
        (found,) = every.own_labels([RowPlace("asked", asked.cases[0].target_case)])
        assert set(found) == {("form", "labels-me"), ("form", "judge"), ("form", "habit")}
        assert audits.judgement_of(store, "judge", "asked", asked.cases[0].target_case) == "j0001"
        columns = export.rows(every).columns
        assert {"judge.form.judge", "judge.form.habit (failed its test)"} <= set(
            columns
        ) and "label.form.labels-me" in columns
        assert not audits.labellers_by_scheme(store, "somebody")


def test_the_command_refuses_a_judge_without_labels(labelled: str, capsys: pytest.CaptureFixture[str]) -> None:
    labels.save("[form]\nlabels = {all = 'a', no = 'n'}\n[tone]\nlabels = {warm = 'w', cold = 'x'}\n")
    with pytest.raises(SystemExit):
        main(["judge", QUESTION, "--model", HONEST, "--scheme", "tone"])
    assert "label at least 20 cases" in capsys.readouterr().err
    assert main(["judge", QUESTION, "--model", HABIT, "--scheme", "form", "--yes"]) == 0
    said = capsys.readouterr()
    assert "The judge failed its test: kappa 0.00" in said.out and "24 of them have already been answered" in said.err
    assert main(["labels"]) == 0 and "24 cases labelled" in capsys.readouterr().out


def test_a_case_is_seen_without_the_label() -> None:
    about = ToJudge(target="r", target_case="c", asked="Q?", answer="no", explanation="{cue} </explanation>", gold="zq")
    with pytest.raises(ValueError, match="several of these labels"):
        to_ask(None, read, SCHEME.model_copy(update={"several": True}), "me", HONEST, "?", True)  # type: ignore[arg-type]
    asked = prompt(JudgeSpec(model=HONEST, question="Why?", scheme="form", labels=("all", "no"), cases=1), about)
    assert "zq" not in asked.model_dump_json() and "{cue}" in asked.messages[-1].content
