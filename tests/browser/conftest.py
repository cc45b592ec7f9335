"""Fixtures with a real server and a real Chromium, for what only a browser shows."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Error,
    Page,
    Playwright,
    Request,
    TimeoutError,
    expect,
    sync_playwright,
)

from tests.conftest import WITHOUT_ENCODER, open_before
from tests.support.forked import Forked
from tests.support.stub_server import StubServer
from tests.support.waiting import until

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((path for name in NAMES if (path := shutil.which(name))), None)
QUIET = ["--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"]

expect.set_options(timeout=120_000)


class Server:
    """The app as a person starts it, on a free loopback port, with a home of its own. If `files` is given, its shell
    limits the number of open files to that. Unless it is `forked`, all is imported anew.
    """

    def __init__(
        self, home: Path, script: str = "app.py", files: int | None = None, forked: bool = True, **environment: str
    ) -> None:
        self._script = script
        self._files = files
        self._forked = forked and files is None
        self._environment = {**os.environ, "EXPLAIN_HOME": str(home), "EXPLAIN_TOKEN": "no", **environment}
        self.log = home.with_suffix(".log")
        """Its output."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        run = ["streamlit", "run", self._script, "--server.port", str(self.port)]
        command = [sys.executable, "-m", *run]
        if self._files is not None:
            command = ["sh", "-c", f'ulimit -n {self._files}; exec "$@"', "sh", *command]
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            self._process: Forked | subprocess.Popen[bytes]
            if self._forked:
                self._process = Forked(*run, env=self._environment, stdout=log, stderr=log)
            else:
                self._process = subprocess.Popen(command, cwd=ROOT, env=self._environment, stdout=log, stderr=log)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=1):
                    return
            except OSError:
                time.sleep(0.1)
        raise TimeoutError("the app did not start")

    @property
    def pid(self) -> int:
        return self._process.pid

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        self._process.send_signal(how)
        self._process.wait(timeout=60)


class Scripted:
    """Models behind one endpoint, each with its own script, so that one server serves many tests."""

    def __init__(self) -> None:
        self._scripts: dict[str, tuple[Callable[[dict[str, Any]], str], float]] = {}
        self.answers_left: dict[str, int] = {}
        self.answered = Counter[str]()
        self.stub = StubServer(
            self._answer,
            models=(),
            delay=lambda body: self._script(body)[1],
            held=lambda body: self._held(body["model"]),
        )

    def add(self, reply: Callable[[dict[str, Any]], str], delay: float) -> ScriptedModel:
        """Add a model that answers with `reply`, `delay` seconds after a request."""
        name = f"scripted-{len(self._scripts) + 1}"
        self._scripts[name] = (reply, delay)
        self.stub.models.append(name)
        return ScriptedModel(name, self)

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables with which an app reaches these models."""
        return {"OPENAI_BASE_URL": self.stub.base_url, "OPENAI_API_KEY": "key-for-the-stub"}

    def _script(self, body: dict[str, Any]) -> tuple[Callable[[dict[str, Any]], str], float]:
        return self._scripts.get(body["model"], (lambda body: "", 0.0))

    def _answer(self, body: dict[str, Any]) -> str:
        self.answered[body["model"]] += 1
        return self._script(body)[0](body)

    def _held(self, model: str) -> bool:
        if model not in self.answers_left:
            return False
        if self.answers_left[model]:
            self.answers_left[model] -= 1
            return False
        return True


class ScriptedModel:
    """One of these models."""

    def __init__(self, name: str, models: Scripted) -> None:
        self.id = f"openai/{name}"
        self._name = name
        self._models = models

    @property
    def count(self) -> int:
        """The number of requests so far."""
        return sum(seen.body["model"] == self._name for seen in self._models.stub.seen)

    def stop_after(self, answers: int) -> None:
        """Give this number of further answers and then none, for a run that must not end before its test."""
        self._models.answers_left[self._name] = answers

    def go_on(self) -> None:
        self._models.answers_left.pop(self._name, None)

    def answered(self) -> None:
        """Wait until every request so far has its answer."""
        until(lambda: self._models.answered[self._name] == self.count)


@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    if CHROMIUM is None:
        pytest.fail("No Chromium here. Install it (Debian: apt-get install chromium) to run the browser tests.")
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="package")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """A browser for tests that need more than one visitor, or a window of their own."""
    launched = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
    yield launched
    launched.close()


@pytest.fixture(scope="package")
def scripted() -> Iterator[Scripted]:
    """The models behind the app's endpoint."""
    models = Scripted()
    with models.stub:
        yield models


@pytest.fixture(autouse=True)
def all_go_on(scripted: Scripted) -> Iterator[None]:
    """Release answers that a failed test left waiting, so that no later test waits for them."""
    yield
    scripted.answers_left.clear()


@pytest.fixture(scope="package")
def app(tmp_path_factory: pytest.TempPathFactory, scripted: Scripted, with_encoder: str) -> Iterator[Server]:
    """One server for all tests, except those that stop theirs or need it empty."""
    server = Server(tmp_path_factory.mktemp("home"), PYTHONPATH=with_encoder, **scripted.variables)
    yield server
    server.stop()


@pytest.fixture
def serve(tmp_path: Path, recorded: Path) -> Iterator[Callable[..., Server]]:
    """`serve(NAME="value")` starts a server for this test with these variables, without the sentence encoder. Its index
    holds the recordings, as after a first visit.
    """
    started: list[Server] = []
    open_before(tmp_path / "home", recorded)

    def start(**environment: Any) -> Server:
        started.append(Server(tmp_path / "home", **{"PYTHONPATH": WITHOUT_ENCODER, **environment}))
        return started[-1]

    yield start
    for server in started:
        server.stop(signal.SIGKILL)


@pytest.fixture(scope="package")
def window(playwright: Playwright, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """A window for all tests that need no particular size. Its profile is on disk, so the app's scripts are fetched and
    compiled once; it asks for reduced motion, which no test looks at.
    """
    context = playwright.chromium.launch_persistent_context(
        tmp_path_factory.mktemp("profile"),
        executable_path=CHROMIUM,
        args=QUIET,
        viewport={"width": 1280, "height": 900},
        reduced_motion="reduce",
    )
    context.set_default_timeout(120_000)
    yield context
    context.close()


_FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    item.stash[_FAILED] = item.stash.get(_FAILED, False) or report.failed  # type: ignore[attr-defined]
    return report


@pytest.fixture
def page(window: BrowserContext, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page. The test fails if the page breaks its content security policy or sends a request to another machine. If
    the test fails, the page's content and its pending requests are printed.
    """
    opened = window.new_page()
    waiting: set[str] = set()
    asked_of: set[str | None] = set()
    told: list[str] = []

    def ask(request: Request) -> None:
        waiting.add(request.url)
        if request.url.startswith("http"):
            asked_of.add(urlsplit(request.url).hostname)

    opened.on("request", ask)
    opened.on("requestfinished", lambda asked: waiting.discard(asked.url))
    opened.on("requestfailed", lambda asked: told.append(f"failed: {asked.url} {asked.failure}"))
    opened.on("console", lambda line: told.append(f"{line.type}: {line.text}"[:500]))
    yield opened
    if request.node.stash.get(_FAILED, False):
        print("\n".join([opened.url, *sorted(waiting), *told]))
        print(opened.evaluate("document.visibilityState + '\\n' + document.body.innerText.slice(0, 3000)"))
        hidden = "[...document.querySelectorAll('[style*=\"display: none\"]')]"
        print(opened.evaluate(f"{hidden}.map(one => one.outerHTML.slice(0, 300)).join('\\n')"))
    # Tests share a profile: the next page would send what the app has not acknowledged from this one.
    with suppress(Error):
        opened.evaluate("localStorage.removeItem('said')")
    opened.close()
    assert [line for line in told if "Content Security" in line] == []
    assert asked_of <= {"127.0.0.1"}, "another machine was asked for something"


def begin(page: Page, lab: str) -> None:
    """Press the button that begins a run until the page shows the run: a page that is being redrawn misses clicks."""
    for _ in range(5):
        page.locator(f".st-key-{lab} button").click()
        try:
            return page.wait_for_url(re.compile("run="), timeout=20_000)
        except TimeoutError:
            continue
    raise AssertionError("the run did not begin")


def open_menu(page: Page) -> None:
    """Open the menu of the run that the page shows."""
    page.locator(".st-key-actions button").first.click()
    expect(page.get_by_role("link", name="Replay")).to_be_visible()


def turn(page: Page, path: str) -> None:
    """Turn to another page of the app as the browser's back button does: the app stays loaded, which saves a second."""
    page.evaluate("path => { history.pushState({}, '', path); dispatchEvent(new PopStateEvent('popstate')); }", path)


def settle(page: Page) -> None:
    """Wait until the page's script has run."""
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
