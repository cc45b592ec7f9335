"""What one takes along of cases and runs: a page that opens anywhere, and the sentences for a paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

import streamlit as st

from core import entry
from core.report import case_html, methods
from core.report.case_html import Chosen
from core.runs.library import NoSuchRun
from core.server.access import Visit
from core.store.listing import Place
from core.store.store import Store, StoreError
from core.transcript import Transcript, transcript
from pages.components import session
from pages.components.tables import download
from pages.components.throttle import waits


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


def page_of_cases(title: str, places: Sequence[Place], of: int) -> None:
    """A button that downloads those cases as an HTML file, of so many that there are."""
    visit = session.runs()

    def made() -> bytes:
        found: dict[Place, Chosen] = {}
        for run in dict.fromkeys(at.run for at in places):
            # One that was deleted meanwhile is not there any more, and the page says how many are.
            with suppress(NoSuchRun):
                found |= {Place(run, one.case): one for one in cases_of(visit, run)}
        return case_html.html(title, [found[at] for at in places if at in found], of)

    left = f"the first {len(places)} of {of:,} cases" if len(places) < of else "all cases that are as filtered"
    _page(made, "cases", f"One file, to be stepped through by the arrow keys: {left}.")


def cases_of(visit: Visit, run_id: str) -> list[Chosen]:
    """The run's cases, as the visitor may see them. Raises NoSuchRun and NotYours."""
    state = transcript(visit.run(run_id).events())
    lab = entry.labs()[state.started.lab] if state.started else None
    return case_html.of_run(lab, state, len(visit.run(run_id).faults())) if lab else []


def _page(made: Callable[[], bytes], name: str, help: str) -> None:
    help = f"{help} It needs no network."
    download("Download as a page", made, f"{name}.html", "text/html", "web", f"page-{name}", help)


def for_a_paper(store: Store | None, runs: Callable[[], Sequence[str]], about: str, key: str = "for-a-paper") -> None:
    """A button that gives the sentences on how `runs` were made; `about` says in words which runs these are."""
    shown = st.popover(
        "For a paper", icon=":material/article:", type="tertiary", key=key, on_change="rerun",
        help="How it was made, in sentences: n, what was set aside, rules, models, prompts, seeds, intervals.",
    )  # fmt: skip
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
