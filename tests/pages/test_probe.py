"""The Probe page in all its states: empty, running, done, failed, cancelled, queued, the reader's turn, replayed."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core import entry, home
from core.journal import read
from core.labs.probe.controls import worthless
from core.labs.probe.functions.entities import concepts, keeps
from core.labs.probe.tasks import ProbeSpec
from core.report import evidence
from core.scene import Scene
from tests.pages.conftest import run_named, scenes, settled, staged, stopped, words
from tests.support.stub_server import StubServer
from tests.support.waiting import until

Page = Callable[..., AppTest]


def run_of(**fields: Any) -> str:
    """A completed run."""
    run = entry.jobs().start("find", ProbeSpec.model_validate({"model": "control/straight", **fields}))
    assert entry.jobs().wait(run, 120)
    return run


def behind(run: str) -> list[dict[str, str]]:
    """The evidence of each call of a run of one case, by label."""
    state = entry.jobs().watch(run).transcript
    calls = evidence.of_case(entry.labs()["find"], state, state.only).calls.values()
    return [{part.label: part.text for part in call.parts} for call in calls]


def rounds(scene: Scene) -> dict[str, str]:
    return {panel.title: panel.answer for panel in scene.panels}


def test_an_empty_page_is_ready_to_probe(page: Page) -> None:
    app = page("probe")
    assert app.button(key="probe").label == "Probe · at most 23 model calls" and not app.button(key="probe").disabled
    assert app.selectbox(key="probe-model").value == "control/straight"
    assert not any("fickle" in option for option in app.selectbox(key="probe-model").options), "no robot of another lab"


def test_probing_shows_rounds_conclusion_truth_and_what_was_missed(page: Page) -> None:
    app = page("probe")
    app.button(key="probe").click().run()
    (told,) = scenes(settled(app))
    shown = rounds(told)
    assert shown["Round 1"].startswith("6 calls: f(-100) = -787.2") and shown["Round 2"] == "Conclusion."
    assert told.verdict and told.verdict.headline.text == (
        "It was right everywhere except between 57.9 and 75.8, where we altered the function."
    )
    more = [part.text for part in told.verdict.more]
    assert "Its description names 1 part of the function: linear." in more
    assert "Never probed between 57.9 and 75.8, where we altered the function." in more
    assert any(text.startswith("f(x) = 7.8 * x - 7.2") for text in more)
    assert told.plot and {curve.kind for curve in told.plot.curves} == {"claim", "truth"}
    state = entry.jobs().watch(run_named(app)).transcript
    figures = evidence.of_case(entry.labs()["find"], state, state.only).figures
    values = {one.value for one in figures if one.title == "Normalized error (NMSE)" and one.rules != "paper"}
    assert len(values) == 1 and values.pop() == "0.0616", "figures are in the evidence of the case"


def test_a_round_leads_to_prompt_raw_answer_and_readings(page: Page) -> None:
    run = run_of(own="2*x", model="control/inventor")
    (told,) = scenes(page("probe", run=run))
    first = told.panels[0]
    assert first.note == "It made up outputs before it had them."
    more = [part.text for part in told.verdict.more] if told.verdict else []
    assert "Quotes f(1) = 10, which is not what it observed." in more
    assert "Quotes f(2) = 13, which it never called." in more
    asked = behind(run)[0]
    assert "COMMAND: PYTHON(function.py 1)" in asked["Raw answer"]
    assert asked["Exact prompt"].startswith("[system]") and "1 input: 1" in asked["Read as"]


def test_tool_calls_lead_to_what_was_offered_asked_and_answered(page: Page) -> None:
    app = page("probe")
    app.toggle(key="probe-tools").set_value(True).run()
    app.button(key="probe").click().run()
    (told,) = scenes(settled(app))
    assert any("it asks by tool calls" in part.text for part in told.parts)
    assert rounds(told)["Round 1"].startswith("6 calls: f(-100) = -787.2")
    first, second = behind(run_named(app))[:2]
    assert '[tool call call-1] call_function({"inputs": [-100,' in second["Exact prompt"]
    assert "call_function" in first["Raw answer"] and "6 inputs: -100" in first["Read as"]
    assert first["Tools it was offered"].startswith("call_function: Calls the hidden function")
    assert "[tool call-1]\nInputs and outputs:" in "\n".join(second.values())


def test_an_agent_without_tool_calls_says_that_it_went_on_in_text(page: Page) -> None:
    with StubServer(conclude_after, refused=["tools"]) as server:
        run = entry.jobs().start(
            "find",
            ProbeSpec(own="2*x", model="stub/stub-model", tools=True),
            entry.catalog((server.config(),)).get,
        )
        assert entry.jobs().wait(run, 120)
    (told,) = scenes(page("probe", run=run))
    (why,) = [part.text for part in told.parts if part.label == "Continued in plain text"]
    assert why.startswith("stub does not take tool calls for stub-model.")


def test_paper_rules_and_tool_calls_do_not_go_together(page: Page) -> None:
    app = page("probe")
    app.toggle(key="probe-tools").set_value(True)
    app.segmented_control(key="probe-rules").set_value("paper").run()
    assert "With the original parser an agent asks in text" in words(app) and app.button(key="probe").disabled


@pytest.mark.parametrize(
    ("category", "said"),
    [
        ("strings", "It found the function: the code gives its output on all 10 test texts."),
        ("entities", "the evaluator picked the function's own example"),
        ("relations", "the evaluator picked the function's own example"),
    ],
)
def test_the_other_categories(page: Page, category: str, said: str) -> None:
    app = page("probe")
    app.segmented_control(key="probe-category").set_value(category).run()
    app.button(key="probe").click().run()
    assert said in words(settled(app, 90))


def test_the_functions_own_prompts_stay_hidden_until_the_truth_is_out(page: Page) -> None:
    spec = {"category": "entities", "seed": 1, "interpreter": "you"}
    run = run_of(**spec)
    app = page("probe", run=run)
    app.text_area(key="inputs").set_value("bridge, stone")
    app.button(key="call").click().run()
    assert not app.exception
    told = words(app) + "".join(code.value for code in app.code)
    assert "2 of 200 calls of the function" in told and "related to bridges" not in told
    (shown,) = scenes(app)
    (made,) = [panel for panel in shown.panels if panel.title == "Round 1"]
    assert [part.label for part in made.parts] == ["f(bridge)", "f(stone)"]


def test_a_function_of_ones_own(page: Page) -> None:
    app = page("probe")
    app.segmented_control(key="probe-source").set_value("own").run()
    assert app.button(key="probe").disabled and "Write your function first." in words(app)
    app.text_area(key="own-numeric-code").set_value("1 +").run()
    assert "gives no value" in words(app) and app.button(key="probe").disabled
    app.text_area(key="own-numeric-code").set_value("4*x - 1").run()
    app.button(key="probe").click().run()
    assert "It found the function" in words(settled(app))


def test_a_function_of_the_benchmark(page: Page, find_dir: Path) -> None:
    app = page("probe")
    app.segmented_control(key="probe-source").set_value("published").run()
    assert app.button(key="probe").disabled
    app.text_input(key="find-dir").set_value("/nowhere")
    app.text_area(key="function").set_value("f00700").run()
    assert "missing" in words(app) and app.button(key="probe").disabled
    app.text_input(key="find-dir").set_value(str(find_dir)).run()
    app.button(key="probe").click().run()
    assert "The function" in words(settled(app))


def test_baselines_need_no_model(page: Page) -> None:
    app = page("probe")
    app.selectbox(key="probe-interpreter-numeric").set_value("fit").run()
    assert app.button(key="probe").label == "Probe · no model calls"
    app.button(key="probe").click().run()
    told = words(settled(app))
    assert "as good as the noise allows" in told


def test_your_turn_before_the_truth_is_out(page: Page) -> None:
    app = page("probe")
    app.checkbox(key="hold").check().run()
    app.button(key="probe").click().run()
    told = words(settled(app))
    assert "It is done: 6 calls in 2 rounds." in told
    assert "7.8" not in told and not staged(app)
    first = app.query_params["run"]

    app.button(key="turn").click().run()
    app = settled(app)
    assert "Your turn" in words(app) and "7.8" not in words(app)
    app.text_input(key="inputs").set_value("0, 1 60 dog")
    app.button(key="call").click().run()
    assert not app.exception
    told = words(app)
    assert "4 of 200 calls of the function · 1 of 20 rounds" in told and "0.6" in told and "is not a number" in told
    assert [one["mode"] for one in staged(app) if "mode" in one] == ["tried"] and "7.8 *" not in told
    app.button(key="conclude").click().run()
    assert "Write a description or code first." in words(app)
    app.text_area(key="description").set_value("a line with slope 7.8")
    app.text_input(key="domain").set_value("all numbers")
    app.number_input(key="interval-from").set_value(76.0)
    app.number_input(key="interval-to").set_value(57.0)
    app.text_area(key="code").set_value("def f(x):\n    return -7.2 if 57.9 < x < 75.8 else 7.8 * x - 7.2")
    app.button(key="conclude").click().run()
    assert not app.exception
    told = words(app)
    assert "You were right" in told or "You found the function" in told
    assert "Side by side" in told and "control/straight" in told
    assert app.query_params["run"] != first


def test_the_truth_can_be_had_without_trying(page: Page) -> None:
    app = page("probe", run=run_of(own="2*x"), hold="1")
    assert "found the function" not in words(app)
    app.button(key="reveal").click().run()
    assert "It found the function" in words(app)


def test_an_agent_follows_the_reader(page: Page) -> None:
    app = page("probe")
    app.selectbox(key="probe-interpreter-numeric").set_value("you").run()
    assert app.button(key="probe").label == "Begin"
    app.button(key="probe").click().run()
    settled(app)
    app.text_area(key="description").set_value("no idea")
    app.button(key="conclude").click().run()
    assert not app.exception
    assert "its description could not be tested" in words(app)
    assert app.button(key="agent")


def conclude_after(body: dict[str, Any]) -> str:
    said = sum(message["role"] == "assistant" for message in body["messages"])
    code = "```python\ndef f(x):\n    return 2 * x\n```"
    return f"COMMAND: PYTHON(function.py {said} {said + 1})" if said < 3 else f"[DESCRIPTION]: doubles\n[CODE]:\n{code}"


def test_a_running_agent_is_watched_cancelled_and_goes_on(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-for-the-stub")
    with StubServer(conclude_after, delay=0.4) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        run = entry.jobs().start("find", ProbeSpec(own="2*x", model="openai/stub-model"))
        until(lambda: server.count >= 2)
        app = page("probe", run=run)
        assert rounds(scenes(app)[0])["Round 1"] == "2 calls: f(0) = 0, f(1) = 2"
        stopped(app)
        assert "You stopped this run" in words(app)
        asked = server.count
        app.button(key="go-on").click().run()
        told = words(settled(app))
        assert "It found the function" in told
        assert server.count <= asked + 3, "what was answered is not asked again"
    assert [event.kind for event in read(home.journals() / f"{run}.jsonl").events].count("finished") == 2


def test_a_failed_run_says_why(page: Page) -> None:
    run = run_of(model="control/fickle", own="2*x")
    app = page("probe", run=run)
    told = words(app)
    assert "cannot play the role of interpreter" in told and app.button(key="go-on")
    assert "Verdict" not in told


def test_a_run_is_a_case_can_be_replayed_and_is_listed(page: Page) -> None:
    run = run_of(own="2*x")
    app = page("results/case.py", run=run)
    told = words(app)
    assert "Your own numeric function" in told and "It found the function" in told
    app = page("results/case.py", run=run, replay="1")
    assert "No model is asked" in app.get("progress")[0].proto.text
    app.segmented_control(key="speed").set_value("Instant").run()
    assert "replay" not in app.query_params
    app = page("results/browse.py", show="runs")
    assert "Your own numeric function" in app.dataframe[0].value["About"].tolist()


def test_a_run_is_gone_through_step_by_step(page: Page) -> None:
    app = page("results/case.py", run=run_of(own="2*x"), replay="step")
    told = words(app)
    assert "Step 1 of" in told
    assert "Verdict" not in told and "2*x" not in told, "the truth is not out yet"
    assert app.button(key="back").disabled
    seen = [told]
    while not app.button(key="next").disabled:
        app.button(key="next").click().run()
        seen.append(words(app))
    first = next(place for place, told in enumerate(seen) if "It found the function" in told)
    assert first >= 3 and "Round 1\n" in seen[first - 1] and "6 calls: f(" in seen[first - 1], "the truth comes last"
    app.button(key="back").click().run()
    assert words(app) == seen[-2]


def test_what_an_interpreter_writes_is_shown_and_never_obeyed(page: Page) -> None:
    """In the viewer as plain text, and nowhere as Markdown."""
    evil = "<script>alert(1)</script> **bold** :red[x] $x$ [link](http://a.b)"
    given = {"description": evil, "domain": evil, "code": "def f(x):\n    return x"}
    app = page("probe", run=run_of(own="2*x", interpreter="given", given=given))
    (told,) = scenes(app)
    assert told.claim and (told.claim.parts[0].text, told.claim.domain) == (evil, evil)
    assert not any("alert" in one.value for one in (*app.markdown, *app.caption, *app.warning))


def test_its_page_begins_a_robot_and_methods_tell_of_the_lab(page: Page) -> None:
    app = page("probe")
    app.button(key="show-probe").click().run()
    run = next(home.journals().glob("*.jsonl"))
    until(lambda: run.stat().st_size)
    assert json.loads(run.read_text().splitlines()[0])["lab"] == "find"
    app = page("about/methods.py")
    assert "black boxes whose truth is known" in "".join(one.value for one in app.header)
    told = "".join(one.value for one in app.markdown)
    for id, robot in worthless().items():
        assert f"- `{id}`: {robot.about} It fools {robot.fools}." in told


def test_a_link_opens_the_same_task_for_a_class(page: Page) -> None:
    app = page("probe", category="strings", seed="7", difficulty="hard", interpreter="you")
    assert app.segmented_control(key="probe-category").value == "strings"
    assert app.number_input(key="seed").value == 7 and app.selectbox(key="difficulty-strings").value == "hard"
    assert app.selectbox(key="probe-interpreter-strings").value == "you"
    assert any("category=strings&seed=7&difficulty=hard&interpreter=you" in code.value for code in app.code)
    app.number_input(key="seed").set_value(8).run()
    assert app.number_input(key="seed").value == 8, "the address has its say once"
    app.text_input(key="name").set_value("Ada").run()
    app.button(key="probe").click().run()
    told = words(settled(app))
    assert "Your turn" in told and "A string function (seed 8, hard) · Ada" in told
    assert "Try texts of many kinds" in told, "the hints that an agent gets"


@pytest.mark.parametrize("query", [{"category": "x"}, {"seed": "-1"}, {"difficulty": "x", "interpreter": "nearest"}])
def test_a_link_that_asks_for_what_there_is_not_opens_the_plain_form(page: Page, query: dict[str, str]) -> None:
    app = page("probe", **query)
    assert app.segmented_control(key="probe-category").value == "numeric" and not app.button(key="probe").disabled


def test_a_turn_takes_a_formula_and_sends_back_code_that_cannot_be_run(page: Page) -> None:
    run = run_of(own="2*x + 1", interpreter="you", model="")
    app = page("probe", run=run)
    app.text_area(key="description").set_value("a line")
    app.text_area(key="code").set_value("return x.upper(")
    app.button(key="conclude").click().run()
    assert "This code cannot be run" in words(app) and "Fix it, or leave it out" in words(app)
    app.text_area(key="code").set_value("2 * x + 1")
    app.button(key="conclude").click().run()
    assert "You found the function" in words(settled(app))


def test_a_subject_of_ones_own_by_its_name(page: Page) -> None:
    app = page("probe")
    app.segmented_control(key="probe-category").set_value("entities").run()
    app.segmented_control(key="probe-source").set_value("own").run()
    assert app.button(key="probe").disabled
    app.multiselect(key="own-concept").set_value(["chess", "poetry"]).run()
    assert app.selectbox(key="probe-backbone-entities").value == "embedding"
    app.button(key="probe").click().run()
    told = words(settled(app, 90))
    assert "chess" in told and "poetry" in told and "tells as much as the true description" in told


def test_how_far_the_box_can_be_trusted_stands_before_the_run_and_beside_the_truth(page: Page) -> None:
    app = page("probe")
    app.segmented_control(key="probe-category").set_value("relations").run()
    before = [caption.value for caption in app.caption if "Measured against its own truth" in caption.value]
    assert len(before) == 1 and "0 wrong and 0 undefined" in before[0] and "by construction" in before[0]
    app.selectbox(key="probe-backbone-relations").set_value("model").run()
    assert not any("Measured against" in caption.value for caption in app.caption), "a model's calls are not free"
    (told,) = scenes(page("probe", run=run_of(category="entities", seed=1, backbone="embedding")))
    box = told.panels[0]
    assert "words of the subject and" in box.answer and "Ten exemplars (2 that belong to the function" in box.answer
    assert len(box.parts) > 140 and all(part.text.endswith(("(right)", "(wrong)")) for part in box.parts)


def test_subjects_whose_box_contradicts_its_truth_are_not_offered(page: Page) -> None:
    app = page("probe")
    app.segmented_control(key="probe-category").set_value("entities").run()
    app.segmented_control(key="probe-source").set_value("own").run()
    offered = app.multiselect(key="own-concept").options
    assert "poetry" not in offered and "golf" not in offered and "insects and entomology" in offered
    assert all(keeps(concepts()[name]) for name in offered)


def test_a_rule_of_texts_is_told_by_picking(page: Page) -> None:
    run = run_of(category="strings", seed=1, difficulty="easy", interpreter="you", model="")
    app = page("probe", run=run)
    assert not app.radio, "first something is tried"
    app.text_area(key="inputs").set_value("hello world\nroom 101")
    app.button(key="call").click().run()
    assert len(app.radio) == 5 and all(one.value is None for one in app.radio)
    app.button(key="picked").click().run()
    assert "5 texts to go" in words(app)
    for one in app.radio:
        one.set_value(one.options[0])
    app.button(key="picked").click().run()
    told = words(settled(app))
    assert re.search(r"[0-5] of 5 picked right", told)
    assert "The function:" in told and "Guessing gets one in three" in told
    assert len(app.dataframe) == 1 and len(app.dataframe[0].value) == 5
    hits = list(app.dataframe[0].value["Picked"] == app.dataframe[0].value["It gives"])
    assert f"{sum(hits)} of 5 picked right" in told
