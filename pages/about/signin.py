"""The page where hosts and teachers sign in and out."""

import streamlit as st

from pages.components import sign_in

st.title("Sign in", anchor=False)
sign_in.signed_in()
