"""The wheel as people get it: from an index, by each installer and with each Python, into empty environments."""

import html
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.browser.conftest import CHROMIUM, QUIET, begin, settle
from tests.test_requirements import ROOT

pytestmark = pytest.mark.thorough

ASK = ("ask", "Can a penguin fly?", "--model", "control/fickle")
UV = Path(sys.executable).with_name("uv")
PYENV = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))


def run(*command: object, home: Path, **settings: object) -> str:
    """Run a command in a folder, with a home of its own there, and return what it printed."""
    variables = {"EXPLAIN_HOME": home / "home", **settings}
    done = subprocess.run(
        [str(part) for part in command],
        env={**os.environ, **{name: str(value) for name, value in variables.items()}},
        cwd=home,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def python_of(version: str) -> Path:
    """Return a Python of that version: on the PATH, or one of pyenv's. Skips the test if there is none."""
    on_path = shutil.which(f"python{version}")
    for python in [*([Path(on_path)] if on_path else []), *PYENV.glob(f"versions/{version}.*/bin/python")]:
        if subprocess.run([python, "-c", ""], capture_output=True).returncode == 0:
            return python
    pytest.skip(f"no Python {version} on the PATH, and pyenv has none")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, in an index: a folder that holds one folder for each package."""
    folder = tmp_path_factory.mktemp("index") / "explain-yourself"
    look_up = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "segno", "-d"]
    if subprocess.run([*look_up, folder.with_name("other")], capture_output=True).returncode:
        pytest.skip("pip has no access to an index")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    [made] = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def index(wheel: Path) -> Iterator[str]:
    """The address of an index that has the wheel and nothing else, as a simple index (PEP 503) has it."""

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

    served = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(wheel.parents[1])))
    threading.Thread(target=served.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{served.server_port}"
    served.shutdown()
    served.server_close()


@pytest.mark.parametrize("installer", ["uvx", "uv tool", "pipx", "pip"])
def test_it_asks_a_robot_from_an_index_by(installer: str, index: str, tmp_path: Path) -> None:
    places = {
        "UV_TOOL_DIR": tmp_path / "tools",
        "UV_TOOL_BIN_DIR": tmp_path / "bin",
        "PIPX_HOME": tmp_path / "pipx",
        "PIPX_BIN_DIR": tmp_path / "bin",
        "PIP_EXTRA_INDEX_URL": index,
        "UV_INDEX": index,
    }
    do = partial(run, home=tmp_path, **places)
    command: tuple[object, ...] = (tmp_path / "bin" / "explain-yourself",)
    match installer:
        case "uvx":
            command = (UV, "tool", "run", "explain-yourself")
        case "uv tool":
            do(UV, "tool", "install", "explain-yourself")
        case "pipx":
            do(UV, "tool", "run", "pipx", "install", "--python", sys.executable, "explain-yourself")
        case "pip":
            do(sys.executable, "-m", "venv", tmp_path)
            do(tmp_path / "bin" / "pip", "install", "-q", "explain-yourself")
    assert "precision" in do(*command, *ASK)


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_without_a_compiler_its_first_minute_is_as_in_a_checkout_with_python(
    version: str, wheel: Path, tmp_path: Path
) -> None:
    """Installed from wheels alone: a robot is asked by the command line and in the browser, and its case is opened."""
    python = python_of(version)
    do = partial(run, home=tmp_path)
    do(UV, "venv", "-q", "--python", python, "env")
    do(UV, "pip", "install", "-q", "--only-binary", ":all:", "--python", "env", wheel)
    program = tmp_path / "env" / "bin" / "explain-yourself"
    assert "precision" in do(program, *ASK)
    do(program, "export", "case.zip")
    for arguments, page in ((("app",), "ask"), (("open", "case.zip"), "")):
        with subprocess.Popen(
            [program, *arguments],
            cwd=tmp_path,
            env={**os.environ, "EXPLAIN_HOME": str(tmp_path / "home"), "BROWSER": "true"},
            stdout=subprocess.PIPE,
            text=True,
        ) as app:
            try:
                told = (re.search(r"address with the token is in (.+)\.$", line) for line in app.stdout or ())
                opened = Path(next(file[1] for file in told if file)).read_text(encoding="utf-8")
                found = re.search(r"http://127[^\"'<]+", opened)
                assert found is not None
                look(html.unescape(found[0]), page)
            finally:
                app.terminate()


def look(address: str, page: str) -> None:
    """Open the app in a browser; on the page `ask`, ask a robot. Either way a verdict is seen."""
    if CHROMIUM is None:
        return
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        window = browser.new_page()
        window.goto(address)
        if page:
            settle(window)
            window.goto(f"{address.partition('?')[0].rstrip('/')}/{page}")
            settle(window)
            begin(window, page)
        expect(window.locator(".stage .verdict:not(.is-open)")).to_be_visible(timeout=120_000)
        browser.close()
