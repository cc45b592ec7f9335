"""What viewing a run of 1,000 cases costs: a viewer's polls while it goes on, and opening one of its cases.

The run is made by the command line against a scripted server on loopback; the app serves one viewer in Chromium. The
viewer's share of a core is what the server's process uses with the viewer less what it uses without, which is what the
index of the growing journal costs.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import psutil

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from core import entry, home
from core.transcript import Transcript
from tests.support.plausible import telling
from tests.support.stub_server import StubServer

CASES = 1_000
DELAY = 0.05
"""Seconds a call: with seven calls a case and eight at once the run takes about a minute."""

SECONDS = 20.0
"""For which the server's process is watched."""

LONGEST = 300.0
"""Seconds that the run may take."""

OPENED = 20
"""Cases that are opened."""

WORDS = "a superb and wonderful film with two leads who carry a story that moves slowly but stays with you for days"


def data_set(folder: Path) -> Path:
    """A file as SST-2's, with one sentence a case."""
    lines = [f"{WORDS} , number {number}\t1" for number in range(CASES)]
    path = folder / "dev.tsv"
    path.write_text("\n".join(["sentence\tlabel", *lines]) + "\n", encoding="utf-8")
    return path


@contextmanager
def process(*command: str, **environment: str) -> Iterator[psutil.Popen]:
    """A process of its own, ended with its children in the end."""
    started = psutil.Popen(
        [sys.executable, "-m", *command],
        cwd=ROOT, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield started
    finally:
        if started.poll() is None:
            started.terminate()
        started.wait(30)


def until(true, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise TimeoutError("waited in vain")
        time.sleep(0.1)


def share(server: psutil.Popen) -> float:
    """The share of a core that `server` uses for a while."""

    def used() -> float:
        times = server.cpu_times()
        return times.user + times.system

    before, began = used(), time.monotonic()
    time.sleep(SECONDS)
    return (used() - before) / (time.monotonic() - began)


def viewed(run: str) -> None:
    """Print what a viewer of the run, which goes on, costs the server."""
    from playwright.sync_api import sync_playwright

    chromium = next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), ""
    )
    if not chromium:
        print("No Chromium here: the viewer is not measured.")
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ("streamlit", "run", "app.py", "--server.port", str(port))
    with process(*command, EXPLAIN_TOKEN="no") as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--disable-gpu"])
        page = browser.new_page()
        until(lambda: answers(port))
        page.goto(f"http://127.0.0.1:{port}/methods")
        page.wait_for_selector("h1")
        time.sleep(3)
        page.goto("about:blank")
        without = share(server)
        page.goto(f"http://127.0.0.1:{port}/check?run={run}")
        page.wait_for_selector(".stage .run", timeout=60_000)
        time.sleep(3)
        before = state(run)
        with_viewer = share(server)
        after = state(run)
        going_on = "" if after.status is None else "  (the run ended meanwhile)"
        print(
            f"server without a viewer {without:7.1%} of a core, with one {with_viewer:7.1%}: "
            f"the viewer {with_viewer - without:7.1%}, at {ended(before)} to {ended(after)} of {CASES} cases{going_on}"
        )
        browser.close()


def answers(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def state(run: str) -> Transcript:
    return entry.jobs().case(run, "")


def ended(transcript: Transcript) -> int:
    return sum(one.result is not None for one in transcript.cases.values())


def opened(run: str) -> None:
    """Print how long one case of the run, which is over, takes to open."""
    cases = list(state(run).cases)
    took = {"opening one case": [], "of it the lab's view": []}
    for case in cases[:: max(len(cases) // OPENED, 1)]:
        began = time.perf_counter()
        transcript = entry.jobs().case(run, case)
        read = time.perf_counter()
        lab = entry.labs()[transcript.started.lab]
        lab.view(transcript.case(case)).sentences()
        took["opening one case"].append(time.perf_counter() - began)
        took["of it the lab's view"].append(time.perf_counter() - read)
    began = time.perf_counter()
    entry.jobs().watch(run)
    whole = time.perf_counter() - began
    size = (home.journals() / f"{run}.jsonl").stat().st_size / 1e6
    for what, seconds in took.items():
        print(f"{what:22} {median(seconds) * 1000:7.1f} ms, at most {max(seconds) * 1000:.1f} ms")
    print(f"{'opening the whole run':22} {whole * 1000:7.1f} ms  ({size:.0f} MB, {len(cases)} cases)")
    print(f"one case / whole run   {median(took['opening one case']) / whole:7.3f}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, StubServer(telling(), delay=DELAY) as stub:
        os.environ |= {
            "EXPLAIN_HOME": folder,
            "OPENAI_BASE_URL": stub.base_url,
            "OPENAI_API_KEY": "key-for-the-stub",
        }
        options = ("--model", "openai/stub-model", "--explanation", "attribution")
        items = ("--dataset", "sst-2", "--path", str(data_set(Path(folder))), "--limit", str(CASES))
        began = time.monotonic()
        with process("core", "check", "sentiment", *options, *items) as writer:
            journals = Path(folder) / "journals"
            until(lambda: any(journals.glob("*.jsonl")) or writer.poll() is not None)
            run = next(journals.glob("*.jsonl")).stem
            viewed(run)
            writer.wait(LONGEST)
        print(f"the run                {time.monotonic() - began:7.1f} s, {stub.count} calls")
        opened(run)


if __name__ == "__main__":
    main()
