"""A run on its lab's page, live while it is in progress; it is watched and stopped in the same way for every lab."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import streamlit as st
from pydantic import ValidationError
from streamlit.delta_generator import DeltaGenerator

from core import entry
from core.datasets.items import BROKEN, Loaded
from core.labs.base.lab import Lab
from core.labs.base.report import Report
from core.labs.base.spec import Spec
from core.models.ids import is_control
from core.report import run_scene, scenes
from core.report.evidence import state_of
from core.runs.library import RunNotFoundError
from core.scene import STEPS, Action, Scene, Step
from core.server.jobs import OVER, how_far
from core.transcript import RecordReader, Transcript
from pages import addresses
from pages.components import lab_page, labels, session
from pages.components.lab_page import LabPage, NextRun
from pages.components.run import actions, damage, go_on, stopped
from pages.components.text import plain
from pages.components.throttle import PACE
from pages.viewer.component import Follow, ListRow, Mode, Staging, stage

SECONDS = 2.0
"""Least seconds between two drawings of a page around a run in progress; the browser follows the case by itself."""

OTHERS = "The person who started it can stop it."

LEFT = "left"
"""Session key of the run whose cards the visitor left, before or after the last guess."""

END, LAST = "end", 10_000
"""The value in the address for the last screen, and a number larger than that of any screen."""

WHOLE = "whole-run"
"""Session key of the folded part of a page that shows the run around a case."""

STAGE_OF_LIST = "stage-list"
"""Key of the stage beside a list, the same for all of its rows."""

MANY = 100
"""For a run with more cases than this, only the case that is shown is read as a whole."""


def next_step(may_predict: bool, has_real: bool, is_short: bool, failures: int, can_compare: bool) -> Step | None:
    """Return the one thing to offer after a run; None if there is nothing. `may_predict`: only a person's predictions
    would give a verdict; `has_real`: a robot was asked, and a real model can be; `is_short`: the run has too few tests
    for a verdict; `failures`: how many of its tests failed; `can_compare`: another model can be asked.
    """
    wanted = (may_predict, has_real, is_short, failures > 0, can_compare)
    return next((step for step, is_wanted in zip(STEPS, wanted, strict=True) if is_wanted), None)


@dataclass(frozen=True)
class Shown:
    """A run as a page shows it: as far as it has come, and whether it is in progress. `take` carries out the next step,
    which is offered only if there is one.
    """

    lab: Lab
    run: str
    state: Transcript
    active: bool
    take: Callable[[Shown, Step], None] | None = None

    @cached_property
    def case(self) -> str:
        """The case that the address names, or the first."""
        return chosen_case(self.state)

    @cached_property
    def view(self) -> Report:
        """The lab's view of the case."""
        view: Report = self.lab.view(self.state.case(self.case))
        return view

    @property
    def spec(self) -> Spec | None:
        """The run's specification; None before it has begun, and if it cannot be parsed."""
        try:
            return self.lab.spec.model_validate(self.state.started.spec) if self.state.started else None
        except ValidationError:
            return None

    @property
    def lab_page(self) -> LabPage:
        """The lab's page."""
        return lab_page.page_of(self.lab)

    @property
    def are_several(self) -> bool:
        """Whether the run has several cases."""
        return self.state.planned > 1

    @property
    def is_judged(self) -> bool:
        """Whether every case has its verdict, which may be some seconds before the run ends."""
        over = sum(one.is_over for one in self.state.cases.values())
        return self.state.status in (None, "completed") and over == self.state.planned > 0

    @property
    def case_goes_on(self) -> bool:
        """Whether the case is still in progress."""
        begun = self.state.cases.get(self.case)
        return self.active and not (begun and begun.result)

    @cached_property
    def is_sealed(self) -> bool:
        """Whether the answers may not be shown yet, neither in a replay nor around the case."""
        return self.lab_page.sealed(self.view, self.case_goes_on)

    def scene(self) -> Scene:
        """Return the case's scene. It names the run even before the run has begun."""
        scene = scenes.of_case(self.lab, self.state, self.case, self.active, self.view)
        return scene.model_copy(update={"run": self.run})

    def follow(self) -> Follow | None:
        """Return what the browser follows by itself; None if the run is not in progress."""
        if not self.active:
            return None
        note = "" if session.run(self.run).here() else "It runs in another process; stop it there."
        note = note if session.runs().owns(self.run) else OTHERS
        far = how_far(entry.jobs(), self.lab, self.run, self.state)
        return Follow(self.run, self.case, far, PACE.seconds(SECONDS), note)

    def next_run(self, step: Step) -> NextRun | None:
        """Return the run that this next step starts; None if there is none."""
        spec, page = self.spec, self.lab_page
        if step == "real" and spec and is_control(getattr(spec, "model", "")):
            first = page.with_real_model(spec, self.view)
            return first if first and session.catalog().is_at_hand(getattr(first.spec, "model", "")) else None
        return page.longer_run(spec, self.view) if step == "longer" and spec and not self.are_several else None

    def step(self, failures: int) -> Iterator[Action]:
        """Yield the next step after the verdict, if there is one, for a run in which that many tests failed."""
        spec, may = self.spec, session.visitor().takes_part and not self.is_sealed
        if self.take is None or spec is None or not may or not self.is_judged:
            return
        has_real = self.next_run("real") is not None
        is_short = self.next_run("longer") is not None
        predict = not self.are_several and self.lab_page.may_predict(self.view)
        step = next_step(predict, has_real, is_short, failures, bool(getattr(spec, "model", "")))
        if step is not None:
            first = self.next_run(step)
            yield Action(name=step, words=first.words if first else "")

    def actions(self) -> Iterator[Action]:
        """Yield what the visitor may do with the case on the stage."""
        owns = session.runs().owns(self.run)
        if self.active:
            # Once every case has its verdict, the rest takes seconds.
            if owns and not self.is_judged and session.run(self.run).here():
                yield Action(name="cancel", on=self.run)
        elif self.state.started and not self.is_sealed:
            # For every answer, where it is shown.
            yield Action(name="fork")
            if owns and self.lab_page.may_ask(self.view):
                yield Action(name="question")


def follow_sealed(run: str, case: str) -> Follow:
    """Return what the browser follows of a case whose run is sealed for the visitor, until it is revealed. Raises
    RunNotFoundError.
    """
    # Checked first: if the run ends in the meantime, it is read once more.
    active = session.runs().unredacted(run).active()
    lab, state, case = state_of(session.runs(), entry.labs(), run, case)
    far = how_far(entry.jobs(), lab, run, state) if active else OVER
    return Follow(run, case, far, PACE.seconds(SECONDS), OTHERS)


def page(shown: Shown, menu: DeltaGenerator) -> None:
    """Draw the run that `load_run` returned, live while it is in progress. Once it is over, everything that can be done
    with it is in a menu, drawn in the container `menu`.
    """
    run, state, lab = shown.run, shown.state, shown.lab
    if state.started and state.started.lab != lab.name:
        # A run of another lab opens on the case page.
        st.switch_page(addresses.CASE, query_params={"run": run})
    if not shown.active:
        damage(run)
    to_resume = st.container()
    watched(shown)
    if shown.active or (shown.case and state.started and not shown.lab_page.follow_up(state, shown.view, run)):
        return
    # If the input was at fault, asking again would fail again.
    if not any(failure.bad_input for failure in state.failures):
        with to_resume:
            go_on(run, state)
    actions(run, state, here=lab.path, place=menu)


@dataclass(frozen=True)
class CaseList:
    """The list beside a case. `go` is called with "next", "previous" or "close" if keys ask for the next or previous
    row or for the list alone; or with "row" and the JSON of a place if the browser went there by itself, through the
    rows `listed`, beginning `here`. It returns whether the page has to be drawn again.
    """

    go: Callable[[str], bool]
    listed: Sequence[ListRow] = ()
    here: ListRow | None = None


def watched(shown: Shown, cases: CaseList | None = None, case_first: bool = False) -> None:
    """Draw the run. The browser follows a case in progress by itself, and has the page drawn again when more is to be
    seen around it. `cases`: the list beside the case. `case_first`: a reader came for one of several cases, so the run
    is folded below it.
    """
    with PACE.drawing(session.tab()):
        # A list is above its cases. A single case is above what comes and goes, so that it does not move; why it has no
        # result is said first.
        if not shown.are_several and not shown.active:
            stopped(shown.state)
        if shown.are_several and not case_first:
            draw_around(shown)
        draw(shown, cases)
        if not shown.are_several:
            draw_around(shown)
        elif not case_first:
            _run_table(shown)
        else:
            whole = st.expander(f"The whole run: {shown.state.planned} cases", key=WHOLE, on_change="rerun")
            if whole.open:
                with whole:
                    draw_around(shown)
                    _run_table(shown)


def load_run(run_id: str, whole: bool = True) -> tuple[Transcript, bool]:
    """Return the current state of the run, and whether the run is in progress. Only the chosen case is read as a whole
    if there are many, or if not the `whole` run will be shown. Raises RunNotFoundError.
    """
    run = session.run(run_id)
    # Checked first: if the run ends in the meantime it is read once more, and is not mistaken for an interrupted one.
    active = run.active()
    state = run.case(_address())
    if whole and state.planned <= MANY:
        state = run.watch().transcript
    elif (case := chosen_case(state)) != _address():
        state = run.case(case)
    # What the reader whom the address names said about the run.
    if who := st.query_params.get("reader", ""):
        for event in run.guesses(who):
            state.apply_annotation(event)
    return state, active


def draw_around(shown: Shown) -> None:
    """Draw what is beside the case: what was excluded and, if there are several cases, their list and why the run
    stopped.
    """
    state = shown.state
    if shown.are_several and not shown.active:
        stopped(state)
    if not state.cases:
        if shown.active:
            _first(shown.run)
        return
    left_out(state)
    above = st.container()
    if shown.are_several:
        # The choice itself may determine which case is shown first.
        case = shown.lab_page.choose(state)
        with above:
            wanted = of_all(shown)
        if case != shown.case or (wanted and wanted != case):
            # Another of many cases is wanted: draw the page again, reading that one as a whole.
            st.query_params["case"] = wanted or case
            st.rerun()
    if not (shown.active or shown.is_sealed):
        with above:
            shown.lab_page.further_baselines(state, shown.run)


def of_all(shown: Shown) -> str:
    """Draw the result of several cases on the stage, above the case that is shown. Returns the case whose tile was
    opened, or an empty string.
    """
    if shown.lab_page.guess_param and st.query_params.get(shown.lab_page.guess_param):
        return ""
    scene = run_scene.of_run(shown.lab, shown.state, shown.active)
    if not scene.tiles:
        return ""
    # By the visitor's own labels. For a run with many cases, only the chosen one has been read as a whole.
    said = {} if shown.active or shown.state.planned > MANY else labels.own(shown.run)
    if said and (verdict := shown.lab.run_summary.by_labels(shown.state, said)):
        scene = scene.model_copy(update={"verdict": run_scene.with_caution(verdict, shown.lab, shown.state)})
    scene = scene.model_copy(update={"actions": tuple(shown.step(sum(one.mark == "broken" for one in scene.tiles)))})
    went = stage("all", [scene], f"stage-all-{shown.run}", staging=Staging(shown.case))
    _take(shown, went)
    case = went.removeprefix("case ")
    return case if went.startswith("case ") and case in shown.state.cases else ""


def draw(shown: Shown, cases: CaseList | None = None) -> None:
    """Draw the chosen case on the stage, and what is below it."""
    page, view, goes_on = shown.lab_page, shown.view, shown.case_goes_on
    if not page.replacement(view, goes_on):
        on_stage(shown, cases)
        if not shown.is_sealed:
            page.extra_panel(view, goes_on)
    elif shown.active:
        far_on_stage([shown])


def _run_table(shown: Shown) -> None:
    if not shown.active:
        shown.lab_page.run_table(shown.state, shown.run)


def far_on_stage(shown: list[Shown], names: list[str] | None = None) -> None:
    """Show how far runs in progress are, without any of their results."""
    bare = [Scene(lab=one.lab.title, run=one.run, actions=tuple(one.actions())) for one in shown]
    staging = Staging(names=names or [""])
    stage("far", bare, f"far-{'-'.join(one.run for one in shown)}", [one.follow() for one in shown], staging)


def on_stage(shown: Shown, cases: CaseList | None = None) -> None:
    """Draw a case on the stage: followed while it is in progress, presented if the address says so, or to be
    guessed.
    """
    reader = st.query_params.get("reader", "")
    mode: Mode = "guess" if reader and shown.is_sealed else "tell" if st.query_params.get("present") else "read"
    staging = Staging(st.query_params.get("trial", ""), screen_number(), reader=reader)
    if session.visitor().takes_part and not (shown.is_sealed or shown.active):
        judged = {trial: said for (case, trial), said in labels.own(shown.run).items() if case == shown.case}
        staging = replace(staging, judgements=labels.of_cards(shown.lab), judged=judged)
    if cases is not None:
        staging = replace(staging, steps=True, listed=cases.listed, here=cases.here)
    scene = shown.scene()
    failures = sum(card.mark == "broken" for card in scene.cards)
    offered = () if shown.are_several else tuple(shown.step(failures))
    went = stage(
        mode,
        [scene.model_copy(update={"actions": (*offered, *shown.actions())})],
        # One key for all cases of a run, or of a list: with a new key per case the page would be empty in between, and
        # jump, and keys would be lost.
        STAGE_OF_LIST if cases and cases.listed else f"stage-{shown.run}",
        [shown.follow()],
        staging,
    )
    _take(shown, went)
    leads = went in ("next", "previous", "close") or went.startswith("row ")
    if cases is not None and leads and cases.go(went):
        st.rerun()
    if went.startswith("fork "):
        named = {"case": shown.case} if shown.are_several else {}
        st.switch_page(addresses.CASE, query_params={"run": shown.run, **named, "fork": went.removeprefix("fork ")})
    if went == "guessed" and mode == "guess":
        st.session_state[LEFT] = shown.run
        if shown.lab_page.sealed(shown.view, shown.case_goes_on):
            # A reader who left before guessing everything stops guessing, and sees the results.
            del st.query_params["reader"]
        st.rerun()


def _take(shown: Shown, went: str) -> None:
    """Carry out the next step if that is what the visitor chose on the stage."""
    step = next((step for step in STEPS if step == went), None)
    if step is not None and shown.take is not None:
        shown.take(shown, step)


def screen_number() -> int:
    """Return the screen of a presentation that the address names, from 0; beyond the last one, the stage shows the
    last.
    """
    named = st.query_params.get("at", "1")
    if named == END:
        return LAST
    return min(max(int(named) - 1, 0), LAST) if named.isdecimal() and len(named) < 10 else 0


def _first(run_id: str) -> None:
    """Show the run that must be made before this one can go on, if there is one."""
    if first := session.run(run_id).prior():
        try:
            started = session.run(first).watch().transcript.started
        except RunNotFoundError:
            # This run is shared with the visitor, but the one before it is not.
            st.caption("It is waiting for another run, which tests its models first.")
            return
        lab = entry.labs().get(started.lab) if started else None
        if lab is not None:
            st.markdown(f"First the {lab.title.lower()}: {lab.question}")
            st.page_link(addresses.CASE, label="Watch it", icon=lab.icon, query_params={"run": first})


def left_out(state: Transcript) -> None:
    """Say what was left out of the run's data set and why; broken rows by file and line."""
    held = RecordReader().read(Loaded, state.loaded or {})
    if held is None or not held.summary():
        return
    if not held.broken:
        st.caption(f":material/filter_alt: {plain(held.summary())}")
        return
    with st.expander(plain(held.summary()), icon=":material/filter_alt:"):
        st.markdown("  \n".join(plain(one) for one in held.broken))
        if (more := held.left_out.get(BROKEN, 0) - len(held.broken)) > 0:
            st.caption(f"And {more:,} more broken rows.")


def chosen_case(state: Transcript) -> str:
    """Return the case that the address names, or the first."""
    return _address() if _address() in state.cases else state.only


def _address() -> str:
    return st.query_params.get("case", "")
