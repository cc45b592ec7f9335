"""The journals of the runs that come with the app, including those in archives."""

from pathlib import Path

from core import home, journal


def journals() -> list[Path]:
    """Return their paths, after unpacking the archives."""
    unpacked = home.unpacked_folder(home.recordings())
    assert unpacked is not None
    return journal.list_journals(home.recordings()) + journal.list_journals(unpacked)
