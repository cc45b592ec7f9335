"""The file of each page. This module is below everything that draws, so that all of it may link to any page."""

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from core.labs.base.lab import Lab

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
