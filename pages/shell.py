"""What every page stands in: page settings and navigation."""

from pathlib import Path

import streamlit as st

PAGES = Path(__file__).parent

WIDE = {"check", "browse"}
"""Pages that hold tables or things side by side, by their address."""


def main() -> None:
    """Draw the page that the address names."""
    page = st.navigation(
        [
            st.Page(
                PAGES / "about/welcome.py", title="Explain Yourself", icon=":material/psychology_alt:", default=True
            ),
            st.Page(PAGES / "labs/ask.py", title="Ask", icon=":material/forum:", url_path="ask"),
            st.Page(PAGES / "labs/check.py", title="Check", icon=":material/fact_check:", url_path="check"),
            st.Page(PAGES / "labs/probe.py", title="Probe", icon=":material/experiment:", url_path="probe"),
            st.Page(PAGES / "results/browse.py", title="Browse", icon=":material/table_rows:", url_path="browse"),
            st.Page(PAGES / "results/case.py", title="Case", url_path="case", visibility="hidden"),
            st.Page(PAGES / "about/models.py", title="Models", icon=":material/memory:", url_path="models"),
            st.Page(PAGES / "about/methods.py", title="Methods", icon=":material/menu_book:", url_path="methods"),
        ],
        position="top",
    )
    # Once a run: of two layouts set in one run, the browser may keep the first.
    st.set_page_config(
        page_title="Explain Yourself",
        page_icon=":material/psychology_alt:",
        layout="wide" if page.url_path in WIDE else "centered",
    )
    page.run()


if __name__ == "__main__":
    main()
