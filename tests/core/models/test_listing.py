"""Lists of models in the formats of different servers, over HTTP."""

from typing import Any

import pytest
from pydantic import SecretStr
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from core.events import CallError
from core.models import settings
from core.models.connection import LONGEST_NAME, MOST_NAMES, list_models
from core.models.errors import AuthenticationError, EndpointSettingError, MalformedReplyError
from core.models.settings import MOST_EXTRAS, EndpointConfig, Preset, parse_headers, parse_query
from tests.support.stub_server import StubServer

KEY = "sk-listing-0123456789"


def names_of(reply: Any) -> list[str]:
    with StubServer(listing=lambda request: JSONResponse(reply)) as server:
        return list_models(server.config())


@pytest.mark.parametrize(
    ("reply", "names"),
    [
        ({"object": "list", "data": None}, []),
        ({"data": []}, []),
        ([], []),
        ([{"id": "org/tiny"}, {"id": "org/big"}], ["org/big", "org/tiny"]),
        ({"models": [{"name": "models/gem", "displayName": "Gem"}]}, ["models/gem"]),
        ({"models": [{"model": "phi:3b"}]}, ["phi:3b"]),
        ({"data": ["b", "a", "b"]}, ["a", "b"]),
        ({"data": [{"id": None, "name": "named"}, {"object": "model"}, 7]}, ["named"]),
        ({"data": [{"id": "x" * (LONGEST_NAME + 1)}, {"id": "y"}]}, ["y"]),
    ],
    ids=str,
)
def test_a_list_is_read_in_every_form_that_servers_give_it(reply: Any, names: list[str]) -> None:
    assert names_of(reply) == names


@pytest.mark.parametrize(
    "reply",
    [{"error": {"message": "no list here"}, "data": []}, {"object": "list"}, "text", 7, {"data": {"id": "a"}},
     {"data": [{"object": "model"}]}],
    ids=str,
)  # fmt: skip
def test_what_is_no_list_is_said(reply: Any) -> None:
    with pytest.raises(MalformedReplyError, match="its list of models has another form"):
        names_of(reply)


def test_a_very_long_list_is_read_no_further_than_a_limit() -> None:
    names = names_of({"data": [{"id": f"m{number:05}"} for number in range(MOST_NAMES + 100)]})
    assert len(names) == MOST_NAMES and names[0] == "m00000"


def test_a_provider_s_own_rules_for_its_list_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Request] = []

    def listed(request: Request) -> Response:
        seen.append(request)
        if request.headers.get("x-api-key") != KEY or "anthropic-version" not in request.headers:
            return JSONResponse({"type": "error", "error": {"message": "x-api-key header is required"}}, 401)
        return JSONResponse({"data": [{"type": "model", "id": "claude-x"}], "has_more": False})

    with StubServer(listing=listed) as server:
        config = server.config(key=KEY)
        with pytest.raises(AuthenticationError, match="x-api-key header is required"):
            list_models(config)
        own = settings.PRESETS["anthropic"]._replace(base_url=server.base_url)
        monkeypatch.setitem(settings.PRESETS, "anthropic", own)
        assert list_models(config) == ["claude-x"]
    assert "authorization" in seen[0].headers and "authorization" not in seen[1].headers
    assert seen[1].query_params["limit"] == "1000"


def test_extra_query_and_headers_are_sent_and_never_shown(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[Request] = []

    def listed(request: Request) -> Response:
        seen.append(request)
        return JSONResponse({"data": [{"id": "the-secret-of-azure"}]})

    caplog.set_level("DEBUG")
    with StubServer(listing=listed) as server:
        config = server.config(query={"api-version": "2024-10-21"}, headers={"api-key": "the-secret-of-azure"})
        assert list_models(config) == ["[key]"]
    assert seen[0].query_params["api-version"] == "2024-10-21" and seen[0].headers["api-key"] == "the-secret-of-azure"
    shown = f"{config!r} {config} {config.model_dump_json()} {config.account} {caplog.text}"
    assert "the-secret-of-azure" not in shown
    assert hash(config) and config.account != server.config().account
    assert config == server.config(query=config.query, headers=config.headers)


def test_a_header_that_the_server_repeats_is_not_passed_on() -> None:
    def refused(request: Request) -> Response:
        return JSONResponse({"error": {"message": f"bad key {request.headers['api-key']}"}}, 401)

    with StubServer(listing=refused) as server, pytest.raises(AuthenticationError) as caught:
        list_models(server.config(headers={"api-key": "the-secret-of-azure"}))
    assert "bad key [key]" in caught.value.message and "the-secret-of-azure" not in str(caught.value)


@pytest.mark.parametrize(
    "headers",
    [
        *(
            {name: "x"}
            for name in ("Host", "authorization", "Cookie", "Content-Length", "Transfer-Encoding", "a b", "")
        ),
        {"x": "two\nlines"},
        {"x": "é"},
        {"x": "y" * 1_001},
        {f"x{number}": "y" for number in range(MOST_EXTRAS + 1)},
    ],
    ids=lambda headers: str(headers)[:20],
)
def test_headers_that_cannot_be_sent_are_refused(headers: dict[str, str]) -> None:
    with pytest.raises(EndpointSettingError):
        EndpointConfig.model_validate({"name": "a", "base_url": "http://a/v1", "headers": headers})


def test_queries_and_headers_are_typed_as_text() -> None:
    assert parse_query("?api-version=2024-10-21&b=") == {"api-version": "2024-10-21", "b": ""}
    assert parse_headers("api-key: k:1\n\nX-Title : mine ") == {"api-key": "k:1", "X-Title": "mine"}
    with pytest.raises(CallError, match="not a header"):
        parse_headers("api-key=1")


@pytest.mark.parametrize(
    ("base_url", "preset", "title"),
    [
        ("https://api.anthropic.com/v1/", "", "Anthropic"),
        ("http://127.0.0.1:11434/v1", "", "Ollama"),
        ("http://10.0.0.7:8000/v1", "", "vLLM"),
        ("https://mine.openai.azure.com/openai/v1", "azure", "Azure"),
        ("https://elsewhere.example/v1", "", None),
    ],
)
def test_a_server_is_known_by_its_machine_or_its_local_port(base_url: str, preset: str, title: str | None) -> None:
    known = EndpointConfig(name="a", base_url=base_url, key=SecretStr("k"), preset=preset).known_server()
    assert (known and known.title) == title


def test_every_provider_has_an_address_that_can_be_used() -> None:
    for name, preset in settings.PRESETS.items():
        assert isinstance(preset, Preset) and preset.model and preset.start
        config = EndpointConfig(name=name, base_url=preset.base_url, preset=name)
        assert config.base_url == preset.base_url and config.known_server() is preset
