"""What this browser session can ask: its endpoints (keys stay in the session or in secrets) and the shared runs."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from contextlib import suppress

import streamlit as st
from pydantic import ValidationError

from core import entry
from core.events import CallFailed
from core.models.catalog import Catalog
from core.models.settings import EndpointConfig

_ADDED = "endpoints"


def endpoints() -> dict[str, EndpointConfig]:
    """Endpoints by name: those in `.streamlit/secrets.toml`, then those added on the Models page."""
    found: dict[str, EndpointConfig] = {}
    for name, values in _secret_endpoints().items():
        with suppress(CallFailed, ValidationError):
            found[name] = EndpointConfig.model_validate({**values, "name": name})
    return {**found, **st.session_state.get(_ADDED, {})}


def unusable() -> dict[str, str]:
    """Endpoints in `.streamlit/secrets.toml` that cannot be used, by name, and why. Values are never repeated."""
    found: dict[str, str] = {}
    try:
        st.secrets.get("endpoints")
    except FileNotFoundError as error:
        # A file that is not there is said with the same class.
        if "Error parsing" in str(error):
            found["Everything"] = "the file is not TOML. Compare it with .streamlit/secrets.toml.example."
    for name, values in _secret_endpoints().items():
        try:
            EndpointConfig.model_validate({**values, "name": name})
        except CallFailed as error:
            found[name] = f"{error.message} {error.hint}"
        except ValidationError as error:
            found[name] = ", ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
    return found


def owner() -> str:
    """A name for whom this session's runs are, as long as its page is open."""
    return str(st.session_state.setdefault("owner", secrets.token_hex(8)))


def add(endpoint: EndpointConfig) -> None:
    st.session_state.setdefault(_ADDED, {})[endpoint.name] = endpoint


def remove(name: str) -> None:
    st.session_state.get(_ADDED, {}).pop(name, None)


def added() -> set[str]:
    """Names of the endpoints that were added in this session."""
    return set(st.session_state.get(_ADDED, {}))


def catalog() -> Catalog:
    """The models this session can ask. One catalog as long as the endpoints stay the same: it holds their limits."""
    now = tuple(endpoints().values())
    kept: tuple[tuple[EndpointConfig, ...], Catalog] | None = st.session_state.get("catalog")
    if kept is None or kept[0] != now:
        kept = (now, entry.catalog(now))
        st.session_state["catalog"] = kept
    return kept[1]


def _secret_endpoints() -> dict[str, dict[str, object]]:
    """What the file says of each endpoint; nothing of one that is no table, which then lacks what it needs."""
    try:
        found = st.secrets.get("endpoints", {})
    except FileNotFoundError:
        return {}
    if not isinstance(found, Mapping):
        return {"endpoints": {}}
    return {name: dict(values) if isinstance(values, Mapping) else {} for name, values in found.items()}
