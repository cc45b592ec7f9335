"""The game as one HTML file that needs nothing else, for a talk, an email or a page of one's own. The app serves the
same file at `/play`, with links that only work in an app.
"""

from functools import lru_cache
from pathlib import Path

from ...runs import guesses
from ...runs.guesses import Guessed
from .. import case_html
from ..viewer_assets import in_one_scope
from . import pack as packs
from .pack import Pack

FIRST = "first"
"""The pack that is played if none is named."""


def html(pack: Pack, in_app: bool = False, guessed: Guessed | None = None) -> bytes:
    """The game with the pack's cards, as a file. `in_app`: it links to the cases behind its cards and sends guesses to
    the app; otherwise it contacts nobody. `guessed` is what all players have guessed so far.
    """
    shown = {
        "pack": pack.model_dump(mode="json"),
        "guessed": (guessed or Guessed()).model_dump(mode="json"),
        "isInApp": in_app,
        "others": packs.other_packs(pack.name) if in_app else [],
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
    """The page that the app serves: the game with the shipped pack of that name, or FIRST if it is empty. For an
    unselected pack it includes what all players guessed, from the journals in `folder`. Raises GamePackError.
    """
    path = packs.path_of(name or FIRST)
    guessed = Guessed()
    if folder is not None and packs.load_pack(path.stem).as_it_came:
        guessed = guesses.guessed(folder, path.stem)
    return _made(path, path.stat().st_mtime_ns, guessed.model_dump_json())


@lru_cache(maxsize=16)
def _made(path: Path, _changed: int, guessed: str) -> bytes:
    return html(packs.read(path), in_app=True, guessed=Guessed.model_validate_json(guessed))
