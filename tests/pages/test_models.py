"""The Models page: connecting, trying, what is in use, and how much is shown with many models."""

from collections.abc import Callable
from typing import Any

import pytest
from starlette.responses import JSONResponse
from streamlit.testing.v1 import AppTest

from core import extensions
from core.models.settings import PRESETS
from pages.components.text import plain
from tests.core.models.test_capabilities import able
from tests.pages.conftest import turned, words
from tests.support.stub_server import Fault, StubServer

Page = Callable[..., AppTest]
KEY = "sk-of-the-models-page"


def connected(app: AppTest, server: StubServer, **fields: str) -> AppTest:
    """The page once the server was connected as "mine"."""
    for key, value in {"name": "mine", "url": server.base_url, "key": KEY, **fields}.items():
        at = app.text_area if key == "headers" else app.text_input
        at(key=f"endpoint_{key}").set_value(value)
    app.button(key="connect").click().run()
    assert not app.exception
    return app


def buttons(app: AppTest) -> set[str]:
    return {str(one.key) for one in app.button}


def test_a_provider_fills_in_its_address(page: Page) -> None:
    app = page("about/models.py")
    pills = app.pills(key="provider")
    assert list(pills.options)[: len(PRESETS)] == [preset.title for preset in PRESETS.values()]
    pills.set_value("anthropic").run()
    assert app.text_input(key="endpoint_url").value == "https://api.anthropic.com/v1"
    assert app.text_input(key="endpoint_name").value == "anthropic"
    pills.set_value("azure").run()
    assert "Put the name of your resource" in words(app)
    pills.set_value("other").run()
    assert app.text_input(key="endpoint_url").value == ""


@pytest.mark.parametrize("listing", [{"data": None}, {"data": []}])
def test_a_server_without_models_is_connected_and_says_what_to_do(page: Page, listing: dict[str, Any]) -> None:
    with StubServer(able, listing=lambda request: JSONResponse(listing)) as server:
        app = page("about/models.py")
        app.pills(key="provider").set_value("ollama").run()
        connected(app, server)
    assert "0 models" in words(app) and "Ollama has no model yet" in words(app)


def test_a_list_that_is_refused_is_no_obstacle(page: Page) -> None:
    with StubServer(able, models=["hidden"], listing=lambda request: JSONResponse({"error": "no"}, 400)) as server:
        app = connected(page("about/models.py"), server)
        assert "could not be read" in words(app) and "Type the name of a model instead" in words(app)
        app.text_input(key="name-mine").set_value("mine/hidden").run()
        assert not app.exception and "try-mine/hidden" in buttons(app)
        assert "could not be read" not in words(app)
        assert app.selectbox(key="model-tried").value == "mine/hidden"


def test_a_model_that_was_typed_is_connected_and_tried(page: Page) -> None:
    with StubServer(able, models=["a", "b"], refused=("seed",)) as server:
        app = connected(page("about/models.py"), server, model="b", headers="X-Course: algebra", query="api-version=3")
        assert app.selectbox(key="model-tried").value == "mine/b"
        app.button(key="try").click().run()
        assert not app.exception
        assert server.seen[-1].headers["x-course"] == "algebra"
        assert "mine/b is ready" in words(app).replace("\\", "") and "6 calls" in words(app)
        shown = "".join(table.value.to_string() for table in app.table)
        assert "Seed" in shown and "repeated calls can differ" in shown
        assert "algebra" not in words(turned(app, "about/models.py")).replace("\\", "")
        again = connected(page("about/models.py"), server)
        assert "see-mine/b" in buttons(again), "what was found is kept in the home"


def test_a_model_that_does_not_answer_says_why(page: Page) -> None:
    with StubServer(able, models=["a"], faulty=lambda body: Fault("bad_request", words="not today")) as server:
        app = connected(page("about/models.py"), server)
        app.button(key="try").click().run()
    assert "does not answer" in words(app) and "not today" in words(app)


def test_many_models_make_few_buttons(page: Page) -> None:
    names = [f"org/model-{number:03}" for number in range(350)]
    with StubServer(able, models=names) as server:
        app = connected(page("about/models.py"), server)
        assert app.selectbox(key="model-tried").value is None, "none of so many is the one that is meant"
        assert len(app.button) < 40 and "try-mine/org/model-007" not in buttons(app)
        app.text_input(key="model-search").set_value("ORG model-07").run()
        assert {f"use-mine/org/model-07{number}" for number in range(10)} <= buttons(app)
        assert "type more of the name" not in words(app)
        app.button(key="use-mine/org/model-070").click().run()
        assert "try-mine/org/model-070" in buttons(app)
        assert app.selectbox(key="model-tried").value == "mine/org/model-070"
        app.text_input(key="model-search").set_value("nobody").run()
        assert "No model has this name." in words(app)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("headers", "Authorization: Basic x", "is set by the app"),
        ("headers", "no colon", "Write one header a line"),
        ("url", "http://a/v1?key=secret", "a question mark"),
    ],
)
def test_what_cannot_be_sent_is_said(page: Page, field: str, value: str, said: str) -> None:
    with StubServer(able) as server:
        app = connected(page("about/models.py"), server, **{field: value})
    assert said in words(app) and "mine" not in [str(one.key) for one in app.button if "remove" in str(one.key)]


def test_azure_s_address_may_bring_its_version_along(page: Page) -> None:
    with StubServer(able, models=["a"]) as server:
        app = connected(page("about/models.py"), server, url=f"{server.base_url}?api-version=2024-10-21")
        assert "1 model" in words(app) and "api-version" not in words(app)


def test_an_extension_that_was_not_loaded_is_named_on_two_pages(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = extensions.ExtensionFault("mine.py", 3, "NameError: name '<b>weights</b>' is not defined")
    monkeypatch.setattr(extensions, "_faults", [fault])
    # As plain text: what an extension says is not trusted.
    shown = plain(str(fault))
    assert "\\<b" in shown and "line 3" in shown
    for address in ("about/welcome.py", "about/models.py"):
        assert [one.value for one in page(address).warning if "extension" in one.value] == [shown]
    assert not [one for one in page("ask").warning if "extension" in one.value]
