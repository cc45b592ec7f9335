"""The stage in a page of Streamlit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from typing import Any, Literal

import streamlit as st

from core.scene import RunScene, Scene
from core.telling.game.pack import Pack, others
from core.telling.stage_files import stage_files

Mode = Literal["read", "tell", "guess", "beside", "tried", "all"]

_SCRIPT = """
let link;
export default async (component) => {
  link ??= await import(new URL("/stage/VERSION/link.js", location.origin).href);
  return link.mounted(component, "VERSION");
};
"""

_STYLE = """
.stage-place { min-height: min(520px, 70vh); }
.stage:has(> .tell), .stage:has(> .game:not(.inline)) {
  position: fixed; inset: 0; z-index: 1000000; background: var(--paper); --stage-height: 100dvh;
}
.stage:has(> .game:not(.inline)) { overflow: auto; padding: 12px 24px; }
.stage-place:empty { min-height: 100dvh; }
.stage-place.all { min-height: 300px; }
"""
"""A telling has the whole window. Until it is drawn a case has a place: what stands below must not jump."""


@cache
def _component(mode: str) -> Any:
    """One that leaves room for a case, or what "all" cases of a run came to."""
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
    *,
    follow: Mapping[str, str] | None = None,
    rows: Sequence[tuple[Sequence[str | None], str]] = (),
    names: Sequence[str] = (),
    judgements: Sequence[tuple[str, str, str, str]] = (),
    judged: Mapping[str, Mapping[str, str]] | None = None,
    card: str = "",
    steps: bool = False,
    reader: str = "",
    place: int = 0,
    series: Mapping[str, Any] | None = None,
) -> str:
    """Draw scenes; `follow` names the run and the case of one that goes on, which the browser hears of by itself. Of
    several, `rows` says which cards meet, by their ids, and what differs there; `names` who is who. Of what may be
    judged of a card by keys `judgements` gives the name, what it is called, the good word and the bad one, and
    `judged` what was, by card; `card` is open at first; of *all* it is the case that is shown below. Guesses are kept
    under the name `reader`. `steps`: keys lead from row to row of a list beside. With `series` scenes are told one
    after another (see stage.js), and *leave* in it is the address to leave for. Gives what a person wants that only
    the page can do, once: "over" where what was followed is.
    """
    data = {
        "mode": mode,
        "scenes": [scene.model_dump(mode="json") for scene in scenes],
        "follow": follow,
        "rows": rows,
        "names": names,
        "judgements": judgements,
        "judged": judged or {},
        "card": card,
        "steps": steps,
        "reader": reader,
        "place": place,
        "series": series,
    }
    return _component(mode if mode == "all" else "")(data=data, key=key, on_went_change=lambda: None).went or ""


def game(pack: Pack, key: str) -> None:
    """A game with cards of the pack, as a part of the page: its first card, and whatever follows, in one place."""
    data = {
        "mode": "play",
        "scenes": [],
        "game": {"pack": pack.model_dump(mode="json"), "others": others(pack.name), "isInline": True, "isInApp": True},
    }
    _component("")(data=data, key=key)
