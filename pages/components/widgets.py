"""A specification's field as a widget, and the choice of a data set or a model; title, help, bounds and choices come
from the field.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from typing import Any, TypeVar

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core import files, policy
from core.datasets import logs, own, registry
from core.datasets.items import LARGEST, DatasetError
from core.labs.base.lab import Lab
from core.labs.base.spec import MOST_CASES, Knob, Spec, knobs
from core.models import local
from core.models.ids import CONTROL
from core.models.settings import MOST_THINKING_ROOM
from core.text.display import count_noun, on_hover
from pages.components import session
from pages.components.tables import button, table
from pages.components.text import plain
from pages.components.throttle import waits

# Choosing a model for the whole run or for one role.


SHIPPED = f"local/{local.SHIPPED}"
"""The real model that comes with the app, for visitors who have seen a robot."""


_TYPED: dict[str, Any] = {"persist_state": "session", "accept_new_options": True}
"""Arguments of a choice that is kept from page to page, and in which one can type what is not listed."""

_CHOSEN = "models-chosen"
TRIED = "model-tried"
"""Key of the picker in *Try a model* on the Models page."""


def model_choices(lab: Lab) -> list[str]:
    """Return the models that can be asked now; of the controls, only those that know the lab."""
    return [
        info.id
        for info in session.catalog().offered()
        if not info.needs and (info.kind != "control" or info.id in lab.robots.controls())
    ]


def chosen_models() -> list[str]:
    """Return the ids of models typed, tried or picked on the Models page in this session, newest last."""
    return list(st.session_state.get(_CHOSEN, []))


def choose(id: str) -> None:
    """Add the model to those used in this session, and pick it in *Try a model*."""
    st.session_state[_CHOSEN] = [*(one for one in chosen_models() if one != id), id]
    st.session_state[TRIED] = id


def short(id: str) -> str:
    """Return a model's name for display: a control's without its prefix."""
    return id.removeprefix(CONTROL)


def pick(label: str, key: str, lab: Lab) -> str:
    """Let the user pick a model, or type an id that is not listed. The choice is kept from page to page."""
    titles = {one.id: f"{one.id} · {one.title}" for one in session.catalog().offered() if one.title != one.id}
    ids = model_choices(lab)
    first = lab.robots.default_model if lab.robots.default_model in ids else ids[0]
    help = "Controls are robots whose faithfulness is known. More models: see the Models page."
    chosen = st.selectbox(
        label, ids, ids.index(first), format_func=lambda one: titles.get(one, one), key=key, help=help, **_TYPED
    )
    _correct(chosen, key)
    return chosen or first


def _correct(typed: str | None, key: str, others: Sequence[str] = ()) -> None:
    """Offer a button with the whole id if `typed` in the picker `key` lacks its endpoint, such as gpt-4o. `others` are
    the other models chosen there, if it allows several.
    """
    catalog = session.catalog()
    if not typed or catalog.is_at_hand(typed) or not (meant := catalog.suggest(typed)):
        return

    def correct() -> None:
        st.session_state[key] = [*others, meant] if others or isinstance(st.session_state[key], list) else meant

    button(f"Did you mean {plain(meant)}?", "spellcheck", f"meant-{key}-{typed}", correct, type="secondary")


def choose_named(title: str, names: Mapping[Any, str], key: str, is_named: bool = False, **more: Any) -> Any:
    """Let the user choose one of these, shown by its name, in a list; `is_named`: show the title. `more` goes to
    Streamlit.
    """
    options: dict[str, Any] = {"label_visibility": "visible" if is_named else "collapsed", **more}
    return st.selectbox(title, list(names), format_func=names.__getitem__, key=key, **options)


def outside(said: str, known: Mapping[str, str], take: Callable[[str], None], key: str, lab: Lab) -> None:
    """Say that the control chosen in the picker `key` cannot answer the question, and offer the real model or questions
    that the control knows. `known` maps each of these to its label; `take` gets the one that is clicked.
    """

    def real() -> None:
        st.session_state[key] = SHIPPED

    with st.container(border=True, gap="xsmall", key=f"outside-{key}"):
        st.markdown(f":material/travel_explore: {plain(said)}")
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            if SHIPPED in model_choices(lab):
                button("Ask a real language model instead", "smart_toy", f"real-{key}", real, type="secondary")
            for number, (one, words) in enumerate(known.items(), start=1):
                button(plain(words), "edit", f"known-{key}-{number}", take, one, type="secondary")


def pick_many(label: str, nobody: str, key: str, help: str, lab: Lab, but: str = "") -> list[str]:
    """Let the user pick at most two models for one role, not including `but`; `nobody` is shown if none is chosen."""
    ids = [id for id in model_choices(lab) if id != but]
    chosen = st.multiselect(label, ids, key=key, max_selections=2, placeholder=nobody, help=help, **_TYPED)
    for one in chosen:
        _correct(one, key, [other for other in chosen if other != one])
    return chosen


def pick_or_none(label: str, nobody: str, key: str, lab: Lab, help: str | None = None) -> str:
    """Let the user pick a model for one role; "" stands for `nobody`."""
    ids = model_choices(lab)
    chosen = st.selectbox(label, ids, index=None, placeholder=nobody, key=key, help=help, **_TYPED)
    _correct(chosen, key)
    return chosen or ""


def thinking_room(key: str, help: str, room: int | None = None, **more: Any) -> None:
    """Draw a field for the tokens reserved for a model's thinking in each answer; `more` goes to Streamlit."""
    st.number_input("Room for thinking, tokens", 0, MOST_THINKING_ROOM, room, 500, key=key, help=help, **more)


T = TypeVar("T", bound=str)

LONG_TEXT = 1_000
"""A text that may have more characters than this gets an area of several lines."""

FEW = 60
"""A range of at most this many numbers gets a slider, a wider one a field."""

STEP = 0.1
"""What one click adds to a decimal number."""


def hint(knob: Knob) -> str | None:
    """Return what the field means, for its tooltip."""
    return on_hover(knob.label, knob.help[:1].upper() + knob.help[1:] if knob.help != knob.label else None)


def widget(lab: Lab, knob: Knob) -> Any:
    """Draw one field of the lab's form, and return the value that the user chose."""
    title, default, key, help = knob.label, knob.first, f"{lab.path}-{knob.name}", hint(knob)
    kept: dict[str, Any] = {"key": key, "help": help, "persist_state": "session"}
    if knob.name == "model":
        return pick(title, key=key, lab=lab)
    if knob.names_models:
        if knob.several:
            return pick_many(title, knob.nobody, key=key, help=help or "", lab=lab)
        return pick_or_none(title, knob.nobody, key=key, lab=lab, help=help)
    if knob.choices:
        return _choice(knob, kept)
    if knob.kind is bool:
        return (st.checkbox if knob.look == "checkbox" else st.toggle)(title, value=bool(default), **kept)
    if knob.kind is int:
        if knob.low is not None and knob.high is not None and knob.high - knob.low <= FEW and default is not None:
            return st.slider(title, knob.low, knob.high, default, **kept)
        return st.number_input(title, knob.low, knob.high, default, step=1, **kept)
    if knob.kind is float:
        return st.number_input(title, knob.low, knob.high, default, step=STEP, **kept)
    if knob.pairs or knob.several:
        text = st.text_area(title, _lines(knob, default), placeholder=knob.pairs or knob.example, height=80, **kept)
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return dict(_pair(knob, line) for line in lines) if knob.pairs else tuple(lines)
    draw = st.text_area if (knob.longest or 0) > LONG_TEXT else st.text_input
    return draw(title, value=str(default or ""), max_chars=knob.longest, **kept) or default


def _choice(knob: Knob, kept: dict[str, Any]) -> Any:
    """Draw a field with few possible values."""
    offered = list(knob.names or knob.choices)
    if knob.optional:
        return st.selectbox(knob.label, offered, index=None, placeholder="any", **kept)
    if knob.look == "select":
        return st.selectbox(knob.label, offered, offered.index(knob.first), format_func=knob.names.__getitem__, **kept)
    kept["format_func"] = lambda one: knob.names.get(one) or plain(str(one))
    if knob.several:
        first = [one for one in knob.first if one in offered]
        return tuple(st.pills(knob.label, offered, selection_mode="multi", default=first, wrap=True, **kept))
    if knob.look == "pills":
        return st.pills(knob.label, offered, default=knob.first, required=True, wrap=True, **kept) or knob.first
    kept["label_visibility"] = "collapsed" if knob.look == "bare" else "visible"
    return st.segmented_control(knob.label, offered, default=knob.first, required=True, **kept) or knob.first


def one_of(title: str, names: Mapping[T, str], key: str, is_named: bool = False, **more: Any) -> T:
    """Let the user choose one of a few options, shown by their names; the first is the default. `is_named`: show the
    title. `more` goes to Streamlit.
    """
    first = next(iter(names))
    options: dict[str, Any] = {"default": first, "persist_state": "session", "required": True, **more}
    options["label_visibility"] = "visible" if is_named else "collapsed"
    chosen: T | None = st.segmented_control(title, list(names), format_func=names.__getitem__, key=key, **options)
    return chosen or first


def _lines(knob: Knob, value: Any) -> str:
    """Return a field of several values as text, one per line."""
    return "\n".join([f"{what}={of}" for what, of in (value or {}).items()] if knob.pairs else map(str, value or ()))


def _pair(knob: Knob, line: str) -> tuple[str, str]:
    what, equals, of = (part.strip() for part in line.partition("="))
    if not (what and equals and of):
        raise ValueError(f"{knob.title}: {line[:40]} is not of the form {knob.pairs}.")
    return what, of


def filled(lab: Lab, spec: Spec) -> dict[str, Any]:
    """Return the values, by key, that the widgets of the lab's form have for `spec`."""
    subject = lab.spec.GROUPS.get("subject", ())
    has_subject = any(getattr(spec, name) for name in subject)
    held = {name: _held(spec, knob, getattr(spec, name)) for name, knob in knobs(lab.spec).items()}
    return {
        f"{lab.path}-{name}": value
        for name, value in held.items()
        # What a run is not about keeps what was typed there before.
        if (has_subject and value != "" if name in subject else value or name != "model")
    }


def _held(spec: Spec, knob: Knob, value: Any) -> Any:
    if knob.names_models and knob.name != "model":
        # If nobody was chosen for a role, the model itself fills it.
        own = getattr(spec, "model", "")
        chosen = [one for one in (value if knob.several else [value]) if one and one != own]
        return chosen if knob.several else next(iter(chosen), None)
    if knob.several and knob.choices:
        return [one for one in value if one in (knob.names or knob.choices)]
    if knob.several or knob.pairs:
        return _lines(knob, value)
    if value is None and knob.kind is str and not knob.choices:
        return ""
    return float(value) if knob.kind is float and value is not None else value


# Choosing a data set in a lab's form: a known one, or the user's own file and what its columns contain.


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
    help = f"One run takes {MOST_CASES:,} cases at most. A study takes any number, and so does the command line."
    limit = right.number_input(counted, 1, MOST_CASES, 10, key=f"{prefix}limit", persist_state="session", help=help)
    chosen = {"dataset": name, "limit": int(limit)}
    if name in fit:
        path = ""
        if policy.allows("files"):
            path = middle.text_input(
                "File or folder",
                key=f"{prefix}path-{name}",
                placeholder=f"$EXPLAIN_HOME/datasets/{name}",
                persist_state="session",
                help=f"Get it from {fit[name].source}. Expected there: {fit[name].layout}",
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

    def take(kind: str) -> None:
        if (file := st.session_state[f"{key}-{kind}"]) is not None:
            try:
                saved = _of_log(file, prefix) if kind == "log" else _of_file(file)
                st.session_state[key], st.session_state[f"{key}-encoding"] = saved
            except DatasetError as error:
                st.session_state[f"{key}-refused"] = str(error)

    session.takes_files()
    tables = [suffix.removeprefix(".") for suffix in own.KINDS]
    uploads = [("file", "CSV, JSONL or Parquet, a row an item", tables, LARGEST // files.MB)]
    if takes_logs:
        words = "Or answers with reasons, from a log of Inspect (.eval, .json) or lm-eval (samples_….jsonl)"
        uploads.append(("log", words, ["eval", "json", "jsonl"], session.FILE_MB))
    with st.popover("A file of your own", icon=":material/upload_file:", key=f"{key}-add"):
        for kind, words, suffixes, most in uploads:
            options: dict[str, Any] = {"key": f"{key}-{kind}", "on_change": take, "args": [kind]}
            st.file_uploader(words, type=suffixes, max_upload_size=min(session.FILE_MB, most), **options)
        st.caption(
            "It is kept in `$EXPLAIN_HOME/datasets`. Nothing in it leaves this machine, except what models are asked."
        )
    if converted := st.session_state.pop(f"{key}-encoding", ""):
        st.info(plain(converted), icon=":material/info:")
    if refused := st.session_state.pop(f"{key}-refused", ""):
        st.error(plain(refused), icon=":material/error:")


def _of_file(file: Any) -> tuple[str, str]:
    """Save an uploaded file as a data set, and return its name and how its text was converted, if it was."""
    name, encoding = own.save_file(file.name, file.getvalue())
    return name, f"This file was {encoding} text. It is stored as UTF-8." if encoding else ""


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
    if not found.for_ask:
        raise DatasetError(told)
    name = own.save_file(f"{PurePath(file.name).stem}.jsonl", found.content()).dataset
    for role in found.columns():
        st.session_state[f"{prefix}column-{name}-{role}"] = role
    return name, told


_ROLE_HELP = {
    "answer": "The correct answer. If there is a column of explanations: the answer that the explanation is for.",
    "explanation": "Only if your file has explanations to test. Otherwise the model is asked for its own.",
    "gold": "The correct answer, if you know it.",
    "source": "Whose explanation it is.",
}


def _columns(task: Any, name: str, prefix: str) -> dict[str, str]:
    """Let the user say which column contains what, beside a preview of the file. Raises DatasetError."""
    with waits("Looking at the file …" if not name.startswith(own.HUB) else "Fetching the file …"):
        look = own.preview(name)
    columns: dict[str, str] = {}
    with st.container(horizontal=True, key=f"{prefix}columns"):
        for role in own.roles(task):
            if role in own.GIVEN[task] and role != "explanation" and "explanation" not in columns:
                continue  # gold and source belong to an explanation
            title, there = role.replace("_", " ").capitalize(), role in look.columns
            kept: dict[str, Any] = {"key": f"{prefix}column-{name}-{role}", "persist_state": "session"}
            if role == "choices":
                kept["help"] = "A column for each choice, or one that holds a list."
                column = ", ".join(st.multiselect(title, look.columns, [role] if there else [], **kept))
            else:
                index = look.columns.index(role) if there and role not in own.GIVEN[task] else None
                nothing = "Choose a column" if role in own.NEEDS[task] else "none"
                kept["help"] = _ROLE_HELP.get(role) if "explanation" in own.GIVEN[task] else None
                column = st.selectbox(title, look.columns, index, placeholder=nothing, **kept) or ""
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
