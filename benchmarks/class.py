"""A class at once: many sessions open Ask, each runs a control, and each waits until it sees the verdict. Then all of
them watch one run.

python benchmarks/class.py [SESSIONS] [--attack]

The app is hosted, where at first 1,024 files may be open. With --attack another address (127.0.0.2, on Linux) opens
all it can before the class comes: connections that say nothing, event streams, tabs with fresh cookies. Those that are
ended it opens again after half a minute.

Each session speaks Streamlit's own protocol over a websocket, and hears of its run as the stage does, as a browser, but
draws nothing: what is measured is the server. Beside them someone asks the server's health five times a second.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import multiprocessing
import os
import resource
import sys
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import httpx2
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

if TYPE_CHECKING:
    from core.server.annotations import Annotations

VERDICT = '"verdict":{'
"""Stands in a scene that has one."""

PATIENCE = 120.0
"""Seconds that a session waits for its verdict."""


@dataclass
class Session:
    """One person with one tab."""

    url: str
    cookies: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    query: str = ""
    page: str = ""
    finished: asyncio.Event = field(default_factory=asyncio.Event)
    verdict: asyncio.Event = field(default_factory=asyncio.Event)
    actions: asyncio.Event = field(default_factory=asyncio.Event)
    has_actions: bool = False
    _drawn_actions: bool = False
    polls: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    following: asyncio.Task[None] | None = None

    async def go(self) -> tuple[float, float, bool] | None:
        """Seconds to the form, seconds from the click to the verdict, and whether the buttons and links for a finished
        run stand under it in the end; None where the verdict never came.
        """
        began = time.monotonic()
        address = self.url.replace("http", "ws", 1) + "/_stcore/stream"
        self.cookies = await asyncio.to_thread(cookies, self.url)
        headers = {"Cookie": self.cookies}
        # A browser does not ping, so a slow answer ends no connection from this side.
        quiet = {"ping_interval": None, "max_size": None, "additional_headers": headers}
        async with websockets.connect(address, subprotocols=["streamlit"], origin=self.url, **quiet) as tab:
            self._tab = tab
            listening = asyncio.create_task(self._listen())
            await self._send(page_name="ask")
            await asyncio.wait_for(self.finished.wait(), PATIENCE)
            form, clicked = time.monotonic() - began, time.monotonic()
            await self._send(click=next(id for label, id in self.labels.items() if label.startswith("Ask ·")))
            try:
                await asyncio.wait_for(self.verdict.wait(), PATIENCE)
                seen = time.monotonic() - clicked
                with suppress(TimeoutError):
                    await asyncio.wait_for(self.actions.wait(), 30)
                # Whatever is still on its way may take them away again.
                await asyncio.sleep(3)
                return form, seen, self.has_actions
            except TimeoutError:
                return None
            finally:
                listening.cancel()
                if self.following is not None:
                    self.following.cancel()
                for poll in self.polls.values():
                    poll.cancel()

    async def _send(self, page_name: str = "", click: str = "", fragment: str = "") -> None:
        message = BackMsg()
        state = message.rerun_script
        state.query_string = self.query
        state.page_name = page_name
        state.page_script_hash = self.page
        state.fragment_id = fragment
        state.is_auto_rerun = bool(fragment)
        if click:
            pressed = state.widget_states.widgets.add()
            pressed.id, pressed.trigger_value = click, True
        await self._tab.send(message.SerializeToString())

    async def _listen(self) -> None:
        async for data in self._tab:
            message = ForwardMsg()
            message.ParseFromString(data)
            kind = message.WhichOneof("type")
            if kind == "navigation":
                self.page = message.navigation.page_script_hash
            elif kind == "stop_auto_rerun":
                for poll in self.polls.values():
                    poll.cancel()
                self.polls.clear()
            elif kind == "page_info_changed":
                self.query = message.page_info_changed.query_string
                if (run := parse_qs(self.query).get("run")) and self.following is None:
                    self.following = asyncio.create_task(self._follow(run[0]))
            elif kind == "auto_rerun":
                rerun = message.auto_rerun
                if rerun.fragment_id not in self.polls:
                    self.polls[rerun.fragment_id] = asyncio.create_task(self._poll(rerun.fragment_id, rerun.interval))
            elif kind == "script_finished":
                self.finished.set()
                if message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                    # The whole page: what was not drawn this time is gone.
                    self.has_actions = self._drawn_actions
                    if self.has_actions:
                        self.actions.set()
                if message.script_finished != ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY:
                    self._drawn_actions = False
            elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
                element = message.delta.new_element
                if element.WhichOneof("type") == "button":
                    self.labels[element.button.label] = element.button.id
                elif element.WhichOneof("type") == "download_button":
                    self._drawn_actions = True

    async def _follow(self, run: str) -> None:
        async for event in told(self.url, run, self.cookies):
            if VERDICT in event:
                self.verdict.set()
        # The stage has the page drawn anew.
        await self._send()

    async def _poll(self, fragment: str, interval: float) -> None:
        while True:
            await asyncio.sleep(interval)
            await self._send(fragment=fragment)


def cookies(url: str, address: str = "127.0.0.1") -> str:
    """The cookie that a new browser at that address is given; empty where it is given none."""
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=60, source_address=(address, 0))
    with closing(connection):
        connection.request("GET", "/")
        return (connection.getresponse().headers["set-cookie"] or "").partition(";")[0]


async def told(url: str, run: str, cookies: str) -> AsyncIterator[str]:
    """The events of a run's first case, as they come."""
    headers = {"Cookie": cookies}
    async with (
        httpx2.AsyncClient(timeout=PATIENCE) as client,
        client.stream("GET", f"{url}/told/{run}/", headers=headers) as reply,
    ):
        async for line in reply.aiter_lines():
            if line.startswith("data: "):
                yield line


async def watching(url: str, sessions: int, keeping: Annotations) -> None:
    """All of them watch the run of one, who shares it."""
    one = Session(url)
    making = asyncio.create_task(one.go())
    while "run=" not in one.query:  # noqa: ASYNC110  the address comes with a message, and a turn of the loop is no wait
        await asyncio.sleep(0.05)
    run, began = parse_qs(one.query)["run"][0], time.monotonic()
    keeping.share(run, True)

    async def watch() -> tuple[float, int]:
        events, seen = 0, 0.0
        async for event in told(url, run, await asyncio.to_thread(cookies, url)):
            events += 1
            seen = seen or (time.monotonic() - began if VERDICT in event else 0.0)
        return seen, events

    over = asyncio.Event()
    health = asyncio.create_task(healthy(url, over))
    saw = await asyncio.gather(*(watch() for _ in range(sessions)))
    over.set()
    times = [seen for seen, _ in saw if seen]
    print(f"{len(times)} of {sessions} who watched one run saw its verdict, {sum(n for _, n in saw)} events in all")
    print(f"{'from its beginning':30} median {median(times):5.1f} s, at most {max(times):5.1f} s")
    took = await health
    print(f"{'health':30} median {median(took):5.2f} s, at most {max(took):5.2f} s")
    await making


async def healthy(url: str, over: asyncio.Event) -> list[float]:
    """How long the server took to say that it lives, each time it was asked."""

    def ask() -> float:
        began = time.monotonic()
        urllib.request.urlopen(f"{url}/_stcore/health", timeout=60).read()
        return time.monotonic() - began

    took = []
    while not over.is_set():
        took.append(await asyncio.to_thread(ask))
        await asyncio.sleep(0.2)
    return took


async def together(url: str, sessions: int) -> None:
    over = asyncio.Event()
    health = asyncio.create_task(healthy(url, over))
    outcomes = await asyncio.gather(*(Session(url).go() for _ in range(sessions)), return_exceptions=True)
    over.set()
    seen = [one for one in outcomes if isinstance(one, tuple)]
    print(
        f"{len(seen)} of {sessions} sessions saw their verdict; of these {sum(one[2] for one in seen)} had the actions"
    )
    for fault in {repr(one) for one in outcomes if isinstance(one, BaseException)}:
        print(f"  {fault}")
    for place, what in enumerate(("to the form", "from the click to the verdict")):
        if times := [one[place] for one in seen]:
            print(f"{what:30} median {median(times):5.1f} s, at most {max(times):5.1f} s")
    took = await health
    print(f"{'health':30} median {median(took):5.2f} s, at most {max(took):5.2f} s")


ATTACKER = "127.0.0.2"


def attack(url: str, run: str) -> None:
    """Keep 1,100 silent connections, 1,300 event streams of that run and 1,000 tabs open, as far as the app lets us."""
    place = url.removeprefix("http://")
    upgrade = (
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: streamlit\r\n"
    )

    async def keep_open(path: str, headers: str = "") -> None:
        while True:
            with suppress(OSError, http.client.HTTPException):
                fresh = await asyncio.to_thread(cookies, url, ATTACKER) if path else ""
                reader, writer = await asyncio.open_connection(*place.split(":"), local_addr=(ATTACKER, 0))
                if path:
                    asked = f"GET {path} HTTP/1.1\r\nHost: {place}\r\nCookie: {fresh}\r\n{headers}\r\n"
                    writer.write(asked.encode())
                while await reader.read(65_536):
                    pass
                writer.close()
            # The attacker takes its share of the app's processors here.
            await asyncio.sleep(30)

    async def all_of_it() -> None:
        silent = [keep_open("") for _ in range(1_100)]
        streams = [keep_open(f"/told/{run}/") for _ in range(1_300)]
        await asyncio.gather(*silent, *streams, *(keep_open("/_stcore/stream", upgrade) for _ in range(1_000)))

    asyncio.run(all_of_it())


@contextmanager
def attacked(url: str, run: str) -> Iterator[None]:
    """While another process attacks; a run's stream stays open where it is sealed."""
    attacker = multiprocessing.Process(target=attack, args=(url, run), daemon=True)
    attacker.start()
    try:
        # By then it has opened what it can.
        time.sleep(15)
        yield
    finally:
        attacker.terminate()
        attacker.join()


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("sessions", type=int, nargs="?", default=30)
    arguments.add_argument("--attack", action="store_true")
    given = arguments.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1_024, hard))

    from core import entry
    from core.runs.library import RunLibrary
    from core.server.annotations import Annotations
    from tests.browser.conftest import Server
    from tests.support.sealed_runs import laid

    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        keeping = Annotations(RunLibrary(home / "journals", entry.labs()))
        keys = {name: "" for name in ("OPENAI_API_KEY",) if name in os.environ}
        server = Server(home, EXPLAIN_HOSTS="class.example.org", **keys)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        sealed = laid(home / "journals", "simulatability", "somebody")
        keeping.share(sealed, True)
        keeping.seal(sealed, True)
        try:
            asyncio.run(together(server.url, 1))
            with attacked(server.url, sealed) if given.attack else nullcontext():
                asyncio.run(together(server.url, given.sessions))
                asyncio.run(watching(server.url, given.sessions, keeping))
        finally:
            server.stop()


if __name__ == "__main__":
    main()
