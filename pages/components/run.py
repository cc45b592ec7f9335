"""What stands around every run, whichever lab made it: its title, and what can be done with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from urllib.parse import urlencode

import streamlit as st
from pydantic import ValidationError

from core import entry, policy
from core.events import CallFailed
from core.journal import Fault, JournalInUse
from core.report import case_html, methods
from core.report.case_html import Chosen
from core.runs.context import complaints
from core.runs.engine import UserInput
from core.runs.labels import Kept
from core.runs.library import RunNotFound
from core.server.access import RunAccess
from core.server.quotas import QuotaExceeded
from core.store.listing import RowPlace
from core.store.store import Store, StoreError
from core.transcript import Transcript, transcript
from pages import addresses
from pages.components import begin_side_by_side, recording_note, session
from pages.components.tables import download
from pages.components.text import plain, shortened
from pages.components.throttle import waits

# Exports of cases and runs: a page that opens anywhere, and sentences for a paper.


def page_of_run(run_id: str, state: Transcript) -> None:
    """A button that downloads the run as an HTML file, or the case of it that the address names."""
    visit, case = session.runs(), st.query_params.get("case", "")
    case = case if state.planned > 1 and case in state.cases else ""

    def made() -> bytes:
        # Fetched when it is clicked, and whole: what is shown may hold one case alone.
        chosen = cases_of(visit, run_id)
        title = " ".join((chosen[0].lab.title, case or run_id))
        return case_html.html(title, [one for one in chosen if not case or one.case == case])

    left = f" The first {case_html.MOST} of its cases." if state.planned > case_html.MOST and not case else ""
    which = "this case" if case else "this run" if state.planned > 1 else "it"
    _page(made, run_id, f"Everything about {which} in one file, to be stepped through by the arrow keys.{left}")


def page_of_cases(title: str, places: Sequence[RowPlace], of: int) -> None:
    """A button that downloads those cases as an HTML file, of so many that there are."""
    visit = session.runs()

    def made() -> bytes:
        found: dict[RowPlace, Chosen] = {}
        for run in dict.fromkeys(at.run for at in places):
            # One that was deleted meanwhile is not there any more, and the page says how many are.
            with suppress(RunNotFound):
                found |= {RowPlace(run, one.case): one for one in cases_of(visit, run)}
        return case_html.html(title, [found[at] for at in places if at in found], of)

    left = f"the first {len(places)} of {of:,} cases" if len(places) < of else "all cases that are as filtered"
    _page(made, "cases", f"One file, to be stepped through by the arrow keys: {left}.")


def cases_of(visit: RunAccess, run_id: str) -> list[Chosen]:
    """The run's cases, as the visitor may see them. Raises RunNotFound and AccessDenied."""
    state = transcript(visit.run(run_id).events())
    lab = entry.labs()[state.started.lab] if state.started else None
    return case_html.of_run(lab, state, len(visit.run(run_id).faults())) if lab else []


def _page(made: Callable[[], bytes], name: str, help: str) -> None:
    help = f"{help} It needs no network."
    download("Download as a page", made, f"{name}.html", "text/html", "web", f"page-{name}", help)


def for_a_paper(store: Store | None, runs: Callable[[], Sequence[str]], about: str, key: str = "for-a-paper") -> None:
    """A button that gives the sentences on how `runs` were made; `about` says in words which runs these are."""
    shown = st.popover(
        "For a paper",
        icon=":material/article:",
        type="tertiary",
        key=key,
        on_change="rerun",
        help="How it was made, in sentences: n, what was set aside, rules, models, prompts, seeds, intervals.",
    )
    with shown:
        if not shown.open:
            return
        try:
            with waits("Counting …"):
                sentences = methods.sentences(store or entry.keeper().store, runs())
        except StoreError as error:
            st.code(str(error), language=None, wrap_lines=True)
            return
        st.caption(about)
        text = "\n\n".join(sentences) or "Not in the index yet: it is, a few seconds after the run's end."
        st.code(text, language=None, wrap_lines=True)


# Renames, hides or deletes one's own run.


def menu(run_id: str, study: str) -> None:
    """Title, hiding, deleting; nothing for a run that is not the visitor's. `study` is what the run was made for."""
    visit = session.runs()
    if not visit.owns(run_id):
        return
    with st.popover("Keep", icon=":material/bookmark_manager:", type="tertiary", key="keep"):
        kept = visit.run(run_id).kept()
        title = st.text_input(
            "Title", value=kept.title, max_chars=200, key=f"title-{run_id}", placeholder="Its question"
        )
        hidden = st.toggle("Hide it from the lists", value=kept.hidden, key=f"hide-{run_id}")
        now = Kept(title=" ".join(title.split()), hidden=hidden)
        if now != kept:
            visit.own(run_id).keep(now)
            st.rerun()
        sure = True
        if study or visit.run(run_id).is_of_others():
            sure = st.checkbox(
                "It is another person's or a study's, or holds others' words: delete it all the same", key="sure"
            )
        if st.button("Delete", icon=":material/delete:", key="delete", disabled=not sure):
            try:
                visit.own(run_id).delete()
            except (JournalInUse, RunNotFound) as error:
                st.warning(plain(str(error)), icon=":material/edit:")
            else:
                st.switch_page(addresses.BROWSE)
        st.caption("It can be brought back on the Browse page until the app is closed. No file holds it any more.")


def deleted() -> None:
    """The runs that were deleted, to be brought back."""
    visit = session.runs()
    for run in visit.deleted()[-3:]:
        with st.container(horizontal=True, vertical_alignment="center", key=f"deleted-{run}"):
            st.caption(f"Deleted: {plain(run)}")
            st.button(
                "Undo", icon=":material/undo:", type="tertiary", key=f"undo-{run}", on_click=visit.undo, args=(run,)
            )
    if (more := len(visit.deleted()) - 3) > 0:
        st.caption(f"And {more:,} more, which can be brought back after these.")


LONGEST_TITLE = 120
"""Characters of a heading; the whole question stands below it."""

_COLOURS = {"completed": "green", "running": "blue", "cancelled": "orange", "interrupted": "orange", "failed": "red"}


def size(run_id: str) -> int:
    """Bytes of the run's journal: what was read of it holds as long as they stay the same."""
    return session.run(run_id).file().st_size


def title(transcript: Transcript, run_id: str) -> None:
    """What the run is called, where the stage says something else, and under it model, time and state of the run."""
    spec = transcript.started.spec if transcript.started else {}
    first = transcript.cases[transcript.only].title if transcript.cases else ""
    kept = session.run(run_id).kept().title
    called = kept or str(spec.get("title") or first or run_id)
    asked = shortened(called, LONGEST_TITLE)
    if transcript.planned > 1 and not (kept or spec.get("title")):
        asked += f" and {transcript.planned - 1} more"
    if transcript.planned > 1 or called != first:
        st.title(plain(asked), anchor=False)
    state = transcript.status or ("running" if session.run(run_id).active() else "interrupted")
    lab = (
        entry.labs()[transcript.started.lab].title
        if transcript.started and transcript.started.lab in entry.labs()
        else ""
    )
    when = f"{transcript.started.at:%d %B %Y, %H:%M} UTC · " if transcript.started else ""
    who = plain(str(spec.get("model", "")))
    parts = filter(None, (who, f"{lab} · {when}{transcript.seconds:.1f}\u00a0s", plain(run_id)))
    # Small print is faint, which a coloured ground does not bear.
    st.markdown(f":{_COLOURS[state]}-badge[{state}] :small[:gray[{' · '.join(parts)}]]")


def stopped(transcript: Transcript) -> None:
    """Why the run stopped, where it did."""
    if transcript.started is None and not transcript.asked:
        st.info("The journal of this run holds nothing yet.", icon=":material/hourglass_empty:")
    for failure in transcript.failures:
        st.error(
            plain(failure.message) + (f"\n\n{plain(failure.hint)}" if failure.hint else ""),
            title="The run stopped",
            icon=":material/error:",
        )
    if transcript.status == "cancelled":
        st.info(
            "You stopped this run. What was answered is kept, and it can go on from here.",
            icon=":material/stop_circle:",
        )


def damage(run_id: str) -> None:
    """Report what is wrong with the run's journal, if anything is."""
    faults = _faults(run_id, session.run(run_id).file().st_mtime_ns)
    if not faults:
        return
    lines = "1 line of its journal is" if len(faults) == 1 else f"{len(faults)} lines of its journal are"
    shown = [f"line {fault.line}: {fault.reason}" for fault in faults[:_SHOWN_FAULTS]]
    more = [f"and {len(faults) - _SHOWN_FAULTS} more"] if len(faults) > _SHOWN_FAULTS else []
    st.warning(
        f"{lines} damaged, and what they held is missing here. " + plain("; ".join(shown + more) + "."),
        icon=":material/broken_image:",
    )


@st.cache_data(max_entries=32, show_spinner=False)
def _faults(run_id: str, changed: int) -> list[Fault]:
    return session.run(run_id).faults()


_SHOWN_FAULTS = 5
"""Of a journal's damaged lines so many are described."""


KEPT = ("case", "reader")
"""What else than the run an address may name: one of several cases, and whose guesses are shown."""


def named_in_address(run_id: str) -> dict[str, str]:
    """The run, and with it what the address names: what leads to it from here holds the same."""
    return {"run": run_id, **{name: st.query_params[name] for name in KEPT if st.query_params.get(name)}}


def link(run_id: str) -> None:
    """An address to hand on. Where one guesses first, anyone who follows it does so too."""
    named = named_in_address(run_id)
    if named.pop("reader", ""):
        named["guess"] = "1"
    link_to([run_id], named)


def link_to(runs: Sequence[str], named: Mapping[str, str]) -> None:
    """An address of this page to hand on, which has these in its query, and who can open the runs that it leads to."""
    with st.popover("Link", icon=":material/link:", type="tertiary", key="link"):
        _sharing(runs)
        st.code(f"{(st.context.url or '').split('?')[0]}?{urlencode(named)}", language=None, wrap_lines=True)


def actions(run_id: str, transcript: Transcript, here: str) -> None:
    """Links and buttons for a run that is over: case, replay, link, downloads. `here` is the page they stand on."""
    named = named_in_address(run_id)
    # Fetched when it is clicked, outside of any session: who looks is known now.
    visit = session.runs()
    with st.container(horizontal=True, vertical_alignment="center", key="actions"):
        if here != "case":
            st.page_link(addresses.CASE, label="Open as case", icon=":material/folder_open:", query_params=named)
        st.page_link(addresses.CASE, label="Replay", icon=":material/replay:", query_params={**named, "replay": "1"})
        st.page_link(
            addresses.CASE, label="Step by step", icon=":material/step:", query_params={**named, "replay": "step"}
        )
        begin_side_by_side.button(run_id, transcript)
        link(run_id)
        _seal(run_id)
        download(
            "Download",
            lambda: visit.run(run_id).journal(),
            f"{run_id}.jsonl",
            "application/jsonl",
            "download",
            "download",
            "The journal: every prompt, raw answer and figure, one JSON object a line.",
        )
        page_of_run(run_id, transcript)
        for_a_paper(None, lambda: [run_id], "Of this run, with all of its cases.", "for-this-run")
        menu(run_id, transcript.started.study if transcript.started else "")
    recording_note.note(run_id, transcript)
    recording_note.ask_it_yourself(run_id, transcript)


def _seal(run_id: str) -> None:
    """The button for those who say who may look at the run: others see each answer once they have guessed, or all."""
    visit = session.runs()
    if policy.allows("others") or not visit.shares(run_id):
        return
    sealed = visit.run(run_id).sealed()
    st.button(
        "Reveal to all" if sealed else "Seal it",
        icon=f":material/{'lock_open' if sealed else 'lock'}:",
        key="seal",
        type="tertiary",
        on_click=visit.seal,
        args=(run_id, not sealed),
        help="All of it is shown to everyone who may look at it, at once."
        if sealed
        else "Others who may look at it see each answer once they have guessed.",
    )


def _sharing(runs: Sequence[str]) -> None:
    """Who can open the runs by their address; the person who owns them decides."""
    visit, is_one = session.runs(), len(runs) == 1
    everyone = f"Opens {'this run' if is_one else 'these runs'} for anyone who can reach this app."
    if policy.allows("others"):
        st.caption(everyone)
        return
    mine = [run for run in runs if visit.shares(run)]
    shared = all(visit.run(run).shared() for run in mine or runs)
    if mine:
        whose = "" if is_one else " the runs" if visit.sees_all else " my runs"
        wanted = st.toggle(f"Share{whose} with everyone who can reach this app", value=shared, key="shared")
        for run in mine if wanted != shared else ():
            visit.share(run, wanted)
        shared = wanted
    if not is_one:
        st.caption("Each run opens for people who may see it; the other columns say that they may not.")
    else:
        whose = "you" if visit.owns(runs[0]) else "the person who began it"
        others = ", for teachers and for the host" if policy.code_for("teacher") else " and for the host"
        st.caption(everyone if shared else f"Opens this run for {whose}{others}, as long as you do not share it.")


def go_on(run_id: str, transcript: Transcript) -> None:
    """Offer to go on with a run that was stopped, failed, or whose process died."""
    if not session.runs().owns(run_id):
        return
    words = "Go on from here"
    if transcript.status == "completed":
        if not transcript.lost:
            return
        words = "Ask again what failed"
    if trouble := session.run(run_id).trouble():
        st.error(plain(trouble), icon=":material/disc_full:")
    elif transcript.status is None:
        st.warning("This run was interrupted: the app stopped while it went on.", icon=":material/power_off:")
    if st.button(
        words, icon=":material/play_arrow:", key="go-on", help="What was answered is kept and not asked again."
    ) and resume(run_id, failed_too=True):
        st.rerun()


def resume(run_id: str, *additions: UserInput, failed_too: bool = False) -> bool:
    """Go on with a run, with what a person gives it, or by asking what failed again; False, and reported, where it
    cannot.
    """
    try:
        session.own(run_id).resume(session.catalog().get, additions, failed_too=failed_too)
    except (JournalInUse, RunNotFound, QuotaExceeded) as error:
        st.warning(plain(f"{str(error).rstrip('.')}."), icon=":material/pause_circle:")
        return False
    return True


def problems(error: ValidationError | ValueError | CallFailed | QuotaExceeded) -> None:
    """What is wrong with what was entered, in words."""
    if isinstance(error, ValidationError):
        for complaint in complaints(error):
            st.warning(plain(complaint), icon=":material/edit:")
    else:
        hint = error.hint if isinstance(error, CallFailed) else ""
        st.warning(plain(str(error)) + (f"  \n{plain(hint)}" if hint else ""), icon=":material/edit:")
