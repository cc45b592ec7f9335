"""Which servers a visitor of a hosted app may contact, and how much of the replies they see."""

import asyncio
import socket
from typing import Any

import pytest
from pydantic import SecretStr

from core.events import CallError, Message, ModelAnswer, Request
from core.models import safe_http
from core.models.connection import Connection, list_models
from core.models.endpoint import Endpoint
from core.models.settings import EndpointConfig
from tests.attacks.addresses import HOSTS_OF_HERE, NOT_PUBLIC, PUBLIC
from tests.support.stub_server import Fault, StubServer

SECRET = "what only the inner network may read"


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_these_are_not_public(address: str) -> None:
    assert not safe_http.is_public(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_these_are_public(address: str) -> None:
    assert safe_http.is_public(address)


def of_visitor(host: str, port: int, is_of: bool = True) -> EndpointConfig:
    return EndpointConfig(
        name="theirs",
        base_url=f"http://{host}:{port}/v1",
        key=SecretStr("sk-0123456789"),
        timeout=10,
        retries=0,
        of_visitor=is_of,
    )


def asked(config: EndpointConfig) -> ModelAnswer | CallError:
    async def ask() -> ModelAnswer:
        connection = Connection(config)
        request = Request(role="r", model="m", messages=(Message(role="user", content="Is it?"),))
        try:
            return await Endpoint(connection, "stub-model").answer(request, lambda text: None)
        finally:
            await connection.close()

    try:
        return asyncio.run(ask())
    except CallError as failure:
        return failure


@pytest.mark.parametrize("host", HOSTS_OF_HERE)
def test_a_visitor_s_endpoint_never_is_this_machine(host: str) -> None:
    with StubServer(SECRET) as server:
        failure = asked(of_visitor(host, server.port))
        assert isinstance(failure, CallError) and SECRET not in f"{failure.message} {failure.hint}"
        with pytest.raises(CallError, match="is not asked from here"):
            list_models(of_visitor(host, server.port))
        assert not server.seen
    assert isinstance(failure, CallError) and "is not asked from here" in failure.message


def resolving(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """Let the name service give these addresses, one list for each query. Returns the names that were queried."""
    names: list[str] = []
    real = socket.getaddrinfo

    def fake(host: Any, port: Any, *rest: Any, **more: Any) -> Any:
        if host != "models.example":
            return real(host, port, *rest, **more)
        names.append(host)
        given = answers[min(len(names), len(answers)) - 1]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in given]

    monkeypatch.setattr(socket, "getaddrinfo", fake)
    return names


def test_a_name_is_not_asked_if_one_of_its_addresses_leads_home(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, ["1.1.1.1", "127.0.0.1"])
    with StubServer(SECRET) as server:
        assert isinstance(asked(of_visitor("models.example", server.port)), CallError) and not server.seen


def test_what_was_checked_is_what_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    # The name service is not asked a second time, so a name cannot lead elsewhere after the check.
    names = resolving(monkeypatch, ["127.0.0.1"], ["127.0.0.2"])
    monkeypatch.setattr(safe_http, "is_public", lambda address: address == "127.0.0.1")
    with StubServer("Yes.") as server:
        answer = asked(of_visitor("models.example", server.port))
        assert isinstance(answer, ModelAnswer) and answer.text == "Yes." and len(names) == 1
        assert server.seen[0].headers["host"] == f"models.example:{server.port}"


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault("bad_request", words=SECRET), SECRET),
        (Fault("error_midway", words=SECRET), SECRET),
        (Fault("wrong_key"), "Incorrect API key provided."),
        (Fault("forbidden"), "This key may not use this model."),
        (Fault("server_error"), "Something broke inside."),
        (Fault("rate_limited"), "Rate limit reached for requests"),
        (Fault("no_credit"), "You exceeded your plan."),
    ],
    ids=lambda one: getattr(one, "kind", ""),
)
def test_what_a_visitor_s_server_says_of_an_error_is_not_passed_on(
    monkeypatch: pytest.MonkeyPatch, fault: Fault, words: str
) -> None:
    monkeypatch.setattr(safe_http, "is_public", lambda address: True)
    with StubServer("One two three.", always=fault) as server:
        for is_of in (True, False):
            failure = asked(of_visitor("127.0.0.1", server.port, is_of))
            assert isinstance(failure, CallError)
            assert (words in f"{failure.message} {failure.hint}") is not is_of
