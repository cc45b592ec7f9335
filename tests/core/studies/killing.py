"""A study on a counting server, killed repeatedly while it runs."""

import contextlib
import io
import json
import os
import random
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any
from unittest import mock
from zlib import crc32

from core.__main__ import main
from core.events import Answered, Asked
from core.journal import read
from tests.conftest import WITHOUT_ENCODER
from tests.support import forked
from tests.support.stub_server import StubServer
from tests.support.waiting import until

ROOT = Path(__file__).resolve().parents[3]

STUDY = """
name = "killed"
at_once = 3
[[part]]
lab = "ask"
spec = { dataset = "world", limit = 4, model = "openai/stub-model", counterfactuals = 4 }
[[part]]
lab = "check"
spec = { limit = 4, controls = 1, model = "openai/stub-model" }
grid = { task = ["sentiment", "entailment"] }
"""


def steady(body: dict[str, Any]) -> str:
    """A plausible answer that depends only on the request."""
    asked = str(body["messages"][-1]["content"])
    chance = crc32(json.dumps([body["messages"], body.get("seed")]).encode())
    if "Starter question:" in asked:
        return (
            f"Can bird number {body.get('seed')} fly?\nYour guess of the robot's answer: So it will likely answer yes."
        )
    if "Paragraph:" in asked:
        return ("positive", "negative", "yes", "unknown")[chance % 4]
    return f"All birds fly. So the answer is {('yes', 'no')[chance % 2]}."


def environment(home: Path, server: StubServer) -> dict[str, str]:
    return {
        **os.environ,
        "EXPLAIN_HOME": str(home),
        "OPENAI_BASE_URL": server.base_url,
        "OPENAI_API_KEY": "none",
        "PYTHONPATH": WITHOUT_ENCODER,
    }


def key(messages: Any, seed: int | None) -> str:
    return json.dumps([messages, seed])


def answered(home: Path) -> Counter[str]:
    """How often the server's answer to each call is in the journals, by run and call."""
    found: Counter[str] = Counter()
    for path in (home / "journals").glob("study-*.jsonl"):
        asked: dict[str, str] = {}
        for event in read(path).events:
            if isinstance(event, Asked):
                messages = [{"role": one.role, "content": one.content} for one in event.messages]
                asked[event.call] = key(messages, event.sampling.seed)
            elif isinstance(event, Answered) and not event.cached and event.model.startswith("openai/"):
                found[f"{path.stem} {asked[event.call]}"] += 1
    return found


def table(home: Path, file: Path) -> list[dict[str, Any]]:
    printed = io.StringIO()
    with mock.patch.dict(os.environ, {"EXPLAIN_HOME": str(home)}), contextlib.redirect_stdout(printed):
        assert main(["study", "table", str(file), "--json"]) == 0
    return [json.loads(line) for line in printed.getvalue().splitlines()]


def kill_again_and_again(folder: Path, kills: int, seed: int = 0) -> int:
    """Run the study to its end, then again in other homes, with `kills` kill -9 in all at random moments during runs.
    Asserts that the tables are equal and that no call is repeated once its answer is on disk. Returns the number of
    homes.
    """
    chance = random.Random(seed)
    file = folder / "killed.toml"
    file.write_text(STUDY)
    homes, struck = 0, 0
    with StubServer(steady, delay=0.03) as server:
        _finish(file, folder / "whole", server)
        expected = table(folder / "whole", file)
        while struck < kills:
            homes += 1
            broken = folder / f"broken-{homes}"
            while struck < kills and _killed(file, broken, server, chance.random() * 0.5):
                struck += 1
            known, before = _known(broken), server.count
            _finish(file, broken, server)
            _none_again(server, before, known)
            assert set(answered(broken).values()) == {1}
            assert table(broken, file) == expected
            assert struck >= homes, "a study that is over before it can be killed shows nothing"
    return homes


def _finish(file: Path, home: Path, server: StubServer) -> None:
    forked.run("core", "study", "run", str(file), env=environment(home, server))


def _killed(file: Path, home: Path, server: StubServer, seconds: float) -> bool:
    """Continue the study, and kill -9 it `seconds` after its first call. Returns whether that was during a run."""
    known, before = _known(home), server.count
    with Path(os.devnull).open("wb") as nothing:
        process = forked.Forked("core", "study", "run", str(file), env=environment(home, server), stdout=nothing)
    until(lambda: server.count > before or process.poll() is not None)
    time.sleep(seconds)  # When it is killed is what differs from time to time.
    was_going = process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    _none_again(server, before, known)
    return was_going


def _known(home: Path) -> set[str]:
    return {one.partition(" ")[2] for one in answered(home)}


def _none_again(server: StubServer, before: int, known: set[str]) -> None:
    again = [one.body for one in server.seen[before:] if key(one.body["messages"], one.body.get("seed")) in known]
    assert not again, f"{len(again)} calls were asked again that had been answered"
