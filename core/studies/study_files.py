"""Where studies' files are: those that come with the app, and those that people keep in `$EXPLAIN_HOME/studies`."""

import re
from collections.abc import Mapping
from itertools import chain, count
from pathlib import Path

from ..home import write
from ..labs.base.lab import Lab
from ..package_data import ROOT
from .plan import Study, StudyError, parse

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}")

SHIPPED = ROOT / "studies"


def own_folder(home: Path) -> Path:
    """The folder of the studies that people wrote."""
    return home / "studies"


def files(home: Path) -> dict[str, Path]:
    """Every study's file by name: people's own first, then those that come with the app; if both have a name, people's
    own.
    """
    paths = sorted(SHIPPED.glob("*.toml")) + sorted(own_folder(home).glob("*.toml"))
    # A link to a file that is gone is no study any more.
    kept = {path.stem: path for path in paths if _NAME.fullmatch(path.stem) and path.exists()}
    return dict(sorted(kept.items(), key=lambda study: (study[1].parent == SHIPPED, study[0])))


def name_for(text: str) -> str:
    """A study's name from its title: the words, in a form that is valid in an address."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60].strip("-")


def save_study(home: Path, name: str, content: bytes, labs: Mapping[str, Lab]) -> Study:
    """Save a study's file under that name. Raises StudyError if the name is invalid or another study has it, and
    OSError if the file cannot be written.
    """
    if not _NAME.fullmatch(name):
        raise StudyError("A study's name begins with a letter or digit, and has letters, digits, - and _; 60 at most.")
    study = parse(f"{name}.toml", content, labs)
    known = files(home).get(name)
    if known is not None and known.read_bytes() != content:
        raise StudyError(f"There is another study named {name}. Give this one another name.")
    if known is None:
        write(own_folder(home) / f"{name}.toml", content)
    return study


def free_name(home: Path, name: str, content: bytes) -> str:
    """`name`, followed by a number if another study has that name."""
    known = files(home)
    names = chain([name], (f"{name[:55]}-{number}" for number in count(2)))
    return next(unused for unused in names if unused not in known or known[unused].read_bytes() == content)


def list_study(home: Path, file: Path, title: str) -> None:
    """List the study of a file elsewhere among people's own, by a link, so that later changes of the file are followed.
    Raises OSError if the link cannot be made.
    """
    file, folder = file.resolve(), own_folder(home)
    if file.parent in (SHIPPED.resolve(), folder.resolve()) or any(
        path.resolve() == file for path in folder.glob("*.toml")
    ):
        return
    name = file.stem if _NAME.fullmatch(file.stem) else name_for(title) or "study"
    folder.mkdir(parents=True, exist_ok=True)
    link = folder / f"{free_name(home, name, file.read_bytes())}.toml"
    link.unlink(missing_ok=True)  # one to a file that is gone, or a copy with the same content
    link.symlink_to(file)
