"""What this browser session can use: its endpoints (keys stay in the session or in secrets) and the shared runs."""

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import streamlit as st
from pydantic import ValidationError
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core import entry, policy
from core.errors import ExplainError
from core.events import CallError
from core.home import DataDirError
from core.labs.base.lab import Lab
from core.labs.base.spec import Spec
from core.models.catalog import Catalog
from core.models.settings import EndpointConfig
from core.runs.context import complaints
from core.server import admin, roles
from core.server.access import COOKIES_NEEDED, OwnRun, ReadableRun, RunAccess, Visitor, code_in, visitor_with_code
from core.store.index import IndexWatcher
from core.store.store import StoreError
from core.text.display import count_noun
from pages import addresses, middleware
from pages.components.tables import button
from pages.components.text import plain
from pages.components.throttle import let_others_draw, waits

FILE_MB = 50
"""Largest file in megabytes that a browser can send (`maxUploadSize` in .streamlit/config.toml). For larger ones, use
the command line or put them into the home.
"""

_ADDED = "endpoints"


def endpoints() -> dict[str, EndpointConfig]:
    """Return the endpoints by name: those in `.streamlit/secrets.toml`, then those added on the Models page."""
    return {**_from_secrets()[0], **st.session_state.get(_ADDED, {})}


def unusable() -> dict[str, str]:
    """Return why endpoints in `.streamlit/secrets.toml` cannot be used, by name. The values are never repeated."""
    return _from_secrets()[1]


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


def begin(lab: Lab, spec: Spec) -> str:
    """Start a run and return its id; an empty string if there is a problem, which is reported."""
    with reported(ExplainError, ValueError):
        with waits("Getting ready …"):
            lab.check(spec)
        for model in spec.models:
            catalog().get(model)
        return runs().start(lab.name, spec, catalog().get)
    return ""


def problems(error: Exception) -> None:
    """Show what is wrong with the user's input, and what to do."""
    if isinstance(error, ValidationError):
        for complaint in complaints(error):
            st.warning(plain(complaint), icon=":material/edit:")
    else:
        hint = getattr(error, "hint", "")
        st.warning(plain(str(error)) + (f"  \n{plain(hint)}" if hint else ""), icon=":material/edit:")


@contextmanager
def reported(*kinds: type[Exception]) -> Iterator[None]:
    """Context in which an error of these kinds is shown to the user, and ends the block."""
    try:
        yield
    except kinds as error:
        problems(error)


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


def _from_secrets() -> tuple[dict[str, EndpointConfig], dict[str, str]]:
    """Return the endpoints in the secrets file, and why others cannot be used, by name. An entry that is not a table is
    reported as incomplete.
    """
    found, broken = dict[str, EndpointConfig](), dict[str, str]()
    try:
        named = st.secrets.get("endpoints", {})
    except FileNotFoundError as error:
        # A missing file raises the same class.
        if "Error parsing" in str(error):
            broken["Everything"] = "the file is not TOML. Compare it with .streamlit/secrets.toml.example."
        return found, broken
    for name, values in named.items() if isinstance(named, Mapping) else [("endpoints", {})]:
        try:
            table = dict(values) if isinstance(values, Mapping) else {}
            found[name] = EndpointConfig.model_validate({**table, "name": name})
        except CallError as error:
            broken[name] = f"{error.message} {error.hint}"
        except ValidationError as error:
            broken[name] = ", ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
    return found, broken


# What is shown instead of and above every page: the sign-in form, a notice for surplus tabs, the host's message to
# all.


_EVERY = 20.0
"""Seconds between two checks for a new message of the host; each check runs a script in every open tab."""

_AGAIN = 2.0
"""Seconds between two checks whether a tab was closed."""

_MEANS = {
    roles.HOST: "You are the host: you can see and do everything.",
    roles.TEACHER: "You are a teacher: you can see, share and download all runs, and you have a larger quota.",
}


def draw_refusal() -> None:
    """Draw what visitors see who may not see the page."""
    if not has_place():
        _one_too_many()
        return
    st.title("Explain Yourself", anchor=False)
    st.markdown("To use this app you need a code. This browser then remembers you for 30 days.")
    _form()
    st.page_link(addresses.STORIES, label="Stories: see what it is", icon=":material/slideshow:")


def _one_too_many() -> None:
    st.title("One tab too many", anchor=False)
    most = roles.limit("tabs", visitor().name) or 0
    st.markdown(
        f"This browser already has the maximum of {most} tabs of this app open. Close one you no "
        "longer need, and this one opens by itself. The others keep running."
    )

    @st.fragment(run_every=_AGAIN)
    def look() -> None:
        if has_place():
            st.rerun()

    look()


def has_codes() -> bool:
    """Whether one can sign in as host or teacher, and then do more than others."""
    is_shared = policy.is_hosted() or not policy.allows("others")
    return is_shared and any(policy.code_for(role) for role in (roles.HOST, roles.TEACHER))


def draw_role() -> None:
    """Draw the visitor's role, and a way to sign in or out."""
    own = role()
    if own in _MEANS:
        with st.container(horizontal=True, vertical_alignment="center", key="signed-in"):
            st.success(_MEANS[own], icon=":material/shield_person:")
            if st.button("Sign out", icon=":material/logout:", key="sign-out"):
                roles.sign_out(visitor().name)
                st.rerun()
        return
    st.markdown("Hosts and teachers sign in with their code. This browser then remembers you for 30 days.")
    _form()


def _form() -> None:
    with st.form("sign-in", clear_on_submit=True):
        code = st.text_input("Code", type="password", key="sign-in-code", max_chars=200)
        if not st.form_submit_button("Sign in", type="primary", icon=":material/login:", key="sign-in-go"):
            return
    if not code.strip():
        return
    try:
        roles.enter(visitor().name, code, str(st.context.ip_address or "this machine"))
    except (roles.SignInError, DataDirError) as error:
        st.warning(plain(str(error)), icon=":material/lock_clock:")
    else:
        st.rerun()


def draw_notices() -> None:
    """Warn a browser that sends no cookies, and show the host's message to everyone, checking for a new one while the
    page is open.
    """
    own = visitor()
    if own.is_in and not own.takes_part:
        st.warning(COOKIES_NEEDED, icon=":material/cookie:")

    @st.fragment(run_every=_EVERY if policy.is_hosted() else None)
    def look() -> None:
        if words := admin.announcement():
            st.info(plain(words), icon=":material/campaign:")

    look()


# The index of the runs, opened for a page.

COUNTED = 0.5
"""Seconds between two counts of the runs that were read."""

LATEST = 3.0
"""Most seconds that a page which somebody has just opened waits for runs that ended a moment ago."""


def open_index() -> IndexWatcher:
    """Return the index of runs once it was read, or once somebody who may see all runs stopped the reading. If it
    cannot be opened, the page says why and ends here.
    """
    may_stop = runs().may_all
    try:
        keeper = entry.keeper()
    except StoreError as error:
        st.error(plain(str(error)), title="The list of runs cannot be opened", icon=":material/error:")
        st.stop()
    if not keeper.looked.is_set():
        _count(keeper, may_stop)
    elif "caught-up" not in st.session_state:
        # Later the page says that there are new results, and changes only when the reader asks for it.
        with let_others_draw():
            keeper.catch_up(LATEST)
    st.session_state["caught-up"] = True
    _offer_rest(keeper, may_stop)
    return keeper


def _count(keeper: IndexWatcher, may_stop: bool) -> None:
    """Show how many runs have been read until all are, or until somebody stops the reading."""
    with waits("Reading the journals …"):
        line, stop = st.empty(), st.empty()
        is_offered = not may_stop
        while not keeper.looked.wait(COUNTED):
            done, of = keeper.index.progress
            if not of:
                continue
            line.caption(f"{done:,} of {of:,} runs")
            if not is_offered:
                is_offered = True
                help = "The others are read when you ask for it, or when the app starts again."
                with stop:
                    button("Stop, and show these", "stop", "stop-index", keeper.index.stop, type="secondary", help=help)
        line.empty()
        stop.empty()


def _offer_rest(keeper: IndexWatcher, may_read: bool) -> None:
    """Say how many journals are missing because somebody stopped the reading, and offer to read them."""
    if not (left := keeper.index.postponed):
        return
    with st.container(horizontal=True, vertical_alignment="center", key="index-rest"):
        st.caption(f"{count_noun(left, 'journal')} not read yet: their runs are in no list, figure or file.")
        if may_read:
            button("Read the rest", "play_arrow", "read-rest", keeper.resume)
