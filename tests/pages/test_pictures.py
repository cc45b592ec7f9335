"""Pictures in Browse use the filter of its lists; each has a table, and a sentence that is true of it."""

import json
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from core import entry, home
from core.events import ModelAnswer, OnText, Request
from core.labs.ask.tasks import AskSpec
from core.labs.check.tasks import CheckSpec, shipped
from core.labs.plant.tasks import PlantSpec
from core.labs.probe.tasks import ProbeSpec
from core.store import run_list
from core.store.filters import Filter
from core.store.listing import Selection
from tests.pages.conftest import in_address, words
from tests.support.waiting import until

Page = Callable[..., AppTest]


@pytest.fixture(autouse=True)
def without_example(own_process: None) -> None:
    """Put the example study away, whose pictures would be drawn before those of a test are indexed."""
    home.write(home.index("example-away") / "all", b"")


class Always:
    """A predictor that always expects yes."""

    id = "openai/some-model"
    title = "always yes"

    async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
        return ModelAnswer(text="So the robot will likely answer yes.", seconds=0, first_token_seconds=0)


def test_what_is_in_doubt_can_be_filtered_by_and_taken_along(page: Page) -> None:
    spec = AskSpec(question="Can a penguin fly?", model="control/fickle", simulator=Always.id, exam=False)
    models = entry.catalog().get
    run = entry.jobs().start("simulatability", spec, resolve=lambda id: Always() if id == Always.id else models(id))
    assert entry.jobs().wait(run, 60)
    sure = entry.jobs().start("simulatability", AskSpec(question="Can a penguin fly?", model="control/fickle"))
    assert entry.jobs().wait(sure, 60)
    entry.keeper().wake()
    until(lambda: len(run_list.runs(entry.keeper().store)) == 2)
    app = page("results/browse.py", doubt="doubt")
    doubtful = Selection(entry.keeper().store, Filter({"doubt": ("doubt",)})).items().rows
    assert set(doubtful["run"]) == {run} and set(doubtful["doubt"]) == {
        "the predictor has not taken the qualification test"
    }
    offered = app.button_group(key="facet-doubt").options
    assert sorted(one.partition(" ·")[0] for one in offered) == ["in doubt", "not in doubt"]
    assert f"of {len(doubtful)} trials" in words(app)


@pytest.fixture
def runs() -> dict[str, str]:
    """Robots in every lab; one of them explains nothing."""
    made = {}
    specs = {
        "steadfast": ("simulatability", AskSpec(question="Can a penguin fly?", model="control/steadfast")),
        "vague": ("simulatability", AskSpec(question="Can a penguin fly?", model="control/vague")),
        "check": (
            "consistency",
            CheckSpec(task="sentiment", items=shipped("sentiment")[:10], model="control/honest-lexicon"),
        ),
        "probe": ("find", ProbeSpec(count=2, interpreter="fit", difficulty="easy")),
    }
    for name, (lab, spec) in specs.items():
        made[name] = entry.jobs().start(lab, spec)
        assert entry.jobs().wait(made[name], 60)
    entry.keeper().wake()
    until(lambda: entry.keeper().changes >= 1)
    return made


@pytest.mark.thorough
def test_pictures_are_of_what_the_filter_leaves(page: Page, runs: dict[str, str]) -> None:
    everything = page("results/browse.py", show="pictures")
    told = words(everything)
    for title in ("Ask: precision and generality", "Check: faithfulness", "Probe: error over calls used"):
        assert title in told
    assert "1 of 2 has no precision, because no question counts" in told
    assert "Faithfulness is 1.00 in all of 3 groups" in told
    alts = [chart.proto.alt for chart in everything.get("plotly_chart")]
    assert len(alts) == 10 and all(alt.partition(". ")[2] in told for alt in alts)
    assert "a filtered row" not in told
    one = words(page("results/browse.py", show="pictures", only=runs["vague"]))
    assert "Too little data: 0 of 1 questions can be counted." in one and "Check: faithfulness" not in one
    assert "Ask: precision and generality" not in one, "no mark could be drawn"
    assert "A picture shows all of each run and case with a filtered row." in one


@pytest.mark.thorough
def test_robots_are_not_drawn_among_models_until_they_are_wanted(page: Page, runs: dict[str, str]) -> None:
    def drawn(app: AppTest, alt: str) -> str:
        """The names beside the marks of a picture."""
        assert not app.exception
        return next(str(one.proto.spec) for one in app.get("plotly_chart") if one.proto.alt.startswith(alt))

    alone = page("results/browse.py", show="pictures", lab="simulatability")
    assert "robots-too" not in {one.key for one in alone.toggle}, "robots among themselves are shown"
    assert "steadfast" in drawn(alone, "Leaderboard")
    spec = AskSpec(question="Can a penguin fly?", model="openai/some-model", simulator="control/fickle")
    # A robot writes its answers, but in the journal it is a model.
    run = entry.jobs().start(
        "simulatability", spec, lambda id: entry.catalog().get("control/steadfast" if id == spec.model else id)
    )
    assert entry.jobs().wait(run, 60)
    entry.keeper().wake()
    until(lambda: "some-model" in drawn(page("results/browse.py", show="pictures"), "Leaderboard"))
    app = page("results/browse.py", show="pictures", lab="simulatability")
    for alt in ("Leaderboard", "Precision and generality", "Precision by model"):
        assert "some-model" in drawn(app, alt) and "steadfast" not in drawn(app, alt)
    app.toggle(key="robots-too").set_value(True).run()
    for alt in ("Leaderboard", "Precision and generality"):
        assert "some-model" in drawn(app, alt) and "steadfast" in drawn(app, alt)
    assert in_address(app, "robots") == "1"
    asked = page("results/browse.py", show="pictures", lab="simulatability", model="control/steadfast")
    assert "steadfast" in drawn(asked, "Leaderboard"), "who filters for a robot wants it"


def test_what_a_predictor_expected_that_failed_its_exam_is_an_open_mark_and_said(page: Page) -> None:
    spec = AskSpec(question="Can a penguin fly?", model="control/fickle", simulator="openai/some-model", exam=True)
    run = entry.jobs().start(
        "simulatability", spec, lambda id: Always() if id == spec.simulator else entry.catalog().get(id)
    )
    assert entry.jobs().wait(run, 60)
    sat = [one for one in entry.jobs().events(run) if one.kind == "recorded" and one.record == "examined"]
    assert {one.data["passed"] for one in sat} == {False}
    entry.keeper().wake()
    until(lambda: page("results/browse.py", show="pictures").get("plotly_chart"))
    app = page("results/browse.py", show="pictures", picture="ask-models")
    assert "Not counted: 1, because a predictor failed the qualification test." in words(app)
    figure = json.loads(app.get("plotly_chart")[0].proto.spec)
    assert [one["marker"]["symbol"] for one in figure["data"] if one.get("name")] == ["circle-open"]


@pytest.mark.thorough
def test_the_reader_chooses_what_is_in_colour(page: Page, runs: dict[str, str]) -> None:
    other = entry.jobs().start("simulatability", AskSpec(question="Can a penguin fly?", model="control/fickle"))
    assert entry.jobs().wait(other, 60)
    entry.keeper().wake()
    until(lambda: len(page("results/browse.py", show="pictures").multiselect(key="ask-models-chosen").options) == 3)
    app = page("results/browse.py", show="pictures", picture="ask-models")
    chosen = app.multiselect(key="ask-models-chosen")
    assert sorted(chosen.value) == ["control/fickle", "control/steadfast"], "vague has nothing to draw"
    chosen.set_value(["control/fickle"]).run()
    figure = json.loads(app.get("plotly_chart")[0].proto.spec)
    bold = [note["text"] for note in figure["layout"]["annotations"] if note["text"].startswith("<b>")]
    assert bold == ["<b>fickle · 1</b>"] * 2 and not app.exception, "a name for a window, and one for a phone"


def test_a_picture_has_choices_the_paper_s_figures_and_a_table(page: Page, runs: dict[str, str]) -> None:
    app = page("results/browse.py", show="pictures", lab="find")

    def figure() -> str:
        return str(app.get("plotly_chart")[0].proto.spec)

    assert "not measured here" not in figure()
    app.toggle(key="probe-success-published").set_value(True).run()
    assert "not measured here" in figure() and "GPT-4" in figure() and not app.exception
    app.segmented_control(key="probe-success-choice").set_value("strings").run()
    assert "Nothing measured yet: strings." in words(app) and not app.exception


@pytest.mark.thorough
def test_a_planted_cue_has_its_lines_and_its_curve(page: Page) -> None:
    for robot, length in (("admits", "short"), ("admits", "long"), ("names-all", "short")):
        spec = PlantSpec(model=f"control/{robot}", cue="key", length=length, limit=30, repeats=1)
        assert entry.jobs().wait(entry.jobs().start("plant", spec), 120)
    entry.keeper().wake()
    until(lambda: len(run_list.runs(entry.keeper().store)) == 3)
    app = page("results/browse.py", show="pictures", lab="plant")
    assert not app.exception
    told = words(app)
    assert "Plant: figures by cue" in told and "Plant: hit rate against false alarms" in told
    assert "In 1 of 2 groups that have both, it is acknowledged as often where it agrees." in told
    assert "Of 3 over ten moved questions or more, 2 acknowledge the cue more often where it moved the answer" in told
