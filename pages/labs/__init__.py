"""The hand-written parts of the labs' pages, one folder per lab. A lab without any is drawn from its declaration."""

from functools import cache
from importlib import import_module
from pathlib import Path

from core import entry
from pages.components.lab_page import LAB_PAGES


@cache
def register() -> None:
    """Register every lab's `<path>/page.py` with the pages."""
    for lab in entry.labs().values():
        if (Path(__file__).parent / lab.path / "page.py").exists():
            LAB_PAGES[lab.name] = import_module(f"pages.labs.{lab.path}.page").PAGE
