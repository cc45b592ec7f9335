"""The exam on the pages: the button on Models, its result, the call count of Ask, the verdict of who failed it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from streamlit.testing.v1 import AppTest

from core import entry, home
from core.labs.simulatability.tasks import AskSpec
from core.store import figures
from tests.pages.conftest import in_address, run_named, settled, turned, until, words
from tests.plausible import Plausible
from tests.stub_server import StubServer

Page = Callable[..., AppTest]
STUB = "openai/stub-model"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubServer]:
    with StubServer(Plausible()) as begun:
        monkeypatch.setenv("OPENAI_BASE_URL", begun.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "key-for-the-stub")
        yield begun


def exams() -> list[str]:
    return sorted(path.stem for path in home.journals().glob("*-exam-*.jsonl"))


def test_models_offers_the_exam_and_shows_what_came_of_it(page: Page) -> None:
    app = page("about/models.py")
    assert "No result yet." in words(app)
    button = app.button(key="take-exam-control/fickle")
    assert button.label == "Take the exam · 11 calls"
    button.click().run()
    assert not app.exception
    (run,) = exams()
    assert entry.jobs().wait(run, 120)
    told = words(page("about/models.py"))
    assert "control/fickle" in told and "It passed the exam: 11 of 11 guesses are right, and 9 are needed." in told
    assert "Guessing blindly gets 3.7 on average, always the same guess 4 at most." in told
    taken = page("about/models.py")
    assert "take-exam-control/fickle" not in [one.key for one in taken.button], "it need not take it twice"
    assert "take-exam-control/vague" in [one.key for one in taken.button]
    assert not any("control/straight" in str(one.key) for one in taken.button), (
        "a robot of another lab predicts nothing"
    )


def test_the_exam_opens_as_a_case(page: Page) -> None:
    run = entry.jobs().start("exam", entry.labs()["exam"].spec(model="control/vague"))
    assert entry.jobs().wait(run, 120)
    told = words(page("results/case.py", run=run))
    assert "Exam of a predictor" in told and "It passed the exam: 11 of 11" in told
    assert "Can a bat fly?" in told and "expected **no** · observed **no** · right" in told


def test_the_button_counts_the_exam_until_it_was_taken(page: Page, server: StubServer) -> None:
    app = page("about/models.py")
    app.text_input(key="endpoint_name").set_value("mine")
    app.text_input(key="endpoint_url").set_value(server.base_url)
    app.button(key="connect").click().run()
    assert "take-exam-mine/stub-model" in [one.key for one in app.button]
    turned(app, "ask").selectbox(key="ask-simulator").set_value("mine/stub-model").run()
    assert app.button(key="ask").label == "Ask · 52 calls"
    app.checkbox(key="exam").uncheck().run()
    assert app.button(key="ask").label == "Ask · 41 calls"
    app.checkbox(key="exam").check()
    app.button(key="ask").click().run()
    settled(app)
    assert len(exams()) == 1
    told = words(app)
    app.button(key="change").click().run()
    assert app.button(key="ask").label == "Ask · 41 calls", "it has been taken"
    assert "stub-model predicts these: it passed 4 of 11 in the exam." in told
    assert any(one.value.startswith("#### :gray[") for one in app.markdown), "the verdict is greyed"
    assert "Who predicted: mine/stub-model, 4 of 11 right in the exam." in told
    entry.keeper().wake()

    def greyed() -> list[bool]:
        store = entry.keeper().store
        frame = figures.of_runs(store, "simulatability", ["precision"], held=[("examined", "passed")])
        return [] if frame.empty else frame["examined_passed"].tolist()

    until(lambda: bool(greyed()))
    assert greyed() == [False], "Browse greys it"
    again = page("ask", run=run_named(app))
    assert "stub-model predicts these: it passed 4 of 11 in the exam." in words(again), "a link tells the same"
    replayed = page("results/case.py", run=run_named(app), replay="step")
    replayed.session_state[f"step-{run_named(app)}"] = 1_000
    replayed.run()
    assert "stub-model predicts these" in words(replayed)


def test_while_the_exam_goes_on_the_page_says_so(page: Page, server: StubServer) -> None:
    server.delay = 0.4
    spec = AskSpec(question="Can a penguin fly?", model="control/fickle", simulator=STUB, counterfactuals=1, exam=True)
    run = entry.jobs().start("simulatability", spec)
    until(lambda: bool(entry.jobs().prior(run)))
    told = words(page("ask", run=run))
    assert "First the exam: Can this model tell what an explanation lets one expect?" in told
    entry.jobs().cancel(run)


def test_who_passed_is_named_and_not_doubted(page: Page) -> None:
    app = page("ask")
    app.button(key="ask").click().run()
    told = words(settled(app))
    assert "Who predicted: control/fickle, by its rules 11 of 11 right in the exam." in told
    assert "predicts these" not in told and in_address(app, "run")
