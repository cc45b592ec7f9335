"""The page where hosts and teachers sign in and out."""

import streamlit as st

from pages.components import session

st.title("Sign in", anchor=False)
session.draw_role()
