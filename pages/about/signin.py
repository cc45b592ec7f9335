"""Where hosts and teachers sign in and out."""

import streamlit as st

from pages.parts import entrance

st.title("Sign in", anchor=False)
entrance.signed_in()
