"""Case: one complete run, or a replay of it, timed or step by step."""

import math
import time
from contextlib import suppress

import pandas as pd
import streamlit as st

from core import entry, home
from core.events import Event, Scored
from core.labs.base.lab import Lab
from core.report import evidence
from core.report.scenes import item_title, of_case, story
from core.runs import verify
from core.runs.library import RunInAuditError, RunNotFoundError, RunSealedError
from core.server.quotas import QuotaExceededError
from core.store import run_list
from core.store.store import StoreError
from core.text.display import numbers
from core.transcript import Call, Transcript, name_of, transcript
from pages import addresses
from pages.components import fork, lab_page, labels, reader_accuracy, recordings, run_view, session
from pages.components.run import actions, damage, go_on, link, named_in_address, size, title
from pages.components.tables import as_csv
from pages.components.text import plain
from pages.components.throttle import PACE, waits
from pages.components.widgets import choose_named
from pages.viewer.component import stage

# The call inspector: what was sent, what came back, and how it was parsed. Every figure links to it.


LONG = 2_000
"""Characters beyond which a text, such as worked examples, gets its own scroll bar."""


def inspector(call: Call, behind: evidence.CallEvidence) -> None:
    """Draw one call; `behind` is its evidence."""
    asked = call.asked
    # A button, because a link to the page it is on would not change the address.
    if st.button(
        "Edit this answer and continue",
        icon=":material/fork_right:",
        type="tertiary",
        key=f"fork-{asked.run}-{asked.call}-begin",
    ):
        named = {"case": st.query_params["case"]} if st.query_params.get("case") else {}
        st.switch_page(addresses.CASE, query_params={"run": asked.run, **named, "fork": asked.call})
    for part in behind.parts:
        st.markdown(f"**{plain(part.label)}**")
        st.code(part.text, language=None, wrap_lines=True, height=400 if len(part.text) > LONG else "content")
    reader_accuracy.draw_for_call(
        asked.run, asked.role, asked.model, any(part.label == "Read as" for part in behind.parts)
    )


STEP, LONGEST_REPLAY = 1.2, 60.0
"""Seconds for each step of a replay, and at most for all of them."""

SPEEDS = {"1×": 1, "4×": 4, "Instant": 0}
"""Speeds of a replay; "Instant" skips it."""

CALLS_A_PAGE = 50

FIGURES = ["item", "case", "rules", "value", "n", "of", "low", "high", "detail"]
"""Columns of the file of figures."""


def replay(run_id: str, lab: Lab) -> None:
    """Replay the run step by step, each prediction before its outcome, at a readable pace."""
    steps = _steps(lab, run_id)
    with st.container(horizontal=True, vertical_alignment="center", key="replay"):
        chosen = st.segmented_control(
            "Speed", list(SPEEDS), default="1×", required=True, key="speed", label_visibility="collapsed"
        )
        speed = SPEEDS[chosen or "1×"]
        seconds = min(STEP, LONGEST_REPLAY / len(steps))
        # Stored: the steps played so far, and when; a new speed applies from here on. Each drawing adds at most one
        # step, so none is skipped.
        key = f"replay-{run_id}"
        now = time.monotonic()
        played, since = st.session_state.get(key, (1.0, now))
        played = played + min((now - since) / seconds * speed, 1.0) if speed else math.inf
        st.session_state[key] = (played, now)
        step = int(min(played, len(steps)))
        st.progress(step / len(steps), text=f"Replay, step {step} of {len(steps)}. No model is asked.")
    with PACE.drawing(session.tab()):
        _scene(lab, [event for step in steps[:step] for event in step])
    if played > len(steps) + 1:
        del st.session_state[key]
        st.query_params.pop("replay")
        st.rerun()


def step_through(run_id: str, lab: Lab) -> None:
    """Let the reader go through the steps of the replay, forwards and back."""
    steps = _steps(lab, run_id)
    key = f"step-{run_id}"
    step = min(st.session_state.setdefault(key, 1), len(steps))

    def move(by: int) -> None:
        st.session_state[key] = step + by

    with st.container(horizontal=True, vertical_alignment="center", key="steps"):
        st.button("Back", icon=":material/arrow_back:", key="back", disabled=step == 1, on_click=move, args=(-1,))
        last = step == len(steps)
        st.button(
            "Next", icon=":material/arrow_forward:", type="primary", key="next", disabled=last, on_click=move, args=(1,)
        )
        st.caption(f"Step {step} of {len(steps)}. No model is asked.")
        st.page_link(
            addresses.CASE, label="The whole case", icon=":material/folder_open:", query_params=named_in_address(run_id)
        )
    _scene(lab, [event for one in steps[:step] for event in one])


def _steps(lab: Lab, run_id: str) -> list[list[Event]]:
    """Return what a replay shows, step by step, of the case that the address names, or of the first."""
    case = st.query_params.get("case") or session.run(run_id).case("").only
    return _story(lab.name, run_id, case, size(run_id))


@st.cache_resource(max_entries=4, show_spinner=False)
def _story(lab: str, run_id: str, case: str, size: int) -> list[list[Event]]:
    """Return the steps; cached, because a replay needs them four times a second."""
    declared, events = entry.labs()[lab], session.run(run_id).events()
    if transcript(events).planned > 1:
        events = [event for event in events if _belongs(event, case)]
    order = [name_of(record) for record in declared.records if record not in declared.supporting_records]
    return story(events, order)


def _belongs(event: Event, case: str) -> bool:
    """Whether the event is part of the case: its own, its item's, or the beginning or end of the run."""
    place = getattr(event, "case", "")
    if not place:
        return not isinstance(event, Scored)
    return place == case or case.startswith(f"{place}/")


def _scene(lab: Lab, events: list[Event]) -> None:
    state = transcript(events)
    if state.cases:
        # The browser does not follow a replay, because the live updates would reveal the end.
        scene = of_case(lab, state, state.only, state.status is None)
        stage("read", [scene], f"replay-{scene.run}-{scene.case}")


def every_call(shown: run_view.Shown) -> None:
    """Draw every call of the case in full, and a download of its figures."""
    state, held = shown.state, evidence.of_case(shown.lab, shown.state, shown.case)
    st.subheader("Every call", anchor=False)
    names, known = list(held.calls), numbers(shown.view.trials)
    page = st.pagination(-(-len(names) // CALLS_A_PAGE), key="calls-page") if len(names) > CALLS_A_PAGE else 1
    for name in names[(page - 1) * CALLS_A_PAGE : page * CALLS_A_PAGE]:
        call = held.calls[name]
        label = " · ".join(filter(None, (call.title, item_title(call.about, shown.case, known))))
        with st.expander(plain(label), key=f"call-{name}", type="compact", on_change="rerun") as opened:
            if opened.open:
                inspector(state.calls[name], call)
            else:
                st.skeleton(120)
    if held.figures:
        as_csv(lambda: _figures(shown), "figures")


def _figures(shown: run_view.Shown) -> pd.DataFrame:
    scores = evidence.scores_of(shown.state, shown.state.case(shown.case))
    titles = {"Figure": [shown.lab.metric(one.metric).title for one in scores]}
    return pd.DataFrame({**titles, **pd.DataFrame([one.model_dump() for one in scores])[FIGURES]})


def main(run_id: str) -> None:
    """Draw the whole case, or a replay of it."""
    state, active = run_view.load_run(run_id)
    title(state, run_id)
    menu = st.container()
    _sender(run_id)
    # If a journal's first line is lost, its file name still contains the lab.
    name = state.started.lab if state.started else next((lab for lab in entry.labs() if f"-{lab}-" in run_id), "")
    lab = entry.labs().get(name)
    if lab is None:
        st.error("No lab of this app made this run.", icon=":material/error:")
        return
    shown = run_view.Shown(lab, run_id, state, active)
    if shown.case and shown.is_sealed:
        run_view.watched(shown)
        link(run_id)
        return
    if (replayed := st.query_params.get("replay")) and state.asked:
        with waits("Reading the journal …"):
            _steps(lab, run_id)
        if replayed == "step":
            step_through(run_id, lab)
        else:
            recordings.note(run_id, state)
            st.fragment(replay, run_every=PACE.seconds(0.25))(run_id, lab)
        return
    fork.note(state)
    if not active:
        damage(run_id)
        go_on(run_id, state)
        if call := state.calls.get(st.query_params.get("fork", "")):
            fork.draw(run_id, state, call, shown.case)
    run_view.watched(shown)
    actions(run_id, state, here="case", place=menu)
    _read_again(run_id, state)
    _versions(run_id, lab)
    fork.draw_predictors(lab, run_id, state)
    if not active:
        labels.draw(lab, run_id, state, shown.case)
        every_call(shown)


def _read_again(run_id: str, state: Transcript) -> None:
    """Offer to parse the answers again with the current parsers."""
    if state.status == "completed" and st.button(
        "Parse its answers again",
        icon=":material/find_replace:",
        type="tertiary",
        key="reread",
        help="With this version's parser: a new run from the same raw answers. No model is asked.",
    ):
        with session.reported(QuotaExceededError):
            st.query_params["run"] = entry.reread(run_id, session.runs())
            st.rerun()


def _versions(run_id: str, lab: Lab) -> None:
    """If the answers were parsed several times, say which version this is, which one counts, and what has changed."""
    with suppress(StoreError):
        store, viewer = entry.keeper().store, session.viewer()
        known = {one.run: one for one in run_list.versions(store, run_id, viewer)}
        if len(known) < 2 or run_id not in known:
            return
        here = known[run_id]
        with st.container(border=True, gap="xsmall", key="versions"):
            if here.of:
                st.markdown("**The answers of an earlier run, parsed again by a later version.**")
            if here.of in known:
                changes, of = run_list.changed(store, here.of, run_id)
                st.markdown(plain(run_list.changes_sentence(changes, of, lab_page.all_words())))
                st.page_link(addresses.CASE, label="The earlier parse", query_params={"run": here.of})
            counts = next((one.run for one in known.values() if one.counts), run_id)
            if counts == run_id:
                st.caption(f"Of the {len(known)} parses of these answers this one counts in lists and comparisons.")
            else:
                st.caption(
                    "Its answers were parsed again later. That parse counts in lists and comparisons, not this one."
                )
                st.page_link(addresses.CASE, label="The parse that counts", query_params={"run": counts})


def _sender(run_id: str) -> None:
    """Say where an imported run comes from."""
    origin = verify.origin(home.journals(), run_id)
    if origin is None:
        return
    signed = f"Signed by {plain(origin.signed)}." if origin.signed else "Its origin is not signed, or was not checked."
    st.caption(
        ":material/move_to_inbox: Imported. Sender, according to the file: "
        f"{plain(origin.sender or 'not named')}. {signed}"
    )
    if origin.verified is None:
        st.caption("It was not scored again from its raw answers.")
    elif origin.verified.differ:
        st.warning(plain(origin.verified.sentence), icon=":material/rule:")
        with st.expander("What differs"):
            st.text("\n".join(origin.verified.differ[:100]))
    else:
        st.caption(plain(origin.verified.sentence))


def draw_sealed(run_id: str) -> None:
    """Draw a run that is sealed for the visitor: each card is revealed once it is guessed, the end after the last guess
    or when the run is revealed to all. Raises RunNotFoundError.
    """
    cases = evidence.cases_of(session.runs(), run_id)
    case = st.query_params.get("case", "")
    if len(cases) > 1:
        names = list(cases)
        numbered = {one: f"{number}. {title}" for number, (one, title) in enumerate(cases.items(), start=1)}
        index = names.index(case) if case in cases else 0
        case = st.query_params["case"] = choose_named("Case", numbered, "sealed-case", is_named=True, index=index)
    scene = evidence.scene_for(session.runs(), entry.labs(), run_id, case)
    st.caption(
        ":material/lock: This run is sealed. Guess first: you see each answer after your guess, and your first guess "
        "counts. The result comes at the end."
    )
    # While the run is in progress, there may still be cards to guess.
    may_guess = scene.is_sealed and session.visitor().takes_part
    is_guess = may_guess and (scene.status in ("running", "waiting") or any(card.options for card in scene.cards))
    stage("guess" if is_guess else "read", [scene], f"sealed-{run_id}", [run_view.follow_sealed(run_id, scene.case)])


named = st.query_params.get("run", "")
if not named:
    st.info("The address names no run. Choose one on the Browse page.", icon=":material/info:")
    st.page_link(addresses.BROWSE, label="Browse the runs", icon=":material/table_rows:")
    st.stop()
try:
    try:
        main(named)
    except RunInAuditError as error:
        reader_accuracy.not_yet_judged(error)
    except RunSealedError:
        draw_sealed(named)
except RunNotFoundError as error:
    st.error(plain(str(error)), title=error.title, icon=":material/error:")
    st.page_link(addresses.BROWSE, label="Browse the runs", icon=":material/table_rows:")
    st.stop()
