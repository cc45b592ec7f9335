"""Writing a study's file: with a form, as text, or by uploading a file."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from core import entry, home
from core.datasets import registry
from core.events import CallError
from core.labs.base.declared import FACETS
from core.labs.base.lab import Lab
from core.labs.base.spec import Knob, knobs
from core.package_data import COMMAND
from core.studies import study_files
from core.studies.plan import LARGEST, MOST_AT_ONCE, Study, StudyError, parse
from core.studies.run_status import SHIFT
from pages.components import lab_page, session, widgets
from pages.components.tables import button, download
from pages.components.text import plain
from pages.components.throttle import waits
from pages.components.widgets import LONG_TEXT, hint, one_of

# A specification's field as a widget that accepts several values, which the study varies.


SWITCH: Mapping[Any, str] = {False: "no", True: "yes"}


def leads(lab: Lab, name: str) -> bool:
    """Whether the setting is at the top of the form: who is asked, about what, how many, and in which way."""
    return name in ("model", "limit", lab.listing.method_field, *FACETS)


def values(lab: Lab, name: str, prefix: str) -> list[Any]:
    """Draw one field of the lab's specification, and return the chosen values; empty if there are none. Its widget's
    key begins with `prefix`. Raises ValueError with a message for the user.
    """
    knob = knobs(lab.spec)[name]
    title, default, several = knob.title, knob.default, knob.several
    kept: dict[str, Any] = {"key": f"{prefix}-{lab.path}-{name}", "help": hint(knob), "persist_state": "session"}
    if knob.names_models:
        known = widgets.model_choices(lab)
        first = [lab.robots.default_model] if name == "model" and lab.robots.default_model in known else []
        nobody = "Choose one or several" if name == "model" else knob.nobody
        chosen = st.multiselect(title, known, first, accept_new_options=True, placeholder=nobody, **kept)
        return _whole(chosen, several)
    if knob.choices or knob.kind is bool:
        options = list(knob.choices) or [False, True]
        words = lab_page.all_words() if knob.choices else SWITCH
        kept["format_func"] = lambda one: plain(words.get(one, one))
        first = list(default or ()) if several else [one for one in (default,) if one in options]
        return _whole(st.pills(title, options, selection_mode="multi", default=first, wrap=True, **kept), several)
    if knob.kind in (int, float):
        none = "as many as there are" if knob.kind is int else "as in the paper"
        text = st.text_input(title, placeholder=none if default is None else f"{default:g}", max_chars=500, **kept)
        return [_number(knob, part) for part in text.split(",") if part.strip()]
    if name == "dataset":
        tasks = knobs(lab.spec)["task"].choices
        known = [one.name for one in registry.DATASETS if one.task in tasks]
        first = [one for one in known if registry.ships(one)]
        return st.multiselect(
            title, known, first, accept_new_options=True, placeholder="what ships with the app", **kept
        )
    if several:
        lines = st.text_area(title, height=80, **kept)
        return _whole([line.strip() for line in lines.splitlines() if line.strip()], True)
    draw: Callable[..., str | None] = st.text_area if (knob.longest or 0) > LONG_TEXT else st.text_input
    return [text] if (text := (draw(title, max_chars=knob.longest, **kept) or "").strip()) else []


def _whole(found: list[Any], several: bool) -> list[Any]:
    """Return the values for the grid. If the field itself accepts several values, all of them are one value of the
    grid.
    """
    return ([found] if found else []) if several else list(found)


def _number(knob: Knob, text: str) -> int | float:
    shown, low, high = text.strip()[:40], knob.low, knob.high
    try:
        number: int | float = knob.kind(text.strip())
    except ValueError:
        whole = "a whole number" if knob.kind is int else "a number"
        raise ValueError(f"{knob.title}: {shown} is not {whole}. Separate several by commas: 10, 20, 40.") from None
    if not (low is None or number >= low) or not (high is None or number <= high):
        ends = ([f"from {low:,}"] if low is not None else []) + ([f"to {high:,}"] if high is not None else [])
        raise ValueError(f"{knob.title}: {shown} is not possible. Choose a value {' '.join(ends)}.")
    return number


UNNAMED = "My first study"

PARTS, LAST = "study-parts", "study-last-part"
"""Session keys of the numbers of the form's parts, in order, and of the last number given; no number is reused."""

WAYS = {"form": "With a form", "text": "As a text", "file": "From a file"}

EXAMPLE = """title = "Two robots"
lab = "ask"

[spec]
dataset = "world"

[grid]
model = ["control/steadfast", "control/fickle"]
"""


def draw() -> None:
    """Draw the form for a new study, and the button that plans it, which stays in view."""
    left, right = st.columns(2)
    may_send = session.runs().may_all
    session.takes_files(may_send)
    with left:
        ways = {one: words for one, words in WAYS.items() if one != "file" or may_send}
        way = one_of("How do you want to write it?", ways, "way", is_named=True)
    if way == "form":
        with right:
            title = st.text_input(
                "Name", key="study-title", max_chars=120, persist_state="session", placeholder=UNNAMED
            )
        _form(title.strip() or UNNAMED)
    elif way == "text":
        st.session_state.setdefault("study-text", EXAMPLE)
        text = st.text_area(
            "The study, in TOML", key="study-text", height=320, max_chars=LARGEST, persist_state="session"
        )
        _offer(text)
    else:
        file = st.file_uploader("A study (.toml)", type=["toml"], max_upload_size=1, key="study-file")
        if file is not None:
            _offer(file.getvalue(), study_files.name_for(file.name.removesuffix(".toml")))


def only_the_host() -> None:
    """Tell a visitor of a hosted app that only the host runs studies."""
    st.info(
        "A study can keep a machine busy for hours while everyone else waits. Here you can see what each would take, "
        "write your own, and download its file. On your own machine, run it from this page or with "
        f"`{COMMAND} study run FILE`. One that asks only robots, such as the dial, needs no key.",
        title="Only the host runs studies here",
        icon=":material/groups:",
    )


def edit(text: str) -> None:
    """Open the file as text."""
    st.session_state["way"] = "text"
    st.session_state["study-text"] = text
    st.query_params.from_dict({"new": "1"})


def _form(title: str) -> None:
    labs = {lab.path: lab for lab in entry.labs().values() if not lab.hidden}
    known: list[int] = st.session_state.setdefault(PARTS, [0])
    parts = [_part(labs, number, place, len(known)) for place, number in enumerate(known, 1)]
    help = "Another lab, or the same one with other settings. All parts are planned, run and analysed together."
    button("Add a part", "add", "study-add", _add, help=help)
    left, right = st.columns(2)
    with left:
        general = _limits()
    with right:
        general |= _read()
    if None in parts:
        with st.bottom:
            st.caption("An entry above is not valid; see the message below it.")
        return
    try:
        composed = study_files.compose([part for part in parts if part], {"title": title, **general})
    except ValueError as error:
        session.problems(error)
        return
    _told(composed, len(parts))
    with st.expander("The file", icon=":material/description:", key="study-written"):
        st.code(composed.text, language="toml")
        button("Edit it as a text", "edit", "study-edit", edit, composed.text, type="secondary")
    _offer(composed.text)


def _add() -> None:
    st.session_state[LAST] = st.session_state.get(LAST, 0) + 1
    st.session_state[PARTS] = [*st.session_state[PARTS], st.session_state[LAST]]


def _remove(number: int) -> None:
    st.session_state[PARTS] = [one for one in st.session_state[PARTS] if one != number]


def _part(labs: Mapping[str, Lab], number: int, place: int, of: int) -> tuple[Lab, dict[str, list[Any]]] | None:
    """Draw one part of the study, and return its lab and the chosen settings; None if any of them is invalid. `number`
    is the part's own, `place` its position among `of` parts.
    """
    prefix = f"study-{number}" if number else "study"
    with st.container(border=True, key=f"{prefix}-form"):
        left, right = st.columns(2, vertical_alignment="bottom")
        with left:
            asked = "What is measured" if of == 1 else f"Part {place}: what is measured"
            titles = {path: lab.title for path, lab in labs.items()}
            lab = labs[one_of(asked, titles, f"{prefix}-lab", is_named=True)]
        with right:
            st.caption(f"{lab.question} If you choose several values, every combination is run.")
        chosen = _settings(lab, prefix)
        if of > 1:
            button("Remove this part", "delete", f"{prefix}-remove", _remove, number)
    return None if chosen is None else (lab, chosen)


def _settings(lab: Lab, prefix: str) -> dict[str, list[Any]] | None:
    """Return the settings that differ from the defaults; None if any is invalid."""
    fields = knobs(lab.spec)
    first = [name for name in fields if leads(lab, name)]
    rest = [name for name in fields if name not in first]
    # Model, task and data set come first.
    order = {"model": -4, "task": -3, "dataset": -2, "limit": -1}
    first.sort(key=lambda name: order.get(name, 0))
    rest.sort(key=lambda name: not (fields[name].names_models or fields[name].choices))
    found = _columns(lab, first, prefix)
    with st.expander("More settings", icon=":material/tune:", key=f"{prefix}-more"):
        found |= _columns(lab, rest, prefix)
    if None in found.values():
        return None
    usual = {name: knob.default for name, knob in fields.items()}
    return {
        name: list(dict.fromkeys(map(_kept, chosen)))
        for name, chosen in found.items()
        if chosen and [_kept(one) for one in chosen] != [_kept(usual[name])]
    }


def _columns(lab: Lab, names: Sequence[str], prefix: str) -> dict[str, list[Any] | None]:
    """Draw these settings in two columns, and return the chosen values of each; None for an invalid one."""
    found: dict[str, list[Any] | None] = {}
    columns = st.columns(2)
    for number, name in enumerate(names):
        with columns[number % 2]:
            try:
                found[name] = values(lab, name, prefix)
            except ValueError as error:
                found[name] = None
                session.problems(error)
    return found


def _kept(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _limits() -> dict[str, Any]:
    """Draw the limits of the whole study."""
    with st.expander("Limits", icon=":material/speed:", key="study-limits"):
        at_once = st.number_input("Runs at a time", 1, MOST_AT_ONCE, 4, key="study-at-once", persist_state="session")
        help = "Calls of real models, not robots; earlier answers count too."
        calls = _number_or_none("Stop after this many calls", "budget", "no limit", help, (1, None, 100))
        help = (
            "At the prices in data/models.toml. A study that asks a model without a price there does not start "
            "under this limit; limit the calls instead."
        )
        money = _number_or_none("Stop at this many US dollars", "money", "no limit", help, (0.01, None, 1.0))
        help = (
            "A run then ends as soon as its main figure is known this closely. Checking repeatedly until a "
            "plain interval is narrow would mislead; an always-valid interval is wider and holds however often "
            f"you check. {SHIFT}"
        )
        nothing = "off: every run asks all of its items"
        stop = _number_or_none("Stop a cell at this width of its always-valid interval", "stop-width", nothing, help)
    return {"at_once": int(at_once), "budget_calls": calls, "budget_money": money, "stop_width": stop}


def _read() -> dict[str, Any]:
    """Draw the choice of the parser, and the wanted precision."""
    with st.expander("Parser and precision", icon=":material/straighten:", key="study-general"):
        help = "Updated: reads answers as today's models write them. Original: the paper authors' own code."
        names = {"repaired": "repaired", "paper": "paper"}
        rules = one_of("Parser for the tables", names, "study-rules", is_named=True, help=help)
        about = "The plan then says how many items you need."
        width = _number_or_none("Interval width you want", "width", "any", about)
        about = (
            "The chance of finding a difference; 0.80 is usual. The plan then estimates from earlier runs how "
            "many items it takes to tell two of the study's models or methods apart."
        )
        power = _number_or_none("Power you want", "power", "any", about)
    return {"rules": rules, "width": width, "power": power}


def _number_or_none(
    title: str, name: str, nothing: str, help: str, bounds: tuple[Any, Any, Any] = (0.01, 0.99, 0.05)
) -> Any:
    """Draw a number that may be left empty, which then shows `nothing`. `bounds`: the lowest, the highest, the step."""
    low, high, step = bounds
    kept: dict[str, Any] = {"key": f"study-{name}", "persist_state": "session"}
    return st.number_input(title, low, high, None, step=step, placeholder=nothing, help=help, **kept)


def _told(composed: study_files.Composed, parts: int) -> None:
    """Say how many runs there will be, and which combinations are left out."""
    runs = composed.points - composed.left_out
    if composed.left_out:
        st.info(
            f"{composed.left_out} of {composed.points} combinations are not possible and are left out: "
            + plain(" ".join(composed.why[:3]))
            + (" And more." if len(composed.why) > 3 else ""),
            icon=":material/grid_off:",
        )
    elif runs > 1:
        alike = "; combinations in two parts share one run" if parts > 1 else ""
        st.caption(f"{runs} combinations, one run each{alike}.")


def parsed(name: str, content: bytes) -> Study:
    """Parse the study in a file of that name and content. Raises StudyError."""
    study = _parsed(name, content)
    if study.changed:
        _parsed.clear(name, content)
        study = _parsed(name, content)
    return study


# Expires, because a data set that arrives may change the number of runs.
@st.cache_resource(max_entries=64, ttl=60, show_spinner=False)
def _parsed(name: str, content: bytes) -> Study:
    return parse(name, content, entry.labs())


def _offer(content: str | bytes, name: str = "") -> None:
    """Draw the buttons for the file at the foot of the window: to plan or download it."""
    with st.bottom:
        _buttons(content, name)


def _buttons(content: str | bytes, name: str) -> None:
    content = content if isinstance(content, bytes) else content.encode()
    try:
        with waits("Reading the file …"):
            study = parsed(f"{name or 'study'}.toml", content)
    except (StudyError, CallError) as error:
        session.problems(error)
        return
    is_named = study.name != (name or "study")
    name = study.name if is_named else name or study_files.name_for(study.title) or "study"
    with st.container(horizontal=True, vertical_alignment="center"):
        keeps = session.runs().may_all
        runs = len(study.all)
        if keeps and st.button(
            f"Plan {runs} runs",
            type="primary",
            icon=":material/checklist:",
            key="study-plan",
            help="The runs you chose and the control runs. Nothing is asked yet.",
        ):
            _keep(name if is_named else study_files.free_name(home.home(), name, content), content)
        words, kind = ("Download the file", "tertiary") if keeps else (f"Download the file · {runs} runs", "primary")
        download(words, content, f"{name}.toml", "application/toml", "download", "study-download", type=kind)
        if not keeps:
            st.caption("Only the host runs studies here; the file runs on your own machine.")


def _keep(name: str, content: bytes) -> None:
    with session.reported(StudyError, OSError):
        with waits("Keeping the file …"):
            study_files.save_study(home.home(), name, content, entry.labs())
        st.query_params.from_dict({"study": name})
        st.rerun()
