"""Study: many runs from one file. The list of studies, a new one (`?new=1`), or one of them (`?study=NAME`)."""

from pathlib import Path
from typing import NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core import entry, home, journal
from core.models.ids import is_free
from core.studies import study_files
from core.studies.execute import UnderWay
from core.studies.plan import LARGEST, Study, StudyError
from core.studies.progress import StudyProgress, progress
from core.studies.run_status import StudyState, is_completed
from core.text.display import count_noun
from pages.components import session
from pages.components.tables import download
from pages.components.text import plain
from pages.components.throttle import PACE, waits
from pages.study import form, planned, progress_view
from pages.study.progress_view import State, state_of, status_badge
from pages.study.results import StudyResults, draw
from pages.study.results import load_results as looked_up

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
    st.button("New study", type="primary", icon=":material/add:", key="study-new", on_click=_open, args=["new", "1"])
    own, may_all = study_files.own_folder(home.home()), session.runs().may_all
    files = study_files.files(home.home()).values()
    for title, paths in (
        ("Yours", [path for path in files if path.parent == own and may_all]),
        ("Templates", [path for path in files if path.parent != own]),
    ):
        if paths:
            st.subheader(title, anchor=False)
            with st.container(border=True, gap="xsmall", key=f"studies-{title}"):
                # Studies that anybody can run come first.
                for _, *line in sorted((_entry(path, may_all) for path in paths), key=lambda one: one[0]):
                    _line(*line)


def _entry(path: Path, may_all: bool) -> tuple[bool, str, str, str]:
    """Return whether the study needs a key, its name, its title, and a line about it."""
    try:
        study = _read(path)
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


def _line(name: str, title: str, words: str) -> None:
    with st.container(gap=None, key=f"study-{name}"):
        st.button(
            plain(title),
            type="tertiary",
            key=f"study-open-{name}",
            on_click=_open,
            args=["study", name],
            icon=":material/grid_view:",
        )
        st.caption(plain(words))


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
    found = looked_up(state, file, running)
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
            progress_view.verdict(
                status_badge(seen.state, study, seen.now, seen.going, seen.found.off), seen.state, seen.found
            )
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
    text = path.read_text(encoding="utf-8")
    with st.expander("The file", icon=":material/description:", key="study-the-file"):
        st.code(text, language="toml")
        with st.container(horizontal=True):
            download("Download the file", text, path.name, "application/toml", "download", "study-toml")
            st.button(
                "Copy as a new study",
                icon=":material/edit:",
                type="tertiary",
                key="study-like",
                on_click=form.edit,
                args=[text],
            )
    st.button(
        "All studies", icon=":material/arrow_back:", type="tertiary", key="study-back", on_click=st.query_params.clear
    )
    if slot is not None:
        # Drawn last, because it may take a while.
        with slot:
            planned.draw(study, planned.load_estimate(study, path.stat().st_mtime_ns, completed))


def main() -> None:
    """Draw the page."""
    if name := st.query_params.get("study", ""):
        draw_study(name)
    elif st.query_params.get("new"):
        st.title("New study", anchor=False)
        form.draw()
        st.button(
            "All studies",
            icon=":material/arrow_back:",
            type="tertiary",
            key="study-back",
            on_click=st.query_params.clear,
        )
    else:
        draw_list()


main()
