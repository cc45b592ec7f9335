"""What *Try it* finds out, against a loopback server that accepts and refuses what it is told to."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response

from core import entry
from core.__main__ import main
from core.events import ModelAnswer, OnText, Request, Thinking
from core.models import capabilities
from core.models.cache import Cached, ResponseCache
from core.models.capabilities import Capabilities, find_capabilities
from core.models.connection import Connection
from core.models.endpoint import Endpoint
from tests.support.stub_server import Calls, Fault, Seen, StubServer


def able(body: dict[str, Any]) -> str | Calls:
    """A model that does everything it is asked to."""
    asked = str(body["messages"][-1]["content"])
    if body.get("tools"):
        return Calls((("look_up_height", '{"mountain": "Ben Nevis"}'),))
    if body.get("response_format"):
        return '{"capital": "Oslo", "is_coastal": true}'
    return "Yes." if "ice" in asked else "one, two, three, four, five" if "sixty" in asked else "42"


def unable(body: dict[str, Any]) -> str:
    """A model that ignores schema and tools."""
    return "I would rather talk."


def tried(server: StubServer) -> Capabilities:
    async def go() -> Capabilities:
        connection = Connection(server.config())
        try:
            return await find_capabilities(Endpoint(connection, "stub-model"))
        finally:
            await connection.close()

    return asyncio.run(go())


def test_a_model_that_takes_everything() -> None:
    with StubServer(able) as server:
        found = tried(server)
        assert server.count == found.calls == 6
    assert found.answers and not found.refused and not found.problem
    assert (found.json_schema, found.logprobs, found.tools, found.thinks) == (True, True, True, "no")
    assert found.seconds is not None and found.tokens_per_second
    assert found.prompt_tokens and found.completion_tokens


def test_what_is_refused_is_said_and_its_repetition_is_no_call() -> None:
    with StubServer(unable, refused=("seed", "top_p", "top_logprobs", "tools", "response_format")) as server:
        found = tried(server)
        assert server.count > found.calls == 6, "the server saw the calls that it refused"
        assert "temperature" in server.seen[-1].body and "seed" not in server.seen[-1].body
    assert found.answers and found.refused == ("top_p", "seed")
    assert (found.json_schema, found.logprobs, found.tools) == (False, False, False)
    lines = {row.title: row for row in capabilities.rows(found)}
    assert lines["Seed"].holds is False and "repeated calls can differ" in lines["Seed"].detail
    assert lines["Settings"].detail == "Takes temperature, stop sequences, system prompt."
    assert lines["Price"].holds is None


def test_a_schema_that_is_passed_over_is_no_schema() -> None:
    with StubServer(unable) as server:
        found = tried(server)
    assert (found.json_schema, found.tools, found.logprobs) == (False, False, True)


def test_a_call_that_fails_for_another_reason_leaves_its_line_open() -> None:
    def faulty(body: dict[str, Any]) -> Fault | None:
        return Fault("server_error") if body.get("tools") else None

    with StubServer(able, faulty=faulty) as server:
        found = tried(server)
    assert found.tools is None and found.json_schema is True
    assert next(row for row in capabilities.rows(found) if row.title == "Tools").detail == "Not known: the call failed."


def test_a_model_that_does_not_answer_is_asked_once() -> None:
    with StubServer(always=Fault("wrong_key")) as server:
        found = tried(server)
        assert server.count == found.calls == 1
    assert (not found.answers and "does not accept" in found.problem) or "wants a key" in found.problem
    assert [row.title for row in capabilities.rows(found)] == ["Answers"]


class Family(StubServer):
    """A provider's family of models: what its documentation says is refused, and how it thinks."""

    def __init__(
        self, refused: dict[str, str], hidden: int = 0, opening: str = "", passed_over: tuple[str, ...] = ()
    ) -> None:
        super().__init__(able)
        self.words, self.hidden, self.opening, self.passed_over = refused, hidden, opening, passed_over

    async def _chat(self, request: HttpRequest) -> Response:
        body = await request.json()
        self.seen.append(Seen(len(self.seen) + 1, body, {}, 0.0))
        for name, words in self.words.items():
            if name in body:
                return JSONResponse({"error": {"message": words, "type": "invalid_request_error", "param": name}}, 400)
        for name in self.passed_over:
            body.pop(name, None)
        reply = able(body)
        calls = reply.tool_calls() if isinstance(reply, Calls) else None
        text = "" if isinstance(reply, Calls) else self.opening + reply
        is_cut = (body.get("max_tokens") or body.get("max_completion_tokens")) <= self.hidden
        message = {"role": "assistant", "content": "" if is_cut else text, "tool_calls": None if is_cut else calls}
        logprobs = {"content": [{"token": text, "logprob": -0.1, "top_logprobs": []}]} if body.get("logprobs") else None
        choice = {"index": 0, "message": message, "finish_reason": "length" if is_cut else "stop", "logprobs": logprobs}
        details = {"completion_tokens_details": {"reasoning_tokens": self.hidden}} if self.hidden else {}
        usage = {"prompt_tokens": 30, "completion_tokens": self.hidden + 5, "total_tokens": self.hidden + 35, **details}
        return JSONResponse({"model": "stub-model-2026", "choices": [choice], "usage": usage})


def test_a_family_that_thinks_out_of_sight_and_takes_no_sampling_settings() -> None:
    server = Family(
        {
            "max_tokens": "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
            "temperature": "Unsupported value: 'temperature' does not support 0. Only the default (1) is supported.",
            "top_p": "Unsupported parameter: 'top_p' is not supported with this model.",
            "stop": "Unsupported parameter: 'stop' is not supported with this model.",
            "logprobs": "You are not allowed to request logprobs from this model.",
        },
        hidden=448,
    )
    with server:
        found = tried(server)
    assert found.answers and found.calls == 6 and found.thinks == "hidden"
    assert found.refused == ("temperature", "top_p")
    assert (found.json_schema, found.logprobs, found.tools) == (True, False, True)
    lines = {row.title: row for row in capabilities.rows(found, room=1_000)}
    assert lines["Thinks"].detail == "Not shown: only its tokens are counted. Room for thinking: 1,000 tokens."
    assert "stop" not in lines["Settings"].detail and "stub-model-2026" in lines["Served by"].detail


def test_a_family_that_deprecates_sampling_settings_and_passes_over_schema_and_log_probabilities() -> None:
    server = Family(
        {
            "temperature": "`temperature` is deprecated for this model.",
            "top_p": "`top_p` is deprecated for this model.",
        },
        passed_over=("response_format", "logprobs", "top_logprobs"),
    )
    with server:
        found = tried(server)
        assert "temperature" not in server.seen[-1].body
    assert found.answers and found.thinks == "no" and found.refused == ("temperature", "top_p")
    assert (found.json_schema, found.logprobs, found.tools) == (False, False, True)


def test_a_family_that_thinks_in_its_answer() -> None:
    with Family({}, opening="<think>\nLet me see.\n\nIt is easy.\n</think>\n\n") as server:
        found = tried(server)
        assert all("stop" not in seen.body for seen in server.seen), "a stop would cut its thinking"
    assert found.answers and found.thinks == "inline" and not found.refused
    assert (found.json_schema, found.logprobs, found.tools) == (True, True, True)


class Thinker:
    """A model that thinks as it is told."""

    id = "mine/thinker"

    def __init__(self, thinking: Thinking | None, text: str = "42") -> None:
        self._answer = ModelAnswer(text=text, thinking=thinking)
        self.asked = 0

    async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
        self.asked += 1
        return self._answer


@pytest.mark.parametrize(
    ("thinking", "text", "thinks"),
    [
        (None, "42", "no"),
        (Thinking(kind="raw", text="Let me add."), "<think>Let me add.</think>42", "inline"),
        (Thinking(kind="raw", text="Let me add."), "42", "field"),
        (Thinking(kind="summary", text="It adds."), "42", "field"),
        (Thinking(kind="hidden", tokens=64), "42", "hidden"),
    ],
    ids=["no", "inline", "field", "summary", "hidden"],
)
def test_how_a_model_thinks(thinking: Thinking | None, text: str, thinks: str) -> None:
    model = Thinker(thinking, text)
    found = asyncio.run(find_capabilities(model))
    assert found.thinks == thinks and found.calls == model.asked == 6
    line = next(row for row in capabilities.rows(found, room=4_000) if row.title == "Thinks")
    assert line.holds is (True if thinks != "no" else None)
    assert ("Room for thinking: 4,000 tokens." in line.detail) is (thinks != "no")


def test_kept_answers_are_not_what_is_tried(tmp_path: Path) -> None:
    thinker = Thinker(None)
    model = Cached(thinker, ResponseCache(tmp_path), "account")
    for _ in range(2):
        asyncio.run(find_capabilities(model))
    assert thinker.asked == 12


def test_results_are_kept_by_the_server_s_address(tmp_path: Path) -> None:
    with StubServer(able) as one, StubServer(unable) as other:
        models = [Endpoint(Connection(server.config()), "stub-model") for server in (one, other)]
        for server, model in zip((one, other), models, strict=True):
            capabilities.save_capabilities(tried(server), model, tmp_path)
    results = [capabilities.saved_capabilities(model, tmp_path) for model in models]
    assert [result and result.tools for result in results] == [True, False]
    (tmp_path / "capabilities.json").write_text("{", encoding="utf-8")
    assert capabilities.saved_capabilities(models[0], tmp_path) is None


def test_a_robot_is_asked_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "try", "control/fickle"]) == 0
    printed = capsys.readouterr().out
    assert "control/fickle · 0 calls" in printed and "A robot: it answers only the questions of its lab" in printed


def test_the_command_line_tries_a_model_and_keeps_the_result(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with StubServer(able, refused=("seed",)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-stub")
        assert main(["models", "try", "openai/stub-model", "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["refused"] == ["seed"] and found["tools"] is True
        result = capabilities.saved_capabilities(entry.catalog().get("openai/stub-model"), entry.home.home())  # type: ignore[attr-defined]
        assert result is not None and result.refused == ("seed",)
        assert main(["models", "try", "openai/stub-model"]) == 0
        assert "no   Seed" in capsys.readouterr().out
    assert main(["models", "try", "openai/stub-model"]) == 3, "nobody answers any more"
    assert main(["models", "try", "gpt-4o"]) == 2
    assert "Did you mean openai/gpt-4o?" in capsys.readouterr().err


def test_the_list_is_still_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models"]) == 0
    assert "control/fickle" in capsys.readouterr().out
