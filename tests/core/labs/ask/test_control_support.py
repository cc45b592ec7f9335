"""A robot is not asked what it cannot know: the refusal comes before any call, wherever the run is started."""

import json
from pathlib import Path

import pytest

from core import entry, home
from core.__main__ import main
from core.labs.ask.lab import LAB
from core.labs.ask.tasks import AskSpec
from core.labs.base.spec import BadInputError
from core.studies import estimate, plan

OUTSIDE = ("Did Einstein use Wikipedia?", "Is the moon made of cheese?", "Can a penguin knit?")


def written(folder: Path, *questions: str) -> str:
    """Write a file in StrategyQA's format."""
    path = folder / "dev.json"
    rows = [{"qid": f"q{number}", "question": text, "answer": False} for number, text in enumerate(questions)]
    path.write_text(json.dumps(rows), encoding="utf-8")
    return str(path)


def asked(path: str, **more: object) -> AskSpec:
    return AskSpec.model_validate({"dataset": "strategyqa", "path": path, "model": "control/fickle", **more})


@pytest.mark.parametrize(
    "who", [{}, {"model": "control/dial-0.5"}, {"model": "local/any", "generators": ["control/vague"]}]
)
def test_a_robot_that_knows_none_of_the_questions_is_refused_with_what_it_can_take(
    tmp_path: Path, who: dict[str, object]
) -> None:
    spec = asked(written(tmp_path, *OUTSIDE), **who)
    with pytest.raises(BadInputError, match=r"none of the 3 questions of strategyqa .* It can take the data set world"):
        LAB.cases(spec)
    assert LAB.check is not None
    with pytest.raises(BadInputError):
        LAB.check(spec)
    one = asked(written(tmp_path, OUTSIDE[0]), **who)
    with pytest.raises(BadInputError, match=r"not the one question of strategyqa"):
        LAB.cases(one)


def test_one_question_that_it_knows_is_enough_and_models_are_asked_anything(tmp_path: Path) -> None:
    path = written(tmp_path, *OUTSIDE, "Can a penguin fly?")
    assert len(list(LAB.cases(asked(path)))) == 4
    path = written(tmp_path, *OUTSIDE)
    assert len(list(LAB.cases(asked(path, model="local/any", simulator="control/fickle")))) == 3, "it only predicts"
    assert len(list(LAB.cases(AskSpec(dataset="world", model="control/fickle")))) > 20


def test_a_dial_takes_no_preferences(tmp_path: Path) -> None:
    sets = Path(__file__).resolve().parents[3] / "data/sets/shp"
    spec = AskSpec(task="shp", dataset="shp", path=str(sets), model="control/dial-0.5")
    with pytest.raises(BadInputError, match="yes-or-no questions only"):
        LAB.cases(spec)
    assert list(LAB.cases(spec.model_copy(update={"model": "control/vague", "generators": ("control/vague",)})))


def test_the_command_line_asks_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, *OUTSIDE)
    assert main(["ask", "--dataset", "strategyqa", "--path", path, "--model", "control/fickle"]) == 2
    assert "It can take the data set world." in capsys.readouterr().err
    assert not list(home.journals().glob("*.jsonl"))


def test_a_study_says_so_in_its_plan_and_makes_no_such_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "study.toml"
    file.write_text(
        'lab = "ask"\nspec = { counterfactuals = 2, limit = 1 }\n[grid]\nmodel = ["control/fickle"]\n'
        f'dataset = [{{ dataset = "world" }}, {{ dataset = "strategyqa", path = {written(tmp_path, *OUTSIDE)!r} }}]\n',
        encoding="utf-8",
    )
    study = plan.read(file, entry.labs())
    found = estimate.estimate(study, entry.labs(), entry.catalog().get, home.journals(), home.recordings())
    [(run, why)] = found.missing.items()
    [told] = [one for one in study.runs if one.id == run]
    assert getattr(told.spec, "path", None) and "It can take the data set world." in why
    assert main(["study", "run", str(file)]) == 2
    assert f"{run} failed: control/fickle knows a small world" in capsys.readouterr().err
    assert '"asked"' not in (home.journals() / f"{run}.jsonl").read_text(encoding="utf-8")
    [other] = [one.id for one in study.runs if one.id != run]
    assert '"completed"' in (home.journals() / f"{other}.jsonl").read_text(encoding="utf-8"), "what can be made is"


def test_an_old_run_that_failed_on_every_row_still_opens(tmp_path: Path) -> None:
    """Its journal names its cases, although its specification would be refused today."""
    spec = asked(written(tmp_path, *OUTSIDE))
    run = entry.jobs().start("simulatability", spec)
    assert entry.jobs().wait(run, 60)
    state = entry.jobs().watch(run).transcript
    assert state.status == "failed" and state.failures[0].error == "BadInput"
    assert LAB.spec.model_validate(state.started.spec if state.started else {}) == spec
