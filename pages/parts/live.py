"""A run on its lab's page, live while it goes on: whichever lab made it, it is watched and stopped in the same way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

import streamlit as st

from core import entry, policy
from core.datasets.items import BROKEN, Loaded
from core.lab.lab import Lab
from core.people.looking import NoSuchRun
from core.runs.watch import Watch
from core.scene import Action, Scene
from core.telling import scenes
from core.transcript import Transcript
from pages import addresses
from pages.parts import labels, rooms, session
from pages.parts.rooms import Offer
from pages.parts.run import actions, damage, go_on, stopped
from pages.parts.text import plain
from pages.parts.throttle import PACE
from pages.stage.mount import Mode, stage

SECONDS = 0.4
"""Between two looks at a run that begins."""

SECONDS_LATER = 2.0
"""The same once its first case has begun: how far it is, and the list of several cases, may be drawn that late."""

SETTLED = 10.0
"""Seconds after which a browser has what was drawn last, and no longer asks for more. On a server with much to do that
can be lost on its way: then the browser asks on, and it is drawn again, LAST_DRAWINGS times at most.
"""

LAST_DRAWINGS = 3

END, LAST = "end", 10_000
"""The place in the address that is the last screen, and a number that no telling has screens to."""

MANY = 100
"""Of a run of more cases only the one that is shown is kept whole."""


def named_run(show: Callable[[str], None]) -> None:
    """`show` the run that the address names, if it names one; a run that does not exist is reported."""
    if run_id := st.query_params.get("run", ""):
        try:
            show(run_id)
        except NoSuchRun as error:
            st.error(plain(str(error)), title=error.title, icon=":material/error:")


def page(lab: Lab, run_id: str, state: Transcript, active: bool) -> None:
    """The run as `look` gave it, live while it goes on; and what can be done with it once it is over."""
    if state.started and state.started.lab != lab.name:
        # The run of another lab opens as a case.
        st.switch_page(addresses.CASE, query_params={"run": run_id})
    if not active:
        damage(run_id)
    if watched(lab, run_id, state, active):
        return
    room = rooms.of(lab)
    case = chosen(state)
    if case and state.started:
        view = lab.view(state.case(case))
        shared = room.after(state, view, run_id)
    else:
        shared = True
    if shared:
        # What was asked for is at fault: asking again would bring the same.
        if not any(failure.bad_input for failure in state.failures):
            go_on(run_id, state)
        actions(run_id, state, here=lab.path)


def watched(
    lab: Lab, run_id: str, state: Transcript, began_active: bool, step: Callable[[str], None] | None = None
) -> bool:
    """Draw the run. A case that goes on is followed by the browser itself; the list of several cases is drawn again and
    again, at the pace that all who watch leave. Whether it goes on. `step` is called where keys on the stage want the
    next row of a list, the previous one, or the list alone ("next", "previous", "close").
    """
    case = _address()
    watch = follow(run_id, state) if began_active else None
    shown = _several(state), state.started is not None
    drawn = time.monotonic()

    @st.fragment(run_every=PACE.seconds(SECONDS_LATER if state.cases else SECONDS) if began_active else None)
    def live() -> None:
        if _address() != case:
            # What stands around the case is about another one now, and of many cases only one is kept whole.
            st.rerun()
        active = session.run(run_id).active()
        now = state
        if watch is not None:
            watch.look()
            now = watch.transcript
            if (_several(now), now.started is not None) != shown:
                # What was asked is said above. How many cases there are is known once the first has begun.
                st.rerun()
        hear(now, run_id)
        with PACE.drawing(session.tab()):
            around(lab, now, run_id, active)
        end(began_active, active, drawn)

    # One case stands above what comes and goes while it does, so that it stays in its place; a list stands above its
    # cases.
    if _several(state):
        live()
    with PACE.drawing(session.tab()):
        draw(lab, state, run_id, began_active, step)
    if not _several(state):
        live()
    return began_active


def _several(state: Transcript) -> bool:
    return state.planned > 1


def follow(run_id: str, state: Transcript) -> Watch:
    """The run, to be looked at again and again: as much of it is kept as `look` gave of it. Raises NoSuchRun."""
    return session.run(run_id).watch(_kept(state))


def end(began_active: bool, active: bool, drawn: float) -> None:
    """Draw the whole page once what a part of it watches is over; again, where a browser still asks that had been given
    it `drawn` (time.monotonic()).
    """
    if began_active and not active:
        st.session_state["last-drawings"] = LAST_DRAWINGS
        st.rerun()
    if not began_active and time.monotonic() - drawn > SETTLED and st.session_state.get("last-drawings"):
        st.session_state["last-drawings"] -= 1
        st.rerun()


def look(run_id: str) -> tuple[Transcript, bool]:
    """The run as it stands, of many cases only the chosen one whole; and whether it goes on. Raises NoSuchRun."""
    run = session.run(run_id)
    # Asked first: a run that ends meanwhile is looked at once more, and none is taken for interrupted.
    active = run.active()
    state = run.case(_address())
    if not _many(state):
        state = run.watch().transcript
    elif (case := chosen(state)) != _address():
        state = run.case(case)
    hear(state, run_id)
    return state, active


def hear(state: Transcript, run_id: str) -> None:
    """Take in what the reader whom the address names said about the run."""
    if who := st.query_params.get("reader", ""):
        for event in session.run(run_id).said(who):
            state.hear(event)


def around(lab: Lab, state: Transcript, run_id: str, active: bool) -> None:
    """What changes beside the case while a run goes on: how far it is, and of several cases all of them as a list."""
    room = rooms.of(lab)
    stopped(state)
    if active:
        waiting(run_id)
        progress(run_id, *room.progress(state))
    if not state.cases:
        if active:
            _first(run_id)
        return
    left_out(state)
    if _several(state):
        above = st.container()
        # Which case is shown at first may be settled by the choice itself.
        case = room.choose(state)
        with above:
            wanted = of_all(lab, state, run_id, active)
        if case != chosen(state) or (wanted and wanted != case):
            # Another one of many is to be seen: the page begins again and keeps that one whole.
            st.query_params["case"] = wanted or case
            st.rerun(scope="app")


def of_all(lab: Lab, state: Transcript, run_id: str, active: bool) -> str:
    """What several cases came to, on the stage, above the one that is shown; the case that a tile was opened for."""
    scene = rooms.of(lab).of_all(lab, state, active)
    if scene is None or not scene.tiles:
        return ""
    went = stage("all", [scene], f"stage-all-{run_id}", card=chosen(state))
    case = went.removeprefix("case ")
    return case if went.startswith("case ") and case in state.cases else ""


def draw(lab: Lab, state: Transcript, run_id: str, active: bool, step: Callable[[str], None] | None = None) -> None:
    """The case that is chosen, on the stage; and what stands below it."""
    room, case = rooms.of(lab), chosen(state)
    view = lab.view(state.case(case))
    goes_on = active and not _is_over(state, case)
    if not room.instead(view, goes_on):
        on_stage(lab, state, run_id, case, active, step)
        if not room.sealed(view, goes_on):
            room.below(view, goes_on)
    if _several(state) and not active:
        room.several(state, run_id)


def on_stage(
    lab: Lab, state: Transcript, run_id: str, case: str, active: bool, step: Callable[[str], None] | None = None
) -> None:
    """A case on the stage: followed while it goes on, told where the address says so, guessed where a reader does."""
    room, view = rooms.of(lab), lab.view(state.case(case))
    scene = scenes.of_case(lab, state, case, active)
    reader = st.query_params.get("reader", "")
    sealed = room.sealed(view, active and not _is_over(state, case))
    mode: Mode = "guess" if reader and sealed else "tell" if st.query_params.get("present") else "read"
    may = () if sealed else tuple(_actions(scene, active, room.offers(view)))
    scene = scene.model_copy(update={"actions": may})
    went = stage(
        mode,
        [scene],
        # The same for all cases of a run: between two of them the place would be empty, and the page jump.
        f"stage-{run_id}",
        follow={"run": run_id, "case": case} if scene.status in ("running", "waiting") else None,
        reader=reader,
        place=place(),
        judgements=() if sealed or active else labels.of_cards(lab),
        judged=labels.said_of_cards(scene.run, case) if scene.run and not (sealed or active) else {},
        card=st.query_params.get("trial", ""),
        steps=step is not None,
    )
    if step is not None and went in ("next", "previous", "close"):
        step(went)
        st.rerun()
    if went.startswith("fork "):
        named = {"case": case} if _several(state) else {}
        st.switch_page(addresses.CASE, query_params={"run": scene.run, **named, "fork": went.removeprefix("fork ")})
    if went == "guessed" and mode == "guess":
        # Who left before all is guessed guesses no more, and sees what came.
        del st.query_params["reader"]
        st.rerun()


def _is_over(state: Transcript, case: str) -> bool:
    return case in state.cases and state.cases[case].result is not None


def _actions(scene: Scene, active: bool, offered: Sequence[Offer]) -> Iterator[Action]:
    """What may be done with the case on the stage; nothing while a run that is over is played again."""
    if not scene.run or active != session.run(scene.run).active():
        return
    owns = session.runs().owns(scene.run)
    if active:
        yield from [Action(name="cancel")] if owns and session.run(scene.run).here() else ()
        return
    # Any answer, where it stands.
    yield Action(name="fork")
    yield from (Action(name=name) for name in offered if owns)


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
        except NoSuchRun:
            # The run is shared with whoever looks, what comes before it is not.
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


def _many(state: Transcript) -> bool:
    return state.planned > MANY


def _kept(state: Transcript) -> str:
    return chosen(state) if _many(state) else ""


def waiting(run_id: str) -> None:
    """Where the run stands, while it waits in line for a place."""
    others = session.run(run_id).in_line()
    if others is None:
        return
    first = f"{others} {'other comes' if others == 1 else 'others come'} first" if others else "it is the next"
    words = f"All places for runs ({policy.limit('runs_of_all')}) are taken, and this run waits in line: {first}."
    st.info(f"{words} It begins by itself, and this page may be closed meanwhile.", icon=":material/hourglass_top:")


def progress(run_id: str, share: float, text: str) -> None:
    """How far the run is (`share` up to 1), and the button that stops it."""
    run = session.run(run_id)
    if run.in_line() is None and (others := run.before()):
        text += f" · waiting for its turn: {others} {'other comes' if others == 1 else 'others come'} first"
    with st.container(horizontal=True, vertical_alignment="center", key="progress"):
        st.progress(min(max(share, 0.0), 1.0), text=text)
        if not session.run(run_id).here():
            st.caption("It goes on in another process; stop it there.")
        elif not session.runs().owns(run_id):
            st.caption("Whoever began it can stop it.")
        elif st.button("Cancel", icon=":material/stop_circle:", key="cancel"):
            session.own(run_id).cancel()
            st.rerun()
