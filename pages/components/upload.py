"""Importing runs made elsewhere through the browser."""

import streamlit as st

from core import entry, home, policy
from core.runs import bundle
from core.runs.bundle import BundleError
from pages.components import session
from pages.components.text import plain
from pages.components.throttle import waits


def upload() -> None:
    """Draw a field for a bundle or a journal, and report what was imported. In a hosted app only the host may import,
    because a file says who owns its runs, and other visitors could forge that.
    """
    may = session.runs().may_all
    session.takes_files(may)
    if not may:
        st.caption("Here only the host can import runs. Your runs are those that you start.")
        return
    most = min(session.FILE_MB, policy.limit("bundle_mb") or 0)
    with st.form("upload", border=False, clear_on_submit=True):
        file = st.file_uploader(
            "A bundle (.zip) or a journal (.jsonl)", type=["zip", "jsonl"], max_upload_size=most, key="upload-file"
        )
        sender = st.text_input(
            "Whose runs are they?", key="upload-sender", max_chars=80, placeholder="as the bundle says"
        )
        if not st.form_submit_button("Import", icon=":material/upload:", key="upload-go"):
            return
    if file is None:
        st.warning("Choose a file first.", icon=":material/upload_file:")
        return
    folders = (home.journals(), home.recordings())
    try:
        with waits("Checking every journal …"):
            taken = bundle.import_file(file, file.name, folders, sender)
        with waits("Scoring them again from their raw answers …"):
            scored = entry.score_again(taken)
    except BundleError as refused:
        st.error(plain(str(refused)), title="Nothing was imported", icon=":material/error:")
        return
    entry.keeper().wake()
    sentence = f"{len(taken.runs)} imported, {len(taken.same)} here already; {plain(taken.signed.words)}."
    st.success(sentence, icon=":material/check:")
    for run in taken.runs:
        if run not in scored:
            st.caption(f"{plain(run)} was not scored again, for lack of time.")
        elif scored[run].why or scored[run].differ:
            st.warning(f"{plain(run)}. {plain(scored[run].sentence)}", icon=":material/rule:")
    for name, why in taken.passed_over.items():
        st.caption(f"{plain(name)} was skipped: {plain(why)}.")
