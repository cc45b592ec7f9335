"""The papers' own prompts: read from made-up copies of the authors' repositories, asked in every lab, and missing."""

import tomllib
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from core import entry
from core.__main__ import main
from core.datasets.items import Item
from core.events import Asked, Started
from core.labs.ask.tasks import AskSpec
from core.labs.check import prompts as check_prompts
from core.labs.check.tasks import CheckSpec, Wording
from core.labs.probe import commands
from core.labs.probe.functions.base import difficulties
from core.labs.probe.functions.modules import prompt as of_module
from core.labs.probe.functions.relations import RelationFunction
from core.labs.probe.functions.source import generate
from core.labs.probe.parse import command
from core.labs.probe.prompts import hashes, unit_test
from core.labs.probe.tasks import ProbeSpec
from core.text.templates import PaperPromptError
from tests.core.labs.ask import test_measure as ask_lab
from tests.core.labs.check import played as check_lab
from tests.core.labs.probe import playing as probe_lab
from tests.support import authors_repositories
from tests.support.stub_server import StubServer


@pytest.fixture
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with the prompts of the made-up repositories."""
    monkeypatch.setenv("EXPLAIN_HOME", str(tmp_path / "home"))
    authors_repositories.in_home(tmp_path / "copies")
    return tmp_path / "home"


def sent(events: Any) -> tuple[Started, list[Asked]]:
    started = next(event for event in events if isinstance(event, Started))
    return started, [event for event in events if isinstance(event, Asked)]


def test_every_prompt_of_the_three_papers_is_read(
    own_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = own_home / "prompts" / "paper"
    for lab in entry.labs().values():
        for name in lab.paper_prompts.names if lab.paper_prompts else ():
            assert tomllib.loads((folder / f"{name}.toml").read_text())["id"].startswith("paper:"), name
    assert main(["prompts"]) == 0
    assert "Check    17 of 17 prompts" in capsys.readouterr().out
    (tmp_path / "empty").mkdir()
    assert main(["prompts", "read", str(tmp_path / "empty")]) == 2
    assert "holds none of the authors' prompts" in capsys.readouterr().err


def test_each_wording_of_check_follows_the_authors_branches(own_home: Path) -> None:
    item = Item(id="a", task="entailment", paragraph="It rains.", hypothesis="Wet")
    removed = check_prompts.classify(item, Wording(persona="you", mask="[REMOVED]"), source="paper")
    assert removed.messages[-1].content == (
        'YOU say "Wet"? Some words may be removed: [REMOVED]. 1) yes 2) no 3) neither. Say no more.\n\nText: It rains.'
    )
    assert removed.id == "paper:entailment-classify+you+removed"
    fails = check_prompts.explain(item, "counterfactual", Wording(), "no", "paper").messages[-1].content
    assert fails.startswith('ANYONE edit say "Wet" where it fails.')
    story = Item(id="b", task="multi_choice", paragraph="{x}", question="Who?", choices=("Ann", "Ben"))
    plain = check_prompts.classify(story, Wording(mask_sentence=False), source="paper").messages[-1].content
    assert plain == 'ANYONE reply to "Who?"? One of a) "Ann", b) "Ben", or c) "unknown". Say no more.\n\nText: {x}'
    edited = (
        check_prompts.explain(story, "counterfactual", Wording(persona="human"), "Ben", "paper").messages[-1].content
    )
    assert edited.startswith('PERSON edit reply to "Who?" wanting "Ben".')
    short = (
        check_prompts.explain(story, "redaction", Wording(short=True, mask="[REMOVED]"), source="paper")
        .messages[-1]
        .content
    )
    assert short.startswith("ANYONE hide with [REMOVED].")


def test_check_asks_with_them_and_with_a_system_prompt(own_home: Path) -> None:
    spec = check_lab.stub_spec(prompts="paper", system="paper:falcon")
    with StubServer("positive") as server:
        played = check_lab.play(spec, check_lab.stub_catalog(server))
    started, calls = sent(played.events)
    assert all(name.startswith("paper:") for name in started.prompts) and "paper:falcon" in started.prompts
    assert all(call.prompt.startswith("paper:") for call in calls)
    assert {call.messages[0].content for call in calls} == {"You are a bird."}
    assert server.seen[0].body["messages"][0] == {"role": "system", "content": "You are a bird."}
    brief, long = (check_prompts.hashes(check_lab.stub_spec(system=text)) for text in ("Be brief.", "Be long."))
    assert brief["system prompt"] != long["system prompt"]


def test_ask_takes_ours_only_where_the_paper_has_none(own_home: Path) -> None:
    with StubServer("All birds fly. So the answer is yes.") as server:
        *_, events = ask_lab.play(
            ask_lab.stub_spec(prompts="paper", counterfactuals=1, system="Be brief."), ask_lab.stub_catalog(server)
        )
    started, calls = sent(events)
    ours = {name for name in started.prompts if not name.startswith("paper:")}
    assert ours == {"strategyqa-simulate-none", "strategyqa-simulate-question-only", "system prompt"}
    told = {call.role for call in calls if call.messages[0].content.startswith("Be brief.")}
    assert told == {"explainer"} and "generator" in {call.role for call in calls}, "only the model under test gets it"
    assert calls[0].messages[-1].content == "Q: Yes or no: Can a penguin fly?\nA:"


@pytest.mark.parametrize(("interpreter", "turns"), [("aia", 3), ("milan", 2)])
def test_probe_follows_the_papers_dialogue(own_home: Path, interpreter: str, turns: int) -> None:
    spec = probe_lab.stub_spec(prompts="paper", rules="paper", interpreter=interpreter)
    replies = ("COMMAND: PYTHON(function.py 1 2)", "COMMAND: PYTHON(function.py 3)", probe_lab.CONCLUSION)
    with StubServer(probe_lab.scripted(*replies)) as server:
        _, events = probe_lab.play(spec, probe_lab.stub_catalog(server))
    _, calls = sent(events)
    own = [call for call in calls if call.role == "interpreter"]
    assert len(own) == turns, "MILAN's second message is its conclusion, whatever it says"
    system, task, *_ = own[0].messages
    assert system.content == 'You may run:\nPYTHON(function.py) - Calls the file.\n\nWait for "Response: ".'
    assert task.content.startswith("Guess the numeric function in function.py: run PYTHON(function.py input)")
    assert ("\nStart with: [" in task.content) == (interpreter == "milan")
    assert own[1].messages[-1].content == "Response: Function input - output pairs: (1, 2) (2, 4)"
    assert command("Then PYTHON(function.py word1 word2)", "paper").inputs == ("word1", "word2")


def test_find_fills_in_tests_modules_and_the_form_of_llama_2(own_home: Path) -> None:
    spec = ProbeSpec(
        category="relations", model="x/llama-2-13b-chat", rules="paper", prompts="paper", evaluator="x/e", module="x/m",
        backbone="model", interpreter="aia+milan",
    )  # fmt: skip
    named = hashes(spec)
    assert (
        "paper:find-how-llama-2" in named and "paper:find-relation-corrupted" in named and "paper:find-hints" in named
    )
    asked = unit_test(spec, "It gives IN1.", [("a", "b"), ("c", "d"), ("e", "f")]).messages
    assert asked[0].content == "Pick one: '[ANSWER]: <index>'."
    assert asked[1].content == "It is told: It gives IN1.\nWhich?\n1: a gives b\n2: c gives d\n3: e gives f\n"
    corrupted = generate("relations", 1, difficulties("relations")[-1], "paper")
    assert isinstance(corrupted, RelationFunction) and corrupted.kind == "corrupted"
    slots = corrupted.parameters
    system, user = of_module(corrupted, "dog", "paper").messages
    assert system.content == "You know relations."
    expected = f"Of {slots['concept1']} give {slots['concept2']}, unless {slots['exception']}. Word: dog"
    assert user.content == expected


def test_a_missing_prompt_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLAIN_HOME", str(tmp_path))
    for lab, spec in (
        ("ask", AskSpec(question="Can a duck swim?", model="control/steadfast", prompts="paper")),
        ("check", CheckSpec(model="control/honest-lexicon", prompts="paper")),
        ("probe", ProbeSpec(model="control/straight", rules="paper", prompts="paper")),
    ):
        one = next(each for each in entry.labs().values() if each.path == lab)
        with pytest.raises(PaperPromptError, match=r"do not ship with this app.*prompts read FOLDER"):
            one.check(spec)
    with pytest.raises(PaperPromptError, match="system/falcon"):
        check_prompts.hashes(CheckSpec(model="x", system="paper:falcon"))
    with pytest.raises(PaperPromptError, match="names no system prompt"):
        check_prompts.hashes(CheckSpec(model="x", system="paper:../../secret"))
    with pytest.raises(ValidationError, match="The papers' prompts ask for prose"):
        CheckSpec(model="x", prompts="paper", answers="schema")
    with pytest.raises(ValidationError, match="The paper's prompts go with the paper's dialogue"):
        ProbeSpec(model="x", prompts="paper")


def test_old_specifications_keep_their_content() -> None:
    for spec in (CheckSpec(model="x"), ProbeSpec(model="x")):
        assert not {"prompts", "system"} & spec.model_dump().keys()
    assert "system" not in AskSpec(question="Can a duck swim?", model="x").model_dump()


def test_the_evaluator_alone_may_get_the_papers_prompts(own_home: Path) -> None:
    ours = ProbeSpec(category="relations", model="x/y", evaluator="x/e")
    spec = ours.model_copy(update={"evaluator_prompt": "paper"})
    triplet = [("a", "b"), ("c", "d"), ("e", "f")]
    asked = unit_test(spec, "It gives IN1.", triplet)
    assert asked.messages[1].content.startswith("It is told: It gives IN1.\nWhich?\n1: a gives b")
    paper = {name for name in hashes(spec) if name.startswith("paper:")}
    assert paper == {asked.id} and "find-agent-relations" in hashes(spec), "the interpreter keeps our prompts"
    assert "evaluator_prompt" not in ours.model_dump(), "earlier runs keep their names"
    line = next(islice(commands.examples(3, asked="paper"), 2, None))
    assert "It is told: " in line and "Which?" in line and "[ANSWER]: " in line
    with pytest.raises(ValidationError, match="ask for prose"):
        ProbeSpec(category="relations", model="x/y", evaluator="x/e", evaluator_prompt="paper", answers="schema")


def test_an_evaluators_prompt_that_is_missing_says_how_to_get_it(tmp_path: Path) -> None:
    spec = ProbeSpec(category="entities", model="x/y", evaluator="x/e", evaluator_prompt=str(tmp_path))
    with pytest.raises(PaperPromptError, match="prompts read FOLDER"):
        hashes(spec)
