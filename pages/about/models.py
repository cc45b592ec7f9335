"""Models: connect one, try it, and see which are in use."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pandas as pd
import streamlit as st

from core import entry, home, optional, policy
from core.events import CallError
from core.labs.base.lab import Lab
from core.labs.base.spec import Spec
from core.models import capabilities, local
from core.models.catalog import ModelInfo
from core.models.download import HubModel, downloadable
from core.models.ids import is_control
from core.sandbox import sandbox
from core.store import run_list
from core.store.store import StoreError
from core.text.display import count_noun
from pages import addresses
from pages.about import connect, model_trial
from pages.components import downloads, reader_accuracy, session
from pages.components.tables import button
from pages.components.text import plain
from pages.components.widgets import choose, chosen_models

FEW = 8
"""All models of an endpoint count as in use if it has at most this many."""

MOST_FOUND = 10
"""Most models that a search shows."""


def available() -> list[ModelInfo]:
    """Return the models that can be asked now, without robots."""
    return [info for info in session.catalog().offered() if not info.needs and info.kind != "control"]


def in_use() -> list[str]:
    """Return the ids of models that were asked, tried or chosen, of local models, and of all models of an endpoint that
    has few.
    """
    offered = {info.id: info for info in session.catalog().offered() if not info.needs}
    named = {*chosen_models(), *_asked(), *capabilities.tried(home.home())}
    few = {name for name, config in session.endpoints().items() if len(config.models) <= FEW}
    return [
        id
        for id, info in offered.items()
        if id in named or info.kind in ("local", "own") or (info.kind == "endpoint" and id.partition("/")[0] in few)
    ] + [id for id in chosen_models() if id not in offered and session.catalog().is_at_hand(id)]


def _asked() -> set[str]:
    """Return the models of the runs that this visitor may see."""
    with suppress(StoreError):
        return _models_of_runs(session.viewer(), entry.keeper().changes)
    return set()


@st.cache_data(max_entries=32, show_spinner=False)
def _models_of_runs(viewer: str | None, changes: int) -> set[str]:
    return set(run_list.runs(entry.keeper().store, viewer=viewer)["model"].dropna())


def draw_used() -> None:
    """List the models in use, each with a button that tries it, and draw a search over the others."""
    st.header("Models in use", anchor=False)
    about = {info.id: info.about or info.title for info in available()}
    results = capabilities.all_saved(session.catalog().get, using := in_use(), home.home())
    for id in using:
        if is_control(id):
            continue
        with st.container(horizontal=True, vertical_alignment="center", key=f"used-{id}"):
            standing = plain(_standing(id, results.get(id), about))
            st.markdown(f"**{plain(id)}** :small[:gray[{standing}]]", width="stretch")
            if id in results:
                st.button("See what it accepts", key=f"see-{id}", type="tertiary", on_click=choose, args=(id,))
            elif model_trial.may_try(id) and st.button(
                "Try it", key=f"try-{id}", type="tertiary", icon=":material/bolt:"
            ):
                model_trial.run(session.catalog().get(id))
    _search([id for id in about if id not in using])
    robots = [info for info in session.catalog().offered() if info.kind == "control"]
    with st.expander(f"{count_noun(len(robots), 'robot')} whose faithfulness is known", key="robots"):
        st.markdown("We built them, so we know how faithful their explanations are. They are the controls of each lab.")
        table = pd.DataFrame([{"Model": plain(info.id), "What it is": plain(info.about)} for info in robots])
        st.table(table, border="horizontal", hide_index=True, alt="Robots")


def _standing(id: str, found: capabilities.Capabilities | None, about: Mapping[str, str]) -> str:
    """Return a line with the result of trying the model, or else what it is."""
    if found is None:
        return about.get(id, "")
    if not found.answers:
        return "Did not answer when it was tried."
    thinks = "thinks" if found.thinks not in (None, "no") else "does not think"
    refused = f", refuses {', '.join(found.refused)}" if found.refused else ""
    return f"Answers, {thinks}{refused}."


def _search(rest: list[str]) -> None:
    """Draw a search for models that are not in use."""
    if not rest:
        return
    wanted = st.text_input(
        f"Search {count_noun(len(rest), 'more model')}",
        key="model-search",
        placeholder="A part of a name",
        icon=":material/search:",
    )
    if not wanted.strip():
        return
    found = [id for id in rest if all(word in id.lower() for word in wanted.lower().split())]
    for id in found[:MOST_FOUND]:
        with st.container(horizontal=True, vertical_alignment="center", key=f"found-{id}"):
            st.markdown(plain(id), width="stretch")
            button("Use", "add", f"use-{id}", choose, id)
    if len(found) > MOST_FOUND:
        st.caption(f"And {len(found) - MOST_FOUND:,} more: type more of the name.")
    if not found:
        st.caption("No model has this name.")


def tests() -> None:
    """Show, for each qualification test, whether each model in use is fit for its role: the result, or a button for the
    test.
    """
    using = in_use()
    for lab in entry.TESTS:
        fit = [(id, spec) for id in using if (spec := lab.for_model(id)) is not None]
        if not fit:
            continue
        st.header(lab.title, anchor=False)
        st.markdown(lab.about)
        st.markdown(lab.say_who_passed(session.catalog().is_at_hand, session.runs().results))
        for model, spec in fit:
            with st.container(horizontal=True, vertical_alignment="center", key=f"{lab.path}-{model}"):
                run_id, said = _taken(lab, spec)
                if not said and is_control(model):
                    said = f"{lab.describe(lab.score_robot(model))[0]} This follows from its rules."
                st.markdown(f"**{plain(model)}** :gray[{plain(said or 'No result yet.')}]")
                if run_id:
                    st.page_link(addresses.CASE, label="See it", icon=lab.icon, query_params={"run": run_id})
                else:
                    _take(lab, spec, model)


def _taken(lab: Lab, spec: Spec) -> tuple[str, str]:
    """Return the newest run that has a result or is in progress, and its verdict; both empty if there is none."""
    visit = session.runs()
    for run_id, state in visit.runs_of_spec(lab, spec):
        view = lab.view(state.case(state.only))
        if visit.run(run_id).active() or view.outcome not in ("waiting", "failed"):
            return run_id, " ".join(view.sentences())
    return "", ""


def _take(lab: Lab, spec: Spec, model: str) -> None:
    """Draw the button that starts the test of a model and leads to it."""
    calls = f" · {lab.calls(spec, 1)} calls"
    pressed = st.button(f"Take the test{calls}", icon=lab.icon, key=f"take-{lab.path}-{model}")
    if pressed and (run_id := session.begin(lab, spec)):
        st.switch_page(addresses.CASE, query_params={"run": run_id})


def part_row(part: optional.OptionalPart) -> None:
    """Draw an optional part of the app: a button to install it, or the progress."""
    size = f"about {part.size_bytes / 1e6:.0f} MB"
    about = f"**{plain(part.title)}** · {size}  \n:small[:gray[{plain(part.about)}]]"
    downloads.offer(part, entry.part_fetches(), about, "Install", "install", in_packages=not part.files)


def download_row(model: HubModel) -> None:
    """Draw one larger model: a button to download it, the progress, or a note that it is installed."""
    about = (
        f"**{plain(model.title)}** · {model.size_bytes / 1e6:.0f} MB · {plain(model.licence)}  \n"
        f":small[:gray[{plain(model.about)}]]"
    )
    if model.name in local.installed(session.catalog().models_folder):
        words, badge = st.columns([3, 1], vertical_alignment="center")
        words.markdown(about)
        badge.badge("ready", icon=":material/check:", color="green")
    else:
        downloads.offer(model, entry.fetches(), about, "Download", "get")


def missing_parts() -> None:
    """List the parts of the app that are not installed, with progress; nothing if all are."""
    if missing := [part for part in optional.PARTS.values() if not optional.is_installed(part.name)]:
        st.header("Parts that can be installed", anchor=False)
        downloads.follow(missing, entry.part_fetches(), "part", part_row)


def larger() -> None:
    """List the local models that can be downloaded, with progress."""
    st.header("Larger local models", anchor=False)
    st.markdown("They run on this machine, without a key. A download continues while you do something else.")
    downloads.follow(downloadable(), entry.fetches(), "download", download_row)


def own_file() -> None:
    """Draw a field for the path of any GGUF file."""
    st.header("A model file of your own", anchor=False)
    path = st.text_input("Path of a GGUF file", key="gguf", placeholder="~/models/my-model.gguf")
    if path.strip():
        file = Path(path.strip()).expanduser()
        with session.reported(CallError):
            local.context(file)
            st.markdown("Use it on any page by this name:")
            st.code(local.file_id(file), language=None)


def allowed() -> None:
    """Show what people may do here, and why."""
    with st.expander("What this app allows here", key="allowed", icon=":material/shield:"):
        who = "People on other machines" if policy.is_hosted() else "Only people on this machine"
        st.markdown(f"{who} can reach this app.")
        for setting, is_allowed in policy.table():
            st.markdown(
                f"{':green[yes]' if is_allowed else ':orange[no]'} · {plain(setting.allows)} "
                f":gray[{plain(setting.why)} Change: {plain(setting.variable)}={'no' if is_allowed else 'yes'}]"
            )
        for limit in policy.LIMITS:
            most = policy.limit(limit.name)
            st.markdown(
                f"{'no limit' if most is None else f':orange[at most {most:,}]'} · {plain(limit.what)} "
                f":gray[{plain(limit.why)} Change: {plain(limit.variable)}]"
            )
        _walls()


def _walls() -> None:
    """Show what confines the programs that models write, on this machine."""
    st.markdown("How the programs that models write are confined:")
    try:
        walls = sandbox.walls()
    except RuntimeError as error:
        st.markdown(f":orange[not known] · {plain(str(error))}")
        return
    for holds, what in walls.described:
        st.markdown(f"{':green[holds]' if holds else ':orange[does not hold here]'} · {plain(what)}")


st.title("Models", anchor=False)
st.markdown(
    "Connect a provider or a server, see what a model accepts, then ask it in any lab. "
    "Any server that speaks the OpenAI API will do; local models run on this machine."
)
left, right = st.columns(2, gap="large")
with left:
    connect.section()
with right:
    model_trial.section([info.id for info in available()] or session.catalog().ids())
draw_used()
tests()
reader_accuracy.everywhere()
if policy.allows("downloads"):
    missing_parts()
    larger()
if policy.allows("files"):
    own_file()
allowed()
