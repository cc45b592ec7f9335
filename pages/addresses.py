"""The file of each page. This module is below everything that draws, so that all of it may link to any page."""

import os
import sys
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from html import escape
from pathlib import Path

import streamlit as st

from core import home
from core.labs.base.lab import Lab
from core.server import instance

PAGES = Path(__file__).parent

WELCOME = PAGES / "about/welcome.py"
HOST = PAGES / "about/host.py"
SIGN_IN = PAGES / "about/signin.py"
STORIES = PAGES / "about/stories.py"
MODELS = PAGES / "about/models.py"
METHODS = PAGES / "about/methods.py"
BROWSE = PAGES / "results/browse.py"
COMPARE = PAGES / "results/compare.py"
AUDIT = PAGES / "results/audit.py"
QUERY = PAGES / "results/query.py"
CASE = PAGES / "results/case.py"
SIDE = PAGES / "results/side.py"
STUDY = PAGES / "study/study.py"
ANNOTATE = PAGES / "study/annotate.py"


def of_lab(lab: Lab, draw: Callable[[], None] = lambda: None) -> st.Page:
    """Return the page of a lab, drawn by `draw`. A link needs no `draw`: the same address makes the same page."""
    return st.Page(draw, title=lab.title, icon=lab.icon, url_path=lab.path)


# The app's address: printed in the terminal, written to a file that only its owner may read, opened in a browser.


_PAGE = """<!doctype html>
<meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0; url={0}">
<title>Explain Yourself</title>
<a href="{0}">Open Explain Yourself</a>
"""


def file_for(port: int) -> Path:
    """Return the path of the file that leads to the app on that port, token included. Raises DataDirError."""
    return home.home() / f"address-{port}.html"


def announce(url: str, port: int, opens: bool, page: str = "") -> None:
    """Print the app's address, and open it in a browser if `opens`. With `page` it is the address of that page.

    The token is printed only in a terminal, because other output may end up in logs. The browser is given the file,
    because everybody on the machine can read the command that starts it.
    """
    address = instance.address(url, page)
    file = _kept(address, port) if instance.is_required() else None
    print(f"\n  Explain Yourself: {address if sys.stdout.isatty() else url}")
    if instance.is_required() and not sys.stdout.isatty():
        print(f"  Its address with the token is {f'in {file}' if file else 'printed in a terminal only'}.")
    print(flush=True)
    if opens and _has_screen():
        webbrowser.open(file.as_uri() if file else f"{url}/{page}" if page else url)


def _kept(address: str, port: int) -> Path | None:
    """Write the file and return its path; None if the home is not writable."""
    try:
        home.write(file := file_for(port), _PAGE.format(escape(address)).encode())
    except (OSError, home.DataDirError):
        return None
    return file


def _has_screen() -> bool:
    """Whether there is a graphical screen. Without one, a text browser would take over the terminal."""
    return sys.platform in ("darwin", "win32") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")))


def forget(port: int) -> None:
    """Remove the file; the token expires with the server."""
    with suppress(OSError, home.DataDirError):
        file_for(port).unlink(missing_ok=True)
