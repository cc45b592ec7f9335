"""Drawing a function: a person queries a hidden function of numbers a few times and draws its curve. Then the function
is shown, with the curves of a robot and of a model beside it. The function of the day is the same for everybody.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Literal

import streamlit as st

from core.events import CallError
from core.labs.probe import sketch
from core.labs.probe.functions.numeric import PROBED
from core.labs.probe.lab import LAB
from core.labs.probe.records import Submission, Wish
from core.labs.probe.report import ProbeReport
from core.labs.probe.tasks import ProbeSpec
from core.report.scenes import who
from core.runs.library import RunNotFoundError
from core.scene import Curve
from core.server.quotas import QuotaExceededError
from core.text.plurals import count_noun
from pages import lab as driver
from pages.components import game_links, session
from pages.components.models import SHIPPED
from pages.components.run import problems
from pages.components.text import plain
from pages.components.throttle import PACE
from pages.viewer.drawing import drawing

ROBOT = "control/straight"
AGAINST = "against"
"""Query parameter with the runs whose curves are shown beside the person's own."""

MOST = 2
"""Most curves beside the person's own: each one has its own look."""

LOOKS = ("reader", "baseline")

HAND = "You"

_EVERY = 1.0


def can_be_drawn(spec: ProbeSpec) -> bool:
    """Whether the function can be drawn: a function of numbers over the tested range. Typed pairs have nothing between
    inputs.
    """
    return spec.category == "numeric" and not (spec.own and spec.own_kind == "pairs")


def calls_left(view: ProbeReport) -> int:
    """Return how many queries are left, one at a time."""
    assert view.spec is not None
    return max(0, min(view.spec.probes - len(view.probes), view.spec.rounds - len(view.wishes)))


def chart(run_id: str, view: ProbeReport) -> Wish | Submission | None:
    """Draw the chart to query and draw on. Returns, once, what the person did there, to be given to the run; None
    otherwise.
    """
    plot = view.plot()
    did = drawing(
        run_id,
        plot.points if plot else (),
        calls=len(view.probes),
        left=calls_left(view),
        many=sketch.POINTS,
        x_ends=PROBED,
    )
    try:
        if did.curve is not None:
            return sketch.submission(did.curve)
        if did.asked is not None and calls_left(view) and PROBED[0] <= float(did.asked) <= PROBED[1]:
            return Wish(inputs=(f"{float(did.asked):g}",))
    except (TypeError, ValueError) as error:
        problems(ValueError(f"That is no drawing: {error}"))
    return None


# The robot and the model.


def let_try(run_id: str, spec: ProbeSpec, model: str) -> None:
    """Start a run of an agent on the same function, whose curve will be shown beside the person's."""
    fields = {**spec.model_dump(), "beside": "", "given": None, "interpreter": "aia", "model": model}
    try:
        run = session.runs().start(LAB.name, ProbeSpec.model_validate(fields), session.catalog().get)
    except (CallError, ValueError, QuotaExceededError) as error:
        problems(error)
        return
    st.query_params[AGAINST] = ",".join([*_against(), run][-MOST:])


def _against() -> list[str]:
    return [one for one in st.query_params.get(AGAINST, "")[:400].split(",") if one]


def _others(view: ProbeReport) -> Iterator[tuple[str, ProbeReport]]:
    """Yield the runs to show beside this one, if they are about the same function."""
    beside = view.spec.beside if view.spec else ""
    for run in dict.fromkeys([*filter(None, [beside]), *_against()][:MOST]):
        try:
            state = session.run(run).watch().transcript
        except RunNotFoundError:
            continue
        if state.started is None or state.started.lab != LAB.name:
            continue
        other: ProbeReport = LAB.view(state.case(state.only))
        if other.truth is None or (view.truth and other.truth.y == view.truth.y):
            yield run, other


# The end.


def picture(run_id: str, view: ProbeReport) -> None:
    """Draw the function over the person's curve, then the curves of the others, and the tiles of each."""
    plot = view.plot()
    assert plot is not None and view.spec is not None
    others = list(_others(view))
    curves = [*_curve(view, HAND, "claim"), *(one for one in plot.curves if one.kind == "truth")]
    for (_, other), look in zip(others, LOOKS, strict=False):
        curves += _curve(other, _name(other), look)
    st.markdown("#### What it is, and what was drawn", anchors=False)
    drawing(
        run_id,
        plot.points,
        calls=len(view.probes),
        left=0,
        many=sketch.POINTS,
        x_ends=PROBED,
        y_ends=plot.y_ends,
        curves=curves,
    )
    rows = {HAND: sketch.tiles(view)} | {_name(other): sketch.tiles(other) for _, other in others if other.truth}
    st.markdown("  \n".join(f"**{plain(name)}** {sketch.row(found)}" for name, found in rows.items()))
    st.caption(
        f"Each square is a part of the range: full if the line is within {sketch.NEAR:.0%} of the function's "
        f"height on {sketch.MOSTLY:.0%} of it, half if on {sketch.PARTLY:.0%}. The same rule applies to everyone."
    )
    _shared(view)
    if len(others) < MOST and not any(other.spec and other.spec.model == SHIPPED for _, other in others):
        words = "Let a small local model try too"
        if st.button(words, icon=":material/smart_toy:", key="agent-beside", help="A minute or two."):
            let_try(run_id, view.spec, SHIPPED)
            st.rerun()
    if any(session.run(run).active() for run, _ in others):
        _await([run for run, _ in others])


def _curve(view: ProbeReport, label: str, kind: str) -> Iterator[Curve]:
    plot = view.plot()
    for one in plot.curves if plot else ():
        if one.kind == "claim":
            yield Curve.model_validate({**one.model_dump(), "label": label, "kind": kind})


def _name(view: ProbeReport) -> str:
    shown = who(view.spec.model).shown if view.spec else ""
    return shown[:1].upper() + shown[1:]


def _await(runs: list[str]) -> None:
    """Draw the page again once these runs are done."""

    @st.fragment(run_every=PACE.seconds(_EVERY))
    def look() -> None:
        if not any(session.run(run).active() for run in runs):
            st.rerun()
        st.caption(":material/hourglass_top: The others are still working.")

    look()


def _shared(view: ProbeReport) -> None:
    """Show the person's tiles as text for sharing, with the address of the same function."""
    spec, day = view.spec, None
    assert spec is not None
    if spec == sketch.spec_of_day(found := day_of(str(spec.seed))):
        day = found
    about = f"the function of {day:%-d %B %Y}" if day else spec.title
    base = (st.context.url or "").split("?")[0]
    where = f"\n{base}?box={day:%Y%m%d}" if day else ""
    made = f"{sketch.row(sketch.tiles(view))}, {count_noun(len(view.probes), 'call')}"
    st.code(f"Explain Yourself: I drew {about}\n{made}{where}", language=None, wrap_lines=True)


# The function of the day.


def day_of(written: str) -> date:
    """Parse a day such as 20261123; today if it cannot be parsed."""
    try:
        return datetime.strptime(written, "%Y%m%d").replace(tzinfo=UTC).date()
    except ValueError:
        return datetime.now(UTC).date()


RECORDED = "20261126-222333-find-b48edb3f5befb0d5"
"""A recorded run in which a robot takes six points of a curve for a line; a class sees the points and draws."""


def begin() -> None:
    """Draw the buttons for the function of the day that the address names, or of today."""
    asked = st.query_params.get("box", "")
    day = day_of(asked)
    words = f"Guess the function of {day:%-d %B %Y}" if asked else "Guess today's function"
    kind: Literal["primary", "secondary"] = "primary" if asked else "secondary"
    about = f"A hidden function of numbers, {sketch.CALLS} calls, your pen."
    if st.button(words, icon=":material/draw:", key="box", type=kind, help=about):
        driver.start(LAB, sketch.spec_of_day(day), {})
    game_links.to_a_class("Draw it with a class", pack=f"function-{day:%Y%m%d}")
    game_links.to_a_class("Draw a robot's function with a class", run=RECORDED)
