"""The estimate of what a study will take, before anything is asked."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import streamlit as st

from core import entry, home, policy
from core.studies import estimate, required_data
from core.studies.early_stopping import SHIFT
from core.studies.estimate import StudyEstimate
from core.studies.plan import Study, unpriced
from core.text.display import count_noun
from pages.components import session
from pages.components.text import plain
from pages.components.throttle import waits
from pages.study import missing_data
from pages.study.table_text import budget, minutes


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
        missing_data.draw(required_data.absent(study))


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
        said.append(f"{runs} when a data file held something else: kept, and not counted here.")
    if found.wanted_items:
        here = f"; here there are {found.items}" if found.items else ""
        said.append(
            f"An interval {found.wanted_width:.2f} wide takes {count_noun(found.wanted_items, 'item')} a run{here}."
        )
    for what, items in found.power_items.items():
        takes = f"{items:,} shared items" if items else "more shared items than anybody makes"
        said.append(f"To tell apart {plain(what)} with a probability of {found.wanted_power:.0%} takes {takes}.")
    if found.stop_width is not None:
        width = f"{found.stop_width:.2f} wide"
        said.append(
            "A cell of the grid stops early once its interval, which holds however often one looks, is "
            f"{width}. Where it takes several runs, they are pooled and made one after another. {SHIFT}"
        )
    return said
