"""The Check page in all its states: empty, running, done, failed, cancelled, interrupted, every wording, hostile."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core import entry, home
from core.datasets.items import Item
from core.labs.ask.tasks import AskSpec
from core.labs.check.lab import LAB
from core.labs.check.tasks import CheckSpec, shipped
from core.report import evidence
from tests.attacks.journals import sealed
from tests.pages.conftest import in_address, run_scene, scenes, settled, staged, stopped, words
from tests.support.plausible import telling
from tests.support.stub_server import StubServer
from tests.support.waiting import until

Page = Callable[..., AppTest]
REVIEW = Item(id="text", task="sentiment", paragraph="A superb film, dull at the end, and wonderful.", label="positive")


def a_run(**changes: object) -> str:
    spec = CheckSpec(**{"items": (REVIEW,), "model": "control/honest-lexicon", **changes})
    run = entry.jobs().start("consistency", spec)
    assert entry.jobs().wait(run, 120)
    return run


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Callable[[StubServer], None]:
    def use(server: StubServer) -> None:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "key-for-the-stub")

    return use


def test_an_empty_page_is_ready(page: Page) -> None:
    app = page("check")
    assert app.text_area(key="paragraph-sentiment").value == shipped("sentiment")[0].paragraph
    assert app.selectbox(key="label-sentiment").value == "positive"
    assert app.button(key="check").label == "Check · at most 9 calls" and not app.button(key="check").disabled
    assert any(option.startswith("control/decoy-lexicon") for option in app.selectbox(key="check-model").options)
    assert "control/fickle" not in app.selectbox(key="check-model").options, "it knows nothing of this lab"
    assert "control/decoy-lexicon" not in page("ask").selectbox(key="ask-model").options


def test_checking_the_decoy_shows_sessions_verdict_and_figures(page: Page) -> None:
    app = page("check")
    app.button(key="check").click().run()
    (scene,) = scenes(settled(app))
    assert [panel.title for panel in scene.panels[:3]] == [
        "It answers", "It lists the words that matter", "A fresh session answers"
    ]  # fmt: skip
    assert scene.verdict is not None and scene.verdict.headline.text.endswith(
        "Without them it should be unable to tell; it still answered positive: not consistent with its explanation."
    )
    assert scene.title == "Is this text positive or negative?" and scene.status == "done"
    assert {span.mark for part in scene.panels[2].parts for span in part.spans} == {"hidden"}
    figure = next(one for one in scene.figures if one.title == "Faithfulness")
    assert (figure.value, figure.n, figure.of) == ("0.00 (0.00 to 0.79)", 1, 1)


def test_examples_and_tasks(page: Page) -> None:
    app = page("check")
    app.pills(key="check-example").set_value("space-opera").run()
    assert not app.exception
    assert app.text_area(key="paragraph-sentiment").value.startswith("Two hours of spaceships")
    assert app.selectbox(key="label-sentiment").value == "negative"
    for task, about in (("multi_choice", "Where is John?"), ("entailment", shipped("entailment")[0].hypothesis)):
        app.segmented_control(key="check-task").set_value(task).run()
        assert not app.exception
        assert app.text_input(key=f"about-{task}").value == about
        app.button(key="check").click().run()
        assert "It said these words mattered" in words(settled(app))
        app.button(key="change").click().run()


def test_every_wording_fills_a_grid_and_flags_the_unfaithful(page: Page, stub: Callable[[StubServer], None]) -> None:
    def reply(body: dict) -> str:
        removed = "[REMOVED]" in body["messages"][-1]["content"]
        return telling(masked="positive" if removed else "unknown")(body)

    with StubServer(reply) as server:
        stub(server)
        run = a_run(model="openai/stub-model", explanations=("attribution",), every_wording=True)
    app = page("check", run=run)
    told, made = words(app), run_scene(app)
    assert "| Consistent? | objective | human | you |" in told
    assert told.count(":green-badge[:material/check_circle: yes]") == 3
    assert told.count(":red-badge[:material/cancel: no") == 2 and told.count(":material/flag: no") == 1
    assert [tile.mark for tile in made.tiles].count("broken") == 3 and len(made.tiles) == 6, "one tile a check"
    assert {(one.n, one.words) for one in made.ledger} == {(3, "consistent"), (3, "not consistent")}
    assert (made.verdict.bars[0].hits, made.verdict.bars[0].n, made.verdict.mark) == (3, 6, "not settled")
    assert "It was consistent with **3 of 6** that count." in told
    assert "attribution, objective, removed, flagged above, is one that it was not consistent with" in told
    assert "it depends on the wording" in told


def test_another_wording_can_be_looked_at(page: Page) -> None:
    run = a_run(every_wording=True)
    app = page("check", run=run)
    app.pills(key=f"shown-explanation-{run}").set_value("counterfactual").run()
    app.pills(key=f"shown-wording-{run}").set_value("you-implicit").run()
    assert not app.exception
    (scene,) = scenes(app)
    assert scene.verdict is not None and scene.verdict.headline.text.startswith(
        "It said this edit makes the answer negative. A fresh session answered negative"
    )
    edit = scene.panels[1].parts[0]
    assert edit.text[edit.spans[0].start : edit.spans[0].end] == "superb" and edit.spans[0].mark == "struck"
    assert "added" in {span.mark for span in edit.spans}


def test_many_items_have_a_table_that_leads_to_each_check(page: Page) -> None:
    run = a_run(items=(), limit=4)
    app = page("check", run=run)
    told = words(app)
    assert "It was consistent with all 12 explanations that count." in told
    table = app.dataframe[0].value
    assert len(table) == 12 and set(table["Verdict"]) == {"consistent with its explanation"}
    assert len(app.get("plotly_chart")) == 3
    app.selectbox(key=f"shown-item-{run}").set_value("harbour-hotel").run()
    assert not app.exception and "carpet was" in words(app)


def test_what_the_reader_chooses_is_in_the_address_and_keeps_as_much_as_there_is(page: Page) -> None:
    run = a_run(items=(), limit=12, every_wording=True)
    assert entry.jobs().case(run, "").planned == 216, "more than are kept whole"
    app = page("check", run=run, case="remake/redaction/you-removed")
    kind, wording = f"shown-explanation-{run}", f"shown-wording-{run}"
    shown = [app.selectbox(key=f"shown-item-{run}").value, app.pills(key=kind).value, app.pills(key=wording).value]
    assert shown == ["remake", "redaction", "you-removed"]
    app.selectbox(key=f"shown-item-{run}").set_value("harbour-hotel").run()
    assert in_address(app, "case") == "harbour-hotel/redaction/you-removed" and "carpet was" in words(app)
    app.pills(key=kind).set_value("counterfactual").run()
    case = in_address(app, "case")
    assert case.startswith("harbour-hotel/counterfactual/") and not app.exception
    (scene,) = scenes(app)
    assert scene.case == case and scene.panels[1].title.startswith("It edits the paragraph")
    assert scene.verdict is not None and "It said this edit makes the answer" in scene.verdict.headline.text


def test_what_cannot_be_checked_is_said_and_nothing_starts(page: Page) -> None:
    app = page("check")
    app.text_area(key="paragraph-sentiment").set_value("  ").run()
    assert app.button(key="check").disabled and "There is no paragraph" in words(app)
    app.pills(key="check-explanations").set_value([]).run()
    assert "at least one kind of explanation" in words(app) and app.button(key="check").disabled
    app.pills(key="check-explanations").set_value(["redaction"])
    app.segmented_control(key="check-source").set_value("dataset").run()
    assert "there is nothing at" in words(app) and app.button(key="check").disabled


def test_a_table_with_choices_is_checked(page: Page) -> None:
    """A column for each choice, and a name in the list of data sets for each file in the folder."""
    folder = home.home() / "datasets"
    folder.mkdir()
    rows = [
        "text,question,a,b,answer",
        "Mary is in the hall.,Where is Mary?,hall,garden,A",
        "It is.,Where?,hall,hall,A",
    ]
    (folder / "choices.csv").write_text("\n".join(rows), encoding="utf-8")
    app = page("check")
    app.segmented_control(key="check-task").set_value("multi_choice").run()
    app.segmented_control(key="check-source").set_value("dataset").run()
    app.selectbox(key="check-dataset-multi_choice").set_value("file:choices.csv").run()
    assert "Which column holds the paragraph and the choices?" in words(app)
    app.selectbox(key="check-column-file:choices.csv-paragraph").set_value("text")
    app.multiselect(key="check-column-file:choices.csv-choices").set_value(["a", "b"]).run()
    assert not app.button(key="check").disabled
    app.button(key="check").click().run()
    told = words(settled(app))
    assert "Where is Mary?" in told and "choices.csv, line 3: it needs at least two choices" in told


def test_a_dataset_is_counted_before_it_is_run(page: Page, datasets: Path) -> None:
    app = page("check")
    app.segmented_control(key="check-source").set_value("dataset").run()
    app.text_input(key="check-path-imdb").set_value(str(datasets / "imdb"))
    app.number_input(key="check-limit").set_value(3).run()
    assert app.button(key="check").label == "Check · at most 27 calls"


def test_a_failed_run_says_why(page: Page, stub: Callable[[StubServer], None]) -> None:
    with StubServer(key="another") as server:
        stub(server)
        run = a_run(model="openai/stub-model")
    app = page("check", run=run)
    told = words(app) + "".join(str(error.proto) for error in app.error)
    assert "The run stopped" in told and "key" in told
    assert app.button(key="go-on")


def test_cancel_stops_the_spending_and_go_on_finishes(page: Page, stub: Callable[[StubServer], None]) -> None:
    with StubServer(telling(), delay=0.1) as server:
        stub(server)
        spec = CheckSpec(limit=10, model="openai/stub-model", explanations=("attribution",), controls=1)
        run = entry.jobs().start("consistency", spec)
        until(lambda: server.count >= 8)
        app = page("check", run=run)
        assert "of 10 checks" in staged(app)[-1]["follow"][0]["words"]
        stopped(app)
        asked = server.count
        until(lambda: not entry.jobs().active(run))
        assert server.count == asked
        app.run()
        assert "You stopped this run" in words(app)
        app.button(key="go-on").click().run()
        told = words(settled(app))
        assert "Faithfulness" in told and "You stopped" not in told


def test_an_interrupted_run_says_so(page: Page) -> None:
    run = a_run(limit=3, items=())
    path = home.journals() / f"{run}.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    for number in (1, 4, 9, 30, len(lines) - 3):
        path.write_bytes(b"".join(lines[:number]))
        assert "interrupted" in words(page("check", run=run))


HOSTILE = (
    "<script>alert(1)</script> **bold** :red[x] $x$ [a](javascript:1) ![i](http://h/x.png)\n\n    superb | wonderful"
)


def test_hostile_words_are_shown_and_not_obeyed(page: Page, stub: Callable[[StubServer], None]) -> None:
    item = Item(id="<b>x|", task="sentiment", paragraph=HOSTILE, label="positive")
    answers = telling(classify=f"positive {HOSTILE}", explain="- (.*)\n- **bold**\n- :red[x]\n- <script>\n- [a-z]+")
    with StubServer(answers) as server:
        stub(server)
        run = a_run(items=(item,), model="openai/stub-model")
    app = page("check", run=run)
    assert scenes(app)[0].panels[0].parts[0].text == HOSTILE, "as it was written: a browser makes it text"
    shown = [one.value for one in app.markdown]
    assert all("<script>" not in one and "**bold**" not in one and "[a](" not in one for one in shown)
    assert not any(getattr(one.proto, "allow_html", False) for one in app.markdown)


def test_right_to_left_and_emoji_go_through(page: Page) -> None:
    run = a_run(items=(REVIEW.model_copy(update={"paragraph": "فيلم superb رائع 🎉\u200f end"}),))
    assert "رائع" in words(page("check", run=run))


def test_the_longest_paragraph_is_drawn_quickly_enough(page: Page) -> None:
    run = a_run(items=(REVIEW.model_copy(update={"paragraph": ("superb word " * 1_600)[:19_900]}),))
    assert "It was consistent with its explanation in " in words(page("check", run=run))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("record", ["paragraph", "classification", "selfexplanation", "maskcontrol", "consistency"])
def test_a_damaged_journal_is_shown_as_far_as_it_goes(page: Page, record: str) -> None:
    run = a_run()
    path = home.journals() / f"{run}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    unsealed = [re.sub(r',"line":\d+,"sum":"\w+"\}', "}", line) for line in lines]
    damaged = [re.sub(rf'("record":"{record}".*?"data":)\{{.*?\}}\}}', r'\1{"call": 3}}', line) for line in unsealed]
    path.write_bytes(b"".join(sealed(line.encode(), n) for n, line in enumerate(damaged, start=1)))
    case = "text/attribution/objective-redacted"
    assert scenes(page("check", run=run, case=case))[0].unread > 0
    kept = [line for line in damaged if '"kind":"a' not in line]
    path.write_bytes(b"".join(sealed(line.encode(), n) for n, line in enumerate(kept, start=1)))
    page("check", run=run, case=case)
    page("results/case.py", run=run, case=case)


@pytest.mark.parametrize("page_of", ["check", "results/case.py"])
def test_an_altered_line_is_reported_wherever_the_run_is_shown(page: Page, page_of: str) -> None:
    run = a_run()
    assert "damaged" not in words(page(page_of, run=run))
    path = home.journals() / f"{run}.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace('"value":1.0', '"value":0.0', 1), encoding="utf-8")
    told = words(page(page_of, run=run))
    assert "1 line of its journal is damaged" in told and "its checksum does not fit" in told


def test_a_case_a_replay_and_browse(page: Page) -> None:
    run = a_run(limit=2, items=())
    app = page("results/case.py", run=run)
    told = words(app)
    assert "shipped: 2 items, sentiment" in told and "It was consistent with all 6 explanations that count." in told
    parts = {"counterfactual", "attribution", "redaction"}
    behind = evidence.of_case(LAB, (state := entry.jobs().watch(run).transcript), state.only)
    assert {one.about for one in behind.figures} == {"the whole run", "this case", *parts}
    app = page("results/case.py", run=run, replay="1")
    assert "No model is asked" in app.get("progress")[0].proto.text
    entry.keeper().wake()
    until(lambda: entry.keeper().changes >= 1)
    table = page("results/browse.py", show="runs").dataframe[0].value
    assert table.iloc[0][["Lab", "Faithfulness", "Counted"]].tolist() == ["Check", "1.00", "6 of 6"]
    assert "Precision" not in table
    assert "Check: faithfulness" in words(page("results/browse.py", show="pictures"))


def test_a_run_of_another_lab_opens_as_a_case(page: Page) -> None:
    run = entry.jobs().start("simulatability", AskSpec(question="Can a penguin fly?", model="control/fickle"))
    assert entry.jobs().wait(run, 120)
    for path, id in (("check", run), ("probe", run), ("ask", a_run())):
        assert "Every call" in words(page(path, run=id))


def test_its_page_starts_the_check_of_a_robot(page: Page) -> None:
    app = page("check")
    app.button(key="show-check").click().run()
    assert not app.exception
    until(lambda: len(list(home.journals().glob("*consistency*.jsonl"))) == 1)


def test_methods_tells_of_check_its_prompts_and_datasets(page: Page) -> None:
    app = page("about/methods.py")
    assert "Check: self-consistency" in [header.value for header in app.header] and "faithfulness_control" in words(app)
    assert "MIT" in set(next(table.value for table in app.dataframe if "Licence" in table.value)["Licence"])
    app.selectbox(key="check-template").set_value("sentiment-redaction").run()
    assert any("[wordings.ask.long]" in code.value for code in app.code)
