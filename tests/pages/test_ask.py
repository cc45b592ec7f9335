"""The Ask page in all its states: empty, running, done, failed, cancelled, interrupted, guessed, replayed."""

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core import entry, home, policy
from core.events import Finished, Recorded
from core.journal import Journal, from_line, read, to_line
from core.labs.ask.lab import LAB
from core.labs.ask.tasks import PERSON, AskSpec, questions
from core.labs.ask.view import CounterfactualRow
from core.models import local
from core.runs.engine import RunIO, RunRequest, execute
from core.scene import Scene
from core.server.access import RunAccess, Visitor
from core.store.index import index
from pages.viewer.routes import Saying, save_annotation
from tests.pages.conftest import in_address, run_named, run_scene, scenes, settled, staged, stopped, turned, words
from tests.support.plausible import Plausible
from tests.support.stub_server import Fault, StubServer
from tests.support.waiting import until

Page = Callable[..., AppTest]


def precision(scene: Scene) -> tuple[str, int, int]:
    """The figure in words, its n, and the total."""
    (line,) = (line for line in scene.figures if line.title == "Precision")
    return line.value.partition(" ")[0], line.n, line.of


def own_precision(app: AppTest) -> tuple[int, int]:
    """The number of the reader's guesses that count, and the total."""
    (line,) = (line for scene in scenes(app) for line in scene.figures if line.title == "Your precision")
    return line.n, line.of


def guesses(app: AppTest) -> list[str]:
    """The guesses shown, card by card."""
    return [card.guess for scene in scenes(app) for card in scene.cards if card.guess]


def guess(run: str, who: str, trial: str, value: str, case: str = "question", about: str = "") -> None:
    """Store a guess as the viewer sends it."""
    said = {
        "id": f"{who} {trial}",
        "run": run,
        "case": case,
        "trial": trial,
        "value": value,
        "reader": who,
        "about": about,
    }
    save_annotation(RunAccess(entry.jobs(), Visitor("")), Saying.model_validate({**said, "what": "guess"}))


def test_an_empty_page_is_ready_to_ask(page: Page) -> None:
    app = page("ask")
    assert app.text_input(key="ask-question").value == "Can a penguin fly?"
    assert app.button(key="ask").label == "Ask · 62 calls"
    assert not app.button(key="ask").disabled
    assert len(app.pills(key="ask-example").options) == 3


def test_asking_a_control_shows_steps_verdict_and_figures(page: Page) -> None:
    app = page("ask")
    app.button(key="ask").click().run()
    told = words(settled(app))
    assert "All birds can fly" in told
    assert "its own explanation would have misled you" in told
    assert "a repeat of question 3" in told
    (scene,) = scenes(app)
    assert precision(scene) == ("0.50", 8, 10)
    assert [card.outcome for card in scene.cards if "emu" in card.parts[0].text] == ["misled"]
    assert [(one.name, one.on) for one in scene.actions] == [("real", ""), ("fork", ""), ("question", "")]


def test_an_example_fills_the_question(page: Page) -> None:
    app = page("ask")
    chosen = app.pills(key="ask-example").options[0]
    app.pills(key="ask-example").set_value(chosen).run()
    assert not app.exception
    assert app.text_input(key="ask-question").value == chosen


def test_settings_change_the_number_of_calls(page: Page) -> None:
    app = page("ask")
    app.slider(key="ask-number-strategyqa-10").set_value(4)
    app.slider(key="ask-votes").set_value(3).run()
    assert app.button(key="ask").label == "Ask · 58 calls"
    app.text_area(key="ask-extra").set_value("Can an emu fly?\n\n Can a kiwi fly? \n").run()
    assert app.button(key="ask").label == "Ask · 84 calls"


def test_an_empty_question_is_said_and_nothing_starts(page: Page) -> None:
    app = page("ask")
    app.text_input(key="ask-question").set_value("  ").run()
    assert app.button(key="ask").disabled
    assert "There is no question" in words(app)


def test_a_question_outside_the_controls_world_fails_in_words(page: Page) -> None:
    app = page("ask")
    app.text_input(key="ask-question").set_value("Is the moon made of cheese?")
    app.button(key="ask").click().run()
    told = words(settled(app))
    assert "small world" in told and told.count("?") >= 3
    known = app.pills(key="suggestion").options[0]
    app.pills(key="suggestion").set_value(known).run()
    assert app.text_input(key="ask-question").value == known
    app.button(key="ask").click().run()
    assert precision(scenes(settled(app))[0])


def test_a_run_can_be_watched_cancelled_and_taken_up_again(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    with StubServer(Plausible(), delay=0.3) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "key-for-the-stub")
        run = entry.jobs().start(
            "simulatability", AskSpec(question="Can a penguin fly?", model="openai/stub-model", counterfactuals=10)
        )
        until(lambda: server.count >= 5 and bool(entry.jobs().watch(run).transcript.cases))
        app = page("ask", run=run)
        (given,) = staged(app)
        (follow,) = given["follow"]
        assert (follow["run"], follow["case"], follow["note"]) == (run, "question", "")
        assert "calls answered" in follow["words"] and follow["share"] < 1
        assert given["scenes"][0]["actions"] == [{"name": "cancel", "on": run}]
        stopped(app)
        asked = server.count
        assert "You stopped this run" in words(app)
        until(lambda: not entry.jobs().active(run))
        assert server.count == asked
        app.run()
        app.button(key="go-on").click().run()
        told = words(settled(app))
        assert precision(scenes(app)[0]) and "You stopped" not in told


def test_an_interrupted_run_says_so_and_goes_on(page: Page) -> None:
    run = entry.jobs().start("simulatability", AskSpec(question="Can a penguin fly?", model="control/fickle"))
    assert entry.jobs().wait(run, 120)
    path = home.journals() / f"{run}.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:20]) + lines[20][:30])  # as if killed while it wrote
    app = page("ask", run=run)
    assert "interrupted" in words(app)
    app.button(key="go-on").click().run()
    assert precision(scenes(settled(app))[0])[0] == "0.50"
    contents = read(path)
    assert contents.faults == [] and isinstance(contents.events[-1], Finished)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("page_of", ["ask", "results/case.py"])
@pytest.mark.parametrize("kind", ["started", "asked", "answered", "explanation", "counterfactual"])
def test_a_damaged_journal_is_shown_as_far_as_it_goes(page: Page, page_of: str, kind: str) -> None:
    run = entry.jobs().start("simulatability", AskSpec(question="Can a penguin fly?", model="control/fickle"))
    assert entry.jobs().wait(run, 120)
    path = home.journals() / f"{run}.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    of_kind = b'"%s":"%s"' % (b"record" if kind in ("explanation", "counterfactual") else b"kind", kind.encode())
    at = next(number for number, line in enumerate(lines) if of_kind in line)
    event, number = from_line(lines[at].rstrip())
    # A record of another version, whose line is intact; or a line that is no event.
    odd = (
        to_line(event.model_copy(update={"data": {"text": 5}}), number)
        if isinstance(event, Recorded)
        else b"not json\n"
    )
    path.write_bytes(b"".join([*lines[:at], odd, *lines[at + 1 :]]))
    app = page(page_of, run=run)
    assert "an emu" in words(app)
    assert (scenes(app)[0].unread > 0) == (kind in ("started", "explanation", "counterfactual"))


def test_a_link_shows_what_was_asked_and_whom(page: Page) -> None:
    spec = AskSpec(question="Can a whale breathe underwater?", model="control/steadfast", method="posthoc")
    run = entry.jobs().start("simulatability", spec)
    assert entry.jobs().wait(run, 120)
    app = page("ask", run=run)
    assert ":gray[Ask · a robot · answer, then justify]" in words(app)
    assert [scene.title for scene in scenes(app)] == ["Can a whale breathe underwater?"]


def test_a_run_of_another_process_can_be_watched_but_not_written_to(page: Page) -> None:
    run = entry.jobs().start("simulatability", AskSpec(question="Can a penguin fly?", model="control/fickle"))
    assert entry.jobs().wait(run, 120)
    path = home.journals() / f"{run}.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(line for line in lines if b'"finished"' not in line))
    with Journal(path):
        written = path.read_bytes()
        app = page("ask", run=run, reader="ada")
        told = words(app)
        assert "It runs in another process" in told
        assert not [one for one in scenes(app)[0].actions if one.name == "cancel"]
        guess(run, "ada", "cf-01", "yes")
        app.run()
        assert not app.exception and guesses(app) == ["yes"]
        assert path.read_bytes() == written, "guesses are kept beside the run, whoever writes it"
    assert [event.item for event in entry.jobs().keeping.events(run, "ada")] == ["cf-01"]


def test_calls_that_failed_in_a_run_that_is_over_can_be_asked_again(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    with StubServer(Plausible(), faults={1: None}, always=Fault("bad_request", words="no")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        run = entry.jobs().start("simulatability", AskSpec(question="Is it so?", model="openai/stub-model", exam=False))
        assert entry.jobs().wait(run, 120)
        app = page("ask", run=run)
        assert "Nothing can be judged" in words(app)
        server.always = None
        app.button(key="go-on").click().run()
        assert precision(scenes(settled(app))[0])[1:] == (24, 24)


def test_guessing_first_hides_the_answers_and_scores_the_reader(page: Page) -> None:
    app = page("ask")
    app.checkbox(key="guess").check()
    app.slider(key="ask-number-strategyqa-10").set_value(3)
    app.button(key="ask").click().run()
    settled(app)
    run, reader = run_named(app), in_address(app, "reader")
    answers = [row.answer.repaired for row in shown_rows(run) if row.answer]
    for left, number, value in ((3, 1, answers[0]), (2, 2, answers[1]), (1, 3, "unknown")):
        shown = [app]
        if left == 3:
            replayed = ({}, {"replay": "1"}, {"replay": "step"})
            shown += [page("results/case.py", run=run, reader=reader, **one) for one in replayed]
        for one in shown:
            (given,) = staged(one)
            assert (given["mode"], given["reader"], len(guesses(one))) == ("guess", reader, 3 - left)
            assert given["scenes"][0]["actions"] == []
            beside = "\n".join(element.value for element in (*one.markdown, *one.caption, *one.subheader))
            for betrayed in ("it said", "came true", "misled", "as expected", "Precision", "settles", "Every call"):
                assert betrayed not in beside, betrayed
            assert not one.get("download_button") and not one.dataframe, "the journal holds the answers"
            assert not {"Open as case", "Replay", "Step by step"} & {link.proto.label for link in one.get("page_link")}
            assert not [field for field in one.text_input if field.key == "own"]
        assert f"run={run}&guess=1" in "".join(code.value for code in app.code), "a link keeps the mode"
        guess(run, reader, f"cf-{number:02}", value)
        app.run()
    (given,) = staged(app)
    assert given["mode"] == "read" and app.text_input(key="own") and app.get("download_button")
    told = words(app)
    assert "You 2 of 2, the predictor" in told and "1 question is left out" in told
    assert guesses(app) == [*answers[:2], "unknown"] and own_precision(app) == (2, 3)
    # A guess made without the reason says nothing about the reason.
    for number, value, about in ((1, answers[0], "without"), (2, answers[1], ""), (3, "unknown", "")):
        guess(run, "bea", f"cf-{number:02}", value, about=about)
    app = page("ask", run=run, reader="bea")
    settled(app)
    assert guesses(app) == [*answers[:2], "unknown"] and own_precision(app) == (1, 2)
    assert "You 1 of 1, the predictor" in words(app)


def test_who_stops_guessing_sees_what_came(page: Page) -> None:
    run = entry.jobs().start("simulatability", AskSpec(question="Can a penguin fly?", model="control/fickle"))
    assert entry.jobs().wait(run, 120)
    with pytest.raises(ValueError, match="cannot be the expected answer"):
        guess(run, "ada", "cf-01", "perhaps")
    assert not entry.jobs().keeping.events(run, "ada")
    app = page("ask", run=run, reader="ada")
    assert staged(app)[0]["mode"] == "guess"
    del app.query_params["reader"]
    app.run()
    assert not app.exception and staged(app)[0]["mode"] == "read" and guesses(app) == []


def shown_rows(run: str) -> list[CounterfactualRow]:
    """The rows of a run of one case."""
    state = entry.jobs().watch(run).transcript
    return list(entry.labs()["simulatability"].view(state.case(state.only)).rows.values())


def test_whoever_follows_a_link_to_guess_first_has_guesses_of_their_own(page: Page) -> None:
    run = entry.jobs().start("simulatability", AskSpec(question="Can a penguin fly?", model="control/fickle"))
    assert entry.jobs().wait(run, 120)
    app = page("ask", run=run, guess="1")
    app.run()
    assert "guess" not in app.query_params and in_address(app, "reader")
    (given,) = staged(app)
    assert given["mode"] == "guess" and given["reader"] == in_address(app, "reader")


QUESTIONS = [one for one in questions() if one.world][:3]


def a_file(folder: Path) -> Path:
    """Three questions that the robots know, in StrategyQA's format."""
    rows = [
        {"qid": f"own-{number}", "question": one.question, "answer": one.answer == "yes"}
        for number, one in enumerate(QUESTIONS, start=1)
    ]
    path = folder / "dev.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def a_run_of_several(folder: Path, **changes: object) -> str:
    given = {"model": "control/fickle", "dataset": "strategyqa", "path": str(a_file(folder)), "counterfactuals": 3}
    run = entry.jobs().start("simulatability", AskSpec.model_validate({**given, **changes}))
    assert entry.jobs().wait(run, 120)
    return run


def test_a_file_of_questions_is_a_run_of_several_cases(page: Page, tmp_path: Path) -> None:
    app = page("ask")
    app.segmented_control(key="ask-source").set_value("dataset").run()
    assert app.button(key="ask").disabled and "there is nothing at" in words(app)
    app.text_input(key="ask-path-strategyqa").set_value(str(a_file(tmp_path)))
    app.slider(key="ask-number-strategyqa-10").set_value(3)
    app.number_input(key="ask-limit").set_value(3).run()
    assert app.button(key="ask").label == "Ask · 60 calls"
    app.button(key="ask").click().run()
    told = words(settled(app))
    run = run_named(app)
    state = entry.jobs().watch(run).transcript
    assert state.status == "completed" and state.planned == 3
    table = app.dataframe[0].value
    assert sorted(table["About"]) == sorted(one.question for one in QUESTIONS)
    assert table["Outcome"].tolist() == [one.result["outcome_repaired"] for one in state.cases.values() if one.result]
    precision = state.score("precision", "repaired")
    assert precision is not None and precision.of == 3
    made = run_scene(app)
    shown = next(figure for figure in made.figures if figure.title == "Precision")
    assert shown.value.startswith(f"{precision.value:.2f}") and (shown.n, shown.of) == (precision.n, 3)
    assert [tile.title for tile in made.tiles] == table["About"].tolist() and made.verdict.headline.text in told
    assert [scene.title for scene in scenes(app)] == [table["About"][0]], "one of them is shown whole"
    assert app.selectbox(key=f"chosen-case-{run}").value == state.only


def test_a_file_that_went_away_before_the_button_was_pressed_is_said(page: Page, tmp_path: Path) -> None:
    path = a_file(tmp_path)
    app = page("ask")
    app.segmented_control(key="ask-source").set_value("dataset").run()
    app.text_input(key="ask-path-strategyqa").set_value(str(path)).run()
    assert not app.button(key="ask").disabled
    path.unlink()
    app.button(key="ask").click().run()
    assert not app.exception and "there is nothing at" in words(app) and not list(home.journals().glob("*.jsonl"))


def test_a_table_of_ones_own_is_asked_once_its_columns_are_named(page: Page) -> None:
    rows = [f"{one.question},{one.answer}" for one in QUESTIONS]
    content = "\n".join(["q,gold", *rows, ",no"]).encode()
    app = page("ask")
    app.segmented_control(key="ask-source").set_value("dataset").run()
    app.file_uploader(key="ask-dataset-strategyqa-file").upload("my items.csv", content, "text/csv").run()
    name = app.selectbox(key="ask-dataset-strategyqa").value
    assert name == "file:my items.csv" and "Which column holds the question?" in words(app)
    shown = {box.key for box in app.selectbox}
    assert f"ask-column-{name}-explanation" in shown and f"ask-column-{name}-gold" not in shown
    app.selectbox(key=f"ask-column-{name}-question").set_value("q")
    app.selectbox(key=f"ask-column-{name}-answer").set_value("gold").run()
    app.slider(key="ask-number-strategyqa-10").set_value(2)
    app.number_input(key="ask-limit").set_value(9).run()
    app.button(key="ask").click().run()
    told = words(settled(app))
    state = entry.jobs().watch(run_named(app)).transcript
    assert sorted(one.title for one in state.cases.values()) == sorted(one.question for one in QUESTIONS)
    assert "my items.csv, line 5: the question is empty" in told and "1 (broken row)" in told
    app.button(key="change").click().run()
    kept = {role: app.selectbox(key=f"ask-column-{name}-{role}").value for role in ("question", "answer", "id")}
    assert not app.exception and kept == {"question": "q", "answer": "gold", "id": None}


def test_answers_of_a_log_are_uploaded_and_tested(page: Page) -> None:
    log = Path(__file__).parents[1] / "data" / "inspect.eval"
    app = page("ask")
    app.segmented_control(key="ask-source").set_value("dataset").run()
    upload = app.file_uploader(key="ask-dataset-strategyqa-log")
    upload.upload("broken.eval", b"PK\x03\x04", "application/zip").run()
    assert not app.exception and "damaged, or no log of Inspect" in words(app)
    app.file_uploader(key="ask-dataset-strategyqa-log").upload("birds.eval", log.read_bytes(), "application/zip").run()
    assert "2 of 2 samples became rows." in words(app)
    name = app.selectbox(key="ask-dataset-strategyqa").value
    roles = ("question", "answer", "explanation", "gold", "source")
    assert name == "file:birds.jsonl"
    assert [app.selectbox(key=f"ask-column-{name}-{role}").value for role in roles] == [*roles]
    app.slider(key="ask-number-strategyqa-10").set_value(2).run()
    app.button(key="ask").click().run()
    settled(app)
    state = entry.jobs().watch(run_named(app)).transcript
    assert {one.title for one in state.cases.values()} == {"Can a penguin fly?", "Is a bat a mammal?"}
    assert state.started and state.started.spec["columns"]["explanation"] == "explanation"


def test_a_link_names_the_case_that_is_shown(page: Page, tmp_path: Path) -> None:
    run = a_run_of_several(tmp_path)
    state = entry.jobs().watch(run).transcript
    for case, progress in state.cases.items():
        for page_of in ("ask", "results/case.py"):
            app = page(page_of, run=run, case=case)
            (scene,) = scenes(app)
            assert (scene.case, scene.title) == (case, progress.title)
            assert progress.result and scene.verdict
            assert scene.verdict.headline.text in str(progress.result["verdict"]).replace("*", "")
    app = page("ask", run=run)
    last = list(state.cases)[-1]
    app.selectbox(key=f"chosen-case-{run}").set_value(last).run()
    assert not app.exception and [scene.title for scene in scenes(app)] == [state.cases[last].title]
    assert in_address(app, "case") == last
    assert any(code.value.endswith(f"?run={run}&case={last}") for code in app.code), "a link to it can be handed on"
    app.text_input(key="own").set_value("Can an ostrich fly?")
    app.button(key="add").click().run()
    settled(app)
    added = [one.case for one in entry.jobs().events(run) if one.kind == "recorded" and one.item.startswith("hand-")]
    assert added and set(added) == {last}, "a question of one's own belongs to the case that is shown"


def test_a_question_that_fails_leaves_the_others_and_says_why(page: Page, tmp_path: Path) -> None:
    path = a_file(tmp_path)
    rows = [*json.loads(path.read_text()), {"qid": "odd", "question": "Is the moon made of cheese?", "answer": False}]
    path.write_text(json.dumps(rows), encoding="utf-8")
    spec = AskSpec(dataset="strategyqa", path=str(path), model="control/fickle", counterfactuals=3)
    run = entry.jobs().start("simulatability", spec)
    assert entry.jobs().wait(run, 120)
    app = page("ask", run=run, case="odd")
    (scene,) = scenes(app)
    assert scene.title == "Is the moon made of cheese?"
    (failure,) = scene.failure
    assert failure.label == "This case could not be measured" and "small world" in failure.text
    table = app.dataframe[0].value
    assert sorted(table["Outcome"] == "failed") == [False] * 3 + [True]
    assert "Is the moon made of cheese?" in table["About"].tolist()
    assert app.button(key="go-on").label == "Retry failed calls"
    held = entry.jobs().events(run)
    app.button(key="go-on").click().run()
    settled(app)
    more = entry.jobs().events(run)[len(held) :]
    assert more[0].kind == "resumed" and [one.item for one in more if one.kind == "dropped"], "it failed again"
    assert not scenes(page("ask", run=run, case="own-1"))[0].failure


def test_guesses_of_two_readers_do_not_mix(page: Page) -> None:
    spec = AskSpec(question="Can a penguin fly?", model="control/fickle", counterfactuals=3)
    run = entry.jobs().start("simulatability", spec)
    assert entry.jobs().wait(run, 120)
    written = (home.journals() / f"{run}.jsonl").read_bytes()
    for who, values in (("ada", ("yes", "unknown", "unknown")), ("ben", ("no", "yes", "yes"))):
        for number, value in enumerate(values, start=1):
            guess(run, who, f"cf-{number:02}", value)
            guess(run, who, f"cf-{number:02}", value)
    said = {who: [one.data["repaired"] for one in entry.jobs().keeping.events(run, who)] for who in ("ada", "ben")}
    assert said == {"ada": ["yes", "unknown", "unknown"], "ben": ["no", "yes", "yes"]}
    shown = {who: page("ask", run=run, reader=who) for who in said}
    assert {who: guesses(app) for who, app in shown.items()} == said
    assert [own_precision(shown[who]) for who in said] == [(1, 3), (3, 3)]
    assert guesses(page("ask", run=run)) == [], "without a reader, nobody's guesses show"
    assert (home.journals() / f"{run}.jsonl").read_bytes() == written


def test_guesses_of_one_case_are_not_those_of_another(page: Page, tmp_path: Path) -> None:
    run = a_run_of_several(tmp_path)
    first, second, _ = entry.jobs().watch(run).transcript.cases
    guess(run, "ada", "cf-01", "no", first)
    app = page("ask", run=run, reader="ada", case=first)
    assert guesses(app) == ["no"]
    assert not any(one["mode"] == "all" for one in staged(app)), "who guesses is not told what came of all"
    assert guesses(page("ask", run=run, reader="ada", case=second)) == []
    app.selectbox(key=f"chosen-case-{run}").set_value(second).run()
    assert not app.exception and guesses(app) == []
    assert [(one.case, one.item) for one in entry.jobs().keeping.events(run, "ada")] == [(first, "cf-01")]


def test_a_counterfactual_of_ones_own_is_asked_and_marked(page: Page) -> None:
    app = page("ask")
    app.slider(key="ask-number-strategyqa-10").set_value(3)
    app.button(key="ask").click().run()
    settled(app)
    app.text_input(key="own").set_value("Can an ostrich fly?")
    app.button(key="add").click().run()
    settled(app)
    (scene,) = scenes(app)
    own = scene.cards[-1]
    assert "ostrich" in own.parts[0].text and own.by_hand and own.outcome == "misled" and own.reason == "added by hand"
    assert precision(scene)[1:] == (3, 3)


def test_an_edited_explanation_is_held_to_the_same_questions_where_one_wants_that(page: Page) -> None:
    spec = AskSpec(question="Can a penguin fly?", model="control/fickle", counterfactuals=4)
    run = entry.jobs().start("simulatability", spec)
    assert entry.jobs().wait(run, 120)
    edited = "Penguins are too heavy. A penguin is a bird. So the answer is no."

    def asked_of(run: str) -> list[str]:
        return [row.counterfactual.text for row in shown_rows(run) if row.counterfactual]

    def begun(same: bool) -> tuple[str, int]:
        app = page("results/case.py", run=run, fork="c0001")
        if same:
            app.checkbox(key="fork-same").check()
        app.text_area(key=f"fork-{run}-c0001").set_value(edited).run()
        (least,) = re.findall(r"Asked again: (\d+) ", words(app))
        app.button(key="fork-begin").click().run()
        fork = in_address(app, "runs").split(",")[1]
        assert entry.jobs().wait(fork, 60)
        return fork, int(least)

    (kept, few), (anew, many) = begun(True), begun(False)
    assert asked_of(kept) == asked_of(run) and few < many
    state = entry.jobs().watch(kept).transcript
    assert state.started and state.started.forked_from and state.started.spec["given_from"] == run
    view = entry.labs()["simulatability"].view(state.case(state.only))
    assert view.explanation == edited
    assert not [call for call in state.calls.values() if call.asked.role == "generator"], "none is written"
    assert [one.asked.role for one in entry.jobs().watch(anew).transcript.calls.values()].count("generator") == 4
    of_answer = page("results/case.py", run=run, fork=shown_rows(run)[0].calls[-1])
    assert "fork-same" not in [box.key for box in of_answer.checkbox], "the questions do not hang on it"


def test_every_call_leads_to_the_place_where_it_is_edited(page: Page) -> None:
    run = entry.jobs().start("simulatability", AskSpec(question="Can a penguin fly?", model="control/fickle"))
    assert entry.jobs().wait(run, 120)
    app = page("results/case.py", run=run)
    app.session_state["call-c0004"] = True
    app.run()
    app.button(key=f"fork-{run}-c0004-begin").click().run()
    assert not app.exception and in_address(app, "fork") == "c0004" and app.button(key="fork-begin")


def test_a_run_of_preferences(page: Page) -> None:
    app = page("ask")
    app.segmented_control(key="ask-task").set_value("shp").run()
    assert app.text_area(key="ask-context").value
    app.button(key="ask").click().run()
    (scene,) = scenes(settled(app))
    assert scene.claim and scene.claim.answer.startswith("response") and app.button(key="change")
    app.text_area(key="own-context").set_value("My bread is flat.")
    app.text_area(key="own-response_1").set_value("Let it rise 2 hours.")
    app.text_area(key="own-response_2").set_value("Baking is an art, and a flat bread may taste as good as any other.")
    app.button(key="add").click().run()
    settled(app)
    (scene,) = scenes(app)
    own = scene.cards[-1]
    assert own.parts[0].text == "My bread is flat." and own.by_hand and own.outcome == "misled"
    kept = [card for card in scene.cards if card.outcome == "as expected"]
    assert kept and all(
        [part.label for part in card.parts] == ["The post", "Response 1", "Response 2"] for card in kept
    )
    assert not any("Candidate" in part.text or "Context:" in part.text for card in kept for part in card.parts)


def test_what_a_model_writes_is_shown_and_not_obeyed(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    hostile = (
        "<script>alert(1)</script> **bold** :red[x] $x$ [a](javascript:1) ![i](http://h/x.png). So the answer is yes."
    )
    with StubServer(hostile) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "key-for-the-stub")
        spec = AskSpec(question="Is it so?", model="openai/stub-model", counterfactuals=1)
        run = entry.jobs().start("simulatability", spec)
        assert entry.jobs().wait(run, 120)
    app = page("ask", run=run)
    (scene,) = scenes(app)
    assert scene.claim and hostile.startswith(scene.claim.parts[0].text[:60]), "as it is: the stage makes it a text"
    assert not [one.value for one in app.markdown if "script" in one.value]
    assert not any(getattr(one.proto, "allow_html", False) for one in app.markdown)


def test_a_run_that_does_not_exist_is_said(page: Page) -> None:
    assert "There is no such run" in "".join(
        str(error.proto) for error in page("ask", run="nothing").error
    ) or "no run named" in words(page("ask", run="nothing"))


def test_a_real_model_is_asked_what_the_robot_was_asked_and_the_visitor_predicts(
    page: Page, take_step: Callable[[AppTest, str], None]
) -> None:
    app = page("ask")
    app.button(key="ask").click().run()
    settled(app)
    first = run_named(app)
    assert re.fullmatch(r"Ask SmolLM2 135M · about \d+ s", scenes(app)[0].actions[0].words)
    take_step(app, "real")
    second = run_named(app)
    assert second != first and in_address(app, "reader")
    until(lambda: bool(entry.jobs().events(second)))
    started = entry.jobs().events(second)[0]
    entry.jobs().cancel(second)
    assert started.kind == "started"
    spec = AskSpec.model_validate(started.spec)
    assert (spec.model, spec.simulator, spec.question) == ("local/smollm2-135m", PERSON, "Can a penguin fly?")
    asked = [row.counterfactual.text for row in shown_rows(first) if row.counterfactual]
    assert [one.text for one in spec.given] == asked[:4] and spec.given_from == first


def test_the_front_page_names_the_best_model_at_hand(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    app = page("about/welcome.py")
    assert app.button(key="real").label.startswith("Ask SmolLM2 135M · about ")
    assert 3 <= len(app.selectbox(key="real-question").options) <= 5
    with StubServer(Plausible()) as server:
        turned(app, "about/models.py")
        app.text_input(key="endpoint_name").set_value("mine")
        app.text_input(key="endpoint_url").set_value(server.base_url)
        app.button(key="connect").click().run()
        turned(app, "about/welcome.py")
        assert app.button(key="real").label.replace("\\", "").startswith("Ask stub-model (mine) · a few seconds")
    with monkeypatch.context() as limited:
        limited.setenv("EXPLAIN_CALLS_A_RUN", "4")
        app = page("about/welcome.py")
        app.button(key="real").click().run()
        assert "would make 5 calls; the limit here is 4" in words(app)
    monkeypatch.setattr(local, "installed", lambda folder: {})
    assert page("about/welcome.py").button(key="real").disabled
    monkeypatch.setattr(policy, "is_hosted", lambda: True)
    assert "real" not in [one.key for one in page("about/welcome.py").button]


def test_the_key_is_nowhere_in_what_was_written(page: Page, own_home: Path, caplog: pytest.LogCaptureFixture) -> None:
    key = "sk-planted-0123456789abcdef"
    caplog.set_level("DEBUG")
    with StubServer(Plausible(), key=key) as server:
        app = page("about/models.py")
        app.text_input(key="endpoint_name").set_value("mine")
        app.text_input(key="endpoint_url").set_value(server.base_url)
        app.text_input(key="endpoint_key").set_value(key)
        app.button(key="connect").click().run()
        turned(app, "ask")
        app.selectbox(key="ask-model").set_value("mine/stub-model").run()
        app.slider(key="ask-number-strategyqa-24").set_value(2)
        app.button(key="ask").click().run()
        assert precision(scenes(settled(app))[0])
        assert key not in words(app) and key not in str(app.query_params)
        page("results/browse.py")
        entry.keeper().wake()
        until(lambda: entry.keeper().changes > 0)
    entry.keeper().close()
    entry.keeper.cache_clear()
    written = [path for path in own_home.rglob("*") if path.is_file()]
    assert {"answers.sqlite", "store.duckdb"} <= {path.name for path in written}
    assert any(path.suffix == ".jsonl" for path in written)
    for path in written:
        assert key.encode() not in path.read_bytes(), path
    assert key not in caplog.text


def test_another_model_is_a_baseline_beside_a_run_once_it_answered_the_same_questions(page: Page) -> None:
    def ask(robot: str) -> None:
        with Journal(home.journals() / f"{robot}.jsonl", new=True) as written:
            request = RunRequest(
                LAB, AskSpec(model=f"control/{robot}", question="Can a penguin fly?", exam=False), robot
            )
            asyncio.run(execute(request, RunIO(entry.catalog().get, written.append, live=False)))
        index(entry.keeper().store, home.journals())

    ask("fickle")
    assert "Another model as the baseline" not in words(page("ask", run="fickle"))
    ask("steadfast")
    st.cache_data.clear()
    assert "steadfast answered " in words(page("ask", run="fickle"))
    guessing = words(page("ask", run="fickle", reader="ann"))
    assert "Another model as the baseline" not in guessing, "who guesses first sees nothing of the answers"
