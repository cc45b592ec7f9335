"""Welcome, Browse, Case, Models and Methods in their states."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from core import entry, home
from core.labs.ask.tasks import AskSpec
from core.labs.probe.tasks import ProbeSpec
from core.models import local
from core.report import evidence
from core.runs.library import list_recordings
from core.sandbox import sandbox
from core.sandbox.process import OSLimits
from pages.components.text import plain
from tests.conftest import WITHOUT_ENCODER
from tests.pages.conftest import scenes, staged, words
from tests.support import forked, shipped
from tests.support.stub_server import StubServer
from tests.support.waiting import until

Page = Callable[..., AppTest]
ROOT = Path(__file__).resolve().parents[2]


def a_run(**changes: object) -> str:
    spec = AskSpec(**{"question": "Can a penguin fly?", "model": "control/fickle", **changes})
    run = entry.jobs().start("simulatability", spec)
    assert entry.jobs().wait(run, 120)
    return run


def test_the_front_page_begins_nothing_and_every_lab_begins_on_its_page(page: Page) -> None:
    app = page("about/welcome.py")
    [doors] = [one["cards"] for one in staged(app) if one.get("kind") == "doors"]
    assert [one["to"] for one in doors] == ["/ask", "/check", "/probe", "/plant"]
    assert all(len(one["lines"]) == 2 and one["picture"].startswith("<svg") for one in doors)
    assert [button.key for button in app.button] == ["real"], "nothing begins here but the game and a real model"
    for lab in doors:
        path = lab["to"].removeprefix("/")
        started = page(path).button(key=f"show-{path}")
        said = f"{started.label} {started.proto.help}"
        assert not re.search("mislead|wrong|makes things up|invents|unfaithful|does not say", said), said
    page("ask").button(key="show-ask").click().run()
    until(lambda: len(list(home.journals().glob("*.jsonl"))) == 1)


@pytest.mark.parametrize("lab", ["simulatability", "consistency", "find"])
def test_a_recording_is_played_without_asking_any_model(page: Page, lab: str) -> None:
    # A test before this one may have left a model running.
    local.stop_all()
    app = page("results/case.py", run=list_recordings(home.recordings()).of_lab(lab)[0].run, replay="1")
    assert "step 1 of" in app.get("progress")[0].proto.text
    assert "an example, not evidence" in words(app)
    app.segmented_control(key="speed").set_value("Instant").run()
    assert not app.exception and "replay" not in app.query_params and "The run stopped" not in words(app)
    assert app.button(key="ask-yourself").label == "Ask it yourself" and "local/smollm2-135m" in words(app)
    assert not list(home.journals().glob("*.jsonl")) and not any(one.alive for one in local._servers.values())


def test_a_recording_is_asked_again_of_a_model_of_ones_own(page: Page) -> None:
    recorded = list_recordings(home.recordings()).of_lab("consistency")[0].run
    page("results/case.py", run=recorded).button(key="ask-yourself").click().run()
    until(lambda: len(list(home.journals().glob("*.jsonl"))) == 1)
    [path] = home.journals().glob("*.jsonl")
    until(lambda: path.stat().st_size)
    entry.jobs().cancel(path.stem)
    assert entry.jobs().wait(path.stem, 120)
    old, new = (entry.jobs().events(run)[0].spec for run in (recorded, path.stem))  # type: ignore[union-attr]
    assert new == {**old, "model": "local/smollm2-135m"}


def test_browse_without_runs_says_what_to_do_and_has_recordings(page: Page) -> None:
    app = page("results/browse.py")
    app.button(key="put-example").click().run()
    assert "No runs yet" in words(app)
    app.button(key="recordings").click().run()
    table = page("results/browse.py", show="runs", recordings="1").dataframe[0].value
    assert len(table) == min(50, len(shipped.journals())) and "Ask" in set(table["Lab"])


def test_browse_lists_runs_and_opens_one(page: Page) -> None:
    run = a_run()
    a_run(model="control/vague")
    app = page("results/browse.py", show="runs")
    entry.keeper().wake()
    until(lambda: entry.keeper().changes >= 1)
    app.run()
    table = app.dataframe[0].value
    assert list(table["About"]) == ["Can a penguin fly?"] * 2
    assert sorted(table["Model"]) == ["fickle", "vague"]
    assert sorted(table["Precision"]) == ["0.50", "undefined"]
    assert "Tick 2 to 5" in words(app)
    key = "runs" + app.dataframe[0].proto.id.rpartition("-runs")[2]
    app.session_state[key] = {"selection": {"rows": [0, 1], "columns": [], "cells": []}}
    links = {link.proto.label: parse_qs(link.proto.query_string) for link in app.run().get("page_link")}
    both = links["Compare these 2"]["runs"][0]
    assert links["Side by side"]["runs"] == [both] and run in both.split(",")
    app = page("results/browse.py", show="runs", run=run)
    assert list(app.dataframe[0].value[""]).count("▶") == 1 and "Your verdict" in words(app)
    assert not app.button(key="close").disabled, "it lies beside its list, as a case does"


def test_browse_shows_what_a_probe_came_to(page: Page) -> None:
    run = entry.jobs().start("find", ProbeSpec(own="2 * x + 7", title="A line", model="control/straight"))
    assert entry.jobs().wait(run, 120)
    page("results/browse.py")
    entry.keeper().wake()
    until(lambda: entry.keeper().changes >= 1)
    table = page("results/browse.py", show="runs").dataframe[0].value
    assert list(table["Lab"]) == ["Probe"] and list(table["Normalized error (NMSE)"]) == ["0"]
    assert list(table["Method"]) == ["an agent that chooses its own inputs (AIA)"] and "Precision" not in table


def test_a_run_of_the_command_line_shows_up_while_the_app_is_open(page: Page, own_home: Path) -> None:
    page("results/browse.py")
    before = entry.keeper().changes
    environment = {**os.environ, "EXPLAIN_HOME": str(own_home), "PYTHONPATH": WITHOUT_ENCODER}
    forked.run("core", "ask", "Can a penguin fly?", "--model", "control/vague", env=environment)
    until(lambda: entry.keeper().changes > before, seconds=5)
    table = page("results/browse.py", show="runs").dataframe[0].value
    assert list(table["Model"]) == ["vague"]


def test_a_page_shows_a_run_that_ended_just_before_it_was_opened(
    page: Page, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.store.index.pause", lambda every, took: 600.0)
    before = page("results/browse.py", show="runs", model="control/vague")
    environment = {**os.environ, "EXPLAIN_HOME": str(own_home), "PYTHONPATH": WITHOUT_ENCODER}
    forked.run("core", "ask", "Can a penguin fly?", "--model", "control/vague", env=environment)
    assert not before.run().dataframe, "a list that somebody reads does not change by itself"
    after = page("results/browse.py", show="runs", model="control/vague")
    assert list(after.dataframe[0].value["Model"]) == ["vague"]


def test_a_case_holds_everything(page: Page) -> None:
    run = a_run()
    app = page("results/case.py", run=run)
    told = words(app)
    assert "Can a penguin fly?" in told and "its own explanation would have misled you" in told
    (scene,), state = scenes(app), entry.jobs().watch(run).transcript
    assert {drop.reason for drop in scene.ledger} == {"duplicate", "not simulatable"}
    assert {drop.about for drop in scene.ledger} == {"number 4", "number 7"}
    assert {one.title for one in evidence.of_case(entry.labs()["simulatability"], state, state.only).figures} == {
        *(
            "Precision",
            "Always guessing the same",
            "Precision without the explanation",
            "Precision from the question alone",
        ),
        *("Gain over the best baseline", "Predictable only with it, and came true"),
        *("Gain over the answer alone", "Share of the possible gain"),
        *("Precision with the placebo", "Generality", "Generality (BLEU)", "Generality (shared words)"),
    }
    labels = [expander.label for expander in app.expander]
    app.pagination(key="calls-page").set_value(2).run()
    labels += [expander.label for expander in app.expander]
    explained, answered = (sum(role in label for label in labels) for role in ("explainer", "answerer"))
    assert explained == 2, "of the question, and of another whose reasons are put in the place of its own"
    assert answered == 9


def test_a_case_without_a_name_or_of_no_run_says_so(page: Page) -> None:
    assert "The address names no run" in words(page("results/case.py"))
    assert "no run named" in words(page("results/case.py", run="nothing"))


def test_a_replay_shows_the_run_again_without_a_model(page: Page) -> None:
    run = a_run()
    app = page("results/case.py", run=run, replay="1")
    assert "step 1 of" in app.get("progress")[0].proto.text and "No model is asked" in app.get("progress")[0].proto.text
    assert "All birds can fly" in words(app) and "expects" not in words(app) and "Precision" not in words(app)
    played, since = app.session_state[f"replay-{run}"]
    app.session_state[f"replay-{run}"] = (played, since - 2.6)
    assert "step 2 of" in app.run().get("progress")[0].proto.text, "no step is left out, however late one looks"
    app.segmented_control(key="speed").set_value("Instant").run()
    precision = [one.value[:4] for one in scenes(app)[0].figures if one.title == "Precision"]
    assert "replay" not in app.query_params and precision == ["0.50"]


def test_models_lists_what_can_be_asked_and_connects_an_endpoint(page: Page) -> None:
    app = page("about/models.py")
    assert any("fickle" in model for model in app.table[0].value["Model"]) and "smollm2" in words(app)
    with StubServer(models=["small", "large"]) as server:
        app.text_input(key="endpoint_name").set_value("mine")
        app.text_input(key="endpoint_url").set_value(server.base_url)
        app.text_input(key="endpoint_key").set_value("sk-secret-of-mine")
        app.button(key="connect").click().run()
        assert not app.exception
    assert "mine" in words(app) and "2 models" in words(app) and "sk-secret-of-mine" not in words(app)
    assert "try-mine/large" in [one.key for one in app.button]
    app.button(key="remove-mine").click().run()
    assert "2 models" not in words(app)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("name", "url", "said"),
    [
        ("mine", "http://127.0.0.1:9/v1", "Nothing answers"),
        ("ollama", "http://127.0.0.1:11434/v1", "ollama serve"),
        ("control", "http://127.0.0.1:9/v1", "is taken"),
        ("mine", "127.0.0.1:9", "http"),
        ("mine", "http://me:secret@127.0.0.1/v1", "user name or password"),
    ],
)
def test_an_endpoint_that_cannot_be_had_says_why(page: Page, name: str, url: str, said: str) -> None:
    app = page("about/models.py")
    app.text_input(key="endpoint_name").set_value(name)
    app.text_input(key="endpoint_url").set_value(url)
    app.button(key="connect").click().run()
    assert not app.exception
    assert said in words(app)


def test_a_file_that_is_no_model_is_refused_in_words(page: Page, tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(b"not a model")
    app = page("about/models.py")
    app.text_input(key="gguf").set_value(str(tmp_path / "x.gguf")).run()
    assert "is not a GGUF model" in words(app)


def test_methods_shows_prompts_and_published_figures(page: Page) -> None:
    app = page("about/methods.py")
    assert "Precision" in words(app)
    assert 77.3 in list(app.dataframe[1].value["Value"])
    app.selectbox(key="template").set_value("strategyqa-explain-cot").run()
    assert any("So the answer is yes." in code.value for code in app.code)


def test_endpoints_of_secrets_are_there_and_a_broken_one_is_said(page: Page) -> None:
    with StubServer(models=["small"]) as server:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
        app.secrets["endpoints"] = {
            "class": {"base_url": server.base_url, "key": "sk-of-the-class", "concurrency": 2},
            "broken": {"base_url": "nowhere", "key": "sk-of-the-class"},
        }
        app.switch_page("pages/about/models.py").run()
        assert not app.exception
        assert "broken in secrets.toml" in words(app).replace("*", "")
        app.button(key="list-class").click().run()
        assert not app.exception
        assert "try-class/small" in [one.key for one in app.button]
        assert "sk-of-the-class" not in words(app)


@pytest.mark.parametrize("endpoints", ["x", {"x": 3}])
def test_secrets_of_another_shape_are_said_and_not_fatal(endpoints: object) -> None:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.secrets["endpoints"] = endpoints
    app.switch_page("pages/about/models.py").run()
    assert not app.exception
    assert "in secrets.toml" in words(app)


@pytest.mark.parametrize("of_the_system", [True, False])
def test_models_says_which_walls_of_the_sandbox_hold_here(
    of_the_system: bool, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not of_the_system:
        monkeypatch.setattr(sandbox, "walls", OSLimits)
    told = [one.value for one in page("about/models.py").markdown]
    for holds, what in sandbox.walls().described:
        [line] = [line for line in told if plain(what) in line]
        assert line.startswith(":green[holds]" if holds else ":orange[does not hold here]")
