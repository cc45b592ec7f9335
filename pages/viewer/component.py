"""The stage in a page of Streamlit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import streamlit as st

from core.report.game.pack import Pack, others
from core.report.progress import HowFar
from core.report.viewer_assets import stage_files
from core.scene import RunScene, Scene

Mode = Literal["read", "tell", "guess", "beside", "tried", "all", "far"]

_SCRIPT = """
let link;
export default async (component) => {
  link ??= await import(new URL("/stage/VERSION/live.js", location.origin).href);
  return link.mounted(component, "VERSION");
};
"""

_STYLE = Path(__file__).with_name("place.css").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Follow:
    """A run that goes on and the case of it that is shown, of which the browser hears by itself; how far it is so far.
    The page is drawn again where that is another `around`, at most every `pace` seconds, and once it is over. `note`
    says who can stop it, where that is somebody else.
    """

    run: str
    case: str
    far: HowFar
    pace: float
    note: str = ""

    def data(self) -> dict[str, Any]:
        """As live.js takes it."""
        return {"run": self.run, "case": self.case, "pace": self.pace, "note": self.note, **self.far.model_dump()}


@dataclass(frozen=True)
class Where:
    """Where in a case a reader is: the `card` that is open at first, and the screen at which a telling begins. `steps`:
    keys lead from row to row of a list beside.
    """

    card: str = ""
    place: int = 0
    steps: bool = False


@dataclass(frozen=True)
class Says:
    """What a reader says of a case. Guesses are kept under the name `reader`. Of what may be judged of a card by keys
    `judgements` gives the name, what it is called, the good word and the bad one; `judged` is what was, by card.
    """

    reader: str = ""
    judgements: Sequence[tuple[str, str, str, str]] = ()
    judged: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Together:
    """How several scenes stand together: `rows` says which cards meet, by their ids, and what differs there; `names`
    who is who. With `series` they are told one after another (see stage.js); *leave* in it is the address to leave for.
    """

    rows: Sequence[tuple[Sequence[str | None], str]] = ()
    names: Sequence[str] = ()
    series: Mapping[str, Any] | None = None


@cache
def _component(mode: str) -> Any:
    """One that leaves room for a case, for what "all" cases of a run came to, or for how "far" runs are."""
    read = {name: path.read_text(encoding="utf-8") for name, path in stage_files().items()}
    # Files are known to a browser by what is in them.
    version = sha256("".join(read.values()).encode()).hexdigest()[:16]
    return st.components.v2.component(
        f"stage{mode}",
        html=f'<div class="stage-place {mode}"></div>',
        css=read["stage.css"] + _STYLE,
        js=_SCRIPT.replace("VERSION", version),
    )


def stage(
    mode: Mode,
    scenes: Sequence[Scene | RunScene],
    key: str,
    follow: Sequence[Follow | None] = (),
    where: Where | None = None,
    says: Says | None = None,
    together: Together | None = None,
) -> str:
    """Draw scenes; `follow` has, for each, what goes on. Of *all* `where.card` is the case that is shown below. Gives
    what a person wants that only the page can do, once; "news" where the page is to be drawn again.
    """
    data = {
        "mode": mode,
        "scenes": [scene.model_dump(mode="json") for scene in scenes],
        "follow": [one and one.data() for one in follow],
        **asdict(where or Where()),
        **asdict(says or Says()),
        **asdict(together or Together()),
    }
    kind = mode if mode in ("all", "far") else ""
    return _component(kind)(data=data, key=key, on_went_change=lambda: None).went or ""


def game(pack: Pack, key: str) -> None:
    """A game with cards of the pack, as a part of the page: its first card, and whatever follows, in one place."""
    data = {
        "mode": "play",
        "scenes": [],
        "follow": [],
        "game": {"pack": pack.model_dump(mode="json"), "others": others(pack.name), "isInline": True, "isInApp": True},
    }
    _component("")(data=data, key=key)
