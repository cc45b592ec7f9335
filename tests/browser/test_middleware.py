"""Who gets in: the app's own pages under its own names, and nobody who merely knows its address."""

import base64
import http.client
import os
import re
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from pages.middleware import COOKIE
from tests.browser.conftest import Server, open_menu

pytestmark = pytest.mark.browser

PATHS = ["/", "/ask", "/_stcore/health", "/_stcore/stream", "/static/index.html"]


def get(app: Server, path: str, host: str, method: str = "GET", **headers: str) -> tuple[int, str, dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", app.port, timeout=10)
    connection.request(method, path, headers={"Host": host, **headers})
    reply = connection.getresponse()
    try:
        return reply.status, reply.read().decode("utf-8", "replace"), {k.lower(): v for k, v in reply.getheaders()}
    finally:
        connection.close()


def upgraded(app: Server, host: str, origin: str | None) -> int:
    """The status of a request for a websocket."""
    key = base64.b64encode(os.urandom(16)).decode()
    lines = [
        "GET /_stcore/stream HTTP/1.1", f"Host: {host}", "Upgrade: websocket", "Connection: Upgrade",
        f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Protocol: streamlit",
        *([f"Origin: {origin}"] if origin else []),
    ]  # fmt: skip
    with socket.create_connection(("127.0.0.1", app.port), timeout=10) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        return int(connection.recv(64).split()[1])


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example", "", "[", "10.0.0.7"])
def test_under_another_name_nothing_is_served(app: Server, path: str, host: str) -> None:
    status, words, _ = get(app, path, host.format(port=app.port))
    assert status in (400, 403)
    assert status == 400 or ("is not served under the name" in words and "EXPLAIN_HOSTS" in words)


@pytest.mark.parametrize("host", ["localhost:{port}", "127.0.0.1:{port}", "LOCALHOST:{port}", "[::1]:{port}"])
def test_under_its_own_names_it_answers_and_says_what_is_forbidden(app: Server, host: str) -> None:
    status, _, headers = get(app, "/ask", host.format(port=app.port))
    assert status == 200
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"


def test_a_page_of_another_site_opens_no_websocket(app: Server) -> None:
    here = f"127.0.0.1:{app.port}"
    assert upgraded(app, here, f"http://{here}") == 101
    assert upgraded(app, here, None) == 101, "no browser: nothing was tricked into asking"
    for origin in ("http://evil.example", "null", f"http://127.0.0.1:{app.port + 1}", f"http://evil.example@{here}.x"):
        assert upgraded(app, here, origin) == 403, origin
    assert upgraded(app, "evil.example", "http://evil.example") == 403, "a name that leads here by DNS"


def test_a_page_of_another_site_changes_nothing(app: Server) -> None:
    here = f"127.0.0.1:{app.port}"
    status, words, _ = get(app, "/_stcore/upload_file/a/b", here, "PUT", Origin="http://evil.example")
    assert status == 403 and "own pages" in words


def test_a_browser_is_given_one_cookie_that_no_script_reads(app: Server) -> None:
    here = f"127.0.0.1:{app.port}"
    _, _, first = get(app, "/ask", here)
    assert first["set-cookie"].startswith(f"{COOKIE}=")
    for rule in ("HttpOnly", "SameSite=Lax", "Path=/"):
        assert rule in first["set-cookie"]
    assert "Secure" not in first["set-cookie"], "it would be lost without TLS"
    assert first["cache-control"] == "private, no-store", "a proxy would give it to the next browser"
    _, _, sealed = get(app, "/ask", here, **{"X-Forwarded-Proto": "https"})
    assert "Secure" in sealed["set-cookie"] and sealed["set-cookie"][:60] != first["set-cookie"][:60]
    cookie = first["set-cookie"].partition(";")[0]
    for path, headers in (("/ask", {"Cookie": cookie}), ("/_stcore/health", {}), ("/no/such/file.js", {})):
        _, _, reply = get(app, path, here, **headers)
        assert COOKIE not in reply.get("set-cookie", "") or path == "/no/such/file.js"


@pytest.mark.thorough
def test_a_run_is_one_browser_s_and_survives_a_reload(browser: Browser, serve: Callable[..., Server]) -> None:
    server = serve(EXPLAIN_OTHERS="no")
    ann, bob = browser.new_context(), browser.new_context()
    try:
        page = ann.new_page()
        page.goto(f"{server.url}/ask")
        page.locator(".st-key-show-ask button").first.click()
        page.wait_for_url(re.compile("run="))
        expect(page.locator(".st-key-actions")).to_be_visible()
        page.reload()
        open_menu(page)
        with page.expect_download() as fetched:
            page.get_by_text("Download").first.click()
        assert b'"kind":"started"' in Path(fetched.value.path()).read_bytes()
        other = bob.new_page()
        other.goto(page.url)
        expect(other.get_by_text("This run belongs to someone else")).to_be_visible()
        assert other.locator(".st-key-actions").count() == 0
    finally:
        ann.close()
        bob.close()


def test_with_the_token_one_browser_comes_in_and_stays_in(browser: Browser, serve: Callable[..., Server]) -> None:
    server = serve(EXPLAIN_TOKEN="")
    home = server.log.with_suffix("")
    ann, bob = browser.new_context(), browser.new_context()
    try:
        page, other = ann.new_page(), bob.new_page()
        file = home / f"address-{server.port}.html"
        assert file.stat().st_mode & 0o777 == 0o600
        page.goto(file.as_uri())
        page.wait_for_url(f"{server.url}/")
        expect(page.get_by_role("link", name="Stories").first).to_be_visible()
        other.goto(server.url)
        expect(other.get_by_text("The address is in the terminal where the app was started")).to_be_visible()
        assert upgraded(server, f"127.0.0.1:{server.port}", server.url) == 403
        token = re.findall(r"token=([\w-]+)", file.read_text(encoding="utf-8"))[0]
        server.stop()
        assert not file.exists()
        server.start()
        page.goto(f"{server.url}/methods?token={token}")
        page.wait_for_url(f"{server.url}/methods")
        expect(page.get_by_role("heading", name="Methods").first).to_be_visible()
        assert file.name in server.log.read_text(encoding="utf-8")
        kept = [path for path in home.rglob("*") if path.is_file() and path != file]
        assert not any(token.encode() in path.read_bytes() for path in (server.log, *kept))
    finally:
        ann.close()
        bob.close()
