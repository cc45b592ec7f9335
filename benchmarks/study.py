"""What a whole study of Ask costs beside the bare calls it makes, and beside Inspect AI making the same calls.

python benchmarks/study.py [RUNS] [ROUNDS] [--inspect PYTHON]

All ask one server without latency, in a process of its own, the same requests, as many at once, in turns within one go.
Processor time of the process that asks is the measure, since other work on the machine hardly changes it; the ratios
are the result. *Bare* is asked twice: with the client library alone (`openai`, streaming, as its README has it), and
through the app's endpoint. Inspect AI is no requirement of the app: PYTHON is an interpreter that has it; without one
it is looked for here, and left out where it is not found.
"""

import argparse
import asyncio
import json
import multiprocessing
import subprocess
import sys
import tempfile
import time
from collections.abc import Coroutine
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import openai

from core import entry
from core.events import Asked, Request
from core.journal import read
from core.models.catalog import Catalog
from core.models.settings import EndpointConfig
from core.studies import plan
from core.studies.execute import Making
from tests.support.plausible import Plausible
from tests.support.stub_server import StubServer

AT_ONCE = 16
COUNTERFACTUALS = 20

STUDY = """
at_once = 10
[[part]]
lab = "ask"
spec = {{ model = "stub/stub-model", counterfactuals = {counterfactuals} }}
grid = {{ question = {questions} }}
"""


def serve(pipe: Connection) -> None:
    """Answer on loopback until the other end of the pipe says so."""
    with StubServer(Plausible()) as server:
        pipe.send(server.base_url)
        pipe.recv()


def measured(work: Coroutine[Any, Any, None]) -> tuple[float, float]:
    """Seconds of processor time and of the clock."""
    cpu, clock = time.process_time(), time.perf_counter()
    asyncio.run(work)
    return time.process_time() - cpu, time.perf_counter() - clock


def study(catalog: Catalog, folder: Path, name: str, runs: int) -> tuple[tuple[float, float], list[Request]]:
    """Make a study of so many runs; what it took, and every call it made."""
    questions = [f"Can penguin {number} of {name} fly?" for number in range(runs)]
    file = folder / f"{name}.toml"
    file.write_text(STUDY.format(counterfactuals=COUNTERFACTUALS, questions=json.dumps(questions)))
    described = plan.read(file, entry.labs())
    journals = folder / name
    journals.mkdir()

    async def make() -> None:
        outcome = await Making(described, entry.labs(), catalog.get, journals).run_all(described.runs)
        assert len(outcome.completed) == runs, outcome

    took = measured(make())
    asked = [event for path in journals.glob("*.jsonl") for event in read(path).events if isinstance(event, Asked)]
    return took, [
        Request(role=one.role, model=one.model, messages=one.messages, sampling=one.sampling, repeat=one.repeat)
        for one in asked
    ]


async def through_endpoint(catalog: Catalog, requests: list[Request]) -> None:
    free = asyncio.Semaphore(AT_ONCE)

    async def one(request: Request) -> None:
        async with free:
            await catalog.get(request.model).answer(request, lambda text: None)

    await asyncio.gather(*map(one, requests))


def sent(request: Request) -> dict[str, Any]:
    """A call's parameters by the API's names."""
    sampling = request.sampling.model_dump(exclude_none=True, exclude={"stop"})
    messages = [{"role": turn.role, "content": turn.content} for turn in request.messages]
    stop = {"stop": list(request.sampling.stop)} if request.sampling.stop else {}
    return {"messages": messages, "sampling": sampling | stop}


async def through_client(url: str, requests: list[Request]) -> None:
    free = asyncio.Semaphore(AT_ONCE)

    async def one(call: dict[str, Any]) -> None:
        async with free:
            stream = await client.chat.completions.create(
                model="stub-model", messages=call["messages"], stream=True, **call["sampling"]
            )
            text = "".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices])
            assert text

    async with openai.AsyncOpenAI(base_url=url, api_key="none") as client:
        await asyncio.gather(*map(one, map(sent, requests)))


def inspected(python: str, url: str, folder: Path, requests: list[Request]) -> tuple[float, float]:
    """Processor time and seconds that Inspect AI takes for the same calls."""
    file = folder / "calls.jsonl"
    file.write_text("\n".join(json.dumps(sent(request)) for request in requests), encoding="utf-8")
    script = ROOT / "benchmarks" / "inspect" / "calls.py"
    arguments = [python, str(script), str(file), url, "stub-model", str(AT_ONCE), str(folder / "logs")]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode:
        sys.exit(f"Inspect AI did not answer:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    found = json.loads(done.stdout.strip().splitlines()[-1])
    assert found["calls"] == len(requests), found
    return found["cpu"], found["seconds"]


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("runs", nargs="?", type=int, default=5)
    options.add_argument("rounds", nargs="?", type=int, default=3)
    options.add_argument("--inspect", metavar="PYTHON", default=sys.executable if find_spec("inspect_ai") else "")
    given = options.parse_args()
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    server = context.Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    url = ours.recv()
    took: dict[str, list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        config = EndpointConfig(name="stub", base_url=url, timeout=60, concurrency=AT_ONCE)
        catalog = Catalog(home=folder, journals=folder, read=lambda path: [], endpoints=[config])
        # What is loaded on first use is not what is measured.
        _, requests = study(catalog, folder, "first", 1)
        measured(through_client(url, requests))
        for number in range(given.rounds):
            of_study, requests = study(catalog, folder, f"study{number}", given.runs)
            took.setdefault("a whole study", []).append(of_study)
            took.setdefault("bare calls, the app's endpoint", []).append(measured(through_endpoint(catalog, requests)))
            took.setdefault("bare calls, openai's client", []).append(measured(through_client(url, requests)))
            if given.inspect:
                took.setdefault("Inspect AI", []).append(inspected(given.inspect, url, folder, requests))
    ours.send("enough")
    server.join()
    calls = len(requests)
    print(f"{given.runs} runs, {calls} calls, {AT_ONCE} at once; medians of {given.rounds} rounds")
    whole = took["a whole study"]
    for name, pairs in took.items():
        cpu, clock = (median(one) for one in zip(*pairs, strict=True))
        ratio = median(mine / other for (mine, _), (other, _) in zip(whole, pairs, strict=True))
        print(
            f"{name:32} {cpu / calls * 1000:5.2f} ms of processor a call, {calls / cpu:5.0f} calls a processor second, "
            f"{calls / clock:5.0f} calls/s; study / this {ratio:.2f}"
        )
    if not given.inspect:
        print("Inspect AI is not installed here: name an interpreter that has it (--inspect PYTHON) to compare.")


if __name__ == "__main__":
    main()
