"""What stands around every run, whichever lab made it: its title, and what can be done with it."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st
from pydantic import ValidationError

from core import entry, policy
from core.events import CallFailed
from core.journal import Fault, JournalInUse
from core.runs.allowance import TooMuch
from core.runs.engine import Addition
from core.runs.jobs import NoSuchRun
from core.runs.run import complaints
from core.transcript import Transcript
from pages import addresses
from pages.parts import along, beside, keep, recording, session
from pages.parts.text import plain

LONGEST_TITLE = 120
"""Characters of a heading; the whole question stands below it."""

_COLOURS = {"completed": "green", "running": "blue", "cancelled": "orange", "interrupted": "orange", "failed": "red"}


def size(run_id: str) -> int:
    """Bytes of the run's journal: what was read of it holds as long as they stay the same."""
    return session.runs().file(run_id).st_size


def title(transcript: Transcript, run_id: str) -> None:
    """The question as the page's heading, and under it model, time and state of the run."""
    spec = transcript.started.spec if transcript.started else {}
    first = transcript.cases[transcript.only].title if transcript.cases else ""
    kept = session.runs().kept(run_id).title
    asked = " ".join(str(kept or spec.get("title") or first or run_id).split())
    asked = asked if len(asked) <= LONGEST_TITLE else f"{asked[:LONGEST_TITLE]} …"
    if transcript.planned > 1 and not (kept or spec.get("title")):
        asked += f" and {transcript.planned - 1} more"
    st.title(plain(asked), anchor=False)
    state = transcript.status or ("running" if session.runs().active(run_id) else "interrupted")
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
    faults = _faults(run_id, session.runs().file(run_id).st_mtime_ns)
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
    return session.runs().faults(run_id)


_SHOWN_FAULTS = 5
"""Of a journal's damaged lines so many are described."""


KEPT = ("case", "reader")
"""What else than the run an address may name: one of several cases, and whose guesses are shown."""


def named_in_address(run_id: str) -> dict[str, str]:
    """The run, and with it what the address names: what leads to it from here holds the same."""
    return {"run": run_id, **{name: st.query_params[name] for name in KEPT if st.query_params.get(name)}}


def link(run_id: str) -> None:
    """An address to hand on. Where one guesses first, whoever follows it does so too."""
    named = named_in_address(run_id)
    if named.pop("reader", ""):
        named["guess"] = "1"
    with st.popover("Link", icon=":material/link:", type="tertiary", key="link"):
        _sharing(run_id)
        st.code(f"{(st.context.url or '').split('?')[0]}?{urlencode(named)}", language=None, wrap_lines=True)


def actions(run_id: str, transcript: Transcript, here: str) -> None:
    """Links and buttons for a run that is over: case, replay, link, downloads. `here` is the page they stand on."""
    named = named_in_address(run_id)
    # Fetched when it is clicked, outside of any session: who looks is known now.
    visit = session.runs()
    with st.container(horizontal=True, vertical_alignment="center", key="actions"):
        if here != "case":
            st.page_link(
                addresses.CASE,
                label="Open as case",
                icon=":material/folder_open:",
                query_params=named,
            )
        st.page_link(
            addresses.CASE,
            label="Replay",
            icon=":material/replay:",
            query_params={**named, "replay": "1"},
        )
        st.page_link(
            addresses.CASE,
            label="Step by step",
            icon=":material/step:",
            query_params={**named, "replay": "step"},
        )
        beside.button(run_id, transcript)
        link(run_id)
        st.download_button(
            "Download",
            lambda: visit.journal(run_id),
            file_name=f"{run_id}.jsonl",
            mime="application/jsonl",
            icon=":material/download:",
            on_click="ignore",
            type="tertiary",
            key="download",
            help="The journal: every prompt, raw answer and figure, one JSON object a line.",
        )
        along.page_of_run(run_id, transcript)
        along.for_a_paper(None, lambda: [run_id], "Of this run, with all of its cases.", "for-this-run")
        keep.menu(run_id, transcript.started.study if transcript.started else "")
    recording.note(run_id, transcript)
    recording.ask_it_yourself(run_id, transcript)


def _sharing(run_id: str) -> None:
    """Who can open the run by its address; whoever owns it decides."""
    visit = session.runs()
    everyone = "Opens this run for anyone who can reach this app."
    if policy.allows("others"):
        st.caption(everyone)
        return
    shared = visit.shared(run_id)
    if visit.owns(run_id):
        wanted = st.toggle("Share with everyone who can reach this app", value=shared, key="shared")
        if wanted != shared:
            visit.share(run_id, wanted)
            shared = wanted
    st.caption(everyone if shared else "Opens this run for you and for the host, as long as you do not share it.")


def go_on(run_id: str, transcript: Transcript) -> None:
    """Offer to go on with a run that was stopped, failed, or whose process died."""
    if not session.runs().owns(run_id):
        return
    words = "Go on from here"
    if transcript.status == "completed":
        if not transcript.lost:
            return
        words = "Ask again what failed"
    if trouble := session.runs().trouble(run_id):
        st.error(plain(trouble), icon=":material/disc_full:")
    elif transcript.status is None:
        st.warning("This run was interrupted: the app stopped while it went on.", icon=":material/power_off:")
    if st.button(
        words, icon=":material/play_arrow:", key="go-on", help="What was answered is kept and not asked again."
    ) and resume(run_id, failed_too=True):
        st.rerun()


def resume(run_id: str, *additions: Addition, failed_too: bool = False) -> bool:
    """Go on with a run, with what a person gives it, or by asking what failed again; False, and reported, where it
    cannot.
    """
    try:
        session.runs().resume(run_id, session.catalog().get, additions, failed_too)
    except (JournalInUse, NoSuchRun, TooMuch) as error:
        st.warning(plain(f"{str(error).rstrip('.')}."), icon=":material/pause_circle:")
        return False
    return True


def problems(error: ValidationError | ValueError | CallFailed | TooMuch) -> None:
    """What is wrong with what was entered, in words."""
    if isinstance(error, ValidationError):
        for complaint in complaints(error):
            st.warning(plain(complaint), icon=":material/edit:")
    else:
        hint = error.hint if isinstance(error, CallFailed) else ""
        st.warning(plain(str(error)) + (f"  \n{plain(hint)}" if hint else ""), icon=":material/edit:")
