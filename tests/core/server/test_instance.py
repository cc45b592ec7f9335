"""One app serves a home: a second one is told its address, and a command asks the first one for its index."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from core import entry, home
from core.__main__ import main
from core.server import instance
from core.server.instance import HomeInUseError, IndexNotLentError
from core.store.store import Store, StoreBusyError
from pages.viewer.routes import ROUTES
from tests.support.waiting import until

ROOT = Path(__file__).resolve().parents[3]

SERVE = """
import sys
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from core import entry
from core.server import instance
from pages.middleware import Door
from pages.viewer.routes import ROUTES
port = int(sys.argv[1])
instance.claim(f"http://127.0.0.1:{port}")
entry.keeper()
print("ready", flush=True)
if port:
    app = Starlette(routes=ROUTES, middleware=[Middleware(Door)])
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="error")
sys.stdin.read()
"""


@pytest.fixture
def served() -> Iterator[Callable[[int], subprocess.Popen[str]]]:
    """Start an app on this home, at a port."""
    begun: list[subprocess.Popen[str]] = []

    def serve(port: int) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", SERVE, str(port)]
        process = subprocess.Popen(
            command, cwd=ROOT, env=os.environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        begun.append(process)
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        return process

    yield serve
    for process in begun:
        process.kill()
        process.communicate()
    instance.release()


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def test_a_second_app_is_told_where_the_first_answers_and_a_killed_one_serves_no_longer(
    served: Callable[[int], subprocess.Popen[str]],
) -> None:
    first = served(0)
    with pytest.raises(HomeInUseError, match=r"Another copy of this app already serves .*, at http://127\.0\.0\.1:0"):
        instance.claim("http://127.0.0.1:1")
    first.kill()
    first.communicate()
    instance.claim("http://127.0.0.1:1")
    instance.claim("http://127.0.0.1:1")
    instance.release()
    assert not (home.home() / "app.json").exists()


def test_a_command_asks_the_running_app_for_its_index(
    served: Callable[[int], subprocess.Popen[str]], capfd: pytest.CaptureFixture[str]
) -> None:
    port = free_port()
    served(port)
    url = f"http://127.0.0.1:{port}"

    def answers() -> bool:
        with socket.socket() as sock:
            return sock.connect_ex(("127.0.0.1", port)) == 0

    until(answers)
    with pytest.raises(StoreBusyError):
        Store(home.index("store.duckdb"), entry.labs())
    assert main(["ask", "Can a penguin fly?", "--model", "control/fickle", "--counterfactuals", "1"]) == 0
    capfd.readouterr()
    assert main(["query", "select count(*) as runs from runs where not recording"]) == 0
    assert "1" in capfd.readouterr().out, "the app looked at the journals first"
    kept = {path.name for path in home.home().glob("store*.duckdb")}
    assert kept == {"store.duckdb", "store.copy.duckdb"} and url in (home.home() / "app.json").read_text()


def test_nobody_but_who_reads_the_home_gets_the_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry, "lent_index", lambda: Path("/somewhere"))
    client = TestClient(Starlette(routes=ROUTES))
    for headers in ({}, {instance.HEADER: "0" * 64}, {instance.HEADER: ""}):
        assert client.get(instance.ROUTE, headers=headers).status_code == 403
    answer = client.get(instance.ROUTE, headers={instance.HEADER: instance.key()})
    assert (answer.status_code, answer.text) == (200, "/somewhere")


def test_where_no_app_lends_its_index_the_command_says_why() -> None:
    with pytest.raises(IndexNotLentError, match="No app serves this home"):
        instance.borrow()
    home.write(home.home() / "app.json", b'{"url": "http://127.0.0.1:%d"}' % free_port())
    with pytest.raises(IndexNotLentError, match="does not answer"):
        instance.borrow()
