"""The entry: navigation and page settings. Every page is reached through here."""

import streamlit as st

st.set_page_config(page_title="Explain Yourself", page_icon=":material/psychology_alt:", layout="centered")

st.navigation(
    [
        st.Page("pages/about/welcome.py", title="Explain Yourself", icon=":material/psychology_alt:", default=True),
        st.Page("pages/labs/ask.py", title="Ask", icon=":material/forum:", url_path="ask"),
        st.Page("pages/results/browse.py", title="Browse", icon=":material/table_rows:", url_path="browse"),
        st.Page("pages/results/case.py", title="Case", url_path="case", visibility="hidden"),
        st.Page("pages/about/models.py", title="Models", icon=":material/memory:", url_path="models"),
        st.Page("pages/about/methods.py", title="Methods", icon=":material/menu_book:", url_path="methods"),
    ],
    position="top",
).run()
