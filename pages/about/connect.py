"""Connecting a provider or a server by its address, key and further settings, and the list of those connected."""

import streamlit as st
from pydantic import SecretStr, ValidationError

from core import entry, policy
from core.events import CallError
from core.models.connection import list_models
from core.models.errors import UnreachableServerError
from core.models.settings import PRESETS, EndpointConfig, parse_headers, parse_query
from core.text.display import count_noun
from pages.components import session, widgets
from pages.components.text import plain
from pages.components.throttle import waits
from pages.components.widgets import TRIED, choose

OTHER = "other"
EFFORTS = ("minimal", "low", "medium", "high")
_FIELDS = {"endpoint_key": "", "endpoint_model": "", "endpoint_query": "", "endpoint_headers": ""}


def section() -> None:
    """Draw the form, if visitors may connect endpoints, and the connected endpoints."""
    allowed = policy.allows("endpoints")
    st.header("Connect a model" if allowed else "Connected", anchor=False)
    if allowed:
        _form()
    for broken, why in session.unusable().items():
        st.warning(f"**{plain(broken)}** in secrets.toml: {plain(why)}", icon=":material/key_off:")
    for config in session.endpoints().values():
        _row(config)
    if allowed:
        st.caption("For everyone who opens this app: copy .streamlit/secrets.toml.example to secrets.toml.")


def _form() -> None:
    titles = {**{name: one.title for name, one in PRESETS.items()}, OTHER: "Other"}

    def fill() -> None:
        provider = st.session_state["provider"]
        name, url = (provider, PRESETS[provider].base_url) if provider in PRESETS else ("", "")
        st.session_state.update(endpoint_name=name, endpoint_url=url, **_FIELDS)

    named = titles.__getitem__
    provider = st.pills("Provider", list(titles), format_func=named, key="provider", on_change=fill, wrap=True)
    preset = PRESETS.get(provider or "")
    with st.container(border=True):
        left, right = st.columns([1, 2])
        left.text_input("Name", key="endpoint_name", placeholder="ollama", help="Model ids begin with it.")
        right.text_input("Address", key="endpoint_url", placeholder="http://127.0.0.1:11434/v1")
        if preset is not None and preset.note:
            st.caption(plain(preset.note))
        left, right = st.columns(2)
        left.text_input(
            "Key",
            key="endpoint_key",
            type="password",
            help="It is never written down; a reload of the page forgets it. Leave it empty for servers without one.",
        )
        right.text_input(
            "Model",
            key="endpoint_model",
            placeholder=preset.model if preset else "",
            help="Leave it empty to choose from the server's list. If there is no list, type the name here.",
        )
        with st.expander("Limits, extra query and headers", key="endpoint-more"):
            _more()
        if st.button(
            "Connect", type="secondary" if session.endpoints() else "primary", icon=":material/cable:", key="connect"
        ):
            _connect(provider or "")


def _more() -> None:
    left, right = st.columns(2)
    left.number_input("Time limit, seconds", min_value=1, value=120, key="endpoint_timeout", help="For one whole call.")
    right.number_input("Calls at a time", 1, 64, None, key="endpoint_concurrency", placeholder="grows with the answers")
    left, right = st.columns(2)
    with left:
        help = "Added to the length of every answer, for models that think before they answer."
        widgets.thinking_room("endpoint_room", help, placeholder="learned from the answers")
    right.selectbox(
        "Reasoning effort",
        EFFORTS,
        index=None,
        key="endpoint_effort",
        placeholder="the provider's own",
        accept_new_options=True,
    )
    st.text_input("Extra query", key="endpoint_query", placeholder="api-version=2024-10-21")
    st.text_area(
        "Extra headers",
        key="endpoint_headers",
        placeholder="api-key: …",
        height=68,
        help="One a line, as Name: value. Their values are never shown again or written down.",
    )


def _connect(provider: str) -> None:
    state = st.session_state
    try:
        query = parse_query(state["endpoint_query"])
        address, mark, more = state["endpoint_url"].partition("?")
        config = EndpointConfig.model_validate(
            {
                "name": state["endpoint_name"].strip(),
                # Azure's address is often copied together with its query.
                "base_url": address if mark and "api-version" in more else state["endpoint_url"],
                "key": SecretStr(state["endpoint_key"]),
                "preset": provider if provider in PRESETS else "",
                "of_visitor": policy.is_hosted(),
                "timeout": state["endpoint_timeout"],
                "concurrency": state["endpoint_concurrency"],
                "query": {**(parse_query(more) if "api-version" in more else {}), **query},
                "headers": parse_headers(state["endpoint_headers"]),
                "thinking_room": state["endpoint_room"],
                "reasoning_effort": state["endpoint_effort"] or "",
            }
        )
        entry.catalog((config,))
    except CallError as error:
        session.problems(error)
    except ValidationError as error:
        st.error(plain("; ".join(one["msg"] for one in error.errors())))
    else:
        add(config, state["endpoint_model"].strip())


def add(config: EndpointConfig, model: str = "") -> None:
    """Add the endpoint to this session, with the models that it lists and the one that was typed. If its list cannot be
    read, this is reported and the endpoint is added anyway; if nothing answers at the address, it is not added.
    """
    # People may paste the whole id.
    model = model.removeprefix(f"{config.name}/")
    note, listed = "", []
    try:
        with waits("Asking for its models …"):
            listed = list_models(config)
    except UnreachableServerError as error:
        session.problems(error)
        return
    except CallError as error:
        note = f"Its list of models could not be read: {error.message} Type the name of a model instead."
    else:
        preset = config.known_server()
        if not listed:
            note = (preset and preset.no_models) or "It lists no models. Type the name of one."
    names = tuple(dict.fromkeys([*listed, *([model] if model else [])]))
    session.add(config.model_copy(update={"models": names}))
    st.session_state.setdefault("endpoint-notes", {})[config.name] = note
    if model or len(names) == 1:
        choose(f"{config.name}/{model or names[0]}")
    elif names:
        st.session_state[TRIED] = None
    st.toast(f"{plain(config.name)} is connected: {count_noun(len(listed), 'model')}", icon=":material/check:")
    st.rerun()


def _row(config: EndpointConfig) -> None:
    """Draw a connected endpoint: its models, and what can be done with it."""
    # Visitors may not list models with the host's key, so they cannot see which models it gives access to.
    may_list = config.of_visitor or session.visitor().is_host or not policy.is_hosted()
    with st.container(horizontal=True, vertical_alignment="center", key=f"endpoint-{config.name}"):
        st.markdown(
            f":material/check: **{plain(config.name)}** {plain(config.base_url)} · "
            f"{count_noun(len(config.models), 'model')}"
        )
        if may_list and st.button(
            "List its models", icon=":material/refresh:", type="tertiary", key=f"list-{config.name}"
        ):
            add(config)
        if config.name in session.added() and st.button(
            "Remove", icon=":material/delete:", type="tertiary", key=f"remove-{config.name}"
        ):
            session.remove(config.name)
            st.rerun()
    if not may_list:
        return
    if note := st.session_state.get("endpoint-notes", {}).get(config.name):
        st.info(plain(note), icon=":material/info:")
    if not config.models:
        _type_a_name(config)


def _type_a_name(config: EndpointConfig) -> None:
    """Draw a field for the name of a model, for a server that lists none."""
    preset = config.known_server()

    def take() -> None:
        name = st.session_state[f"name-{config.name}"].strip().removeprefix(f"{config.name}/")
        if name:
            session.add(config.model_copy(update={"models": (*config.models, name)}))
            st.session_state.get("endpoint-notes", {}).pop(config.name, None)
            choose(f"{config.name}/{name}")

    st.text_input(
        f"Name of a model of {plain(config.name)}",
        key=f"name-{config.name}",
        placeholder=preset.model if preset else "",
        on_change=take,
    )
