"""What this browser session can use: its endpoints (keys stay in the session or in secrets) and the shared runs."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

import streamlit as st
from pydantic import ValidationError
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core import entry, policy
from core.events import CallError
from core.labs.base.lab import Lab
from core.models import local
from core.models.catalog import Catalog
from core.models.ids import CONTROL
from core.models.settings import EndpointConfig
from core.server import roles
from core.server.access import OwnRun, ReadableRun, RunAccess, Visitor, code_in, visitor_with_code
from pages import middleware
from pages.components.text import plain

FILE_MB = 50
"""Largest file in megabytes that a browser can send (`maxUploadSize` in .streamlit/config.toml). For larger ones, use
the command line or put them into the home.
"""

_ADDED = "endpoints"


def endpoints() -> dict[str, EndpointConfig]:
    """Return the endpoints by name: those in `.streamlit/secrets.toml`, then those added on the Models page."""
    found: dict[str, EndpointConfig] = {}
    for name, values in _secret_endpoints().items():
        with suppress(CallError, ValidationError):
            found[name] = EndpointConfig.model_validate({**values, "name": name})
    return {**found, **st.session_state.get(_ADDED, {})}


def unusable() -> dict[str, str]:
    """Return why endpoints in `.streamlit/secrets.toml` cannot be used, by name. The values are never repeated."""
    found: dict[str, str] = {}
    try:
        st.secrets.get("endpoints")
    except FileNotFoundError as error:
        # A missing file raises the same class.
        if "Error parsing" in str(error):
            found["Everything"] = "the file is not TOML. Compare it with .streamlit/secrets.toml.example."
    for name, values in _secret_endpoints().items():
        try:
            EndpointConfig.model_validate({**values, "name": name})
        except CallError as error:
            found[name] = f"{error.message} {error.hint}"
        except ValidationError as error:
            found[name] = ", ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
    return found


def visitor() -> Visitor:
    """Return the visitor. A browser is one person as long as it keeps our cookie; without a cookie, each tab is one,
    and in a hosted app it cannot be recognised again.
    """
    code = code_in(st.context.cookies.to_dict().get(middleware.COOKIE, ""))
    is_known = bool(code) or not policy.is_hosted()
    code = code or str(st.session_state.setdefault("visitor", secrets.token_urlsafe(24)))
    return visitor_with_code(code, is_known)


def role() -> str:
    """Return the visitor's role: `core.server.roles.HOST` and so on; empty if they have yet to type a code."""
    return roles.role_of(visitor().name)


def sign_in(code: str) -> None:
    """Give the visitor the role of `code`. Raises SignInError and DataDirError."""
    roles.enter(visitor().name, code, str(st.context.ip_address or "this machine"))


def sign_out() -> None:
    """Take the visitor's role away."""
    roles.sign_out(visitor().name)


def has_place() -> bool:
    """Whether this tab is within the number that its visitor may have open."""
    return middleware.has_place(st.context.headers.get(middleware.TAB, ""))


def tab() -> str:
    """Return a name for this session: one tab until it is closed or reloaded."""
    return str(st.session_state.setdefault("tab", secrets.token_hex(8)))


def takes_files(may: bool = True) -> None:
    """Set whether this session may send files from now on, because its page has a field for one."""
    if (context := get_script_run_ctx()) is not None:
        middleware.may_upload(context.session_id, may)


def runs() -> RunAccess:
    """Return the shared runs with the visitor's permissions."""
    return RunAccess(entry.jobs(), visitor())


def run(run_id: str) -> ReadableRun:
    """Return the run for viewing. Raises RunNotFoundError and AccessDeniedError."""
    return runs().run(run_id)


def own(run_id: str) -> OwnRun:
    """Return the run for changing. Raises RunNotFoundError and AccessDeniedError."""
    return runs().own_run(run_id)


def viewer() -> str | None:
    """Return the name of the visitor for whom lists are made; None if they may see everything."""
    visit = runs()
    return None if visit.sees_all else visit.visitor.name


def add(endpoint: EndpointConfig) -> None:
    """Connect an endpoint for this session alone."""
    st.session_state.setdefault(_ADDED, {})[endpoint.name] = endpoint


def remove(name: str) -> None:
    """Forget an endpoint that this session connected."""
    st.session_state.get(_ADDED, {}).pop(name, None)


def added() -> set[str]:
    """Return the names of the endpoints added in this session."""
    return set(st.session_state.get(_ADDED, {}))


def catalog() -> Catalog:
    """Return the models that this session can ask. The catalog is reused while endpoints and visitor stay the same."""
    now = (tuple(endpoints().values()), visitor())
    kept: tuple[object, Catalog] | None = st.session_state.get("catalog")
    if kept is None or kept[0] != now:
        kept = (now, entry.catalog(now[0], runs()))
        st.session_state["catalog"] = kept
    return kept[1]


def _secret_endpoints() -> dict[str, dict[str, object]]:
    """Return what the secrets file says about each endpoint; empty for an entry that is not a table, which is then
    reported as incomplete.
    """
    try:
        found = st.secrets.get("endpoints", {})
    except FileNotFoundError:
        return {}
    if not isinstance(found, Mapping):
        return {"endpoints": {}}
    return {name: dict(values) if isinstance(values, Mapping) else {} for name, values in found.items()}


# Choosing a model for the whole run or for one role.


SHIPPED = f"local/{local.SHIPPED}"
"""The real model that comes with the app, for visitors who have seen a robot."""


_CHOSEN = "models-chosen"
TRIED = "model-tried"
"""Key of the picker in *Try a model* on the Models page."""


def model_choices(lab: Lab) -> list[str]:
    """Return the models that can be asked now; of the controls, only those that know the lab."""
    return [
        info.id
        for info in catalog().offered()
        if not info.needs and (info.kind != "control" or info.id in lab.robots.controls())
    ]


def _titles() -> dict[str, str]:
    infos = catalog().offered()
    return {info.id: info.id if info.title == info.id else f"{info.id} · {info.title}" for info in infos}


def chosen_models() -> list[str]:
    """Return the ids of models typed, tried or picked on the Models page in this session, newest last."""
    return list(st.session_state.get(_CHOSEN, []))


def choose(id: str) -> None:
    """Add the model to those used in this session, and pick it in *Try a model*."""
    st.session_state[_CHOSEN] = [*(one for one in chosen_models() if one != id), id]
    st.session_state[TRIED] = id


def short(id: str) -> str:
    """Return a model's name for display: a control's without its prefix."""
    return id.removeprefix(CONTROL)


def pick(label: str, key: str, lab: Lab) -> str:
    """Let the user pick a model, or type an id that is not listed. The choice is kept from page to page."""
    titles = _titles()
    ids = model_choices(lab)
    first = lab.robots.default_model if lab.robots.default_model in ids else ids[0]
    chosen = st.selectbox(
        label,
        ids,
        index=ids.index(first),
        format_func=lambda one: titles.get(one, one),
        key=key,
        persist_state="session",
        accept_new_options=True,
        help="Controls are robots whose faithfulness is known. More models: see the Models page.",
    )
    _correct(chosen, key)
    return chosen or first


def _correct(typed: str | None, key: str, others: Sequence[str] = ()) -> None:
    """Offer a button with the whole id if `typed` in the picker `key` lacks its endpoint, such as gpt-4o. `others` are
    the other models chosen there, if it allows several.
    """
    known = catalog()
    if not typed or known.is_at_hand(typed) or not (meant := known.suggest(typed)):
        return

    def correct() -> None:
        st.session_state[key] = [*others, meant] if others or isinstance(st.session_state[key], list) else meant

    st.button(
        f"Did you mean {plain(meant)}?", key=f"meant-{key}-{typed}", icon=":material/spellcheck:", on_click=correct
    )


def outside(said: str, known: Mapping[str, str], take: Callable[[str], None], key: str, lab: Lab) -> None:
    """Say that the control chosen in the picker `key` cannot answer the question, and offer the real model or questions
    that the control knows. `known` maps each of these to its label; `take` gets the one that is clicked.
    """

    def real() -> None:
        st.session_state[key] = SHIPPED

    with st.container(border=True, gap="xsmall", key=f"outside-{key}"):
        st.markdown(f":material/travel_explore: {plain(said)}")
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            if SHIPPED in model_choices(lab):
                st.button(
                    "Ask a real language model instead", icon=":material/smart_toy:", key=f"real-{key}", on_click=real
                )
            for number, (one, words) in enumerate(known.items(), start=1):
                st.button(plain(words), key=f"known-{key}-{number}", icon=":material/edit:", on_click=take, args=(one,))


def pick_many(label: str, nobody: str, key: str, help: str, lab: Lab, but: str = "") -> list[str]:
    """Let the user pick at most two models for one role, not including `but`; `nobody` is shown if none is chosen."""
    chosen = st.multiselect(
        label,
        [id for id in model_choices(lab) if id != but],
        key=key,
        max_selections=2,
        placeholder=nobody,
        persist_state="session",
        accept_new_options=True,
        help=help,
    )
    for one in chosen:
        _correct(one, key, [other for other in chosen if other != one])
    return chosen


def pick_or_none(label: str, nobody: str, key: str, lab: Lab, help: str | None = None) -> str:
    """Let the user pick a model for one role; "" stands for `nobody`."""
    chosen = st.selectbox(
        label,
        model_choices(lab),
        index=None,
        placeholder=nobody,
        key=key,
        persist_state="session",
        accept_new_options=True,
        help=help,
    )
    _correct(chosen, key)
    return chosen or ""
