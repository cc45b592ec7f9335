"""Choosing a data set in a lab's form: a known one, or the user's own file and what its columns contain."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core import files, policy
from core.datasets import logs, own, registry
from core.datasets.items import DatasetError
from core.labs.base.spec import MOST_CASES
from core.text.plurals import count_noun
from pages.components import session
from pages.components.tables import table
from pages.components.text import plain
from pages.components.throttle import waits

SHOWN_COLUMNS = 12
SHOWN_LETTERS = 80
"""Characters per cell in the preview of a file's first rows."""
MOST_UNREAD = 5
"""How many samples of a log that could not be read are named; the command line names all."""


def of_dataset(spec: Any, prefix: str) -> dict[str, Any]:
    """Return the values, by key, that the widgets of `from_dataset` have for the specification `spec`."""
    choices = [name.strip() for name in spec.columns.get("choices", "").split(",")]
    columns = {**spec.columns, **({"choices": choices} if "choices" in spec.columns else {})}
    return {
        f"{prefix}dataset-{spec.task}": spec.dataset,
        f"{prefix}path-{spec.dataset}": spec.path or "",
        f"{prefix}limit": min(spec.limit or MOST_CASES, MOST_CASES),
        **{f"{prefix}column-{spec.dataset}-{role}": column for role, column in columns.items()},
    }


def from_dataset(
    task: str, counted: str, prefix: str, line: DeltaGenerator, place: DeltaGenerator, takes_logs: bool = False
) -> dict[str, Any]:
    """Let the user choose a data set (in the container `line`) and, in `place`, its path or the content of its columns
    and the number of items (labelled `counted`). `prefix` begins the widgets' keys. `takes_logs`: answers in the log of
    another tool can be uploaded too. Raises ValueError if there is no
    such data set or its file cannot be read.
    """
    fit = {dataset.name: dataset for dataset in registry.DATASETS if dataset.task == task}
    key = f"{prefix}dataset-{task}"
    fetches = policy.allows("downloads")
    known = [*fit, *own.at_home()]
    if (held := st.session_state.get(key)) and held not in known:
        known.append(held)
    middle, right = place.columns([5, 1], vertical_alignment="bottom")
    name = line.selectbox(
        "Data set",
        known,
        format_func=lambda one: fit[one].title if one in fit else one.removeprefix("file:"),
        key=key,
        persist_state="session",
        accept_new_options=fetches,
        help="A known data set, or a file in `$EXPLAIN_HOME/datasets`."
        + (" A file on the Hugging Face hub is typed as `hf://OWNER/NAME/FILE`." if fetches else ""),
    )
    limit = right.number_input(
        counted,
        1,
        MOST_CASES,
        10,
        key=f"{prefix}limit",
        persist_state="session",
        help=f"One run takes {MOST_CASES:,} cases at most. A study takes any number, and so does the command line.",
    )
    chosen = {"dataset": name, "limit": int(limit)}
    if name in fit:
        path = ""
        if policy.allows("files"):
            path = middle.text_input(
                "File or folder",
                key=f"{prefix}path-{name}",
                placeholder=f"$EXPLAIN_HOME/datasets/{name}",
                persist_state="session",
                help=f"To be had from {fit[name].source}. Expected there: {fit[name].layout}",
            )
        with place:
            _add(key, prefix, takes_logs)
        return {**chosen, "path": path.strip() or None}
    with middle:
        _add(key, prefix, takes_logs)
    if not name or not own.is_own(name):
        raise ValueError(f"{name!r} is no data set here. Choose one of the list, or type hf://OWNER/NAME/FILE.")
    with place:
        return {**chosen, "columns": _columns(task, name, prefix)}


def _add(key: str, prefix: str, takes_logs: bool) -> None:
    """Draw an upload for the user's own file or, if `takes_logs`, a log of another tool, which is saved in the home
    folder; not offered if visitors may not use files.
    """
    if not policy.allows("files"):
        return

    def take() -> None:
        if (file := st.session_state[f"{key}-file"]) is not None:
            try:
                st.session_state[key], encoding = own.save_file(file.name, file.getvalue())
                if encoding:
                    st.session_state[f"{key}-encoding"] = f"This file was {encoding} text. It is stored as UTF-8."
            except DatasetError as error:
                st.session_state[f"{key}-refused"] = str(error)

    def take_log() -> None:
        if (file := st.session_state[f"{key}-log"]) is not None:
            try:
                st.session_state[key], st.session_state[f"{key}-encoding"] = _of_log(file, prefix)
            except DatasetError as error:
                st.session_state[f"{key}-refused"] = str(error)

    session.takes_files()
    with st.popover("A file of your own", icon=":material/upload_file:", key=f"{key}-add"):
        st.file_uploader(
            "CSV, JSONL or Parquet, a row an item",
            type=[suffix.removeprefix(".") for suffix in own.KINDS],
            max_upload_size=min(session.FILE_MB, own.LARGEST // files.MB),
            key=f"{key}-file",
            on_change=take,
        )
        if takes_logs:
            st.file_uploader(
                "Or answers with reasons, from a log of Inspect (.eval, .json) or lm-eval (samples_….jsonl)",
                type=["eval", "json", "jsonl"],
                max_upload_size=session.FILE_MB,
                key=f"{key}-log",
                on_change=take_log,
            )
        st.caption(
            "It is kept in `$EXPLAIN_HOME/datasets`, and nothing of it leaves this machine but what models are asked."
        )
    if converted := st.session_state.pop(f"{key}-encoding", ""):
        st.info(plain(converted), icon=":material/info:")
    if refused := st.session_state.pop(f"{key}-refused", ""):
        st.error(plain(refused), icon=":material/error:")


def _of_log(file: Any, prefix: str) -> tuple[str, str]:
    """Save the answers of an uploaded log as a data set, with its columns chosen, and return its name and what could be
    read. Raises DatasetError if nothing could.
    """
    data = file.getvalue()
    found = logs.read_content(file.name, data, logs.tool_of(file.name, data))
    why = [f"{one.sample}: {one.field}: {one.why}." for one in found.unread[:MOST_UNREAD]]
    told = f"{len(found.rows):,} of {count_noun(found.samples, 'sample')} became rows. {' '.join(why)}"
    if more := len(found.unread) - len(why):
        told += f" And {more:,} more."
    if not found.rows:
        raise DatasetError(told)
    name = own.save_file(f"{PurePath(file.name).stem}.jsonl", found.content()).dataset
    for role in found.columns():
        st.session_state[f"{prefix}column-{name}-{role}"] = role
    return name, told


def _columns(task: Any, name: str, prefix: str) -> dict[str, str]:
    """Let the user say which column contains what, beside a preview of the file. Raises DatasetError."""
    with waits("Looking at the file …" if not name.startswith(own.HUB) else "Fetching the file …"):
        look = own.preview(name)
    columns: dict[str, str] = {}
    with st.container(horizontal=True, key=f"{prefix}columns"):
        for role in own.roles(task):
            title, key = role.replace("_", " ").capitalize(), f"{prefix}column-{name}-{role}"
            if role == "choices":
                picked = st.multiselect(
                    title,
                    look.columns,
                    default=[role] if role in look.columns else [],
                    key=key,
                    persist_state="session",
                    help="A column for each choice, or one that holds a list.",
                )
                column = ", ".join(picked)
            else:
                index = look.columns.index(role) if role in look.columns and role not in own.GIVEN[task] else None
                column = (
                    st.selectbox(
                        title,
                        look.columns,
                        index=index,
                        key=key,
                        persist_state="session",
                        placeholder="Choose a column" if role in own.NEEDS[task] else "none",
                    )
                    or ""
                )
            if column:
                columns[role] = column
    rows = [[cell if cell is None else cell[:SHOWN_LETTERS] for cell in row[:SHOWN_COLUMNS]] for row in look.rows]
    first = pd.DataFrame(rows, columns=_distinct(look.columns[:SHOWN_COLUMNS]))
    table(first, f"{prefix}first-rows", "The first rows of the file", height="content")
    if (more := len(look.columns) - SHOWN_COLUMNS) > 0:
        st.caption(f"And {more:,} more columns.")
    used = {one.strip() for name in columns.values() for one in name.split(",")}
    if others := [name for name in look.columns if name not in used]:
        st.caption(
            f"Kept with each case, and never shown to the model: {plain(', '.join(others[:SHOWN_COLUMNS]))}"
            + (f" and {len(others) - SHOWN_COLUMNS:,} more." if len(others) > SHOWN_COLUMNS else ".")
        )
    if lacking := [role.replace("_", " ") for role in own.NEEDS[task] if role not in columns]:
        raise ValueError(f"Which column holds the {' and the '.join(lacking)}?")
    return columns


def _distinct(names: list[str]) -> list[str]:
    """Return unique names for a table's columns."""
    return [name if names.count(name) == 1 else f"{name} ({number})" for number, name in enumerate(names, start=1)]
