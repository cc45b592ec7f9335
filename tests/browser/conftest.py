"""A real server and a real Chromium: what only a browser shows."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((path for name in NAMES if (path := shutil.which(name))), None)
QUIET = ["--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"]

expect.set_options(timeout=120_000)


class Server:
    """The app as a person starts it, on a free port of loopback with a home of its own."""

    def __init__(self, home: Path, script: str = "app.py", **environment: str) -> None:
        self._script = script
        self._environment = {**os.environ, "EXPLAIN_HOME": str(home), **environment}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "streamlit", "run", self._script, "--server.port", str(self.port)]
        self._process = subprocess.Popen(
            command, cwd=ROOT, env=self._environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=1):
                    return
            except OSError:
                time.sleep(0.1)
        raise TimeoutError("the app did not start")

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        self._process.send_signal(how)
        self._process.wait(timeout=20)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.fail("No Chromium here. Install it (Debian: apt-get install chromium) to run the browser tests.")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for the tests that do nothing to it."""
    server = Server(tmp_path_factory.mktemp("home"))
    yield server
    server.stop()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """`serve(NAME="value")` starts a server of the test's own, with these variables in its environment."""
    started: list[Server] = []

    def start(**environment: str) -> Server:
        started.append(Server(tmp_path / "home", **environment))
        return started[-1]

    yield start
    for server in started:
        server.stop(signal.SIGKILL)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(60_000)
    yield context.new_page()
    context.close()


def settle(page: Page) -> None:
    """Wait until the page's script has run."""
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
