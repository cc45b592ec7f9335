"""Models: whom one can ask, and how to add more."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import streamlit as st
from pydantic import SecretStr

from core import entry, policy
from core.events import CallFailed
from core.lab.lab import Lab
from core.lab.spec import Spec
from core.models import gguf, local
from core.models.download import HubModel, offered
from core.models.listing import list_models
from core.models.settings import PRESETS, EndpointConfig
from core.people.allowance import TooMuch
from core.sandbox import sandbox
from pages import addresses
from pages.parts import entrance, reader_accuracy, session
from pages.parts.run import problems
from pages.parts.text import plain
from pages.parts.throttle import waits


def ready() -> None:
    """What can be asked now."""
    st.header("Ready now", anchor=False)
    infos = [info for info in session.catalog().offered() if not info.needs]
    st.table(
        pd.DataFrame([{"Model": plain(info.id), "What it is": plain(info.about or info.title)} for info in infos]),
        border="horizontal",
        hide_index=True,
        alt="Models that can be asked now",
    )


def tests() -> None:
    """Whether each of them is fit to be asked, by the labs that put a model to the test: the result, or the button."""
    infos = [info for info in session.catalog().offered() if not info.needs]
    for lab in entry.labs().values():
        fit = [(info.id, spec) for info in infos if (spec := lab.of_model(info.id)) is not None]
        if not fit:
            continue
        st.header(lab.title, anchor=False)
        st.markdown(lab.about)
        if lab.summed is not None:
            st.markdown(lab.summed(session.catalog().is_at_hand, session.runs().made))
        for model, spec in fit:
            with st.container(horizontal=True, vertical_alignment="center", key=f"{lab.path}-{model}"):
                run_id, said = _taken(lab, spec)
                st.markdown(f"**{plain(model)}** :gray[{plain(said or 'No result yet.')}]")
                if run_id:
                    st.page_link(addresses.CASE, label="See it", icon=lab.icon, query_params={"run": run_id})
                else:
                    _take(lab, spec, model)


def _taken(lab: Lab, spec: Spec) -> tuple[str, str]:
    """The newest run that has a result or goes on, and what it says; both empty where there is none."""
    visit = session.runs()
    for run_id, state in visit.like(lab, spec):
        view = lab.view(state.case(state.only))
        if visit.run(run_id).active() or view.outcome("repaired") not in ("waiting", "failed"):
            return run_id, " ".join(lab.verdict(view))
    return "", ""


def _take(lab: Lab, spec: Spec, model: str) -> None:
    """The button that begins the test of a model, and leads to it."""
    calls = f" · {lab.calls(spec, 1)} calls" if lab.calls else ""
    if not st.button(f"Take the {lab.title.lower()}{calls}", icon=lab.icon, key=f"take-{lab.path}-{model}"):
        return
    try:
        session.catalog().get(model)
        run_id = session.runs().start(lab.name, spec, session.catalog().get)
    except (CallFailed, TooMuch) as error:
        problems(error)
    else:
        st.switch_page(addresses.CASE, query_params={"run": run_id})


def connect() -> None:
    """Add an endpoint by name, address and key."""
    st.header("Connect an endpoint" if policy.allows("endpoints") else "Endpoints", anchor=False)
    if policy.allows("endpoints"):
        form()
    for broken, why in session.unusable().items():
        st.warning(f"**{plain(broken)}** in secrets.toml: {plain(why)}", icon=":material/key_off:")
    for config in session.endpoints().values():
        with st.container(horizontal=True, vertical_alignment="center", key=f"endpoint-{config.name}"):
            st.markdown(f"**{plain(config.name)}** {plain(config.base_url)} · {len(config.models)} models")
            # The host's key lists nothing for a visitor, and so lets nobody name what it could ask.
            may_list = config.of_visitor or session.visitor().is_host or not policy.hosted()
            if may_list and st.button(
                "List its models", icon=":material/refresh:", type="tertiary", key=f"list-{config.name}"
            ):
                add(config)
            if config.name in session.added() and st.button(
                "Remove", icon=":material/delete:", type="tertiary", key=f"remove-{config.name}"
            ):
                session.remove(config.name)
                st.rerun()
    if policy.allows("endpoints"):
        st.caption("For everyone who opens this app: copy .streamlit/secrets.toml.example to secrets.toml.")


def form() -> None:
    """Name, address and key of an endpoint."""
    st.markdown("Any server that speaks the OpenAI API. A key stays in this browser session: it is never written down.")

    def fill() -> None:
        preset = st.session_state["preset"]
        if preset:
            st.session_state.update(endpoint_name=preset, endpoint_url=PRESETS[preset].base_url)

    st.pills(
        "Presets", list(PRESETS), format_func=lambda name: PRESETS[name].title, key="preset", on_change=fill,
        label_visibility="collapsed",
    )  # fmt: skip
    with st.container(border=True):
        left, right = st.columns([1, 2])
        name = left.text_input("Name", key="endpoint_name", placeholder="ollama")
        url = right.text_input("Base URL", key="endpoint_url", placeholder="http://127.0.0.1:11434/v1")
        key = st.text_input("Key", key="endpoint_key", type="password", help="Leave empty for servers that want none.")
        if st.button("Test connection and add", type="primary", icon=":material/cable:", key="connect"):
            try:
                config = EndpointConfig(
                    name=name.strip(),
                    base_url=url,
                    key=SecretStr(key),
                    preset=st.session_state["preset"] or "",
                    of_visitor=policy.hosted(),
                )
                entry.catalog((config,))
            except CallFailed as error:
                problems(error)
            else:
                add(config)


def add(config: EndpointConfig) -> None:
    """Ask the endpoint for its models, and keep it with them if it answers."""
    try:
        with waits("Asking for its models …"):
            found = list_models(config)
    except CallFailed as error:
        problems(error)
        return
    session.add(config.model_copy(update={"models": tuple(found)}))
    st.toast(f"{plain(config.name)} offers {len(found)} models", icon=":material/check:")
    st.rerun()


def download_row(model: HubModel, here: bool) -> None:
    """One larger model: get it, watch it come, or see that it is here."""
    fetch = entry.fetches().get(model.name)
    with st.container(border=True, key=f"download-{model.name}"):
        words, button = st.columns([3, 1], vertical_alignment="center")
        words.markdown(
            f"**{plain(model.title)}** · {model.size_bytes / 1e6:.0f} MB · {plain(model.licence)}  \n"
            f":small[:gray[{plain(model.about)}]]"
        )
        if here:
            button.badge("ready", icon=":material/check:", color="green")
        elif fetch is not None and fetch.going:
            share = min(fetch.done / max(fetch.size, 1), 1.0)
            words.progress(share, text=f"{fetch.done / 1e6:.0f} of {fetch.size / 1e6:.0f} MB")
            if button.button("Stop", icon=":material/stop_circle:", key=f"stop-{model.name}"):
                fetch.stop.set()
        else:
            if fetch is not None and fetch.failure is not None:
                problems(fetch.failure)
            if button.button("Download", icon=":material/download:", key=f"get-{model.name}"):
                entry.fetches().start(model)
                st.rerun()


def larger() -> None:
    """Local models to download, with progress."""
    st.header("Larger local models", anchor=False)
    st.markdown("They run on this machine, without a key. A download goes on while you do something else.")
    folder = session.catalog().models_folder
    going = [fetch for model in offered() if (fetch := entry.fetches().get(model.name)) and fetch.going]

    @st.fragment(run_every=0.5 if going else None)
    def rows() -> None:
        here = local.installed(folder)
        for model in offered():
            download_row(model, model.name in here)
        if any(not fetch.going for fetch in going):
            st.rerun()

    rows()


def own_file() -> None:
    """Any GGUF file by its path."""
    st.header("A model file of your own", anchor=False)
    path = st.text_input("Path of a GGUF file", key="gguf", placeholder="~/models/my-model.gguf")
    if path.strip():
        file = Path(path.strip()).expanduser()
        try:
            gguf.context(file)
        except CallFailed as error:
            problems(error)
            return
        st.markdown("Use it on any page by this name:")
        st.code(local.file_id(file), language=None)


def allowed() -> None:
    """What people may do here, and why."""
    with st.expander("What this app allows here", key="allowed", icon=":material/shield:"):
        who = "People on other machines" if policy.hosted() else "Only people on this machine"
        st.markdown(f"{who} can reach this app.")
        if policy.hosted() or not policy.allows("others"):
            entrance.signed_in()
        for setting, is_allowed in policy.table():
            st.markdown(
                f"{':green[allowed]' if is_allowed else ':orange[not allowed]'} · {plain(setting.allows)} "
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
    """What holds the programs that models write, on this machine."""
    st.markdown("What holds the programs that models write:")
    try:
        walls = sandbox.walls()
    except RuntimeError as error:
        st.markdown(f":orange[not known] · {plain(str(error))}")
        return
    for holds, what in walls.told:
        st.markdown(f"{':green[holds]' if holds else ':orange[does not hold here]'} · {plain(what)}")


st.title("Models", anchor=False)
st.markdown(
    "Controls are robots whose faithfulness we know, because we built them. Local models run on this machine. "
    "Everything else is an endpoint, a server that speaks the OpenAI API."
)
ready()
tests()
reader_accuracy.everywhere()
connect()
if policy.allows("downloads"):
    larger()
if policy.allows("files"):
    own_file()
allowed()
