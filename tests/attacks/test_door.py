"""What a program can do that opens a session of a hosted app without a page: send files, press buttons that are not
there.
"""

from collections.abc import Iterator

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState

from pages.middleware import COOKIE
from tests.attacks.wire import Tab, cookie, send
from tests.browser.conftest import Server
from tests.conftest import WITHOUT_ENCODER
from tests.support.waiting import until

CODE = "the code of whoever hosts"
MEGABYTE = 1_000_000


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The app as a host serves it, with programs allowed to control it."""
    server = Server(
        tmp_path_factory.mktemp("hosted") / "home",
        PYTHONPATH=WITHOUT_ENCODER,
        EXPLAIN_HOSTS="class.example.org",
        EXPLAIN_HOST_CODE=CODE,
        EXPLAIN_BUNDLE_MB="3",
        STREAMLIT_SERVER_ENABLE_AGENT_API="true",
    )
    yield server
    server.stop()


def upload(app: Server, tab: Tab, megabytes: float, name: str, method: str = "PUT", **headers: str) -> int:
    """Send a file of this size as Streamlit's own page does. Returns the server's status."""
    token = send(app, "GET", "/_stcore/health").headers["set-cookie"].partition(";")[0]
    head = b'--x\r\nContent-Disposition: form-data; name="f"; filename="f.zip"\r\n\r\n'
    body = head + b"\0" * int(megabytes * MEGABYTE) + b"\r\n--x--\r\n"
    return send(
        app, method, f"/_stcore/upload_file/{tab.session}/{name}", body if method == "PUT" else b"",
        **{"Content-Type": "multipart/form-data; boundary=x", "Cookie": token,
           "X-Xsrftoken": token.partition("=")[2], **headers},
    ).status  # fmt: skip


def test_a_visitor_can_upload_nothing(app: Server) -> None:
    with Tab(app, cookie(app)) as tab:
        for page in ("", "ask", "browse", "study", "models"):
            tab.run(page)
            assert upload(app, tab, 0.1, f"file-{page}") == 403, page
            assert upload(app, tab, 0.1, f"file-{page}", "DELETE") == 403, page
        with Tab(app, cookie(app)) as host:
            become_host(host)
            tab.run("browse", "show=runs")
            assert upload(app, tab, 0.1, "after") == 403, "what the host may is the host's alone"


def become_host(tab: Tab) -> None:
    tab.sign_in(CODE, "signin")


def test_the_host_sends_so_many_megabytes_and_no_more(app: Server) -> None:
    with Tab(app, cookie(app)) as tab:
        become_host(tab)
        assert upload(app, tab, 1, "before") == 403, "no page with a field was shown yet"
        tab.run("browse", "show=runs")
        assert upload(app, tab, 1, "endless", **{"Transfer-Encoding": "chunked"}) in (400, 403)
        assert [upload(app, tab, 1, f"file-{n}") for n in range(4)] == [204, 204, 403, 403]


def journals(app: Server) -> int:
    return len(list((app.log.with_suffix("") / "journals").glob("*.jsonl")))


@pytest.mark.parametrize(
    "cookies", ["", f"{COOKIE}=", f"{COOKIE}={'a' * 32}", f"{COOKIE}={'a' * 32}.{'0' * 32}", f"{COOKIE}=."]
)
def test_who_has_no_cookie_that_this_server_signed_begins_nothing(app: Server, cookies: str) -> None:
    before = journals(app)
    with Tab(app, cookies) as tab:
        press = next(one.button.id for one in tab.run("ask") if one.button.id.endswith("show-ask"))
        drawn = tab.run("ask", widgets=[WidgetState(id=press, trigger_value=True)])
    assert any("your browser sent none" in one.alert.body for one in drawn)
    assert journals(app) == before


def test_who_has_one_begins_a_run(app: Server) -> None:
    before = journals(app)
    with Tab(app, cookie(app)) as tab:
        press = next(one.button.id for one in tab.run("ask") if one.button.id.endswith("show-ask"))
        tab.run("ask", widgets=[WidgetState(id=press, trigger_value=True)])
    until(lambda: journals(app) == before + 1)


def test_a_code_of_before_is_signed_and_stays(app: Server) -> None:
    old = "b" * 32
    given = send(app, "GET", "/ask", Cookie=f"{COOKIE}={old}").headers["set-cookie"].partition(";")[0]
    assert given.startswith(f"{COOKIE}={old}.") and len(given) > len(COOKIE) + 33 + 20
    assert COOKIE not in send(app, "GET", "/ask", Cookie=given).headers.get("set-cookie", "")
    key = app.log.with_suffix("") / "cookies.key"
    assert len(key.read_bytes()) == 32 and key.stat().st_mode & 0o077 == 0


def test_what_no_page_would_send_writes_a_line_a_message(app: Server) -> None:
    def said(words: bytes) -> int:
        return app.log.read_bytes().count(words)

    def attack(number: int) -> int:
        """The number of messages sent that no page sends."""
        with Tab(app, cookie(app)) as tab:
            drawn = tab.run("browse", "recordings=1&show=runs")
            ids = [one.button_group.id for one in drawn if one.WhichOneof("type") == "button_group"]
            for id in ids:
                tab.run("browse", "recordings=1&show=runs", [WidgetState(id=id, string_value="{{{")])
            tab.want(f"made-up-{number}" + "x" * 100_000)
            tab.say(b"garbage")
            until(lambda: said(b"Error deserializing") == number + 1)
            return len(ids) + 2

    before = said(b"\n")
    assert attack(0) > 2
    first = said(b"\n")
    assert first - before > 20, "each place is written down whole once"
    messages = sum(attack(number) for number in range(1, 4))
    assert said(b"\n") - first <= messages <= said(b"as before")


def test_programs_do_not_drive_it_whatever_the_environment_says(app: Server) -> None:
    for path in ("interact", "mcp"):
        reply = send(app, "POST", f"/_stcore/agent/{path}", b"{}", **{"Content-Type": "application/json"})
        assert reply.status == 403 and "own pages" in reply.words, path
