"""Your turn: the reader probes the same function by hand, draws it or picks outputs, concludes, and is scored like any
interpreter.
"""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from typing import Any, Literal

import streamlit as st

from core.labs.probe import by_hand
from core.labs.probe.functions import source
from core.labs.probe.functions.base import FindFunction
from core.labs.probe.functions.numeric import PROBED
from core.labs.probe.functions.source import as_code, trouble
from core.labs.probe.lab import LAB
from core.labs.probe.records import METRICS, Submission, Wish
from core.labs.probe.report import ProbeReport
from core.labs.probe.tasks import ProbeSpec
from core.report.scenes import figure, scene_of, who
from core.runs.engine import UserInput
from core.runs.library import RunNotFoundError
from core.sandbox.rewriting import cause
from core.scene import Curve
from core.text.display import count_noun, visible
from core.text.templates import load
from pages.components import recordings, session
from pages.components.run import resume
from pages.components.session import problems
from pages.components.text import plain
from pages.components.throttle import PACE, let_others_draw
from pages.components.widgets import SHIPPED
from pages.viewer.component import drawing, stage

# Drawing a function: a person queries a hidden function of numbers a few times and draws its curve. Then the
# function is shown, with the curves of a robot and of a model beside it. The function of the day is the same for
# everybody.


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
    asked, curve = _draw(run_id, view, calls_left(view))
    try:
        if curve is not None:
            return by_hand.submission(curve)
        if asked is not None and calls_left(view) and PROBED[0] <= float(asked) <= PROBED[1]:
            return Wish(inputs=(f"{float(asked):g}",))
    except (TypeError, ValueError) as error:
        problems(ValueError(f"This is not a drawing: {error}"))
    return None


def _draw(run_id: str, view: ProbeReport, left: int, **more: Any) -> tuple[float | None, list[float] | None]:
    plot = view.plot()
    points, calls = plot.points if plot else (), len(view.probes)
    return drawing(run_id, points, calls=calls, left=left, many=by_hand.POINTS, x_ends=PROBED, **more)


# The robot and the model.


def let_try(spec: ProbeSpec, model: str) -> None:
    """Start a run of an agent on the same function, whose curve will be shown beside the person's."""
    other = {"beside": "", "given": None, "interpreter": "aia", "model": model}
    if run := session.begin(LAB, spec.model_copy(update=other)):
        st.query_params[AGAINST] = ",".join([*_against(), run][-MOST:])


def _against() -> list[str]:
    return [one for one in st.query_params.get(AGAINST, "")[:400].split(",") if one]


def _others(view: ProbeReport) -> Iterator[tuple[str, ProbeReport]]:
    """Yield the runs to show beside this one, if they are about the same function."""
    beside = view.spec.beside if view.spec else ""
    for run in dict.fromkeys([*filter(None, [beside]), *_against()][:MOST]):
        other = report_of(run)
        if other and (other.truth is None or (view.truth and other.truth.y == view.truth.y)):
            yield run, other


def report_of(run_id: str) -> ProbeReport | None:
    """Return the report on another run; None if the visitor may not see it, or if it is not one of this lab."""
    try:
        state = session.run(run_id).watch().transcript
    except RunNotFoundError:
        return None
    if state.started is None or state.started.lab != LAB.name:
        return None
    report: ProbeReport = LAB.view(state.case(state.only))
    return report


# The end.


def picture(run_id: str, view: ProbeReport) -> None:
    """Draw the function over the person's curve, then the curves of the others, and the tiles of each."""
    plot = view.plot()
    assert plot is not None and view.spec is not None
    others = list(_others(view))
    curves = [*_curve(view, HAND, "claim"), *(one for one in plot.curves if one.kind == "truth")]
    for (_, other), look in zip(others, LOOKS, strict=False):
        curves += _curve(other, _drawer(other), look)
    st.markdown("#### The function and the drawings", anchors=False)
    _draw(run_id, view, 0, y_ends=plot.y_ends, curves=curves)
    rows = {HAND: by_hand.tiles(view)} | {_drawer(other): by_hand.tiles(other) for _, other in others if other.truth}
    st.markdown("  \n".join(f"**{plain(name)}** {by_hand.row(found)}" for name, found in rows.items()))
    st.caption(
        f"Each square is a part of the range: full if the line is within {by_hand.NEAR:.0%} of the function's "
        f"height on {by_hand.MOSTLY:.0%} of it, half if on {by_hand.PARTLY:.0%}. The same rule applies to everyone."
    )
    _shared(view)
    if len(others) < MOST and not any(other.spec and other.spec.model == SHIPPED for _, other in others):
        words = "Let a small local model try too"
        if st.button(words, icon=":material/smart_toy:", key="agent-beside", help="A minute or two."):
            let_try(view.spec, SHIPPED)
            st.rerun()
    if any(session.run(run).active() for run, _ in others):
        _await([run for run, _ in others])


def _curve(view: ProbeReport, label: str, kind: str) -> Iterator[Curve]:
    plot = view.plot()
    for one in plot.curves if plot else ():
        if one.kind == "claim":
            yield Curve.model_validate({**one.model_dump(), "label": label, "kind": kind})


def _drawer(view: ProbeReport) -> str:
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
    if spec == by_hand.spec_of_day(found := day_of(str(spec.seed))):
        day = found
    about = f"the function of {day:%-d %B %Y}" if day else spec.title
    base = (st.context.url or "").split("?")[0]
    where = f"\n{base}?box={day:%Y%m%d}" if day else ""
    made = f"{by_hand.row(by_hand.tiles(view))}, {count_noun(len(view.probes), 'call')}"
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


def begin(start: Callable[[date], None]) -> None:
    """Draw the buttons for the function of the day that the address names, or of today; `start` runs it."""
    asked = st.query_params.get("box", "")
    day = day_of(asked)
    words = f"Guess the function of {day:%-d %B %Y}" if asked else "Guess today's function"
    kind: Literal["primary", "secondary"] = "primary" if asked else "secondary"
    about = f"A hidden function of numbers, {by_hand.CALLS} calls, your pen."
    if st.button(words, icon=":material/draw:", key="box", type=kind, help=about):
        start(day)
    recordings.to_a_class("Draw it with a class", pack=f"function-{day:%Y%m%d}")
    recordings.to_a_class("Draw a robot's function with a class", run=RECORDED)


# Functions of texts: the person answers by choosing, for a few new texts, the output that the function gives.


def function_of(spec: ProbeSpec) -> FindFunction | None:
    """Return the function if it was sampled and is deterministic; for any other function there is no quiz."""
    if spec.category != "strings" or spec.own or spec.function or spec.find_dir:
        return None
    function = source.load(spec)
    return None if function.is_stochastic else function


def form(case: ProbeReport, spec: ProbeSpec) -> Submission | None:
    """Draw a few new texts with three outputs to choose from. Returns the person's answers, once; None otherwise."""
    function = function_of(spec)
    if function is None or not case.probes:
        return None
    offered = by_hand.quiz_items(function, spec.seed, {probe.input for probe in case.probes})
    with st.form("picking"):
        st.markdown("**What will it give for these?** Just pick; you need not state the rule.")
        given = {
            one.text: st.radio(
                plain(visible(one.text)),
                one.outputs,
                index=None,
                key=f"pick-{number}",
                format_func=lambda output: plain(visible(output)) or "(nothing)",
            )
            for number, one in enumerate(offered)
        }
        pressed = st.form_submit_button("Submit", type="primary", icon=":material/flag:", key="picked")
    if not pressed:
        return None
    if lacking := sum(output is None for output in given.values()):
        st.warning(f"Pick one for each: {count_noun(lacking, 'text')} to go.", icon=":material/edit:")
        return None
    return by_hand.quiz_submission({text: output for text, output in given.items() if output is not None})


def draw_end(view: ProbeReport) -> bool:
    """Draw the function, and each choice beside the right output. Returns whether it did: not if the person did not
    answer by choosing outputs, or if the function cannot be loaded.
    """
    picks = by_hand.picks(view.interpretation)
    if not picks or view.spec is None or view.truth is None or (function := function_of(view.spec)) is None:
        return False
    rows = list(by_hand.picked_outputs(function, picks))
    right = [one == given for _, one, given in rows]
    st.markdown(f"#### {sum(right)} of {len(rows)} picked right", anchors=False)
    st.markdown(f"**The function:** {plain(view.truth.description)}")
    shown = [
        {"Text": visible(text), "Picked": visible(one), "It gives": visible(given), "": "■" if hit else "□"}
        for (text, one, given), hit in zip(rows, right, strict=True)
    ]
    st.dataframe(shown, hide_index=True, key="picked-table", alt="What was picked, and what the function gives")
    st.caption("Guessing gets one in three.")
    tiles = "".join("■" if hit else "□" for hit in right)
    made = f"{tiles} {sum(right)} of {len(rows)}, {count_noun(len(view.probes), 'call')}"
    st.code(f"Explain Yourself: {view.spec.title}\n{made}", language=None, wrap_lines=True)
    return True


# The form for a person who probes by hand.


_HINTS = {
    "numeric": ("Numbers to try, separated by spaces", "-10 0 1 2.5 100"),
    "strings": ("Texts to try, one per line", "Hello World\nbanana\nroom 101"),
    "entities": ("Words to try, one per line or separated by commas", "eagle, violin, Paris, algebra"),
    "relations": ("Inputs to try, one per line or separated by commas", "France, Mozart, gold, elephant"),
}
_DOMAINS = {
    "numeric": "Numbers it holds for",
    "strings": "Texts it works for",
    "relations": "Inputs of the right kind that still give undefined",
}
_CODE = {"numeric": "def f(x):\n    return 2 * x + 1", "strings": "def f(x):\n    return x.upper()"}


def inputs_of(category: str, text: str) -> tuple[str, ...]:
    """Split what the reader typed into inputs."""
    if category == "strings":
        return tuple(line for line in text.splitlines() if line)
    parts = re.split(r"[\s,;]+" if category == "numeric" else r"[\n,;]+", text)
    return tuple(one.strip() for one in parts if one.strip())


def turn(run_id: str, case: ProbeReport, spec: ProbeSpec) -> None:
    """Draw the form for probing by hand, until the reader concludes."""
    st.markdown("#### Your turn", anchors=False)
    st.caption(plain(spec.title))
    if not can_be_drawn(spec):
        _in_words(run_id, case, spec)
        return
    st.markdown("We hide a function of numbers. Ask for a few values, then draw its curve.")
    # The chart has a fixed height, so that nothing moves between queries.
    did = chart(run_id, case)
    with st.expander("Type numbers, or answer in words and code", key="in-words"):
        _in_words(run_id, case, spec)
    if isinstance(did, Submission):
        let_try(spec, ROBOT)
    if did is not None:
        _go_on(run_id, case, did)


def _in_words(run_id: str, case: ProbeReport, spec: ProbeSpec) -> None:
    rounds = len(case.wishes)
    left = max(spec.probes - len(case.probes), 0)
    # The same words that an agent reads.
    hints = [line for line in load(f"find/agent-{spec.category}").user.splitlines() if line.startswith("- ")]
    st.markdown("\n".join(hints))
    st.caption(
        f"{len(case.probes)} of {spec.probes} calls of the function · {rounds} of {spec.rounds} rounds: each press of "
        f"the button is one{plain(case.carried_out())}"
    )
    # Above the results, because the fields would otherwise move with each call.
    if left and rounds < spec.rounds:
        _probing(run_id, case, spec)
    else:
        st.info("Your budget is used up. Write down what the function does.", icon=":material/hourglass_empty:")
    tried, conclusion = st.columns([3, 2])
    with conclusion:
        if (told := form(case, spec)) is not None:
            _go_on(run_id, case, told)
        _concluding(run_id, case, spec)
    if case.probes:
        with tried:
            stage("tried", [scene_of(LAB, case)], f"tried-{run_id}")


def _probing(run_id: str, case: ProbeReport, spec: ProbeSpec) -> None:
    label, example = _HINTS[spec.category]
    with st.form("probing", clear_on_submit=True, border=False):
        if spec.category == "numeric":
            text = st.text_input(label, placeholder=example, key="inputs")
        else:
            text = st.text_area(label, placeholder=example, key="inputs", height=100)
        pressed = st.form_submit_button("Call the function", icon=":material/experiment:", key="call")
    if pressed:
        inputs = inputs_of(spec.category, text)
        if not inputs:
            st.warning("Write at least one input.", icon=":material/edit:")
            return
        _go_on(run_id, case, Wish(inputs=inputs))


def _concluding(run_id: str, case: ProbeReport, spec: ProbeSpec) -> None:
    with st.form("concluding"):
        st.markdown("**What is it?**")
        description = st.text_area("Description", key="description", height=80, placeholder="What the function does")
        domain = ""
        if spec.category != "entities":
            domain = st.text_input("Domain", key="domain", placeholder=_DOMAINS[spec.category])
        interval = _interval() if spec.category == "numeric" else None
        code = ""
        if spec.category in _CODE:
            code = st.text_area(
                "A formula, or Python",
                key="code",
                height=140,
                placeholder=_CODE[spec.category],
                help="Only code can be scored; without it only your words count. A formula of x will do: 2 * x + 1",
            )
        pressed = st.form_submit_button("Conclude", type="primary", icon=":material/flag:", key="conclude")
    if pressed:
        if not description.strip() and not code.strip():
            st.warning("Write a description or code first.", icon=":material/edit:")
            return
        if code.strip() and (why := trouble(spec.category, code)):
            st.warning(
                f"This code cannot be run: {plain(cause(why))}  \nFix it, or leave it out and answer in words.",
                icon=":material/code_off:",
            )
            return
        code = as_code(code) if code.strip() else ""
        said = Submission(description=description.strip(), domain=domain.strip(), code=code.rstrip(), interval=interval)
        _go_on(run_id, case, said)


def _interval() -> tuple[float | None, float | None] | None:
    """Draw two numbers for the interval where values are replaced, since a description in words may be misread. None if
    both are empty.
    """
    left, right = st.columns(2)
    about = "Where we altered the function, if anywhere. An empty end is open; leave both empty for nowhere."
    low = left.number_input("Exception from", value=None, step=1.0, key="interval-from", help=about)
    high = right.number_input("to", value=None, step=1.0, key="interval-to", help=about)
    if low is None and high is None:
        return None
    return (high, low) if low is not None and high is not None and high < low else (low, high)


def _go_on(run_id: str, case: ProbeReport, said: Wish | Submission) -> None:
    if resume(run_id, UserInput(case.log.case, said, "wish-{n}" if isinstance(said, Wish) else "submission")):
        # The function answers immediately, unless a model runs it; then the page shows the run in progress.
        with let_others_draw():
            session.run(run_id).wait(3)
        st.rerun()


def compare_figures(first: ProbeReport, second: ProbeReport) -> None:
    """Draw the figures of two interpreters of one function side by side."""
    cases = {_name(first): first, _name(second): second}
    if len(cases) < 2 or first.spec is None:
        return
    st.markdown("#### Side by side", anchors=False)
    rows = ["| | " + " | ".join(plain(name) for name in cases) + " |", "|---|---|---|"]
    for metric in dict.fromkeys([first.headline, *(metric.name for metric in METRICS)]):
        scores = [case.log.score(metric, "repaired") for case in cases.values()]
        if any(score is not None and score.value is not None for score in scores):
            shown = ["undefined" if score is None else figure(LAB, score).value for score in scores]
            rows.append(f"| {LAB.metric(metric).title} | {' | '.join(shown)} |")
    rows.append("| calls | " + " | ".join(str(len(case.probes)) for case in cases.values()) + " |")
    with st.container(border=True, key="beside"):
        st.markdown("\n".join(rows))
        for name, case in cases.items():
            said = case.interpretation.description.repaired if case.interpretation else ""
            st.markdown(f"**{plain(name)}**  \n{plain(said) if said else ':gray[no description]'}")


def _name(case: ProbeReport) -> str:
    if case.spec is None:
        return ""
    return "You" if case.spec.interpreter == "you" else case.spec.model or case.spec.interpreter
