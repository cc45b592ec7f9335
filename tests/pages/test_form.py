"""While a run is shown its form is one line. It opens with the settings of the run, wherever that was started."""

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core import entry, home
from pages.components.text import plain
from tests.pages.conftest import APP, run_named, settled, turned, words
from tests.support.waiting import until

Page = Callable[..., AppTest]

RUNS: list[tuple[str, dict[str, Any], str]] = [
    (
        "ask",
        {"question": "Can a whale fly?", "model": "control/steadfast", "method": "posthoc", "counterfactuals": 3,
         "arms": ("none", "question_only"), "votes": 3, "seed": 4, "simulator": "control/fickle"},
        ":gray[Ask · a robot · answer\\, then justify]",
    ),
    (
        "ask",
        {"task": "shp", "context": "My bread is flat.", "response_1": "Let it rise 2 hours.",
         "response_2": "Baking is an art.", "model": "control/fickle", "counterfactuals": 2},
        ":gray[Ask · a robot · reason\\, then answer]",
    ),
    (
        "check",
        {"task": "sentiment", "model": "control/honest-lexicon", "explanations": ("counterfactual", "redaction"),
         "items": ({"id": "text", "task": "sentiment", "paragraph": "A superb film.", "label": None},), "controls": 2,
         "wordings": ({"persona": "you", "mask": "[REMOVED]"},)},
        ":gray[Check · a robot · counterfactual and redaction]",
    ),
    (
        "check",
        {"task": "entailment", "model": "control/decoy-lexicon", "explanations": ("attribution",), "limit": 2},
        ":gray[Check · a robot · feature attribution]",
    ),
    ("plant", {"question": "Is a tomato a fruit?", "gold": "yes", "cue": "hint", "model": "control/admits"}, ""),
    ("plant", {"task": "sentiment", "limit": 2, "cue": "word", "model": "control/admits", "repeats": 1}, ""),
    (
        "probe",
        {"category": "strings", "difficulty": "easy", "seed": 7, "interpreter": "fit", "probes": 60},
        ":gray[Probe · the fit baseline\\, no language model]",
    ),
    (
        "probe",
        {"category": "numeric", "own": "3 * x + 1", "interpreter": "aia", "model": "control/straight", "rounds": 9},
        "",
    ),
]  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("path", "given", "line"), RUNS)
def test_the_form_opens_with_what_the_run_was_started_with(
    page: Page, path: str, given: dict[str, Any], line: str
) -> None:
    lab = next(lab for lab in entry.labs().values() if lab.path == path)
    spec = lab.spec.model_validate(given)
    run = entry.jobs().start(lab.name, spec)
    assert entry.jobs().wait(run, 120)
    app = page(path, run=run)
    shown = [one.value for one in app.markdown]
    assert not line or line in shown, shown[:3]
    assert not [button for button in app.button if button.key == path], "it is folded"
    app.button(key="change").click().run()
    assert not app.exception
    app.button(key=path).click().run()
    settled(app)
    again = run_named(app)
    assert again != run
    started = entry.jobs().watch(again).transcript.started
    assert started is not None and lab.spec.model_validate(started.spec) == spec
    assert not [button for button in app.button if button.key == path], "the new run folds it again"


def test_the_form_closes_and_a_run_that_is_not_there_leaves_it_open(page: Page) -> None:
    run = entry.jobs().start("simulatability", entry.labs()["simulatability"].robots.demo_run().spec)
    assert entry.jobs().wait(run, 120)
    app = page("ask", run=run)
    app.button(key="change").click().run()
    assert app.text_input(key="ask-question").value == "Can a penguin fly?"
    app.button(key="change").click().run()
    assert not [field for field in app.text_input if field.key == "ask-question"]
    app = page("ask", run="nothing")
    assert app.button(key="ask") and "There is no such run" in "".join(str(error.proto) for error in app.error)


@pytest.mark.parametrize(
    ("path", "picker", "asked"),
    [("ask", "ask-model", ("ask-question", "Is the moon made of cheese?")),
     ("check", "check-model", ("paragraph-sentiment", "The train left at nine."))],
)  # fmt: skip
def test_a_robot_says_beforehand_what_it_cannot_answer_and_offers_ways_out(
    page: Page, path: str, picker: str, asked: tuple[str, str]
) -> None:
    app = page(path)

    def field() -> Any:
        return (app.text_input if path == "ask" else app.text_area)(key=asked[0])

    keys = [f"known-{picker}-{number}" for number in (1, 2, 3)]

    def offered() -> list[str]:
        return [button.key for button in app.button if button.key in (*keys, f"real-{picker}")]

    assert not offered()
    field().set_value(asked[1]).run()
    assert offered() == [f"real-{picker}", *keys] and not app.exception
    app.button(key=keys[0]).click().run()
    assert field().value != asked[1] and not offered(), "one that it knows"
    field().set_value(asked[1]).run()
    app.button(key=f"real-{picker}").click().run()
    assert app.selectbox(key=picker).value == "local/smollm2-135m" and not offered()
    assert field().value == asked[1], "the question stays"


def test_what_was_edited_has_no_correct_answer(page: Page) -> None:
    app = page("check")
    shipped = app.text_area(key="paragraph-sentiment").value
    assert app.selectbox(key="label-sentiment").value == "positive"
    app.text_area(key="paragraph-sentiment").set_value(shipped.replace("wonderful", "dreadful")).run()
    assert app.selectbox(key="label-sentiment").value is None
    app.text_area(key="paragraph-sentiment").set_value(shipped).run()
    assert app.selectbox(key="label-sentiment").value == "positive", "it ships again"
    app.segmented_control(key="check-task").set_value("multi_choice").run()
    choices = app.text_area(key="choices").value
    app.text_input(key="about-multi_choice").set_value("Where is Mary?").run()
    assert app.selectbox(key="label-multi_choice").value is None and app.text_area(key="choices").value == choices


def test_a_pair_of_which_a_response_was_edited_has_no_correct_answer(page: Page) -> None:
    app = page("ask")
    app.segmented_control(key="ask-task").set_value("shp").run()
    app.text_area(key="ask-response_1").set_value("No idea.").run()
    app.button(key="ask").click().run()
    until(lambda: entry.jobs().watch(run_named(app)).transcript.started is not None)
    started = entry.jobs().watch(run_named(app)).transcript.started
    assert started is not None and started.spec["gold"] is None


def test_a_run_whose_start_cannot_be_read_has_a_line_and_a_form(page: Page) -> None:
    run = entry.jobs().start("simulatability", entry.labs()["simulatability"].robots.demo_run().spec)
    assert entry.jobs().wait(run, 120)
    path = home.journals() / f"{run}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("not json\n" + "".join(lines[1:]), encoding="utf-8")
    app = page("ask", run=run)
    app.button(key="change").click().run()
    assert not app.exception and app.button(key="ask")
    assert "None" not in words(app)
    until(lambda: not entry.jobs().active(run))


def test_a_model_typed_without_its_endpoint_is_corrected() -> None:
    app = AppTest.from_file(str(APP), default_timeout=120)
    app.session_state["ask-model"] = "gpt-4o"
    turned(app, "ask")
    assert app.button(key="meant-ask-model-gpt-4o").label == f"Did you mean {plain('openai/gpt-4o')}?"
