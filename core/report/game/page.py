"""The game as one HTML file that needs nothing else, for a talk, a mail or a page of one's own; the app serves the same
at `/play`, with the ways on that only an app has.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from ...runs import guesses
from ...runs.guesses import Guessed
from .. import case_html
from ..viewer_assets import in_one_scope
from . import pack as packs
from .pack import Pack

FIRST = "first"
"""The pack that is played where none is named."""


def html(pack: Pack, in_app: bool = False, guessed: Guessed | None = None) -> bytes:
    """The game with cards of the pack as a file. `in_app`: it leads to the cases behind its cards, and tells the app
    what is guessed; any other asks nobody for anything. `guessed` is what all players guessed so far.
    """
    shown = {
        "pack": pack.model_dump(mode="json"),
        "guessed": (guessed or Guessed()).model_dump(mode="json"),
        "isInApp": in_app,
        "others": packs.others(pack.name) if in_app else [],
    }
    return case_html.page(
        "game.html",
        case_html.part("game.css"),
        f"{in_one_scope('outbox.js')}\n{case_html.part('game.js')}",
        title=" ".join(pack.title.split()),
        data=case_html.in_page(shown),
        in_app=in_app,
    )


def of_app(name: str, folder: Path | None = None) -> bytes:
    """What the app serves: the game with cards of the pack of that name that comes with it, FIRST where it is empty. Of
    an unselected pack it holds what all players guessed, by the journals in `folder`. Raises BadPack.
    """
    path = packs.path_of(name or FIRST)
    guessed = Guessed()
    if folder is not None and packs.named(path.stem).as_it_came:
        guessed = guesses.guessed(folder, path.stem)
    return _made(path, path.stat().st_mtime_ns, guessed.model_dump_json())


@lru_cache(maxsize=16)
def _made(path: Path, _changed: int, guessed: str) -> bytes:
    return html(packs.read(path), in_app=True, guessed=Guessed.model_validate_json(guessed))
