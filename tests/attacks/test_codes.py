"""What a program can do that guesses codes, opens endless tabs, or presses the host's buttons."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.exceptions import InvalidStatus

from pages.middleware import COOKIE, TAB
from tests.attacks.wire import Tab, cookie, send
from tests.browser.conftest import ROOT, Server
from tests.conftest import WITHOUT_ENCODER
from tests.support.waiting import until

CODES = {"HOST": "the code of whoever hosts", "TEACHER": "the code of a teacher", "PARTICIPANT": "pinguin"}
MOST_TABS = 12


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The app as a host serves it to people with a code, each with three tabs."""
    server = Server(
        tmp_path_factory.mktemp("coded") / "home",
        PYTHONPATH=WITHOUT_ENCODER,
        EXPLAIN_HOSTS="class.example.org",
        EXPLAIN_TABS="3",
        EXPLAIN_TABS_OF_ALL=str(MOST_TABS),
        EXPLAIN_TEACHER_TIMES="1",
        **{f"EXPLAIN_{role}_CODE": code for role, code in CODES.items()},
    )
    yield server
    server.stop()


def alerts(drawn: list[Any]) -> list[str]:
    return [
        one.alert.body.replace("\\", "").replace("\u2060", "") for one in drawn if one.WhichOneof("type") == "alert"
    ]


def titles(drawn: list[Any]) -> list[str]:
    return [one.heading.body for one in drawn if one.WhichOneof("type") == "heading" and one.heading.tag == "h1"]


def id_of(drawn: list[Any], key: str) -> str:
    """The id of the button or the field of that key."""
    kinds = ((one, one.WhichOneof("type")) for one in drawn)
    found = [getattr(one, kind).id for one, kind in kinds if kind in ("button", "text_input")]
    return next(id for id in found if id.endswith(key))


def test_of_60_guesses_a_handful_is_looked_at_whatever_cookie_they_come_with(app: Server) -> None:
    heard: list[str] = []
    for _ in range(12):
        with Tab(app, cookie(app)) as tab:
            for _ in range(5):
                heard += alerts(tab.sign_in(f"a guess {len(heard)}"))
    assert len(heard) == 60
    # However long this took: from the fifth on, each attempt doubles the wait for the next.
    assert 5 <= sum("not valid" in words for words in heard) < 20
    assert all("not valid" in words or "was not checked" in words for words in heard)
    with Tab(app, cookie(app)) as tab:
        until(lambda: not alerts(tab.sign_in(CODES["PARTICIPANT"])))
        assert titles(tab.run("ask")) == ["Ask"]


@pytest.mark.parametrize("role", CODES)
def test_who_typed_a_code_is_known_in_each_tab_of_that_browser_and_no_other(app: Server, role: str) -> None:
    own, other = cookie(app), cookie(app)
    with Tab(app, own) as tab:
        until(lambda: not alerts(tab.sign_in(CODES[role])))
    for cookies, is_in in ((own, True), (other, False), ("", False), (f"{own}x", False)):
        with Tab(app, cookies) as tab:
            assert titles(tab.run("ask")) == (["Ask"] if is_in else ["Explain Yourself"]), cookies
            assert (titles(tab.run("host")) == ["Host"]) is (is_in and role == "HOST")
    for path in (app.log, *app.log.with_suffix("").rglob("*")):
        held = path.read_bytes() if path.is_file() else b""
        assert not any(code.encode() in held for code in CODES.values()), path


def test_what_a_page_asks_beside_streamlit_is_for_who_typed_a_code_too(app: Server) -> None:
    own, other, teacher = cookie(app), cookie(app), cookie(app)
    journals = app.log.with_suffix("") / "journals"
    with Tab(app, own) as tab, Tab(app, teacher) as hers:
        until(lambda: not alerts(tab.sign_in(CODES["PARTICIPANT"])))
        until(lambda: not alerts(hers.sign_in(CODES["TEACHER"])))
        tab.run("ask", widgets=[WidgetState(id=id_of(tab.run("ask"), "show-ask"), trigger_value=True)])
        until(lambda: list(journals.glob("*-simulatability-*.jsonl")))
    [run] = [path.stem for path in journals.glob("*-simulatability-*.jsonl")]
    recording = next((ROOT / "data" / "recordings").glob("*.jsonl")).stem
    until(lambda: send(app, "GET", f"/scene/{run}/", Cookie=own).status == 200)
    for cookies, statuses in (
        (own, (200, 200, 200, 403)), (teacher, (200, 200, 200, 200)),
        (other, (404, 200, 403, 403)), ("", (404, 200, 403, 403)),
    ):  # fmt: skip
        paths = f"/scene/{run}/", f"/scene/{recording}/", "/play", "/lessons/10-minutes/solutions"
        assert tuple(send(app, "GET", path, Cookie=cookies).status for path in paths) == statuses, cookies


def test_what_is_the_host_s_is_pressed_by_nobody_else(app: Server) -> None:
    def say(tab: Tab, words: str) -> None:
        tab.run("host", widgets=[WidgetState(id=field, string_value=words), WidgetState(id=press, trigger_value=True)])

    with Tab(app, cookie(app)) as host, Tab(app, cookie(app)) as teacher, Tab(app, cookie(app)) as nobody:
        until(lambda: not alerts(host.sign_in(CODES["HOST"])))
        until(lambda: not alerts(teacher.sign_in(CODES["TEACHER"])))
        drawn = host.run("host")
        field, press = id_of(drawn, "line-words"), id_of(drawn, "line-say")
        for tab in (teacher, nobody):
            say(tab, "hush")
            assert not alerts(tab.run())
        say(host, "We go on at 14:30.")
        for tab in (host, teacher, nobody):
            assert alerts(tab.run()) == ["We go on at 14:30."]
        back = id_of(host.run("host"), "line-back")
        host.run("host", widgets=[WidgetState(id=back, trigger_value=True)])
        assert not alerts(nobody.run())


def test_a_browser_has_so_many_tabs_and_a_closed_one_frees_its_place(app: Server) -> None:
    cookies = cookie(app)
    with ExitStack() as open_ones:
        first, *others = [open_ones.enter_context(Tab(app, cookies)) for _ in range(3)]
        for tab in (first, *others):
            assert titles(tab.run()) == ["Explain Yourself"]
        with Tab(app, cookies) as fourth:
            assert titles(fourth.run()) == ["One tab too many"]
            with Tab(app, cookies, **{TAB: first.session}) as fifth, Tab(app, cookies) as sixth:
                assert titles(fifth.run()) == titles(sixth.run()) == ["One tab too many"]
                with pytest.raises(InvalidStatus, match="403"), Tab(app, cookies):
                    pass
                with Tab(app, cookie(app)) as another:
                    assert titles(another.run()) == ["Explain Yourself"], "another browser has its own"
            others.pop().close()
            until(lambda: titles(fourth.run()) == ["Explain Yourself"])


def test_without_a_cookie_all_of_one_address_count_together(app: Server) -> None:
    with Tab(app), Tab(app), Tab(app, f"{COOKIE}=made-up"), Tab(app, f"{COOKIE}=x.y") as fourth:
        assert titles(fourth.run()) == ["One tab too many"]


def test_all_together_have_so_many_tabs(app: Server) -> None:
    def opened(held: ExitStack) -> bool:
        try:
            held.enter_context(Tab(app, cookie(app)))
        except InvalidStatus:
            return False
        return True

    # The server may not know yet that a tab of an earlier test is closed.
    with ExitStack() as held:
        until(lambda: sum(opened(held) for _ in range(MOST_TABS)) == MOST_TABS or held.close())
        assert not opened(held)


@pytest.mark.parametrize("path", ["/", "/ask", "/_stcore/health", "/_stcore/host-config"])
def test_behind_tls_every_cookie_stays_there(app: Server, path: str) -> None:
    for forwarded, is_sealed in (("https", True), ("http", False)):
        given = send(app, "GET", path, **{"X-Forwarded-Proto": forwarded}).headers.get("set-cookie", "")
        assert bool(given) is (path != "/_stcore/host-config") and ("; secure" in given.lower()) is (
            is_sealed and bool(given)
        ), path


def test_a_code_that_is_easily_guessed_starts_no_app(tmp_path: Path) -> None:
    environment = {**os.environ, "EXPLAIN_HOME": str(tmp_path), "EXPLAIN_TEACHER_CODE": "short"}
    done = subprocess.run([sys.executable, "app.py"], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 1 and "EXPLAIN_TEACHER_CODE is too short" in done.stderr
