"""The frame of every page (settings and navigation), and what the server logs about errors."""

import logging
from collections.abc import Callable
from traceback import walk_tb

import streamlit as st

from core import entry, extensions, policy
from core.labs.base.lab import Lab
from core.report.viewer_assets import viewer_style
from pages import addresses
from pages.components import session
from pages.components.tables import WITHOUT_THEIRS
from pages.components.text import plain
from pages.components.throttle import by_turns

READABLE = (
    f"<style>{viewer_style('base.css')}"
    + """
[data-testid^="stBaseButton-primary"], [data-tag] > * {color: var(--on)}
button[kind="tertiary"] {text-align: start}
button[kind="tertiary"]:is(:active, [aria-expanded="true"]) {color: var(--said)}
[data-testid="stPopoverBody"] button[kind="tertiary"]:is(:active, [aria-expanded="true"]) {color: inherit}
:root :is(:is(a, button, label, summary, [data-testid="stCaptionContainer"],
[data-testid="stTooltipContent"]) p, [role="option"], input, textarea, [role="combobox"],
[data-baseweb="select"] > div, [data-testid^="stTopNav"], [data-testid^="stTopNav"] span:not([data-testid$="Icon"],
[data-testid="stIconMaterial"])) {font-size: 1rem}
@media (prefers-reduced-motion: reduce) {*, *::before, *::after {
animation-duration: 1ms !important; animation-iteration-count: 1 !important; transition-duration: 1ms !important
}}
</style>"""
)
"""Styles for which Streamlit has no setting. Its white text on the primary colour (buttons, chosen values) and the
button of an open menu are hard to read on a dark page, its captions are small, and its animations ignore the system's
setting for reduced motion. Colours that depend on whether the page is dark do not work inside a menu.
"""

WIDE = {"browse", "compare", "query", "side", "models", "stories"}
"""Pages with tables or things side by side, by address."""


MOST_FAULTS = 5
FAULTS_SHOWN = {"", "models"}
"""Pages that say which extensions could not be loaded, by address."""


def _drawn(lab: Lab) -> Callable[[], None]:
    def draw() -> None:
        from pages.lab import draw

        draw(lab)

    return draw


def _pages() -> dict[str, list[st.Page]]:
    """Return the pages: those to play and try out, and the workbench in one menu. Pages that are reached only by links
    are hidden.
    """
    first = [st.Page(addresses.WELCOME, title="Explain Yourself", icon=":material/psychology_alt:", default=True)]
    first += [addresses.of_lab(lab, _drawn(lab)) for lab in entry.labs().values() if not lab.hidden]
    first += [
        st.Page(addresses.STORIES, title="Stories", icon=":material/slideshow:", url_path="stories"),
        st.Page(addresses.AUDIT, title="Blind audit", url_path="audit", visibility="hidden"),
        st.Page(addresses.ANNOTATE, title="Annotate", url_path="annotate", visibility="hidden"),
        st.Page(addresses.CASE, title="Case", url_path="case", visibility="hidden"),
        st.Page(addresses.SIDE, title="Side by side", url_path="side", visibility="hidden"),
    ]
    workbench = [
        st.Page(addresses.BROWSE, title="Browse", icon=":material/table_rows:", url_path="browse"),
        st.Page(addresses.COMPARE, title="Compare", icon=":material/compare_arrows:", url_path="compare"),
        st.Page(addresses.QUERY, title="Query", icon=":material/database_search:", url_path="query"),
        st.Page(addresses.STUDY, title="Study", icon=":material/grid_view:", url_path="study"),
        st.Page(addresses.MODELS, title="Models", icon=":material/memory:", url_path="models"),
        st.Page(addresses.METHODS, title="Methods", icon=":material/menu_book:", url_path="methods"),
    ]
    if session.has_codes():
        workbench.append(st.Page(addresses.SIGN_IN, title="Sign in", icon=":material/login:", url_path="signin"))
    if session.visitor().is_host:
        workbench.append(st.Page(addresses.HOST, title="Host", icon=":material/shield_person:", url_path="host"))
    return {"": first, "Workbench": workbench}


def main() -> None:
    """Draw the page that the address names."""
    # Imported here because the caches that pages declare need a running Streamlit.
    from pages import labs

    labs.register()
    is_in = bool(session.role()) and session.has_place()
    page = st.navigation(_pages(), position="top" if is_in else "hidden")
    # The stage shows words and actions of the model side by side. The form has the same width, so that nothing jumps
    # when a run begins.
    wide = {*WIDE, "case", *(lab.path for lab in entry.labs().values()), *([""] if is_in else [])}
    # Set only once per script run: if two layouts are set, the browser may keep the first.
    st.set_page_config(
        page_title="Explain Yourself",
        layout="wide" if page.url_path in wide else "centered",
    )
    st.html(WITHOUT_THEIRS + READABLE)
    with by_turns():
        session.draw_notices()
        # Stories are shown before sign-in too: they came with the app, and start nothing.
        if is_in or (page.url_path == "stories" and session.has_place()):
            if page.url_path in FAULTS_SHOWN and (session.visitor().is_host or not policy.is_hosted()):
                # Their words are shown as text.
                for fault in extensions.faults()[:MOST_FAULTS]:
                    st.warning(plain(str(fault)), icon=":material/extension_off:")
            page.run()
        else:
            session.draw_refusal()


if __name__ == "__main__":
    main()


# What the server logs about errors: a traceback the first time an error occurs at a place, and one line from then
# on. Otherwise anyone who sends a widget an invalid value, or requests a missing file, would add a hundred lines per
# message.


OF_FAULTS = (
    "streamlit.error_util",
    "streamlit.runtime.app_session",
    "streamlit.runtime.backend_operation_handler",
    "streamlit.web.server.starlette.starlette_websocket",
)
"""Streamlit's loggers of errors caused by messages from outside."""

MOST_PLACES = 200
LONGEST_WORDS = 300


class Once(logging.Filter):
    """Leaves out an error's traceback if one from the same place was logged before. May be used from any thread."""

    def __init__(self) -> None:
        super().__init__()
        self._told: set[tuple[str, int]] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        """Shorten the record. Returns True: every record is logged."""
        error = record.exc_info[1] if record.exc_info else None
        words = record.getMessage()[:LONGEST_WORDS]
        if error is not None:
            place = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)][-1:]
            if not self._told.issuperset(place) and len(self._told) < MOST_PLACES:
                self._told.update(place)
            else:
                record.exc_info = record.exc_text = None
                words = f"{words} ({type(error).__name__}, as before)"
        record.msg, record.args = words.replace("\n", " "), ()
        return True


def shorten() -> None:
    """Make Streamlit's loggers write each traceback only once."""
    once = Once()
    for name in OF_FAULTS:
        logging.getLogger(name).addFilter(once)
