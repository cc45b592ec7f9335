"""What surrounds every run, independently of its lab: the title, and what can be done with the run."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from urllib.parse import urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core import entry, policy
from core.journal import Fault, JournalInUseError
from core.report import methods, standalone_html
from core.runs.engine import UserInput
from core.runs.labels import Kept
from core.runs.library import RunNotFoundError
from core.server.access import RunAccess
from core.server.quotas import QuotaExceededError
from core.store.listing import RowPlace
from core.store.store import Store, StoreError
from core.transcript import Transcript, transcript
from pages import addresses
from pages.components import recordings, session, side_by_side
from pages.components.tables import button, download
from pages.components.text import plain, shortened
from pages.components.throttle import waits

# Exports of cases and runs: an HTML file that opens anywhere, and sentences for a paper.


def page_of_run(run_id: str, state: Transcript) -> None:
    """Draw a button that downloads the run as an HTML file, or only the case that the address names."""
    visit, case = session.runs(), st.query_params.get("case", "")
    case = case if state.planned > 1 and case in state.cases else ""

    def made() -> bytes:
        # Read at the click, and as a whole: the transcript on the page may contain only one case.
        chosen = cases_of(visit, run_id)
        title = " ".join((chosen[0].lab.title, case or run_id))
        return standalone_html.case_html(title, [one for one in chosen if not case or one.case == case])

    some = f"the first {standalone_html.MOST} cases " if state.planned > standalone_html.MOST and not case else ""
    _page(f"Download {some}as a page", made, run_id)


def page_of_cases(title: str, places: Sequence[RowPlace], of: int) -> None:
    """Draw a button that downloads these cases, of `of` in all, as an HTML file."""
    visit = session.runs()

    def made() -> bytes:
        found: dict[RowPlace, standalone_html.Chosen] = {}
        for run in dict.fromkeys(at.run for at in places):
            # A run may have been deleted in the meantime; the page says how many cases there are.
            with suppress(RunNotFoundError):
                found |= {RowPlace(run, one.case): one for one in cases_of(visit, run)}
        return standalone_html.case_html(title, [found[at] for at in places if at in found], of)

    left = f"the first {len(places)} of {of:,} cases" if len(places) < of else "all filtered cases"
    about = f"One file, to step through with the arrow keys: {left}. It works offline."
    _page("Download as a page", made, "cases", about)


def cases_of(visit: RunAccess, run_id: str) -> list[standalone_html.Chosen]:
    """Return the run's cases, as far as the visitor may see them. Raises RunNotFoundError and AccessDeniedError."""
    state = transcript(visit.run(run_id).events())
    lab = entry.labs()[state.started.lab] if state.started else None
    return standalone_html.of_run(lab, state, len(visit.run(run_id).faults())) if lab else []


def _page(words: str, made: Callable[[], bytes], name: str, help: str | None = None) -> None:
    download(words, made, f"{name}.html", "text/html", "web", f"page-{name}", help)


def for_a_paper(store: Store | None, runs: Callable[[], Sequence[str]], about: str, key: str = "for-a-paper") -> None:
    """Draw a button that shows sentences on how `runs` were made; `about` says in words which runs these are."""
    words = "Methods text for a paper"
    shown = st.popover(words, icon=":material/article:", type="tertiary", key=key, on_change="rerun")
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
        text = "\n\n".join(sentences) or "Not in the index yet. It will be a few seconds after the run ends."
        st.code(text, language=None, wrap_lines=True)


# Renaming, hiding and deleting one's own run.


def menu(run_id: str, study: str) -> None:
    """Draw the menu to rename, hide or delete a run; nothing for a run of somebody else. `study` is the study it
    belongs to.
    """
    visit = session.runs()
    if not visit.owns(run_id):
        return
    with st.popover("Rename or delete", icon=":material/bookmark_manager:", type="tertiary", key="keep"):
        kept = visit.run(run_id).kept()
        title = st.text_input(
            "Title", value=kept.title, max_chars=200, key=f"title-{run_id}", placeholder="Its question"
        )
        hidden = st.toggle("Hide it from the lists", value=kept.hidden, key=f"hide-{run_id}")
        now = Kept(title=" ".join(title.split()), hidden=hidden)
        if now != kept:
            visit.own_run(run_id).keep(now)
            st.rerun()
        sure = True
        if study or visit.run(run_id).is_of_others():
            sure = st.checkbox(
                "It belongs to another person or a study, or contains others' words: delete it anyway", key="sure"
            )
        if st.button("Delete", icon=":material/delete:", key="delete", disabled=not sure):
            try:
                visit.own_run(run_id).delete()
            except (JournalInUseError, RunNotFoundError) as error:
                st.warning(plain(str(error)), icon=":material/edit:")
            else:
                st.switch_page(addresses.BROWSE)
        st.caption("You can restore it on the Browse page until the app is closed.")


def deleted() -> None:
    """List the deleted runs, with buttons to restore them."""
    visit = session.runs()
    for run in visit.deleted()[-3:]:
        with st.container(horizontal=True, vertical_alignment="center", key=f"deleted-{run}"):
            st.caption(f"Deleted: {plain(run)}")
            button("Undo", "undo", f"undo-{run}", visit.undo, run)
    if (more := len(visit.deleted()) - 3) > 0:
        st.caption(f"And {more:,} more, which you can restore after these.")


LONGEST_TITLE = 120
"""Longest heading in characters; the whole question is below it."""

_COLOURS = {"completed": "green", "running": "blue", "cancelled": "orange", "interrupted": "orange", "failed": "red"}


def size(run_id: str) -> int:
    """Return the size of the run's journal in bytes: while it stays the same, nothing has to be read again."""
    return session.run(run_id).file().st_size


def title(transcript: Transcript, run_id: str) -> None:
    """Draw the run's name, unless the stage shows the same, and under it the state, model and time of the run."""
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
    lab = entry.labs().get(transcript.started.lab) if transcript.started else None
    when = f"{transcript.started.at:%d %B %Y, %H:%M} UTC · " if transcript.started else ""
    who = plain(str(spec.get("model", "")))
    parts = filter(None, (who, f"{lab.title if lab else ''} · {when}{transcript.seconds:.1f}\u00a0s", plain(run_id)))
    st.markdown(f":{_COLOURS[state]}-badge[{state}] :gray[{' · '.join(parts)}]")


def stopped(transcript: Transcript) -> None:
    """Say why the run stopped, if it did."""
    if transcript.started is None and not transcript.asked:
        st.info("The journal of this run is still empty.", icon=":material/hourglass_empty:")
    for failure in transcript.failures:
        st.error(
            plain(failure.message) + (f"\n\n{plain(failure.hint)}" if failure.hint else ""),
            title="The run stopped",
            icon=":material/error:",
        )
    if transcript.status == "cancelled":
        st.info(
            "You stopped this run. Its answers are kept, and it can be resumed.",
            icon=":material/stop_circle:",
        )


def damage(run_id: str) -> None:
    """Report the faults of the run's journal, if there are any."""
    faults = _faults(run_id, session.run(run_id).file().st_mtime_ns)
    if not faults:
        return
    lines = "1 line of its journal is" if len(faults) == 1 else f"{len(faults)} lines of its journal are"
    shown = [f"line {fault.line}: {fault.reason}" for fault in faults[:_SHOWN_FAULTS]]
    more = [f"and {len(faults) - _SHOWN_FAULTS} more"] if len(faults) > _SHOWN_FAULTS else []
    st.warning(
        f"{lines} damaged, and their contents are missing here. " + plain("; ".join(shown + more) + "."),
        icon=":material/broken_image:",
    )


@st.cache_data(max_entries=32, show_spinner=False)
def _faults(run_id: str, changed: int) -> list[Fault]:
    return session.run(run_id).faults()


_SHOWN_FAULTS = 5
"""How many damaged lines of a journal are described."""


KEPT = ("case", "reader")
"""What an address may name besides the run: one of several cases, and whose guesses are shown."""


def named_in_address(run_id: str) -> dict[str, str]:
    """Return the query of links from this page: the run, and the case and reader that the address names."""
    return {"run": run_id, **{name: st.query_params[name] for name in KEPT if st.query_params.get(name)}}


def link(run_id: str) -> None:
    """Show the run's address for sharing. If the visitor guessed first, so do those who follow the link."""
    named = named_in_address(run_id)
    if named.pop("reader", ""):
        named["guess"] = "1"
    link_to([run_id], named)


def link_to(runs: Sequence[str], named: Mapping[str, str]) -> None:
    """Show this page's address with the query `named`, for sharing, and who can open the runs that it leads to."""
    with st.popover("Link", icon=":material/link:", type="tertiary", key="link"):
        _sharing(runs)
        st.code(f"{(st.context.url or '').split('?')[0]}?{urlencode(named)}", language=None, wrap_lines=True)


def actions(run_id: str, transcript: Transcript, here: str, place: DeltaGenerator) -> None:
    """Draw the menu of a finished run in the container `place`: links to the case and the replay, sharing, downloads.
    `here` is the page that it is on. Where a recording comes from is said below the run. No entry has a tooltip, which
    would cover its neighbours.
    """
    named = named_in_address(run_id)
    # The download happens at the click, outside of any session, so the visitor is determined now.
    visit = session.runs()
    # It tracks whether it is open so that an entry that opens a dialog can close it: it would cover the dialog.
    opened = place.popover("More", icon=":material/more_horiz:", type="tertiary", key="actions", on_change="rerun")
    with opened, st.container(gap=None):
        if here != "case":
            st.page_link(addresses.CASE, label="Open as case", icon=":material/folder_open:", query_params=named)
        for words, icon, how in (("Replay", "replay", "1"), ("Step by step", "step", "step")):
            query = {**named, "replay": how}
            st.page_link(addresses.CASE, label=words, icon=f":material/{icon}:", query_params=query)
        side_by_side.button(run_id, transcript)
        recordings.to_a_class(run=run_id)
        link(run_id)
        _seal(run_id)
        journal, file = lambda: visit.run(run_id).journal(), f"{run_id}.jsonl"
        download("Download the journal", journal, file, "application/jsonl", "download", "download")
        page_of_run(run_id, transcript)
        for_a_paper(None, lambda: [run_id], "About this run, with all its cases.", "for-this-run")
        if transcript.started:
            with st.popover("Cite", icon=":material/format_quote:", type="tertiary", key="cite"):
                st.code(methods.bibtex([transcript.started]), language=None, wrap_lines=True)
        menu(run_id, transcript.started.study if transcript.started else "")
    recordings.note(run_id, transcript)
    recordings.ask_it_yourself(run_id, transcript)


def _seal(run_id: str) -> None:
    """Draw the button that seals a run or reveals it to all, for those who decide who may view it. While it is sealed,
    others see each answer only once they have guessed.
    """
    visit = session.runs()
    if policy.allows("others") or not visit.shares(run_id):
        return
    sealed = visit.run(run_id).sealed()
    words, icon = ("Reveal to all", "lock_open") if sealed else ("Make others guess first", "lock")
    button(words, icon, "seal", visit.seal, run_id, not sealed)


def _sharing(runs: Sequence[str]) -> None:
    """Say who can open the runs by their address, and let the person who owns them decide."""
    visit, is_one = session.runs(), len(runs) == 1
    everyone = f"The link opens {'this run' if is_one else 'these runs'} for anyone who can reach this app."
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
        st.caption("People see the runs they have access to; the other columns say that they have none.")
    else:
        whose = "you" if visit.owns(runs[0]) else "the person who started it"
        others = ", for teachers and for the host" if policy.code_for("teacher") else " and for the host"
        st.caption(everyone if shared else f"The link opens this run for {whose}{others} until you share it.")


def go_on(run_id: str, transcript: Transcript) -> None:
    """Offer to continue a run that was stopped, that failed, or whose process died."""
    if not session.runs().owns(run_id):
        return
    words = "Resume"
    if transcript.status == "completed":
        if not transcript.failed_items:
            return
        words = "Retry failed calls"
    if error := session.run(run_id).write_error():
        st.error(plain(error), icon=":material/disc_full:")
    elif transcript.status is None:
        st.warning("This run was interrupted: the app stopped during the run.", icon=":material/power_off:")
    if st.button(
        words, icon=":material/play_arrow:", key="go-on", help="Answers are kept and not asked again."
    ) and resume(run_id, failed_too=True):
        st.rerun()


def resume(run_id: str, *additions: UserInput, failed_too: bool = False) -> bool:
    """Continue a run, with a person's additions, or also repeating failed calls; if that is impossible, report why and
    return False.
    """
    try:
        session.own(run_id).resume(session.catalog().get, additions, failed_too=failed_too)
    except (JournalInUseError, RunNotFoundError, QuotaExceededError) as error:
        st.warning(plain(f"{str(error).rstrip('.')}."), icon=":material/pause_circle:")
        return False
    return True
