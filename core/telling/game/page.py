"""The game as one HTML file that needs nothing else, for a talk, a mail or a page of one's own; the app serves the same
at `/play`, with the ways on that only an app has.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from pydantic import ValidationError

from core.telling import document
from core.telling.game.pack import Pack
from core.telling.stage_files import in_one_scope

FOLDER = Path(__file__).resolve().parents[3] / "data" / "packs"
"""Where the packs lie that come with the app, each under its name."""

FIRST = "first"
"""The pack that is played where none is named; where it is not there, the first by name."""

LARGEST = 1_000_000
"""Bytes of a pack at most, so that its file opens at once."""


class NoSuchPack(ValueError):
    """There is no pack of that name, or it is none. `title` says that in a few words, for a page."""

    title = "No such pack"


def names() -> list[str]:
    """The packs that come with the app; the one that is played where none is named comes first."""
    return sorted((path.stem for path in FOLDER.glob("*.json")), key=lambda name: (name != FIRST, name))


def shipped(name: str = "") -> Pack:
    """The pack of that name among those that come with the app, or the first. Raises NoSuchPack."""
    return read(_place(name))


def read(path: Path) -> Pack:
    """The pack in a file. Raises NoSuchPack where it cannot be read, is too large, or is no pack."""
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST + 1)
    except OSError as error:
        raise NoSuchPack(f"{path} cannot be read: {error.strerror or error}.") from None
    if len(text) > LARGEST:
        raise NoSuchPack(f"{path} is larger than {LARGEST // 1_000_000} MB: so large a pack is not played.")
    try:
        return Pack.model_validate_json(text)
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"])) or "its JSON"
        raise NoSuchPack(f"{path} is no pack of cards: see {where}.") from None


def html(pack: Pack, in_app: bool = False) -> bytes:
    """The game with cards of the pack as a file. `in_app`: it leads to the cases behind its cards and tells the app it
    came from what is guessed; any other asks nobody for anything.
    """
    script = f"{in_one_scope('saying.js')}\n{document.part('game.js')}"
    style = document.part("game.css")
    page = document.template("game.html").render(
        title=" ".join(pack.title.split())[:200],
        data=document.in_page({"pack": pack.model_dump(mode="json"), "isInApp": in_app}),
        in_app=in_app,
        style=style,
        script=script,
        stage_style=document.stage_style(),
        hashes={"style": document.digest(style), "script": document.digest(script)},
    )
    # Half a character, which a model may write, has no UTF-8: a browser shows the sign for it.
    return page.encode("utf-8", "xmlcharrefreplace")


def of_app(name: str = "") -> bytes:
    """What the app serves: the game with cards of the pack of that name, or of the first. Raises NoSuchPack."""
    path = _place(name)
    return _made(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=16)
def _made(path: Path, _changed: int) -> bytes:
    return html(read(path), in_app=True)


def _place(name: str) -> Path:
    known = names()
    if not known:
        raise NoSuchPack("There are no packs of cards here.")
    if name and name not in known:
        raise NoSuchPack(f"There is no pack {name[:100]!r} here. There are: {', '.join(known[:20])}.")
    return FOLDER / f"{name or known[0]}.json"
