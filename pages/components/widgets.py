"""A specification's field as a widget; title, help, bounds and choices come from the field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import streamlit as st

from core.labs.base.lab import Lab
from core.labs.base.spec import Knob, Spec, knobs
from core.text.glossary import on_hover
from pages.components import models
from pages.components.text import plain

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
        return models.pick(title, key=key, lab=lab)
    if knob.names_models:
        if knob.several:
            return models.pick_many(title, knob.nobody, key=key, help=help or "", lab=lab)
        return models.pick_or_none(title, knob.nobody, key=key, lab=lab, help=help)
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


def one_of(title: str, names: Mapping[T, str], key: str, help: str | None = None, is_named: bool = False) -> T:
    """Let the user choose one of a few options, shown by their names; the first is the default. `is_named`: show the
    title.
    """
    first = next(iter(names))
    return (
        st.segmented_control(
            title,
            list(names),
            default=first,
            format_func=names.__getitem__,
            required=True,
            key=key,
            help=help,
            label_visibility="visible" if is_named else "collapsed",
            persist_state="session",
        )
        or first
    )


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
