"""How a server's refusal is classified, where a whole call would be too much for one line of it."""

from email.utils import formatdate
from typing import Any

import httpx2
import openai
import pytest

from core.models import error_mapping, errors
from core.models.settings import EndpointConfig

CONFIG = EndpointConfig(name="mine", base_url="https://a.example/v1")


def refusal(status: int, words: str) -> openai.APIStatusError:
    request = httpx2.Request("POST", "https://a.example/v1/chat/completions")
    body: dict[str, Any] = {"message": words}
    return openai.APIStatusError(words, response=httpx2.Response(status, request=request), body=body)


@pytest.mark.parametrize("status", [400, 404, 422, 500, 501])
def test_who_complains_of_tools_does_not_take_them(status: int) -> None:
    found = error_mapping.refused_tools(refusal(status, "This model does not support tools"), CONFIG, "m")
    assert isinstance(found, errors.ToolsUnsupportedError)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (403, "This key may not use tools: m does not support tools for it"),
        (429, "Too many calls with tools: this model does not support tools at that rate"),
        (400, "Something is wrong"),
        (400, "The maximum context length is 4096 tokens; tools are not supported beyond it"),
    ],
)
def test_whoever_refuses_for_another_reason_may_take_them(status: int, words: str) -> None:
    assert error_mapping.refused_tools(refusal(status, words), CONFIG, "m") is None


def test_how_long_a_reply_asks_to_wait() -> None:
    def asked(**headers: str) -> float | None:
        return error_mapping.retry_after(
            httpx2.Headers({name.replace("_", "-"): value for name, value in headers.items()})
        )

    assert asked(Retry_After_Ms="1500", Retry_After="9") == 1.5 and asked(Retry_After="9") == 9
    assert asked(Retry_After_Ms="soon", Retry_After="9") == 9
    assert asked() is asked(Retry_After="soon") is None
    assert asked(Retry_After="-3") == asked(Retry_After_Ms="-3") == asked(Retry_After=formatdate(0)) == 0


def test_a_model_that_is_not_there_is_the_askers_mistake() -> None:
    error = error_mapping.no_such_model(CONFIG, "gpt-5-min", ["gpt-5-mini", "o9"])
    assert error.bad_input and "gpt-5-min" in error.message and error.hint.startswith("Did you mean gpt-5-mini?")
    ollama = EndpointConfig(name="mine", base_url="http://127.0.0.1:11434/v1", preset="ollama")
    assert error_mapping.no_such_model(ollama, "gemma", []).hint == "Fetch it: `ollama pull gemma`."
    assert "Test connection" in error_mapping.no_such_model(CONFIG, "gemma", []).hint
