"""Names that an endpoint may have, and addresses that it may use."""

import pytest
from pydantic import SecretStr

from core.models.error_mapping import did_you_mean
from core.models.errors import EndpointSettingError
from core.models.settings import PRESETS, EndpointConfig


@pytest.mark.parametrize(
    ("address", "used"),
    [
        (" http://127.0.0.1:11434/v1/ ", "http://127.0.0.1:11434/v1"),
        ("https://api.openai.com/v1/chat/completions", "https://api.openai.com/v1"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1"),
    ],
)
def test_addresses_are_tidied(address: str, used: str) -> None:
    assert EndpointConfig(name="mine", base_url=address).base_url == used


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("localhost:11434/v1", "Did you mean http://localhost:11434/v1"),
        ("ftp://example.org", "does not begin with http"),
        ("https://ann:sk-secret@example.org/v1", "user name or password"),
        ("https://example.org/v1?key=sk-secret", "question mark"),
        ("https://example.org/v1#sk-secret", "number sign"),
        ("http://", "names no server"),
        ("http://a b/v1", "names no server"),
        ("http://example.org:99999/v1", "not an address"),
        ("", "does not begin with http"),
    ],
)
def test_addresses_that_cannot_be_used_are_reported_without_their_secrets(address: str, words: str) -> None:
    with pytest.raises(EndpointSettingError) as caught:
        EndpointConfig(name="mine", base_url=address)
    text = f"{caught.value.message} {caught.value.hint}"
    assert words in text and "sk-secret" not in text


def test_names_and_keys_that_cannot_be_used() -> None:
    for name in ("", "a/b", "a b", "-"):
        with pytest.raises(EndpointSettingError, match="cannot be the name of an endpoint"):
            EndpointConfig(name=name, base_url="http://a/v1")
    with pytest.raises(EndpointSettingError) as caught:
        EndpointConfig(name="mine", base_url="http://a/v1", key=SecretStr("sk-planted…"))
    assert "planted" not in caught.value.message + caught.value.hint
    assert EndpointConfig(name="mine", base_url="http://a/v1", key=SecretStr(" sk-1\n")).secret == "sk-1"


def test_the_presets_can_be_used_and_are_known_by_their_ports() -> None:
    for name, preset in PRESETS.items():
        config = EndpointConfig(name="mine", base_url=preset.base_url, preset=name)
        assert config.known_server() == preset
        if config.port is not None:
            assert EndpointConfig(name="mine", base_url=preset.base_url).known_server() == preset
    assert EndpointConfig(name="mine", base_url="http://example.org/v1").known_server() is None


def test_how_many_calls_go_on_at_once() -> None:
    def of(url: str = "https://a.example/v1", **more: object) -> tuple[int, int]:
        return EndpointConfig.model_validate({"name": "mine", "base_url": url, **more}).calls_at_once

    assert of() == (8, 64) and of(of_visitor=True) == (8, 8) and of("http://127.0.0.1:1/v1") == (1, 8)
    assert of(concurrency=3) == (3, 3) and of(most_at_once=20) == (8, 20)
    assert of(concurrency=30, most_at_once=20) == (30, 30)


def test_did_you_mean() -> None:
    assert did_you_mean("x", []) == ""
    assert did_you_mean("GPT-5-min", ["gpt-5", "gpt-5-mini"]).startswith("Did you mean gpt-5-mini")
    assert did_you_mean("zzz", [f"m{n}" for n in range(25)]).endswith("m8, m9, and 15 more.")
    assert did_you_mean("zzz", [f"m{n}" for n in range(10)]).endswith("m8, m9.")
