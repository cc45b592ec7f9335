"""The token in the address of an app that serves one person: only a browser with the token gets in, and only the person
who started the app learns it.
"""

import re
import sys
import webbrowser
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from core import home, policy
from core.server import instance
from pages import addresses
from pages.middleware import ACCESS, Door
from pages.viewer.routes import ROUTES

URL = "http://127.0.0.1:8501"
STREAM = "ws://127.0.0.1:8501/_stcore/stream"


async def page(request: Request) -> PlainTextResponse:
    return PlainTextResponse(f"let in {request.url.query}")


async def tab(socket: WebSocket) -> None:
    await socket.accept()
    await socket.send_text("let in")
    await socket.close()


def client(**cookies: str) -> TestClient:
    rest = [WebSocketRoute("/_stcore/stream", tab), Route("/{path:path}", page)]
    return TestClient(Door(Starlette(routes=[*ROUTES, *rest])), URL, follow_redirects=False, cookies=cookies)


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "_served", {"127.0.0.1"})
    for name in ("EXPLAIN_HOSTS", "EXPLAIN_TOKEN"):
        monkeypatch.delenv(name, raising=False)


def with_token(query: str = "") -> str:
    return f"?{urlsplit(instance.address(URL)).query}{query}"


PATHS = [
    *(re.sub(r"\{(\w+)(:path)?\}", "any", route.path) for route in ROUTES if isinstance(route, Route)),
    *("/", "/ask", "/_stcore/host-config", "/_stcore/metrics", "/static/index.js", "/x/_stcore/health"),
    *("/_stcore/health/", "//_stcore/health", "/scene/a/_stcore/health"),
]


def test_all_addresses_are_behind_the_token_but_health() -> None:
    assert {"/said", "/play", "/lessons/any", "/told/any/any", "/stage/any"} <= {*PATHS}
    for path in PATHS:
        for query in ("", "?token=", "?token=" + "x" * 43):
            assert client().get(path + query).status_code == 403, path + query
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        assert client().request(method, "/said" + with_token()).status_code == 403, "the token is for opening pages"
    assert client().get("/_stcore/health").text == "let in "
    with pytest.raises(WebSocketDisconnect) as refused, client().websocket_connect(STREAM + with_token()):
        pass
    assert refused.value.code == 1008 and "token" in refused.value.reason


def test_the_token_gives_a_cookie_that_lasts_and_leaves_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    browser = client()
    first = browser.get("/ask" + with_token("&run=a%26b&to=1"))
    assert first.status_code == 303 and first.headers["location"] == "/ask?run=a%26b&to=1" and not first.text
    for rule in (f"{ACCESS}_8501=", "HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=34560000"):
        assert rule in first.headers["set-cookie"], rule
    assert first.headers["cache-control"] == "no-store" and first.headers["referrer-policy"] == "same-origin"
    assert browser.get(first.headers["location"]).text == "let in run=a%26b&to=1"
    with browser.websocket_connect(STREAM) as socket:
        assert socket.receive_text() == "let in"
    assert browser.post("/said", json={"said": []}).status_code == 200
    monkeypatch.setattr(instance, "_TOKEN", "the token of the next start")
    assert browser.get("/ask").text == "let in ", "after the app was started again"
    old = browser.get("/ask" + with_token().replace("next", "first"))
    assert old.status_code == 303 and old.headers["location"] == "/ask" and "set-cookie" not in old.headers


def test_a_cookie_of_another_home_or_one_that_was_changed_opens_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    cookie = instance.cookie()
    for wrong in ("", cookie[:-1], cookie + "0", cookie.upper(), "é", instance.address(URL).partition("=")[2]):
        assert not instance.is_cookie(wrong), wrong
    assert client(**{f"{ACCESS}_8501": cookie}).get("/ask").status_code == 200
    assert client(**{f"{ACCESS}_8502": cookie}).get("/ask").status_code == 403
    monkeypatch.setattr(home, "key", lambda: b"another home's key")
    assert client(**{f"{ACCESS}_8501": cookie}).get("/ask").status_code == 403
    assert not instance.is_token("") and not instance.is_token("\ud800")


def test_the_redirect_stays_on_this_machine() -> None:
    for path in ("//evil.example/x", "///evil.example", "/\\evil.example", "/%5cevil.example"):
        place = client().get(f"{URL}{path}{with_token()}").headers["location"]
        assert place.startswith("/") and place[1:2] not in ("/", "\\"), place


def test_a_browser_without_the_token_is_told_where_the_address_is() -> None:
    told = client().get("/ask", headers={"Accept": "text/html,*/*"})
    assert told.status_code == 403 and "frame-ancestors 'none'" in told.headers["content-security-policy"]
    for words in ("terminal where the app was started", "address-8501.html", "EXPLAIN_TOKEN=no"):
        assert words in told.text
    assert instance.address(URL).partition("token=")[2] not in told.text
    assert "printed where this app was started" in client().get("/said").text


def test_one_setting_turns_it_off_and_where_others_are_served_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLAIN_TOKEN", "no")
    assert client().get("/ask").text == "let in " and instance.address(URL) == URL
    monkeypatch.delenv("EXPLAIN_TOKEN")
    monkeypatch.setattr(policy, "_served", {"0.0.0.0"})
    assert client().get("/ask").text == "let in "
    monkeypatch.setenv("EXPLAIN_TOKEN", "yes")
    assert client().get("/ask").status_code == 403


@pytest.mark.parametrize(("in_terminal", "page"), [(True, ""), (False, "lessons")])
def test_the_address_is_printed_in_a_terminal_and_else_kept_in_a_file(
    in_terminal: bool, page: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: in_terminal)
    monkeypatch.setenv("BROWSER", "any")
    addresses.announce(URL, 8501, opens=True, page=page)
    printed, file = capsys.readouterr().out, addresses.file_for(8501)
    assert (instance.address(URL, page) in printed) is in_terminal and URL in printed
    assert ("token=" in printed) is in_terminal and (str(file) in printed) is not in_terminal
    [link] = re.findall(r'href="([^"]+)"', file.read_text(encoding="utf-8"))
    assert instance.is_token(parse_qs(urlsplit(link).query)["token"][0]) and urlsplit(link).path == f"/{page}"
    assert opened == [file.as_uri()], "everybody on the machine can read the command line that starts a browser"
    addresses.forget(8501)
    assert not file.exists()


def test_without_a_token_the_plain_address_is_printed_and_opened(
    own_home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setenv("EXPLAIN_TOKEN", "no")
    monkeypatch.setenv("BROWSER", "any")
    addresses.announce(URL, 8501, opens=True)
    assert opened == [URL] and capsys.readouterr().out == f"\n  Explain Yourself: {URL}\n\n"
    addresses.announce(URL, 8501, opens=False)
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    addresses.announce(URL, 8501, opens=True)
    assert opened == [URL], "there is no screen"
    monkeypatch.setenv("BROWSER", "any")
    addresses.announce(URL, 8501, opens=True, page="lessons")
    assert opened[1:] == [f"{URL}/lessons"]
    assert not [*own_home.glob("address*")]


def test_in_a_home_that_cannot_be_written_to_the_token_is_printed_in_a_terminal_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def unwritable(path: Path, content: bytes) -> None:
        raise PermissionError

    opened: list[str] = []
    monkeypatch.setattr(home, "write", unwritable)
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setenv("BROWSER", "any")
    addresses.announce(URL, 8501, opens=True)
    told = capsys.readouterr().out
    assert "printed in a terminal only" in told and "token=" not in told and opened == [URL]
