"""A class that votes: phones join a room, each hears of it over a stream, and all vote at the same moment on each card.

python benchmarks/room.py [PHONES] [--cards 5] [--kill] [--sessions 5]

It prints how long a vote takes until it is acknowledged, beside an empty route that is asked as often in the same run,
and how long a reveal takes to the last phone, while the wall is open too. All of it includes the work of this process,
which is every phone. With --kill the server is killed in the middle of a vote and started again: each phone finds its
acknowledged vote as it was, and comes back by itself. With --sessions the lesson lasts a minute, and so many full
sessions of the app beside it run a robot in Ask once a minute.
"""

import argparse
import asyncio
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import httpx2

ROOT = Path(__file__).resolve().parents[1]
NAME = "class.example.org"
EMPTY = "/_stcore/health"
MINUTE = 60.0
PATIENCE = 60.0
"""Seconds after which a phone that has not been told something never will be."""

MOST_VOTE, MOST_TIMES, MOST_REVEAL = 300, 10, 1000
"""What is wanted: milliseconds for a vote, and as a multiple of an empty route; milliseconds for a reveal."""


class App:
    """The app as a host starts it, on a free port of loopback."""

    def __init__(self, home: Path) -> None:
        self._home = home
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        environment = {**os.environ, "EXPLAIN_HOME": str(self._home), "EXPLAIN_TOKEN": "no", "EXPLAIN_HOSTS": NAME}
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(self.port)]
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=quiet, stderr=quiet)
        while self._process.poll() is None:
            with suppress(OSError), urllib.request.urlopen(f"{self.url}{EMPTY}", timeout=1):
                return
            time.sleep(0.1)
        raise RuntimeError("The app did not start.")

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End it."""
        self._process.send_signal(how)
        self._process.wait(60)


class Phone:
    """One phone: `seen` holds when it was told of each phase of each card, in seconds, `acknowledged` its votes by
    card, and `came` how often it was told something on a new connection.
    """

    def __init__(self, url: str) -> None:
        self._client = httpx2.AsyncClient(base_url=url, timeout=60, limits=httpx2.Limits(max_connections=2))
        self.seen: dict[tuple[str, int], float] = {}
        self.acknowledged: dict[int, str] = {}
        self.came = 0

    async def join(self, code: str) -> None:
        """Open the page, which sets the cookie, and join."""
        await self._client.get("/join", headers={"accept": "text/html"})
        (await self._client.post("/room/join", json={"code": code})).raise_for_status()

    async def listen(self, code: str) -> None:
        """Hear of the room until it is over, and come back when the connection is lost."""
        while True:
            with suppress(httpx2.HTTPError):
                async with self._client.stream("GET", f"/room/events/phone/{code}") as stream:
                    is_new = True
                    async for line in stream.aiter_lines():
                        if line.startswith("data: "):
                            self.came += is_new
                            is_new = False
                            now = json.loads(line.removeprefix("data: "))
                            self.seen.setdefault((now["phase"], now["place"]), time.monotonic())
                            if now["phase"] == "over":
                                return
            await asyncio.sleep(0.5)

    async def vote(self, code: str, place: int, value: str) -> float:
        """Seconds until the vote was acknowledged. Raises httpx2.HTTPError."""
        began = time.monotonic()
        reply = await self._client.post("/room/vote", json={"code": code, "place": place, "value": value})
        reply.raise_for_status()
        self.acknowledged[place] = value
        return time.monotonic() - began

    async def kept(self, code: str) -> str:
        """Its vote on the open card, as the server has it."""
        return str((await self._client.get(f"/room/now/phone/{code}")).json()["vote"])

    async def empty(self) -> float:
        """Seconds of a request that does nothing."""
        began = time.monotonic()
        await self._client.get(EMPTY)
        return time.monotonic() - began

    async def close(self) -> None:
        """Close its connections."""
        await self._client.aclose()


async def everybody(phones: list[Phone], does: Callable[[Phone], Awaitable[float]]) -> list[float]:
    """How long it took each of the phones, which begin at the same moment."""
    return sorted(await asyncio.gather(*(does(phone) for phone in phones)))


async def until(holds: Callable[[], bool]) -> None:
    """Wait until that holds. Raises TimeoutError after PATIENCE."""
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110  it is what phones were told, which no event tells
            await asyncio.sleep(0.002)


def p95(seconds: list[float]) -> float:
    """The 95th percentile in milliseconds."""
    return 1000 * sorted(seconds)[int(0.95 * (len(seconds) - 1))]


async def robots(url: str, wait: float, over: asyncio.Event) -> list[float]:
    """A full session that runs a robot once a minute, after `wait` seconds and until it is `over`. Returns the seconds
    from each click to its verdict.
    """
    session, took = importlib.import_module("class").Session, []
    while True:
        with suppress(TimeoutError):
            await asyncio.wait_for(over.wait(), wait)
        if over.is_set():
            return took
        began = time.monotonic()
        if (seen := await session(url).go()) is not None:
            took.append(seen[1])
        wait = max(0.0, MINUTE - (time.monotonic() - began))


async def beside(app: App, sessions: int, lesson: Callable[[float], Awaitable[None]]) -> None:
    """Play the lesson beside so many full sessions, and print what these saw."""
    over = asyncio.Event()
    tasks = [asyncio.create_task(robots(app.url, MINUTE * place / sessions, over)) for place in range(sessions)]
    await lesson(MINUTE if sessions else 0.0)
    over.set()
    took = await asyncio.gather(*tasks, return_exceptions=True)
    seen = sorted(seconds for one in took if not isinstance(one, BaseException) for seconds in one)
    if sessions:
        most = f"; from the click at most {seen[-1]:.1f} s" if seen else ""
        print(f"Beside it {sessions} full sessions saw {len(seen)} verdicts of robots{most}.")
    for fault in {repr(one) for one in took if isinstance(one, BaseException)}:
        print(f"A session failed: {fault}")


async def watch(teacher: httpx2.AsyncClient, code: str) -> None:
    """Hear what the wall is told, as long as the server runs."""
    while True:
        with suppress(httpx2.HTTPError):
            async with teacher.stream("GET", f"/room/events/wall/{code}") as stream:
                async for _ in stream.aiter_lines():
                    pass
        await asyncio.sleep(0.5)


async def killed(
    app: App, phones: list[Phone], code: str, place: int, vote: Callable[[Phone], Awaitable[float]]
) -> None:
    """Kill the server in the middle of a vote and start it again. Asserts that each phone's acknowledged vote is there,
    and that each phone comes back by itself.
    """
    before = [phone.came for phone in phones]
    tasks = [asyncio.create_task(vote(phone)) for phone in phones]
    await until(lambda: 3 * sum(place in phone.acknowledged for phone in phones) >= len(phones))
    app.stop(signal.SIGKILL)
    await asyncio.gather(*tasks, return_exceptions=True)
    voted = [phone for phone in phones if place in phone.acknowledged]
    app.start()
    began = time.monotonic()
    await until(lambda: all(phone.came > came for phone, came in zip(phones, before, strict=True)))
    took = time.monotonic() - began
    print(f"Killed after {len(voted)} acknowledged votes; all phones were back {took:.2f} s after it answered again.")
    lost = [phone for phone in voted if await phone.kept(code) != phone.acknowledged[place]]
    assert not lost, f"{len(lost)} votes that were acknowledged are lost"


async def lesson(app: App, number: int, cards: int, is_killed: bool, seconds: float) -> None:
    """Play so many cards, over at least so many seconds, and print what was measured."""
    teacher = httpx2.AsyncClient(base_url=app.url, timeout=60)
    await teacher.get("/wall", headers={"accept": "text/html"})
    code = (await teacher.post("/room/open", json={"pack": "first"})).json()["code"]

    async def go(to: str = "next") -> dict[str, object]:
        now = (await teacher.get(f"/room/now/wall/{code}")).json()
        body = {"code": code, "phase": now["phase"], "place": now["place"], "to": to}
        made: dict[str, object] = (await teacher.post("/room/go", json=body)).json()
        return made

    phones = [Phone(app.url) for _ in range(number)]
    began = time.monotonic()
    await asyncio.gather(*(phone.join(code) for phone in phones))
    print(f"{number} phones joined in {time.monotonic() - began:.1f} s")
    listening = [asyncio.create_task(phone.listen(code)) for phone in phones]
    watching = asyncio.create_task(watch(teacher, code))
    votes: list[float] = []
    empty: list[float] = []
    reveals: list[float] = []
    started = time.monotonic()
    for place in range(cards):
        await asyncio.sleep(max(0.0, started + seconds * place / cards - time.monotonic()))
        wall = await go()
        options = list(wall["round"]["card"]["options"])  # type: ignore[index]
        empty += await everybody(phones, Phone.empty)
        chosen = {phone: options[at % len(options)] for at, phone in enumerate(phones)}

        async def vote(phone: Phone, place: int = place, chosen: dict[Phone, str] = chosen) -> float:
            return await phone.vote(code, place, chosen[phone])

        if is_killed and place == 1:
            await killed(app, phones, code, place, vote)
        votes += await everybody(phones, vote)
        await go()
        at = time.monotonic()
        wall = await go()
        counted = {value: sum(some) for value, some in wall["counts"].items()}  # type: ignore[attr-defined]
        assert +Counter(counted) == Counter(chosen.values()), f"{counted} votes of {number} phones"
        await until(lambda place=place: all(("revealed", place) in phone.seen for phone in phones))
        reveals.append(max(phone.seen["revealed", place] for phone in phones) - at)
    await go("end")
    await asyncio.wait_for(asyncio.gather(*listening), PATIENCE)
    watching.cancel()
    times = p95(votes) / p95(empty)
    print(f"Vote acknowledged, p95: {p95(votes):.0f} ms (wanted: {MOST_VOTE}); an empty route: {p95(empty):.0f} ms")
    print(f"That is {times:.1f} times the empty route (wanted: {MOST_TIMES}).")
    print(f"Reveal to the last phone: {1000 * max(reveals):.0f} ms at most (wanted: {MOST_REVEAL}).")
    print("Every vote was counted once.")
    for one in (*phones, teacher):
        await (one.close() if isinstance(one, Phone) else one.aclose())


def main() -> None:
    """Start the app, and play."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("phones", type=int, nargs="?", default=200)
    parser.add_argument("--cards", type=int, default=5)
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--sessions", type=int, default=0)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        app = App(Path(folder))
        try:

            async def play(seconds: float) -> None:
                await lesson(app, chosen.phones, chosen.cards, chosen.kill, seconds)

            asyncio.run(beside(app, chosen.sessions, play))
        finally:
            app.stop()


if __name__ == "__main__":
    main()
