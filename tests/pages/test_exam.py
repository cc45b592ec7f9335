"""The qualification test on the pages: the button on Models, its result, the call count of Ask, the verdict after a
failure.
"""

from collections.abc import Callable, Iterator

import pytest
from streamlit.testing.v1 import AppTest

from core import entry, home
from core.events import Model
from core.labs.ask.tasks import AskSpec
from core.labs.base.declared import Cases
from core.models.settings import EndpointConfig
from core.store.listing import Selection
from tests.core.labs.ask.test_predictor import some_know
from tests.pages.conftest import in_address, offered_steps, run_named, scenes, settled, staged, turned, words
from tests.pages.test_ask import guess
from tests.support.plausible import Plausible
from tests.support.stub_server import StubServer
from tests.support.waiting import until

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
    assert "take-exam-control/fickle" not in [one.key for one in app.button], "nobody has asked or chosen it"
    app.session_state["models-chosen"] = ["control/fickle", "control/vague", "control/straight"]
    app.run()
    assert "11 of 11 guesses are right, and 9 are needed" in words(app)
    assert words(app).count("This follows from its rules.") == 2 and "No result yet." in words(app), "of a local model"
    button = app.button(key="take-exam-control/fickle")
    assert button.label == "Take the test · 11 calls"
    button.click().run()
    assert not app.exception
    (run,) = exams()
    assert entry.jobs().wait(run, 120)
    told = words(app.switch_page("pages/about/models.py").run())
    assert "control/fickle" in told and told.count("This follows from its rules.") == 1, "fickle took it, vague did not"
    assert "It passed the qualification test: 11 of 11 guesses are right, and 9 are needed." in told
    assert "Random guessing gets 3.7 on average; always giving the same guess gets 4 at most." in told
    taken = page("about/models.py")
    taken.session_state["models-chosen"] = ["control/vague", "control/straight"]
    taken.run()
    assert "take-exam-control/fickle" not in [one.key for one in taken.button], "it need not take it twice"
    assert "take-exam-control/vague" in [one.key for one in taken.button]
    assert not any("control/straight" in str(one.key) for one in taken.button), (
        "a robot of another lab predicts nothing"
    )


def test_the_exam_opens_as_a_case(page: Page) -> None:
    run = entry.jobs().start("exam", entry.labs()["exam"].spec(model="control/vague"))  # type: ignore[call-arg]
    assert entry.jobs().wait(run, 120)
    told = words(page("results/case.py", run=run))
    assert "Predictor's qualification test" in told and "It passed the qualification test: 11 of 11" in told
    (scene,) = scenes(page("results/case.py", run=run))
    (bat,) = (card for card in scene.cards if "Can a bat fly?" in card.parts[0].text)
    assert (bat.expects[0].value, bat.said, bat.outcome) == ("no", "no", "right")


def test_the_button_counts_the_exam_until_it_was_taken(page: Page, server: StubServer) -> None:
    app = page("about/models.py")
    app.text_input(key="endpoint_name").set_value("mine")
    app.text_input(key="endpoint_url").set_value(server.base_url)
    app.button(key="connect").click().run()
    assert "No result yet." in words(app)
    assert "take-exam-mine/stub-model" in [one.key for one in app.button]
    turned(app, "ask").selectbox(key="ask-simulator").set_value("mine/stub-model").run()
    assert app.button(key="ask").label == "Ask · 73 calls"
    app.checkbox(key="ask-exam").uncheck().run()
    assert app.button(key="ask").label == "Ask · 62 calls"
    app.checkbox(key="ask-exam").check()
    app.button(key="ask").click().run()
    settled(app)
    assert len(exams()) == 1
    told = words(app)
    app.button(key="change").click().run()
    assert app.button(key="ask").label == "Ask · 62 calls", "it has been taken"
    assert (
        "No verdict: stub-model made the predictions, and it failed the qualification test (4 of 11; guessing gets 4)."
        in told
    )
    (scene,) = scenes(app)
    assert scene.verdict and scene.verdict.mark == "in doubt" and not scene.verdict.bars, "the verdict has no colour"
    (exam,) = scene.grid
    assert (exam.title, exam.answer) == ("Predictor: stub-model", "4 of 11")
    (way,) = (one for one in app.get("page_link") if "ualification test" in one.proto.label)
    assert f"run={exam.run}" in way.proto.query_string and exam.run == exams()[0]
    entry.keeper().wake()

    def greyed() -> list[bool]:
        store = entry.keeper().store
        frame = Selection(store).of_cases("simulatability", Cases(("precision",), held=(("examined", "passed"),)))
        return [] if frame.empty else frame["examined_passed"].tolist()

    until(lambda: bool(greyed()))
    assert greyed() == [False], "Browse greys it"
    again = page("ask", run=run_named(app))
    assert (
        "No verdict: stub-model made the predictions, and it failed the qualification test (4 of 11; guessing gets 4)."
        in words(again)
    ), "a link tells the same"
    replayed = page("results/case.py", run=run_named(app), replay="step")
    replayed.session_state[f"step-{run_named(app)}"] = 1_000
    replayed.run()
    assert "No verdict: stub-model made the predictions" in words(replayed)


def test_while_the_exam_goes_on_the_page_says_so(page: Page, server: StubServer) -> None:
    server.delay = 0.4
    spec = AskSpec(question="Can a penguin fly?", model="control/fickle", simulator=STUB, counterfactuals=1, exam=True)
    run = entry.jobs().start("simulatability", spec)
    until(lambda: entry.jobs().prior(run) and entry.jobs().events(entry.jobs().prior(run)))
    told = words(page("ask", run=run))
    assert "First the predictor's qualification test: Can this model tell what follows from an explanation?" in told
    entry.jobs().cancel(run)


def test_who_passed_is_named_and_not_doubted(page: Page) -> None:
    app = page("ask")
    app.button(key="ask").click().run()
    told = words(settled(app))
    (exam,) = scenes(app)[0].grid
    assert (exam.answer, exam.note) == (
        "11 of 11",
        "correct in the qualification test (computed from the robot's rules)",
    )
    assert "No verdict" not in told and in_address(app, "run")


def reader_at(server: StubServer) -> Callable[[str], Model]:
    """Find the models of the endpoint "mine", which only a session knows."""
    config = EndpointConfig(name="mine", base_url=server.base_url, models=("reader",))
    return entry.catalog((config,)).get


def connected(page: Page, server: StubServer) -> AppTest:
    """The Models page with the server among the endpoints of this session."""
    app = page("about/models.py")
    app.text_input(key="endpoint_name").set_value("mine")
    app.text_input(key="endpoint_url").set_value(server.base_url)
    app.button(key="connect").click().run()
    return app


def test_before_one_asks_it_is_said_that_who_predicts_failed_and_you_predict_is_offered(
    page: Page, server: StubServer
) -> None:
    app = turned(connected(page, server), "ask")
    assert "You predict" not in words(app), "a robot passes"
    app.selectbox(key="ask-simulator").set_value("mine/stub-model").run()
    assert "You predict" not in words(app), "nobody knows yet"
    app.button(key="ask").click().run()
    settled(app)
    app.button(key="change").click().run()
    told = words(app)
    assert "**You predict**: mine/stub-model failed the qualification test (4 of 11; guessing gets 4)" in told


def test_where_who_predicted_failed_the_page_offers_to_predict_oneself(
    page: Page, server: StubServer, take_step: Callable[[AppTest, str], None]
) -> None:
    spec = AskSpec(question="Can a penguin fly?", model="control/fickle", simulator=STUB, counterfactuals=2, exam=True)
    run = entry.jobs().start("simulatability", spec)
    assert entry.jobs().wait(run, 120)
    app = page("ask", run=run)
    take_step(app, "predict")
    assert in_address(app, "reader")
    (given,) = staged(app)
    assert given["mode"] == "guess" and "You predict." not in words(app)
    for trial in ("cf-01", "cf-02"):
        guess(run, in_address(app, "reader"), trial, "yes")
    app.run()
    (scene,) = scenes(app)
    assert scene.verdict and any(part.text.startswith("You predicted 2") for part in scene.verdict.more)


def test_nobody_is_sent_away_from_who_passed_or_sat_none(page: Page) -> None:
    for spec in (
        AskSpec(question="Can a penguin fly?", model="control/fickle", counterfactuals=1, exam=True),
        AskSpec(question="Can a penguin fly?", model="control/fickle", counterfactuals=1, exam=False),
    ):
        run = entry.jobs().start("simulatability", spec)
        assert entry.jobs().wait(run, 120)
        assert offered_steps(page("ask", run=run)) == ["real"]


def test_the_model_that_ships_has_its_result_on_the_models_page(page: Page) -> None:
    app = page("about/models.py")
    assert "It failed the qualification test: 4 of 11 guesses are right, and 9 are needed." in words(app)
    assert "take-exam-local/smollm2-135m" not in [one.key for one in app.button], "it came with the app"
    assert "no available model passed the qualification test" in words(app).lower()


def test_who_passed_predicts_where_nobody_is_named(page: Page, server: StubServer) -> None:
    server.models.append("reader")
    server.reply = some_know
    app = turned(connected(page, server), "ask")
    # The predictor is configured as the endpoint of this session.
    run = entry.jobs().start("exam", entry.labs()["exam"].spec(model="mine/reader"), reader_at(server))  # type: ignore[call-arg]
    assert entry.jobs().wait(run, 120)
    app.selectbox(key="ask-model").set_value("mine/stub-model").run()
    app.button(key="ask").click().run()
    settled(app)
    state = entry.jobs().watch(run_named(app)).transcript
    assert state.started is not None and state.started.spec["simulator"] == "mine/reader"
    assert len(exams()) == 1, "whose result stands is not asked again"
    told = words(turned(app, "about/models.py"))
    assert "These passed, and predict if you choose nobody: `mine/reader` (11 of 11)." in told
