"""How much the app itself costs, on a zero-latency server: a whole run against the bare calls it makes.

Ratios within one process are the result; milliseconds are only for orientation.
"""

import asyncio
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.events import Event, Message, Request
from core.journal import Journal
from core.labs.ask.lab import LAB
from core.labs.ask.tasks import AskSpec
from core.models.catalog import Catalog
from core.runs.engine import RunIO, RunRequest, execute
from core.transcript import transcript
from tests.support.plausible import Plausible
from tests.support.stub_server import StubServer

COUNTERFACTUALS = 20
RUNS = 5


async def bare(catalog: Catalog, calls: int) -> float:
    """Seconds for as many bare calls through the endpoint, as many at once as a run makes."""
    model = catalog.get("stub/stub-model")
    request = Request(role="answerer", model=model.id, messages=(Message(role="user", content="Is it so?"),))
    free = asyncio.Semaphore(16)

    async def one() -> None:
        async with free:
            await model.answer(request, lambda text: None)

    began = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(calls)))
    return time.perf_counter() - began


async def whole(catalog: Catalog, folder: Path, number: int) -> tuple[float, float, list[Event]]:
    """Seconds until the first score and seconds per token seen, for one run with its journal on disk."""
    events: list[Event] = []
    waits: list[float] = []
    first_score = 0.0
    began = time.perf_counter()
    with Journal(folder / f"r{number}.jsonl") as journal:

        def publish(event: Event) -> None:
            nonlocal first_score
            journal.append(event)
            events.append(event)
            if event.kind == "scored" and not first_score:
                first_score = time.perf_counter() - began
            if event.kind == "answered" and event.first_token_seconds is not None:
                waits.append(event.seconds - event.first_token_seconds)

        spec = AskSpec(question="Can a penguin fly?", model="stub/stub-model", counterfactuals=COUNTERFACTUALS)
        run = f"r{number}"
        await execute(RunRequest(LAB, spec, run), RunIO(catalog.get, publish, settle=journal.settled))
    return first_score, sum(waits) / len(waits), [event for event in events if event.kind != "token"]


async def main() -> None:
    with StubServer(Plausible()) as server, tempfile.TemporaryDirectory() as folder:
        config = server.config(concurrency=16)
        catalog = Catalog(home=Path(folder), journals=Path(folder), read=lambda path: [], endpoints=[config])
        calls = 1 + 3 * COUNTERFACTUALS
        await bare(catalog, calls)
        seconds_bare = min([await bare(catalog, calls) for _ in range(RUNS)])
        runs = [await whole(catalog, Path(folder), number) for number in range(RUNS)]
        seconds_run = min(seconds for seconds, _, _ in runs)
        print(f"{calls} bare calls            {seconds_bare * 1000:7.0f} ms  {calls / seconds_bare:6.0f} calls/s")
        print(f"a run of {calls} calls        {seconds_run * 1000:7.0f} ms  {calls / seconds_run:6.0f} calls/s")
        print(f"run / bare calls         {seconds_run / seconds_bare:7.2f}")
        events = runs[0][2]
    began = time.perf_counter()
    for _ in range(20):
        state = transcript(events)
        LAB.view(state.case(state.only))
    fold = (time.perf_counter() - began) / 20
    print(f"folding {len(events)} events for the page {fold * 1000:5.1f} ms, {fold / seconds_run:.4f} of a run")


if __name__ == "__main__":
    asyncio.run(main())
