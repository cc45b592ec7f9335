"""Killed again and again, does a run lose anything, or pay twice?

python benchmarks/soak.py [KILLS]

A run of Check on the command line is killed (SIGKILL) at a moment drawn by chance and gone on with, until it is
complete; then the next begins, until there were so many kills. The server it asks counts. Fails where an event is lost,
a call that the journal holds is asked again, or the figures are not those of a run that nobody killed.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from core import journal
from core.events import Answered, Asked, Event, Finished, Scored
from tests.support.plausible import telling
from tests.support.stub_server import StubServer

KILLS = 10
DELAY = 0.1
"""Seconds a call: a run that is left alone takes about three."""

RUN = ("check", "sentiment", "--limit", "6", "--model", "openai/stub-model", "--json")


def asked_by(server: StubServer) -> Counter[str]:
    """How often each request has reached the server."""
    return Counter(json.dumps(seen.body, sort_keys=True) for seen in server.seen)


def begun(home: Path, *command: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "EXPLAIN_HOME": str(home)}
    return subprocess.Popen(
        [sys.executable, "-m", "core", *command],
        cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip


def journal_of(home: Path) -> Path | None:
    """The run's journal. One that was killed before its first line holds nothing, and another took its place."""
    return next((path for path in (home / "journals").glob("*.jsonl") if journal.read(path).events), None)


def events_of(home: Path) -> list[Event]:
    path = journal_of(home)
    return journal.read(path).events if path else []


def figures(events: list[Event]) -> list[tuple[object, ...]]:
    kept = {
        (e.case, e.metric, e.rules, e.item): (e.value, e.low, e.high, e.n, e.of)
        for e in events
        if isinstance(e, Scored)
    }
    return sorted(((*key, *value) for key, value in kept.items()), key=str)


def complete(events: list[Event]) -> bool:
    return bool(events) and isinstance(events[-1], Finished) and events[-1].status == "completed"


def killed_until_complete(home: Path, server: StubServer, left: int, chance: random.Random) -> tuple[int, int]:
    """How often the run was killed, and how many calls were on their way then: those may be asked again."""
    kills = lost = 0
    before: list[Event] = []
    while not complete(before):
        path = journal_of(home)
        process = begun(home, *(("resume", path.stem, "--json") if path else RUN))
        if kills < left:
            try:
                process.wait(chance.uniform(0.8, 3.0))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                kills += 1
        _, said = process.communicate(timeout=120)
        assert process.returncode in (0, -signal.SIGKILL), f"the command failed ({process.returncode}): {said.decode()}"
        after = events_of(home)
        assert after[: len(before)] == before, "an event that was there is gone, or another"
        before = after
        lost = len(server.seen) - sum(isinstance(event, Answered) and not event.cached for event in after)
        time.sleep(0.05)
    return kills, lost


def main() -> None:
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else KILLS
    chance = random.Random(0)
    expected: list[tuple[object, ...]] | None = None
    kills = runs = again = calls = 0
    began = time.monotonic()
    while kills < wanted or expected is None:
        with tempfile.TemporaryDirectory() as folder, StubServer(telling(), delay=DELAY) as server:
            os.environ.update(OPENAI_BASE_URL=server.base_url, OPENAI_API_KEY="key-for-the-stub")
            home = Path(folder)
            first = expected is None
            here, lost = killed_until_complete(home, server, 0 if first else wanted - kills, chance)
            events = events_of(home)
            ours = figures(events)
            assert ours, "a run without figures shows nothing"
            expected = expected or ours
            assert ours == expected, "the figures are not those of a run that nobody killed"
            answered = Counter(event.call for event in events if isinstance(event, Answered))
            assert set(answered.values()) == {1}, "a call that the journal holds was asked again"
            asked = Counter(event.call for event in events if isinstance(event, Asked))
            # Each kill may lose what was on its way, eight calls at once at most; nothing else is asked twice.
            assert lost <= 8 * here, f"{lost} calls more than were answered, after {here} kills"
            repeated = {request: n for request, n in asked_by(server).items() if n > 1}
            kills, runs, again, calls = kills + here, runs + (not first), again + lost, calls + len(asked)
            if here:
                print(f"{kills:4} kills: {here} in this run, {lost} of {len(server.seen)} requests were on their way, "
                      f"{len(repeated)} reached the server again")  # fmt: skip
    print(
        f"{kills} kills in {runs} runs with {calls} calls, {time.monotonic() - began:.0f} s: no event lost, nothing "
        f"that was kept asked again, equal figures; {again} requests on their way were lost"
    )


if __name__ == "__main__":
    main()
