"""What is shown instead of and above every page: the sign-in form, a notice for surplus tabs, the host's message to
all.
"""

import streamlit as st

from core import policy
from core.home import DataDirError
from core.server import admin, roles
from core.server.access import COOKIES_NEEDED
from pages import addresses
from pages.components import session
from pages.components.text import plain

_EVERY = 20.0
"""Seconds between two checks for a new message of the host; each check runs a script in every open tab."""

_AGAIN = 2.0
"""Seconds between two checks whether a tab was closed."""

_MEANS = {
    roles.HOST: "You are the host: you can see and do everything.",
    roles.TEACHER: "You are a teacher: you can see, share and download all runs, and you have a larger quota.",
}


def is_open_to_all(path: str) -> bool:
    """Whether the page at that address is shown before sign-in, in a tab that has a place: it shows what came with the
    app, and starts nothing.
    """
    return path == "stories" and session.has_place()


def draw() -> None:
    """Draw what visitors see who may not see the page."""
    if not session.has_place():
        _one_too_many()
        return
    st.title("Explain Yourself", anchor=False)
    st.markdown("To use this app you need a code. This browser then remembers you for 30 days.")
    _form()
    st.page_link(addresses.STORIES, label="Stories: see what it is", icon=":material/slideshow:")


def _one_too_many() -> None:
    st.title("One tab too many", anchor=False)
    most = roles.limit("tabs", session.visitor().name) or 0
    st.markdown(
        f"This browser already has the maximum of {most} tabs of this app open. Close one you no "
        "longer need, and this one opens by itself. The others keep running."
    )

    @st.fragment(run_every=_AGAIN)
    def look() -> None:
        if session.has_place():
            st.rerun()

    look()


def has_codes() -> bool:
    """Whether one can sign in as host or teacher, and then do more than others."""
    is_shared = policy.is_hosted() or not policy.allows("others")
    return is_shared and any(policy.code_for(role) for role in (roles.HOST, roles.TEACHER))


def signed_in() -> None:
    """Draw the visitor's role, and a way to sign in or out."""
    role = session.role()
    if role in _MEANS:
        with st.container(horizontal=True, vertical_alignment="center", key="signed-in"):
            st.success(_MEANS[role], icon=":material/shield_person:")
            if st.button("Sign out", icon=":material/logout:", key="sign-out"):
                session.sign_out()
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
        session.sign_in(code)
    except (roles.SignInError, DataDirError) as error:
        st.warning(plain(str(error)), icon=":material/lock_clock:")
    else:
        st.rerun()


def line() -> None:
    """Warn a browser that sends no cookies, and show the host's message to everyone, checking for a new one while the
    page is open.
    """
    visitor = session.visitor()
    if visitor.is_in and not visitor.takes_part:
        st.warning(COOKIES_NEEDED, icon=":material/cookie:")

    @st.fragment(run_every=_EVERY if policy.is_hosted() else None)
    def look() -> None:
        if words := admin.announcement():
            st.info(plain(words), icon=":material/campaign:")

    look()
