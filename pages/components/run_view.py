"""A run on its lab's page, live while it goes on: whichever lab made it, it is watched and stopped in the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import streamlit as st
from pydantic import ValidationError

from core import entry
from core.datasets.items import BROKEN, Loaded
from core.labs.base.cases import View
from core.labs.base.lab import Lab
from core.labs.base.spec import Spec
from core.report import run_scene, scenes
from core.report.progress import OVER, how_far
from core.report.redaction import state_of
from core.runs.library import RunNotFound
from core.scene import Action, Scene, Verdict
from core.transcript import Transcript
from pages import addresses
from pages.components import lab_page, labels, session
from pages.components.lab_page import LabPage
from pages.components.run import actions, damage, go_on, stopped
from pages.components.text import plain
from pages.components.throttle import PACE
from pages.viewer.component import Follow, Mode, Says, Together, Where, stage

SECONDS = 2.0
"""At the least between two drawings of a page around a run that goes on, whose case the browser itself follows."""

OTHERS = "The person who began it can stop it."

END, LAST = "end", 10_000
"""The place in the address that is the last screen, and a number that no telling has screens to."""

MANY = 100
"""Of a run of more cases only the one that is shown is kept whole."""


@dataclass(frozen=True)
class Shown:
    """A run as a page shows it: as far as it has come, and whether it goes on."""

    lab: Lab
    run: str
    state: Transcript
    active: bool

    @cached_property
    def case(self) -> str:
        """The case that the address names, or the first."""
        return chosen(self.state)

    @cached_property
    def view(self) -> View:
        """What is shown of the case."""
        view: View = self.lab.view(self.state.case(self.case))
        return view

    @property
    def spec(self) -> Spec | None:
        """What it was started with; None before it has begun, and where that cannot be read."""
        try:
            return self.lab.spec.model_validate(self.state.started.spec) if self.state.started else None
        except ValidationError:
            return None

    @property
    def room(self) -> LabPage:
        """What the lab draws by hand."""
        return lab_page.of(self.lab)

    @property
    def are_several(self) -> bool:
        """Whether it has a list of cases."""
        return self.state.planned > 1

    @property
    def case_goes_on(self) -> bool:
        """Whether more is to come of the case."""
        begun = self.state.cases.get(self.case)
        return self.active and not (begun and begun.result)

    @cached_property
    def is_sealed(self) -> bool:
        """Whether the answers may not be shown yet, neither by a replay nor by what stands around the case."""
        return self.room.sealed(self.view, self.case_goes_on)

    def scene(self) -> Scene:
        """The case as it is told; it names its run before that has begun."""
        scene = scenes.of_case(self.lab, self.state, self.case, self.active, self.view)
        return scene.model_copy(update={"run": self.run})

    def follow(self) -> Follow | None:
        """What a browser hears of by itself, while it goes on."""
        if not self.active:
            return None
        note = "" if session.run(self.run).here() else "It goes on in another process; stop it there."
        note = note if session.runs().owns(self.run) else OTHERS
        far = how_far(entry.jobs(), self.lab, self.run, self.state)
        return Follow(self.run, self.case, far, PACE.seconds(SECONDS), note)

    def may(self) -> Iterator[Action]:
        """What may be done with the case on the stage."""
        owns = session.runs().owns(self.run)
        if self.active:
            yield from [Action(name="cancel", on=self.run)] if owns and session.run(self.run).here() else ()
        elif self.state.started and not self.is_sealed:
            # Any answer, where it stands.
            yield Action(name="fork")
            yield from (Action(name=name) for name in self.room.offers(self.view) if owns)


def follow_sealed(run: str, case: str) -> Follow:
    """A case of a run that is sealed for the visitor: what a browser hears of by itself until it is revealed. Raises
    RunNotFound.
    """
    # Asked first: a run that ends meanwhile is looked at once more.
    active = session.runs().behind_the_seal(run).active()
    lab, state, case = state_of(session.runs(), entry.labs(), run, case)
    far = how_far(entry.jobs(), lab, run, state) if active else OVER
    return Follow(run, case, far, PACE.seconds(SECONDS), OTHERS)


def named_run(show: Callable[[str], None]) -> None:
    """`show` the run that the address names, if it names one; a run that does not exist is reported."""
    if run_id := st.query_params.get("run", ""):
        try:
            show(run_id)
        except RunNotFound as error:
            st.error(plain(str(error)), title=error.title, icon=":material/error:")


def page(shown: Shown) -> None:
    """The run as `look` gave it, live while it goes on; and what can be done with it once it is over."""
    run, state, lab = shown.run, shown.state, shown.lab
    if state.started and state.started.lab != lab.name:
        # The run of another lab opens as a case.
        st.switch_page(addresses.CASE, query_params={"run": run})
    if not shown.active:
        damage(run)
    watched(shown)
    if shown.active or (shown.case and state.started and not shown.room.after(state, shown.view, run)):
        return
    # What was asked for is at fault: asking again would bring the same.
    if not any(failure.bad_input for failure in state.failures):
        go_on(run, state)
    actions(run, state, here=lab.path)


def watched(shown: Shown, step: Callable[[str], None] | None = None) -> None:
    """Draw the run. A case that goes on is followed by the browser itself, which has the page drawn again where more is
    to be seen around it. `step` is called where keys on the stage want the next row of a list, the previous one, or the
    list alone ("next", "previous", "close").
    """
    with PACE.drawing(session.tab()):
        # A list stands above its cases; one case stands above what comes and goes, so that it stays in its place.
        if shown.are_several:
            around(shown)
        draw(shown, step)
        if not shown.are_several:
            around(shown)


def look(run_id: str) -> tuple[Transcript, bool]:
    """The run as it stands, of many cases only the chosen one whole; and whether it goes on. Raises RunNotFound."""
    run = session.run(run_id)
    # Asked first: a run that ends meanwhile is looked at once more, and none is taken for interrupted.
    active = run.active()
    state = run.case(_address())
    if state.planned <= MANY:
        state = run.watch().transcript
    elif (case := chosen(state)) != _address():
        state = run.case(case)
    hear(state, run_id)
    return state, active


def hear(state: Transcript, run_id: str) -> None:
    """Take in what the reader whom the address names said about the run."""
    if who := st.query_params.get("reader", ""):
        for event in session.run(run_id).guesses(who):
            state.hear(event)


def around(shown: Shown) -> None:
    """What stands beside the case: why it stopped, what was left out, and of several cases all of them as a list."""
    state = shown.state
    if not shown.active:
        stopped(state)
    if not state.cases:
        if shown.active:
            _first(shown.run)
        return
    left_out(state)
    if shown.are_several:
        above = st.container()
        # Which case is shown at first may be settled by the choice itself.
        case = shown.room.choose(state)
        with above:
            wanted = of_all(shown)
        if case != shown.case or (wanted and wanted != case):
            # Another one of many is to be seen: the page begins again and keeps that one whole.
            st.query_params["case"] = wanted or case
            st.rerun()


def of_all(shown: Shown) -> str:
    """What several cases came to, on the stage, above the one that is shown; the case that a tile was opened for."""
    if shown.room.held and st.query_params.get(shown.room.held):
        return ""
    scene = shown.room.of_all(shown.lab, shown.state, shown.active)
    if not scene.tiles:
        return ""
    if verdict := _by_labels(shown):
        scene = scene.model_copy(update={"verdict": run_scene.with_caution(verdict, shown.lab, shown.state)})
    went = stage("all", [scene], f"stage-all-{shown.run}", where=Where(shown.case))
    case = went.removeprefix("case ")
    return case if went.startswith("case ") and case in shown.state.cases else ""


def _by_labels(shown: Shown) -> Verdict | None:
    """The verdict on a finished run by the visitor's own labels, where these are enough for one."""
    judge = shown.lab.in_runs.by_labels
    # Of many cases only the chosen one is here as a whole.
    if judge is None or shown.active or shown.state.planned > MANY or not (said := labels.own(shown.run)):
        return None
    return judge(shown.state, said)


def draw(shown: Shown, step: Callable[[str], None] | None = None) -> None:
    """The case that is chosen, on the stage; and what stands below it."""
    room, view, goes_on = shown.room, shown.view, shown.case_goes_on
    if not room.instead(view, goes_on):
        on_stage(shown, step)
        if not shown.is_sealed:
            room.below(view, goes_on)
    elif shown.active:
        far_on_stage([shown])
    if shown.are_several and not shown.active:
        room.several(shown.state, shown.run)


def far_on_stage(shown: list[Shown], names: list[str] | None = None) -> None:
    """How far runs are that go on, and nothing of what came."""
    bare = [Scene(lab=one.lab.title, run=one.run, actions=tuple(one.may())) for one in shown]
    together = Together(names=names or [""])
    stage("far", bare, f"far-{'-'.join(one.run for one in shown)}", [one.follow() for one in shown], together=together)


def on_stage(shown: Shown, step: Callable[[str], None] | None = None) -> None:
    """A case on the stage: followed while it goes on, told where the address says so, guessed where a reader does."""
    reader = st.query_params.get("reader", "")
    mode: Mode = "guess" if reader and shown.is_sealed else "tell" if st.query_params.get("present") else "read"
    says = Says(reader)
    if session.visitor().takes_part and not (shown.is_sealed or shown.active):
        says = Says(reader, labels.of_cards(shown.lab), labels.said_of_cards(shown.run, shown.case))
    went = stage(
        mode,
        [shown.scene().model_copy(update={"actions": tuple(shown.may())})],
        # The same for all cases of a run: between two of them the place would be empty, and the page jump.
        f"stage-{shown.run}",
        [shown.follow()],
        Where(st.query_params.get("trial", ""), place(), step is not None),
        says,
    )
    if step is not None and went in ("next", "previous", "close"):
        step(went)
        st.rerun()
    if went.startswith("fork "):
        named = {"case": shown.case} if shown.are_several else {}
        st.switch_page(addresses.CASE, query_params={"run": shown.run, **named, "fork": went.removeprefix("fork ")})
    if went == "guessed" and mode == "guess":
        # Who left before all is guessed guesses no more, and sees what came.
        del st.query_params["reader"]
        st.rerun()


def place() -> int:
    """The screen of a telling that the address names, from 0; of one that is past the last the stage shows the last."""
    named = st.query_params.get("at", "1")
    if named == END:
        return LAST
    return min(max(int(named) - 1, 0), LAST) if named.isdecimal() and len(named) < 10 else 0


def _first(run_id: str) -> None:
    """What is made before the run goes on, where something is."""
    if first := session.run(run_id).prior():
        try:
            started = session.run(first).watch().transcript.started
        except RunNotFound:
            # The run is shared with the visitor, what comes before it is not.
            st.caption("It waits for another run, which tests its models first.")
            return
        lab = entry.labs().get(started.lab) if started else None
        if lab is not None:
            st.markdown(f"First the {lab.title.lower()}: {lab.question}")
            st.page_link(addresses.CASE, label="Watch it", icon=lab.icon, query_params={"run": first})


def left_out(state: Transcript) -> None:
    """What of the run's data set was left out and why, broken rows by file and line."""
    held = Loaded.of(state.loaded)
    if held is None or not held.summary():
        return
    if not held.broken:
        st.caption(f":material/filter_alt: {plain(held.summary())}")
        return
    with st.expander(plain(held.summary()), icon=":material/filter_alt:"):
        st.markdown("  \n".join(plain(one) for one in held.broken))
        if (more := held.left_out.get(BROKEN, 0) - len(held.broken)) > 0:
            st.caption(f"And {more:,} more broken rows.")


def chosen(state: Transcript) -> str:
    """The case that the address names, or the first."""
    return _address() if _address() in state.cases else state.only


def _address() -> str:
    return st.query_params.get("case", "")
