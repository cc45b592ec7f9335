"""Study: many runs from one file. The list of studies, a new one (`?new=1`), or one of them (`?study=NAME`)."""

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core import entry, home, journal, policy
from core.datasets import get
from core.datasets.registry import Source
from core.events import CallError
from core.models.download import Fetch
from core.models.ids import is_free
from core.package_data import COMMAND
from core.studies import estimate, study_files
from core.studies.estimate import StudyEstimate
from core.studies.execute import UnderWay
from core.studies.plan import LARGEST, NeedsPromptsError, Study, StudyError, unpriced
from core.studies.run_status import SHIFT, StudyProgress, StudyState, is_completed, progress
from core.text.display import count_noun
from pages.components import downloads, reader_accuracy, session
from pages.components.tables import button, download
from pages.components.text import plain
from pages.components.throttle import PACE, waits
from pages.study import form, progress_view
from pages.study.progress_view import State, budget, minutes, state_of, status
from pages.study.results import StudyResults, draw, load_results

# The estimate of what a study will take, before anything is asked, and the downloads of data sets that it misses.


# Downloading data sets that a study needs and that are missing.


def _missing_row(source: Source) -> None:
    """Draw one data set: what it is and, before anything is downloaded, what is known about its files."""
    fetch = entry.dataset_fetches().get(source.name)
    st.markdown(f"**{plain(source.title)}** · licence: {plain(source.licence)} · {plain(source.page)}")
    if fetch is not None and fetch.going:
        _progress(fetch)
        if st.button("Stop", icon=":material/stop_circle:", key=f"study-data-stop-{source.name}"):
            fetch.stop.set()
        return
    if fetch is not None and fetch.failure is not None:
        session.problems(fetch.failure)
    key = f"study-data-looked-{source.name}"
    if key not in st.session_state:
        if st.button("Look at the download", icon=":material/info:", key=f"study-data-look-{source.name}"):
            with session.reported(CallError):
                with waits("Asking the server …"):
                    st.session_state[key] = get.list_files(source)
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
        there = (*study.data.values(), *(source.name for source in estimate.absent(study)))
        return _estimate(study.name, file, there, completed, folder, study)


@st.cache_data(max_entries=32, ttl=120, show_spinner=False)
def _estimate(
    name: str, file: int, there: tuple[str, ...], completed: int, folder: Path, _study: Study
) -> StudyEstimate:
    return estimate.estimate(_study, entry.labs(), session.catalog().get, folder, home.recordings())


def draw_planned(study: Study, found: StudyEstimate) -> None:
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
        downloads.follow(estimate.absent(study), entry.dataset_fetches(), "study-data", _missing_row)


def _sentences(study: Study, found: StudyEstimate) -> list[str]:
    by_role = ", ".join(f"{plain(role)} {n:,}" for role, n in found.calls.items() if n)
    controls = f", of which {len(study.controls)} put robots of known truth to the test first" if study.controls else ""
    said = [f"{count_noun(found.runs, 'run')} in all{controls}; {found.completed} completed already."]
    if by_role:
        known = ", of the runs that can be made" if found.missing else ""
        said.append(f"Calls by role{known}: {by_role}.")
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


SECONDS = 1.5
"""Seconds between two checks of a running study."""

IDLE = 5.0
"""Seconds between two checks of any other study, because it may be continued from elsewhere."""


def draw_list() -> None:
    """List all studies, with a button for a new one."""
    st.title("Study", anchor=False)
    st.markdown(
        "One question is a demonstration, **a thousand are a finding**. A study tries every combination of the "
        "settings you choose, first checks itself on robots with known behaviour, and ends in a table."
    )
    if not session.runs().may_all:
        form.only_the_host()
    button("New study", "add", "study-new", _open, "new", "1", type="primary")
    own, may_all = study_files.own_folder(home.home()), session.runs().may_all
    files = study_files.files(home.home()).values()
    for group, paths in (
        ("Yours", [path for path in files if path.parent == own and may_all]),
        ("Templates", [path for path in files if path.parent != own]),
    ):
        if paths:
            st.subheader(group, anchor=False)
            with st.container(border=True, gap="xsmall", key=f"studies-{group}"):
                # Studies that anybody can run come first.
                entries = sorted((_entry(path, may_all) for path in paths), key=lambda one: one[0])
                for _, name, title, words in entries:
                    with st.container(gap=None, key=f"study-{name}"):
                        button(plain(title), "grid_view", f"study-open-{name}", _open, "study", name)
                        st.caption(plain(words))


def _entry(path: Path, may_all: bool) -> tuple[bool, str, str, str]:
    """Return whether the study needs a key or texts, its name, its title, and a line about it."""
    try:
        study = _read(path)
    except NeedsPromptsError as error:
        return True, path.stem, error.title, "needs the papers' prompts, which do not ship with this app"
    except (StudyError, OSError) as error:
        return True, path.stem, path.stem, str(error)
    models = {model for run in study.runs for model in run.spec.models}
    endpoints = sorted(model for model in models if not is_free(model) and not model.startswith("local/"))
    asks = "robots only, no key" if all(is_free(one) for one in models) else "no key"
    runs = count_noun(len(study.runs), "run")
    done = sum(is_completed(journal.path_for(home.journals(), run.id)) for run in study.runs) if may_all else 0
    words = [
        *dict.fromkeys(run.lab.title for run in study.runs),
        f"{done} of {runs} completed" if may_all else runs,
        *([count_noun(len(study.controls), "control")] if study.controls else []),
        f"asks {', '.join(endpoints[:3])}" if endpoints else asks,
    ]
    return bool(endpoints), path.stem, study.title, " · ".join(words)


def _open(name: str, value: str) -> None:
    st.query_params.from_dict({name: value})


def _read(path: Path) -> Study:
    """Read the study in a file. Raises StudyError, and OSError."""
    with path.open("rb") as file:
        return form.parsed(path.name, file.read(LARGEST + 1))


def draw_study(name: str) -> None:
    """Draw one study: its state, its results, what it will take."""
    files = study_files.files(home.home())
    may_all = session.runs().may_all
    try:
        path = files.get(name)
        if path is None or not (may_all or path.parent == study_files.SHIPPED):
            raise StudyError(f"There is no study named {name[:80]!r}.")
        with waits("Reading the file …"):
            study = _read(path)
    except NeedsPromptsError as error:
        st.title(plain(error.title), anchor=False)
        papers = [f"{lab.title}: {lab.paper_prompts.repository}" for lab in entry.LABS if lab.paper_prompts]
        st.info(
            "This study uses the papers' own prompts, which do not ship with this app. Get copies of the authors' "
            f"repositories and run `{COMMAND} prompts read FOLDER`. `{COMMAND} prompts` says which prompts you have.\n"
            + "".join(f"\n- {one}" for one in papers),
            title="Get the papers' prompts first",
            icon=":material/description:",
        )
        _file(files[name])
        return
    except (StudyError, OSError) as error:
        st.title("Study", anchor=False)
        st.error(plain(str(error)), title="This study cannot be opened", icon=":material/error:")
        return
    st.title(plain(study.title), anchor=False)
    file = path.stat().st_mtime_ns
    if not may_all:
        form.only_the_host()
        _rest(study, path, 0, is_new=True)
        return
    reader_accuracy.still_blind("The tables of a study hide nothing, so they")
    seen = _live(study, file, path.read_text(encoding="utf-8"))
    _rest(study, path, seen.now.ended, is_new=seen.state == "new")


class _Seen(NamedTuple):
    """A study at this moment."""

    found: StudyResults
    now: StudyProgress
    going: UnderWay | None
    state: State


def _seen(study: Study, file: int) -> _Seen:
    state = StudyState(study, home.journals())
    now = progress(state)
    mine = entry.studies().started(study.name)
    running = bool(now.status.get("running")) or (mine is not None and not mine.over.is_set())
    found = load_results(state, file, running)
    return _Seen(found, now, mine, state_of(now, mine, found.off))


def _live(study: Study, file: int, text: str) -> _Seen:
    """Draw state and results repeatedly while the study runs. Returns its initial state."""
    first = _seen(study, file)
    drawn: list[_Seen] = [first]
    is_active = first.state in ("running", "pausing")

    @st.fragment(run_every=PACE.seconds(SECONDS if is_active else IDLE))
    def live() -> None:
        with PACE.drawing(session.tab()):
            seen = drawn.pop() if drawn else _seen(study, file)
            if seen.state != first.state:
                # The rest of the page still shows the old state.
                st.rerun()
            words = status(seen.state, study, seen.now, seen.going, seen.found.off)
            progress_view.verdict(words, seen.state, seen.found)
            progress_view.buttons(study, seen.state, seen.now, text)
            if seen.state not in ("new", "done"):
                progress_view.bars(seen.now, seen.state)
            if seen.state != "new":
                draw(study, seen.found)

    live()
    return first


def _rest(study: Study, path: Path, completed: int, is_new: bool) -> None:
    """Draw what does not change by itself: the plan and the file."""
    slot: DeltaGenerator | None = None
    if is_new:
        st.subheader("Estimate", anchor=False)
        slot = st.container()
    elif completed < len(study.all):
        more = st.expander("Estimate of the rest", icon=":material/checklist:", key="study-planned", on_change="rerun")
        slot = more if more.open else None
    _file(path)
    if slot is not None:
        # Drawn last, because it may take a while.
        with slot:
            draw_planned(study, load_estimate(study, path.stat().st_mtime_ns, completed))


def _file(path: Path) -> None:
    """Draw the study's file, and the button back to the list."""
    text = path.read_text(encoding="utf-8")
    with st.expander("The file", icon=":material/description:", key="study-the-file"):
        st.code(text, language="toml")
        with st.container(horizontal=True):
            download("Download the file", text, path.name, "application/toml", "download", "study-toml")
            button("Copy as a new study", "edit", "study-like", form.edit, text)
    button("All studies", "arrow_back", "study-back", st.query_params.clear)


def main() -> None:
    """Draw the page."""
    if name := st.query_params.get("study", ""):
        draw_study(name)
    elif st.query_params.get("new"):
        st.title("New study", anchor=False)
        form.draw()
        button("All studies", "arrow_back", "study-back", st.query_params.clear)
    else:
        draw_list()


main()
