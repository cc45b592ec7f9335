"""The stage, and the chart to draw on, as Streamlit components."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import streamlit as st

from core.report.game.pack import Pack, other_packs
from core.report.viewer_assets import drawing_files, stage_files, viewer_style
from core.scene import Curve, Point, RunScene, Scene
from core.server.jobs import HowFar

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
    """A run in progress that the browser follows by itself, the case shown, and how far the run is.

    The page is drawn again when `far.around` changes, at most every `pace` seconds, and once the run is over. `note`
    says who can stop the run if this visitor cannot.
    """

    run: str
    case: str
    far: HowFar
    pace: float
    note: str = ""

    def data(self) -> dict[str, Any]:
        """Return the data for live.js."""
        return {"run": self.run, "case": self.case, "pace": self.pace, "note": self.note, **self.far.model_dump()}


@dataclass(frozen=True)
class ListRow:
    """A row of a list beside the case: its run, case and trial, the lines shown above the case, and its number in the
    table, from 0.
    """

    place: tuple[str, str, str]
    lead: tuple[str, ...] = ()
    number: int = 0


@dataclass(frozen=True)
class Staging:
    """How scenes are shown, and what the reader says about them.

    Where in a case the reader is: the `card` that is open at first, and the screen (`place`) at which a presentation
    begins. `steps`: keys move from row to row of a list beside the case. The browser opens the rows `listed` and steps
    through them by itself (live.js); `here` is the row that is open, which need not be among them.

    Guesses are stored under the name `reader`. `judgements` lists what may be judged by keys on a card: name, title,
    the good word and the bad one; `judged` has the verdicts so far, by card.

    Of several scenes shown together, `rows` says which cards match, by their ids, and what differs between them;
    `names` are the columns' titles. With `series`, scenes are presented one after another (see stage.js); its key
    *leave* is the address to which Exit leads.
    """

    card: str = ""
    place: int = 0
    steps: bool = False
    listed: Sequence[ListRow] = ()
    here: ListRow | None = None
    reader: str = ""
    judgements: Sequence[tuple[str, str, str, str]] = ()
    judged: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    rows: Sequence[tuple[Sequence[str | None], str]] = ()
    names: Sequence[str] = ()
    series: Mapping[str, Any] | None = None


@cache
def _component(mode: str) -> Any:
    """Return the component with room for a case, for "all" cases of a run, or for how "far" runs are."""
    read = {name: path.read_text(encoding="utf-8") for name, path in stage_files().items()}
    # The version is a hash of the files, so that a browser fetches them again when they change.
    version = sha256("".join(read.values()).encode()).hexdigest()[:16]
    return st.components.v2.component(
        f"stage{mode}",
        html=f'<div class="stage-place {mode}"></div>',
        css=read["base.css"] + read["stage.css"] + _STYLE,
        js=_SCRIPT.replace("VERSION", version),
    )


def stage(
    mode: Mode,
    scenes: Sequence[Scene | RunScene],
    key: str,
    follow: Sequence[Follow | None] = (),
    staging: Staging | None = None,
) -> str:
    """Draw scenes. `follow` has, for each scene, the run in progress. In mode *all*, `staging.card` is the case shown
    below. Returns, once, an action of the visitor that only the page can carry out; "news" if the page should be
    drawn again.
    """
    data = {
        "mode": mode,
        "scenes": [scene.model_dump(mode="json") for scene in scenes],
        "follow": [one and one.data() for one in follow],
        **asdict(staging or Staging()),
    }
    kind = mode if mode in ("all", "far") else ""
    return _component(kind)(data=data, key=key, on_went_change=lambda: None).went or ""


def game(pack: Pack, key: str) -> None:
    """Draw a game with the cards of the pack as part of the page."""
    data = {
        "mode": "play",
        "scenes": [],
        "follow": [],
        "game": {
            "pack": pack.model_dump(mode="json"),
            "others": other_packs(pack.name),
            "isInline": True,
            "isInApp": True,
        },
    }
    _component("")(data=data, key=key)


# The chart to draw on, as a Streamlit component (draw.js).


@cache
def _chart() -> Any:
    style, script = drawing_files()
    style = viewer_style("base.css", "stage.css") + style
    return st.components.v2.component("draw", html='<div class="stage draw"></div>', css=style, js=script)


def drawing(
    run: str,
    points: Sequence[Point],
    *,
    calls: int,
    left: int,
    many: int,
    x_ends: tuple[float, float],
    y_ends: tuple[float, float] | None = None,
    curves: Sequence[Curve] = (),
) -> tuple[float | None, list[float] | None]:
    """Draw the chart of a run. `points` are the values queried so far, `calls` is the number of queries allowed, of
    which `left` remain. A submitted curve has `many` values, evenly spaced over `x_ends`. If there are `curves` the
    round is over: they are drawn one after another. Returns, once, the x that a person queries, or the values of the
    curve that they submit.
    """
    data = {
        "run": run,
        "points": [point.model_dump(mode="json") for point in points],
        "calls": calls,
        "left": left,
        "points_of_a_curve": many,
        "x_ends": x_ends,
        "y_ends": y_ends,
        "is_over": bool(curves),
        "curves": [curve.model_dump(mode="json") for curve in curves],
    }
    given = _chart()(data=data, key=f"draw-{run}", on_asked_change=lambda: None, on_drawn_change=lambda: None)
    return given.asked, given.drawn
