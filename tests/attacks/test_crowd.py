"""One machine opens as many tabs, event streams and silent connections as it can. Everyone else is still served.

The app trusts the proxy at 127.0.0.1, which is this test: it says from which address a request comes.
"""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from core import entry
from core.runs.library import RunLibrary
from core.server.access import name_of_visitor
from core.server.annotations import Annotations
from tests.attacks.wire import Tab, cookie, send
from tests.browser.conftest import Server
from tests.conftest import WITHOUT_ENCODER
from tests.support.sealed_runs import laid

FILES = 256
"""The number of files the app may open: at most 128 connections, 96 of these for tabs (four each) and requests."""

CODE = "the code of whoever hosts"
MOST_TABS = 12
RUDE, SCHOOL, OTHER = "2001:db8:0:1::7", "192.0.2.1", "192.0.2.2"


class Hosted(NamedTuple):
    app: Server
    run: str
    """A sealed run, so that its event stream stays open."""

    host: str
    """The cookies of the host."""


@pytest.fixture(scope="module")
def hosted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosted]:
    app = Server(
        tmp_path_factory.mktemp("crowded") / "home",
        files=FILES,
        PYTHONPATH=WITHOUT_ENCODER,
        EXPLAIN_HOSTS="class.example.org",
        EXPLAIN_HOST_CODE=CODE,
        EXPLAIN_TABS_OF_ALL=str(MOST_TABS),
    )
    host = cookie(app)
    with Tab(app, host) as tab:
        tab.sign_in(CODE, "signin")
    folder = app.log.with_suffix("") / "journals"
    run = laid(folder, "simulatability", name_of_visitor("ann"))
    keeping = Annotations(RunLibrary(folder, entry.labs()))
    keeping.share(run, True)
    keeping.seal(run, True)
    yield Hosted(app, run, host)
    app.stop()


def stream(hosted: Hosted, held: ExitStack, address: str, cookies: str) -> tuple[int, socket.socket]:
    """Open the event stream of the run. Returns its status and its connection, which stays open."""
    lines = f"GET /told/{hosted.run}/ HTTP/1.1", "Host: 127.0.0.1", f"X-Forwarded-For: {address}", f"Cookie: {cookies}"
    connection = held.enter_context(socket.create_connection(("127.0.0.1", hosted.app.port), timeout=20))
    connection.sendall("\r\n".join([*lines, "", ""]).encode())
    return int(connection.recv(4_096).split()[1]), connection


def is_open(connection: socket.socket) -> bool:
    connection.settimeout(0.1)
    with suppress(TimeoutError):
        while connection.recv(65_536):
            pass
        return False
    return True


def is_served(hosted: Hosted, address: str) -> bool:
    """Whether somebody at that address gets a cookie, a tab and the run's page, and the app is healthy."""
    given = send(hosted.app, "GET", "/", **{"X-Forwarded-For": address}).headers["set-cookie"].partition(";")[0]
    with Tab(hosted.app, given, **{"X-Forwarded-For": address}) as tab:
        return bool(tab.run()) and send(hosted.app, "GET", "/_stcore/health").status == 200


def test_connections_that_never_say_a_word_take_no_file_from_others(hosted: Hosted) -> None:
    with ExitStack() as held:
        for _ in range(2 * FILES):
            held.enter_context(socket.create_connection(("127.0.0.1", hosted.app.port), timeout=20))
        files = Path(f"/proc/{hosted.app.pid}/fd")
        if files.is_dir():
            assert len([*files.iterdir()]) <= FILES - 16, "some are left for journals"
        assert is_served(hosted, SCHOOL)
        status, _ = stream(hosted, held, SCHOOL, cookie(hosted.app))
        assert status == 200


def test_one_visitor_and_one_address_have_so_many_streams_and_others_have_theirs(hosted: Hosted) -> None:
    with ExitStack() as held:
        first = [
            stream(hosted, held, RUDE, own := cookie(hosted.app)),
            *(stream(hosted, held, RUDE, own) for _ in range(44)),
        ]
        assert [status for status, _ in first] == [200] * 40 + [429] * 5, "twice as many as tabs"
        codes = [cookie(hosted.app) for _ in range(2)]
        rest = [stream(hosted, held, RUDE[:-1] + str(number % 9), codes[number // 40]) for number in range(65)]
        assert 46 <= (number := sum(status == 200 for status, _ in rest)) <= 56
        theirs = [stream(hosted, held, SCHOOL, own := cookie(hosted.app)) for _ in range(3)]
        assert [status for status, _ in theirs] == [200] * 3 and is_served(hosted, OTHER)
        assert 429 in [stream(hosted, held, RUDE, codes[1])[0] for _ in range(8)]
        assert stream(hosted, held, RUDE, hosted.host)[0] == 200, "there is a place for the host"
        assert all(is_open(one) for _, one in theirs) and not is_open(rest[number - 1][1]), "the last came first to go"


def test_fresh_cookies_open_no_more_tabs_than_leave_room_for_others_and_the_host(hosted: Hosted) -> None:
    with ExitStack() as held:

        def opened(address: str, cookies: str = "") -> Tab | None:
            given = cookies or cookie(hosted.app)
            try:
                return held.enter_context(Tab(hosted.app, given, **{"X-Forwarded-For": address}))
            except InvalidStatus:
                return None

        rude = [opened(RUDE) for _ in range(MOST_TABS + 2)]
        assert [tab is not None for tab in rude] == [True] * MOST_TABS + [False] * 2
        host = opened(RUDE, hosted.host)
        school = [opened(SCHOOL) for _ in range(3)]
        assert host is not None and all(tab is not None and tab.run() for tab in (host, *school))
        assert opened(RUDE) is None and rude[0] is not None and rude[0].run()
        with pytest.raises(ConnectionClosed):
            assert rude[MOST_TABS - 1].run()  # type: ignore[union-attr]


def test_figures_about_the_server_are_for_the_host_alone(hosted: Hosted) -> None:
    path = "/_stcore/metrics"
    for cookies in ("", cookie(hosted.app)):
        assert send(hosted.app, "GET", path, Cookie=cookies).status == 403
    assert send(hosted.app, "GET", path, Cookie=hosted.host).status == 200
