"""A fourth lab is one entry: page, command, journal, store, Browse and replay come with its declaration.

The lab is tests/support/small_lab.py. Nothing in core/ or pages/ knows it.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field
from streamlit.testing.v1 import AppTest

from core import entry, home
from core.__main__ import main
from core.events import Started
from core.journal import read
from core.labs.base.declared import Metric
from core.labs.base.lab import Lab
from core.labs.base.report import Case
from core.report import evidence
from core.runs.context import CaseContext
from core.score import Figure, Score, mean_of_cases
from core.store import run_list
from core.store.index import index
from core.store.store import Store
from core.text.templates import load
from pages.components.lab_page import LAB_PAGES, LabPage
from tests.pages.conftest import in_address, run_named, run_scene, scenes, settled, staged, words
from tests.support import small_lab
from tests.support.small_lab import LAB, EchoSpec, EchoView
from tests.support.waiting import until

Page = Callable[..., AppTest]
Register = Callable[[Lab], None]


@pytest.fixture
def register(own_process: None, monkeypatch: pytest.MonkeyPatch) -> Register:
    """Registers a lab by one entry, for one test."""

    def registered(lab: Lab) -> None:
        monkeypatch.setattr(entry, "LABS", (*entry.LABS, lab))
        entry.labs.cache_clear()
        entry.controls.cache_clear()

    return registered


@pytest.fixture
def echo(register: Register) -> None:
    register(LAB)


def a_run(**fields: object) -> str:
    spec = entry.labs()["echo"].spec.model_validate({"model": "control/deaf", **fields})
    run = entry.jobs().start("echo", spec)
    assert entry.jobs().wait(run, 120)
    return run


def browsed(page: Page) -> AppTest:
    """Browse, after the present journals are indexed."""
    page("results/browse.py")
    before = entry.keeper().changes
    entry.keeper().wake()
    until(lambda: entry.keeper().changes > before or not run_list.runs(entry.keeper().store).empty)
    return page("results/browse.py", show="runs")


@pytest.mark.usefixtures("echo")
def test_navigation_and_front_page_list_it(page: Page) -> None:
    app = page("about/welcome.py")
    addresses = [str(one.get("url_pathname")) for one in app._registered_pages.values()]
    assert {"ask", "check", "probe", "echo"} <= set(addresses) and "reliability" not in addresses
    [doors] = [one["cards"] for one in staged(app) if one.get("kind") == "doors"]
    assert {"/ask", "/check", "/probe", "/echo"} <= {one["to"] for one in doors}
    app = page("echo")
    assert "Does it repeat what it hears?" in words(app)
    app.button(key="show-echo").click().run()
    assert not app.exception
    until(lambda: len(list(home.journals().glob("*-echo-*.jsonl"))) == 1)


@pytest.mark.usefixtures("echo")
def test_its_form_has_a_widget_for_each_field_with_the_bounds_of_the_specification(page: Page) -> None:
    app = page("echo")
    assert app.title[0].value == "Echo" and "Does it repeat what it hears?" in words(app)
    times = app.slider(key="echo-times")
    assert (times.label, times.min, times.max, times.value) == ("Times", 1, 7, 2)
    assert times.proto.help == "How often each is said"
    voice = app.segmented_control(key="echo-voice")
    assert (voice.options, voice.value) == (["plain", "loud"], "plain")
    assert app.text_area(key="echo-words").value == "yes\nno"
    assert app.number_input(key="echo-seed").value == 0
    model = app.selectbox(key="echo-model")
    assert model.value == "control/deaf", "whom a newcomer meets"
    assert not any("fickle" in option for option in model.options), "no robot of another lab"
    assert app.button(key="echo").label == "Echo · 5 calls"
    times.set_value(7).run()
    assert app.button(key="echo").label == "Echo · 15 calls"


@pytest.mark.usefixtures("echo")
def test_a_run_of_it_shows_cases_verdict_and_figures(page: Page) -> None:
    app = page("echo")
    app.text_area(key="echo-words").set_value("yes\nno\nmaybe").run()
    app.button(key="echo").click().run()
    told = words(settled(app))
    [scene] = scenes(app)
    assert "It repeated 2 of 2." in told and scene.claim and scene.claim.parts[0].text == "I repeat what I hear."
    assert "Of 3 cases: 2 kept, 1 broken." in told
    made = run_scene(app)
    assert [(bar.label, bar.hits, bar.n) for bar in made.verdict.bars] == [("kept", 2, 3), ("broken", 1, 3)]
    assert [tile.mark for tile in made.tiles] == ["kept", "broken", "kept"]
    assert made.figures[0].title == "Repeated" and made.figures[0].value.startswith("0.67")
    table = app.dataframe[0].value
    assert table["About"].tolist() == ["the word yes", "the word no", "the word maybe"]
    assert table["Outcome"].tolist() == ["kept", "broken", "kept"]
    assert table["Counted"].tolist() == ["2 of 2"] * 3

    chooser = app.selectbox(key=f"chosen-case-{run_named(app)}")
    chooser.set_value("all/2-no").run()
    assert not app.exception and in_address(app, "case") == "all/2-no"
    [scene] = scenes(app)
    assert scene.verdict and scene.verdict.headline.text == "It repeated 0 of 2." and scene.verdict.mark == "broken"
    shown = [(card.expects[0].value, card.said, card.outcome, card.mark) for card in scene.cards]
    assert shown == [("no", "pardon?", "broken", "broken")] * 2
    state = entry.jobs().watch(run_named(app)).transcript
    behind = evidence.of_case(LAB, state, "all/2-no").calls
    for card in scene.cards:
        [call] = card.calls
        texts = {part.label: part.text for part in behind[call].parts}
        assert (texts["Raw answer"], texts["Exact prompt"]) == ("pardon?", "[user]\nno")


@pytest.mark.usefixtures("echo")
def test_a_table_row_or_a_link_shows_another_case(page: Page) -> None:
    run = a_run()
    for case, verdict in (("all/2-no", "It repeated 0 of 2."), ("nothing", "It repeated 2 of 2.")):
        [scene] = scenes(page("echo", run=run, case=case))
        assert scene.verdict and scene.verdict.headline.text == verdict


@pytest.mark.usefixtures("echo")
def test_its_first_minute_is_the_robot_that_mishears(page: Page) -> None:
    app = page("echo")
    app.button(key="show-echo").click().run()
    until(lambda: bool(list(home.journals().glob("*-echo-*.jsonl"))))
    run = next(home.journals().glob("*-echo-*.jsonl")).stem
    assert entry.jobs().wait(run, 120)
    assert "Of 2 cases: 1 kept, 1 broken." in words(page("echo", run=run))


@pytest.mark.usefixtures("echo")
def test_its_command_runs_it_and_the_store_has_its_records(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["echo", "--words", "a", "--times", "2", "--model", "control/echo", "--json"]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [event["kind"] for event in (events[0], events[-1])] == ["started", "finished"]
    run = events[0]["run"]
    assert [event.kind for event in read(home.journals() / f"{run}.jsonl").events] == [one["kind"] for one in events]
    with Store(home.home() / "store.duckdb", entry.labs()) as store:
        promises, echoes, cases, trials = (
            store.query(f"from {table} where run = ? order by all", [run])
            for table in ("promise", "echo", "cases", "trials")
        )
        assert promises[["case", "item", "text"]].values.tolist() == [["all", "promise", "I repeat what I hear."]]
        assert echoes[["case", "trial", "said", "heard"]].values.tolist() == [
            ["all/1-a", "echo-1", "a", "a"],
            ["all/1-a", "echo-2", "a", "a"],
        ]
        case = cases.iloc[0]
        assert case[["case", "title", "explanation", "outcome_repaired", "verdict"]].tolist() == [
            *("all/1-a", "a", "I repeat what I hear.", "kept", "It repeated 2 of 2.")
        ]
        assert trials["trial"].tolist() == ["echo-1", "echo-2"]
        assert store.query("select count(*) as n from echo where heard = said")["n"].tolist() == [2]


@pytest.mark.usefixtures("echo")
def test_its_command_prints_a_run_in_words_and_goes_by_the_bounds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["echo", "--words", "no", "--words", "yes", "--model", "control/deaf"]) == 0
    told = capsys.readouterr().out
    assert "expected no, it said pardon?: broken" in told and "It says: I repeat what I hear." in told
    assert "Of 2 cases: 1 kept, 1 broken." in told and "repeated 0.50" in told
    assert main(["echo", "--times", "9"]) == 2
    assert "9 is not in the range 1<=x<=7" in capsys.readouterr().err
    assert main(["echo", "--help"]) == 0
    told = capsys.readouterr().out
    assert "Does it repeat what it hears?" in told and "how often each is said" in told
    assert "1<=x<=7" in told and "[plain|loud]" in told


@pytest.mark.usefixtures("echo")
def test_its_runs_are_listed_with_their_figure_and_can_be_opened(page: Page) -> None:
    run = a_run()
    app = browsed(page)
    table = app.dataframe[0].value
    row = table.iloc[0]
    assert row[["Lab", "Model", "Cases", "Status", "Repeated", "Counted"]].tolist() == [
        *("Echo", "deaf", 2, "completed", "0.50", "2 of 2")
    ]
    assert "Precision" not in table, "a lab that was never used takes no room"
    assert "It repeated 0 of 2." in words(page("results/browse.py", show="runs", run=run, case="all/2-no"))


@pytest.mark.usefixtures("echo")
def test_its_case_holds_everything_and_can_be_read_again(page: Page) -> None:
    run = a_run()
    app = page("results/case.py", run=run, case="all/2-no")
    told = words(app)
    assert "the word yes and 1 more" in told and "It repeated 0 of 2." in told
    behind = evidence.of_case(entry.labs()["echo"], entry.jobs().watch(run).transcript, "all/2-no")
    assert {(one.about, one.value.split()[0]) for one in behind.figures} == {
        *(("the whole run", "0.50"), ("this case", "0.00"))
    }
    assert sum("answerer" in expander.label for expander in app.expander) == 2
    assert sum("explainer" in expander.label for expander in app.expander) == 1, "what it shares with the other case"
    app.button(key="reread").click().run()
    again = run_named(settled(app))
    assert again != run and "Of 2 cases: 1 kept, 1 broken." in words(app)
    started = entry.jobs().events(again)[0]
    assert started.kind == "started" and started.reread_from == run


@pytest.mark.usefixtures("echo")
def test_its_runs_are_played_again_and_gone_through_step_by_step(page: Page) -> None:
    run = a_run()
    app = page("results/case.py", run=run, case="all/2-no", replay="1")
    assert "No model is asked" in app.get("progress")[0].proto.text
    app.segmented_control(key="speed").set_value("Instant").run()
    assert "replay" not in app.query_params
    assert "It repeated 0 of 2." in words(app)

    app = page("results/case.py", run=run, case="all/2-no", replay="step")
    seen = [words(app)]
    assert "Step 1 of" in seen[0] and "It repeated" not in seen[0] and "pardon?" not in seen[0]
    assert app.button(key="back").disabled
    while not app.button(key="next").disabled:
        app.button(key="next").click().run()
        assert not app.exception
        seen.append(words(app))
    assert "It repeated 0 of 2." in seen[-1] and "Repeated\n0.00 (" in seen[-1]
    app.button(key="back").click().run()
    assert words(app) == seen[-2]


@pytest.mark.usefixtures("echo")
def test_of_more_cases_than_a_page_can_hold_only_the_chosen_one_is_read(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"w{number}" for number in range(1, 121)]
    run = a_run(words=names, times=1)
    read_whole: list[str] = []
    watch = entry.jobs().watch
    monkeypatch.setattr(entry.jobs(), "watch", lambda run, case="": read_whole.append(case) or watch(run, case))
    for case, word in (("", "w1"), ("all/117-w117", "w117"), ("nothing", "w1")):
        app = page("echo", run=run, **({"case": case} if case else {}))
        told, [scene] = words(app), scenes(app)
        [card] = scene.cards
        assert (card.expects[0].value, card.said, card.mark) == (word, word, "kept") and "I repeat what I hear." in told
        assert "Of 120 cases: 120 kept." in told and len(app.dataframe[0].value) == 120
    app.selectbox(key=f"chosen-case-{run}").set_value("all/120-w120").run()
    assert not app.exception and scenes(app)[0].cards[0].said == "w120"
    app = page("results/case.py", run=run, case="all/60-w60")
    assert scenes(app)[0].cards[0].said == "w60"
    assert sum("answerer" in expander.label for expander in app.expander) == 1
    assert "" not in read_whole, "the whole journal is never folded"


# One more field and one more metric, in one place each


class SlowEchoSpec(EchoSpec):
    """The same specification with a pause."""

    pause: int = Field(3, ge=2, le=12, title="Pause", description="seconds between two words")


class LoudEchoSpec(EchoSpec):
    """The same specification with a number that need not be whole."""

    volume: float = Field(default=0.5, ge=0, le=1.5, title="Volume", description="how loud")


def _scores(views: Sequence[EchoView]) -> Iterator[Figure]:
    yield from LAB.scores(views)
    for rules in ("paper", "repaired"):
        lengths = [Score(float(len(view.title)), 1, 1) for view in views]
        yield Figure("letters", rules, mean_of_cases(lengths, "positive"))


SLOW = LAB.with_changes(
    spec=SlowEchoSpec,
    scores=_scores,
    metrics=(*LAB.metrics, Metric("letters", "Letters", "How long the word is.", "positive", format=".1f", leads=True)),
)


def test_a_field_more_is_a_widget_and_an_option_with_the_same_bounds(
    page: Page, register: Register, capsys: pytest.CaptureFixture[str]
) -> None:
    register(SLOW)
    app = page("echo")
    pause = app.slider(key="echo-pause")
    assert (pause.label, pause.min, pause.max, pause.value) == ("Pause", 2, 12, 3)
    assert pause.proto.help == "Seconds between two words"
    pause.set_value(12)
    app.button(key="echo").click().run()
    settled(app)
    started = entry.jobs().events(run_named(app))[0]
    assert started.kind == "started" and started.spec["pause"] == 12

    assert main(["echo", "--help"]) == 0
    told = capsys.readouterr().out
    assert "--pause" in told and "seconds between two words" in told and "2<=x<=12" in told
    for wrong in ("1", "13"):
        assert main(["echo", "--pause", wrong]) == 2
        assert "2<=x<=12" in capsys.readouterr().err
    assert main(["echo", "--pause", "2", "--words", "a", "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[0])["spec"]["pause"] == 2


def test_a_field_with_a_fraction_is_a_widget_and_an_option_too(
    page: Page, register: Register, capsys: pytest.CaptureFixture[str]
) -> None:
    register(LAB.with_changes(spec=LoudEchoSpec))
    app = page("echo")
    volume = app.number_input(key="echo-volume")
    assert (volume.label, volume.min, volume.max, volume.value, volume.step) == ("Volume", 0, 1.5, 0.5, 0.1)
    volume.set_value(1.25)
    app.button(key="echo").click().run()
    settled(app)
    started = entry.jobs().events(run_named(app))[0]
    assert started.kind == "started" and started.spec["volume"] == 1.25

    assert main(["echo", "--help"]) == 0
    told = capsys.readouterr().out
    assert "how loud (default: 0.5)" in told and "0.0<=x<=1.5" in told
    for wrong in ("-0.1", "1.6", "loud"):
        assert main(["echo", "--volume", wrong]) == 2
        capsys.readouterr()
    assert main(["echo", "--volume", "0.75", "--words", "a", "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[0])["spec"]["volume"] == 0.75


def test_a_metric_more_is_a_figure_on_the_page_and_a_column_in_browse(
    page: Page, register: Register, capsys: pytest.CaptureFixture[str]
) -> None:
    register(SLOW)
    run = a_run()
    app = page("echo", run=run)
    of_both = {figure.title: figure.value for figure in run_scene(app).figures}
    assert "Letters\n3.0" in words(app) and of_both["Letters"].startswith("2.5"), (
        "of the case that is shown, and of both"
    )
    table = browsed(page).dataframe[0].value
    assert table.iloc[0][["Repeated", "Letters"]].tolist() == ["0.50", "2.5"]
    assert main(["echo", "--words", "four"]) == 0
    assert "letters 4.00" in capsys.readouterr().out


def test_a_lab_with_a_data_set_needs_no_room(page: Page, register: Register) -> None:
    """The picker comes with the fields of its specification, and a file's columns with the file."""
    register(LAB)
    register(small_lab.ON_DATA)
    datasets = home.home() / "datasets"
    datasets.mkdir()
    (datasets / "mine.csv").write_text("review,stars\nA dull film.,negative\nno,negative\n", encoding="utf-8")
    app = page("echo-data")
    assert "imdb" in str(app.selectbox(key="echo-data-dataset-sentiment").options).lower() and not app.exception
    app.selectbox(key="echo-data-dataset-sentiment").set_value("file:mine.csv").run()
    app.selectbox(key="echo-data-column-file:mine.csv-paragraph").set_value("review").run()
    app.selectbox(key="echo-data-column-file:mine.csv-answer").set_value("stars").run()
    app.button(key="echo-data").click().run()
    assert "Of 2 cases: 1 kept, 1 broken." in words(settled(app)) and not app.exception
    started = read(home.journals() / f"{run_named(app)}.jsonl").events[0]
    assert isinstance(started, Started) and started.spec["title"] == "mine.csv: at most 10 items"


class EchoPage(LabPage):
    """What a lab draws by itself where it differs: one method."""

    def applies(self, name: str, given: Mapping[str, Any]) -> bool:
        return name != "times" or given["voice"] == "plain"


@pytest.mark.usefixtures("echo")
def test_a_page_of_its_own_overrides_one_method(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LAB_PAGES, "echo", EchoPage)
    monkeypatch.setattr(EchoSpec, "GROUPS", {"below": ("voice",)})
    app = page("echo")
    assert app.slider(key="echo-times") and app.number_input(key="echo-seed").value == 0
    app.segmented_control(key="echo-voice").set_value("loud").run()
    assert not app.exception and not app.slider and app.text_area(key="echo-words").value == "yes\nno"
    assert app.button(key="echo").label == "Echo · 5 calls"


# Beside the code


def test_its_prompts_may_lie_in_a_folder_of_its_own(page: Page, register: Register, tmp_path: Path) -> None:
    """They are read from there, are in the journal, and are shown by Methods."""
    (tmp_path / "say.toml").write_text(
        'id = "say"\nversion = 3\nrole = "answerer"\nsystem = "Say it again."\nuser = "{text}"\n', encoding="utf-8"
    )
    hash = load("say", tmp_path).hash

    async def measure(spec: EchoSpec, case: Case, run: CaseContext) -> None:
        answered = await run.ask("answerer", load("say", tmp_path).render(text=case.about), spec.model, item="say")
        run.record(small_lab.Echo(call=answered.call, said=case.about, heard=answered.text), "say", trial="say")

    register(LAB.with_changes(measure=measure, prompts=lambda spec: {"say": hash}, templates=tmp_path))
    events = entry.jobs().events(a_run(words=["no"]))
    started, asked = events[0], next(one for one in events if one.kind == "asked")
    assert started.kind == "started" and started.prompts == {"say": hash}
    assert [turn.content for turn in asked.messages] == ["Say it again.", "no"]
    app = page("about/methods.py")
    assert f"answerer · version 3 · hash {hash} · 0 demonstrations" in words(app)
    assert "[system]\nSay it again.\n\n[user]\n{text}" in {code.value for code in app.code}
    (tmp_path / "broken.toml").write_text("user = [", encoding="utf-8")
    app.run()
    app.selectbox(key="echo-template").set_value("broken").run()
    assert "broken.toml cannot be used" in words(app) and not app.exception


def test_methods_tells_a_lab_without_a_room(page: Page, register: Register) -> None:
    """Even for a lab that has no page."""
    register(LAB.with_changes(about="Repeating is the *least* one can promise."))
    app = page("about/methods.py")
    told = words(app)
    assert not app.exception and "Echo" in {header.value for header in app.header}
    assert "Does it repeat what it hears?" in told and "Repeating is the *least* one can promise." in told
    assert "**Repeated**: The share of words that came back." in told
    assert [{"Prompt": "echo", "Hash": "h"}] in [table.value.to_dict("records") for table in app.dataframe]
    assert not {"Reliability", "Predictor's qualification test"} & {header.value for header in app.header}


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["hint", pytest.param("get", marks=pytest.mark.thorough)])
def test_its_name_may_be_a_word_of_the_code(
    page: Page, register: Register, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """The same word as a column of the store, or a method: page, command, store, Browse and reparsing work."""
    register(LAB.with_changes(name=name, title=name.capitalize()))
    app = page(name)
    app.button(key=name).click().run()
    assert "Of 2 cases: 1 kept, 1 broken." in words(settled(app))
    row = browsed(page).dataframe[0].value.iloc[0]
    assert row[["Lab", "Cases", "Repeated"]].tolist() == [name.capitalize(), 2, "0.50"]
    app = page("results/case.py", run=run_named(app), case="all/2-no")
    app.button(key="reread").click().run()
    assert "Of 2 cases: 1 kept, 1 broken." in words(settled(app))
    assert main([name, "--words", "a", "--json"]) == 0
    run = json.loads(capsys.readouterr().out.splitlines()[0])["run"]
    with Store(home.home() / "aside.duckdb", entry.labs()) as store:
        index(store, home.journals())
        assert run_list.runs(store).query("run == @run")["lab"].tolist() == [name]
        assert store.query("from echo where run = ?", [run])[["said", "heard"]].values.tolist() == [
            ["a", "a"],
            ["a", "a"],
        ]


@pytest.mark.parametrize(("name", "title"), [("find", "Echo"), ("echo", "Find"), ("echo", "Ask"), ("ask", "Echo")])
def test_its_name_and_title_are_no_other_lab_s(register: Register, name: str, title: str) -> None:
    register(LAB.with_changes(name=name, title=title))
    with pytest.raises(ValueError, match=r"Two labs are called (find|ask): each needs"):
        entry.labs()
