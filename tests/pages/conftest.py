"""Fixtures that run pages from the app's entry, each test with its own home, jobs and store."""

import functools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest, local_script_runner
from streamlit.util import calc_hash

from core import entry
from core.scene import STEPS, RunScene, Scene
from core.server.access import RunAccess, visitor_with_code
from pages import labs
from pages.components import run_view
from pages.viewer import routes

APP = Path(__file__).resolve().parents[2] / "app.py"
# Every AppTest searches all installed packages for components, which took longer than the pages themselves.
manifest_scanner.scan_component_manifests = functools.cache(manifest_scanner.scan_component_manifests)

_look = local_script_runner.require_widgets_deltas


def _wait(runner: local_script_runner.LocalScriptRunner, timeout: float = 3) -> None:
    """Wait for the script's thread. AppTest instead checks a thousand times a second whether the script has run."""
    thread = runner._script_thread
    if thread is not None:
        thread.join(timeout)
    _look(runner, 0 if thread is not None and thread.is_alive() else timeout)


local_script_runner.require_widgets_deltas = _wait

CACHED = (
    *(entry.labs, entry.controls, entry.keeper, entry.jobs, entry.fetches, entry.dataset_fetches),
    *(entry.answers, entry.studies),
)

labs.register()


@pytest.fixture(autouse=True)
def own_process(opened_before: None) -> Iterator[None]:
    """Clear what the entry creates once per process, so that each test makes its own."""
    for made in CACHED:
        made.cache_clear()
    st.cache_data.clear()
    yield
    entry.close()
    for made in CACHED:
        made.cache_clear()


@pytest.fixture
def page() -> Callable[..., AppTest]:
    """`page("ask", run="…")`: the page at that address, or of a file such as "results/case.py", drawn once."""

    def opened(path: str, **query: str) -> AppTest:
        app = AppTest.from_file(str(APP), default_timeout=120)
        for name, value in query.items():
            app.query_params[name] = value
        return turned(app, path)

    return opened


def turned(app: AppTest, path: str) -> AppTest:
    """Turn `app` to another page and run it."""
    # AppTest can turn only to pages that are files; a lab's page is a function, known by its address.
    app._page_hash = calc_hash(Path(path).stem)
    app.run()
    assert not app.exception, app.exception
    return app


def in_address(app: AppTest, name: str) -> str:
    """The value of this name in the address; AppTest gives a text or a list of one."""
    value = app.query_params[name]
    return value[0] if isinstance(value, list) else value


def run_named(app: AppTest) -> str:
    """The run that the address names."""
    return in_address(app, "run")


def settled(app: AppTest, seconds: float = 120) -> AppTest:
    """Wait for the page's run to end, and draw the page again."""
    assert entry.jobs().wait(run_named(app), seconds)
    app.run()
    assert not app.exception, app.exception
    return app


def staged(app: AppTest) -> list[dict[str, Any]]:
    """The data of the page's viewers: mode, scenes and settings."""

    def given(block: Any) -> Iterator[dict[str, Any]]:
        for element in block.children.values():
            if hasattr(element, "children"):
                yield from given(element)
            elif element.type == "bidi_component":
                yield json.loads(element.proto.json)

    return list(given(app.main))


def stopped(app: AppTest) -> AppTest:
    """Stop the page's run as the viewer's button does, and draw the page again."""
    (action,) = [one for one in scenes(app)[0].actions if one.name == "cancel"]
    who = RunAccess(entry.jobs(), visitor_with_code("", False))
    routes.save_annotation(who, routes.Saying(id="stopped", what="cancel", run=action.on))
    return settled(app)


def scenes(app: AppTest) -> list[Scene]:
    """The scenes of cases in the page's viewers."""
    return [
        Scene.model_validate(scene)
        for one in staged(app)
        if one.get("mode") not in (None, "all")
        for scene in one.get("scenes", ())
    ]


@pytest.fixture
def take_step(monkeypatch: pytest.MonkeyPatch) -> Callable[[AppTest, str], None]:
    """`take_step(app, step)`: the visitor presses the button of the next step, which must be the only one offered."""

    def taken(app: AppTest, step: str) -> None:
        assert offered_steps(app) == [step]
        draw, take, pressed = run_view.stage, run_view._take, [step]  # type: ignore[attr-defined]
        with monkeypatch.context() as patched:
            patched.setattr(run_view, "stage", lambda *args, **more: draw(*args, **more) or "".join(pressed))
            patched.setattr(run_view, "_take", lambda shown, went: pressed.clear() or take(shown, went))
            app.run()
        assert not app.exception, app.exception

    return taken


def offered_steps(app: AppTest) -> list[str]:
    """The next steps that the page's viewers offer."""
    shown = [scene for given in staged(app) for scene in given.get("scenes", ())]
    return [one["name"] for scene in shown for one in scene.get("actions", ()) if one["name"] in STEPS]


def run_scene(app: AppTest) -> RunScene:
    """The scene of the page's run, with the outcomes of all its cases."""
    (made,) = (RunScene.model_validate(one["scenes"][0]) for one in staged(app) if one["mode"] == "all")
    return made


UNSEEN = {"id", "run", "case", "lab", "call", "calls", "screens", "actions", "kind"}
"""Fields of a scene that nobody sees: names for programs only."""


def texts(value: Any) -> Iterator[str]:
    """Yield every visible text of a scene's data."""
    match value:
        case str():
            yield value
        case dict():
            for name, one in value.items():
                yield from () if name in UNSEEN else texts(one)
        case list():
            for one in value:
                yield from texts(one)
        case _:
            pass


def words(app: AppTest) -> str:
    """Everything that the page says, in one string, without the escapes for Markdown; including the texts in its
    viewers.
    """
    kinds: tuple[Any, ...] = (app.title, app.subheader, app.markdown, app.caption, app.error, app.warning, app.info)
    said = [element.value for kind in kinds for element in kind]
    said += [f"{metric.label} {metric.value}" for metric in app.metric]
    said += [expander.label for expander in app.expander]
    for one in staged(app):
        said += [text for scene in one.get("scenes", ()) for text in texts(scene)]
        said += [text for card in one.get("cards", ()) for _, text in card["lines"]]
        said += [followed[name] for followed in one.get("follow", ()) if followed for name in ("words", "note")]
    return "\n".join(said).replace("\\", "").replace("\u2060", "")
