"""The estimate of what a study will take, before anything is asked, and the downloads of data sets that it misses."""

from collections import Counter
from pathlib import Path

import streamlit as st

from core import entry, home, policy
from core.datasets import get
from core.datasets.sources import Source
from core.events import CallError
from core.models.download import Fetch
from core.studies import estimate, required_data
from core.studies.estimate import StudyEstimate
from core.studies.plan import Study, unpriced
from core.studies.run_status import SHIFT
from core.text.display import count_noun
from pages.components import session
from pages.components.run import problems
from pages.components.text import plain
from pages.components.throttle import PACE, waits
from pages.study.progress_view import budget, minutes

# Downloading data sets that a study needs and that are missing.


SECONDS = 0.5
"""Seconds between two checks of a download."""


def draw_missing(absent: list[Source]) -> None:
    """Draw a row for each data set."""
    if not absent:
        return
    going = [fetch for one in absent if (fetch := entry.dataset_fetches().get(one.name)) and fetch.going]

    @st.fragment(run_every=PACE.seconds(SECONDS) if going else None)
    def rows() -> None:
        for source in absent:
            with st.container(border=True, key=f"study-data-{source.name}"):
                _row(source)
        if any(not fetch.going for fetch in going):
            st.rerun()

    rows()


def _row(source: Source) -> None:
    """Draw one data set: what it is and, before anything is downloaded, what is known about its files."""
    fetch = entry.dataset_fetches().get(source.name)
    st.markdown(f"**{plain(source.title)}** · licence: {plain(source.licence)} · {plain(source.page)}")
    if fetch is not None and fetch.going:
        _progress(fetch)
        if st.button("Stop", icon=":material/stop_circle:", key=f"study-data-stop-{source.name}"):
            fetch.stop.set()
        return
    if fetch is not None and fetch.failure is not None:
        problems(fetch.failure)
    key = f"study-data-looked-{source.name}"
    if key not in st.session_state:
        if st.button("Look at the download", icon=":material/info:", key=f"study-data-look-{source.name}"):
            try:
                with waits("Asking the server …"):
                    st.session_state[key] = get.list_files(source)
            except CallError as failure:
                problems(failure)
            else:
                st.rerun()
        return
    expected = st.session_state[key]
    st.markdown("  \n".join(plain(line) for line in get.about(source, expected)[2:]))
    with st.expander("Address, size and digest", key=f"study-data-files-{source.name}"):
        st.markdown("\n".join(f"- {plain(line)}" for line in get.about_files(expected)))
    if st.button(f"Download {source.title}", icon=":material/download:", key=f"study-data-get-{source.name}"):
        del st.session_state[key]
        entry.dataset_fetches().start(source)
        st.rerun()


def _progress(fetch: Fetch) -> None:
    if not fetch.done:
        st.progress(0.0, text="Asking the server …")
    elif fetch.done == fetch.size:
        st.progress(1.0, text="Checking and unpacking …")
    else:
        size = f" of {get.mb(fetch.size)}" if fetch.size else ""
        st.progress(min(fetch.done / max(fetch.size, fetch.done), 1.0), text=f"{get.mb(fetch.done)}{size}")


def load_estimate(study: Study, file: int, completed: int) -> StudyEstimate:
    """Estimate what is still to be done; computed again whenever another run has completed."""
    # A visitor would run it elsewhere, without the results of the host's runs.
    folder = home.journals() if session.runs().may_all else home.home() / "nobody"
    with waits("Counting the calls still to make …"):
        there = (*study.data.values(), *(source.name for source in required_data.absent(study)))
        return _estimate(study.name, file, there, completed, folder, study)


@st.cache_data(max_entries=32, ttl=120, show_spinner=False)
def _estimate(
    name: str, file: int, there: tuple[str, ...], completed: int, folder: Path, _study: Study
) -> StudyEstimate:
    return estimate.estimate(_study, entry.labs(), session.catalog().get, folder, home.recordings())


def draw(study: Study, found: StudyEstimate) -> None:
    """Draw tiles, and the sentences that go with them."""
    calls = sum(found.calls.values())
    with st.container(horizontal=True, key="study-tiles"):
        st.metric("Runs still to do", found.runs - found.completed, help="A run is one combination of settings.")
        st.metric(
            "Questions to models, at most",
            "unknown" if found.missing else f"{calls - found.free:,}",
            help="Calls of language models; robots are not counted.",
        )
        st.metric("Price", "unknown" if found.price is None else f"${found.price:,.2f}")
        if found.width is not None:
            help = "How sure a figure will be: 0.20 is plus or minus 0.10, around a share of one half."
            st.metric("Width of an interval", f"{found.width:.2f}", help=help)
    st.markdown("\n".join(f"- {line}" for line in _sentences(study, found)))
    if found.broken:
        title, *rows = found.broken
        with st.expander(title.rstrip("."), icon=":material/broken_image:", key="study-broken"):
            st.markdown("  \n".join(plain(row.strip()) for row in rows))
    if study.budget_money and (unknown := unpriced(study)):
        st.warning(
            f"It cannot start: the price of {plain(', '.join(unknown))} is unknown, so its limit in US dollars cannot "
            "be kept. Add the price to data/models.toml, or limit the calls.",
            icon=":material/money_off:",
        )
    for why, n in Counter(found.missing.values()).items():
        st.warning(
            f"{count_noun(n, 'run')} cannot be made yet, and {'is' if n == 1 else 'are'} in no figure above: "
            f"{plain(why)}",
            icon=":material/folder_off:",
        )
    if policy.allows("downloads"):
        draw_missing(required_data.absent(study))


def _sentences(study: Study, found: StudyEstimate) -> list[str]:
    by_role = ", ".join(f"{plain(role)} {n:,}" for role, n in found.calls.items() if n)
    controls = f", of which {len(study.controls)} put robots of known truth to the test first" if study.controls else ""
    said = [f"{count_noun(found.runs, 'run')} in all{controls}; {found.completed} completed already."]
    if by_role:
        known = ", of the runs that can be made" if found.missing else ""
        said.append(f"Calls by who is asked{known}: {by_role}.")
    if found.free:
        said.append(f"{found.free:,} of these calls ask robots, which answer immediately and cost nothing.")
    if found.cached:
        said.append(f"{count_noun(found.cached, 'further call')} were answered before and are not asked again.")
    if found.unlooked:
        runs = count_noun(found.unlooked, "run")
        said.append(f"For {runs} there was no time to look up all earlier answers: fewer calls may be needed.")
    if study.budget_calls or study.budget_money:
        said.append(f"It stops by itself at {budget(study)}.")
    if found.tokens and any(found.tokens.values()):
        said.append(f"About {found.tokens['prompt']:,} tokens are sent and {found.tokens['completion']:,} written.")
    if found.priced:
        said.append(f"By prices of {found.priced:%d %B %Y}{'(not verified)' if found.unverified else ''}.")
    if found.minutes:
        said.append(f"About {minutes(found.minutes)}, at the rate at which these models answered so far.")
    said += [plain(why) for why in found.unknown]
    if found.made_of_other:
        runs = f"{count_noun(found.made_of_other, 'run')} {'was' if found.made_of_other == 1 else 'were'} made"
        said.append(f"{runs} when a data file had other contents. Such runs are kept, but not counted here.")
    if found.wanted_items:
        here = f"; here there are {found.items}" if found.items else ""
        said.append(
            f"An interval {found.wanted_width:.2f} wide takes {count_noun(found.wanted_items, 'item')} a run{here}."
        )
    for what, items in found.power_items.items():
        takes = f"{items:,} shared items" if items else "more shared items than is practical"
        said.append(f"To tell apart {plain(what)} with a probability of {found.wanted_power:.0%} takes {takes}.")
    if found.stop_width is not None:
        width = f"{found.stop_width:.2f} wide"
        said.append(
            "A cell of the grid stops early once its interval, which holds however often one looks, is "
            f"{width}. Where it takes several runs, they are pooled and made one after another. {SHIFT}"
        )
    return said
