"""A specification's field as a widget; title, help, bounds and choices come from the field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import streamlit as st

from core.labs.base.lab import Lab
from core.labs.base.spec import Knob, Spec, knobs
from core.text.glossary import on_hover
from pages.components import models

T = TypeVar("T", bound=str)

LONG_TEXT = 1_000
"""A text that may have more characters than this gets an area of several lines."""

FEW = 50
"""A range of at most this many numbers gets a slider, a wider one a field."""

STEP = 0.1
"""What one click adds to a decimal number."""


def drawn_fields(lab: Lab, drawn: frozenset[str]) -> dict[str, Knob]:
    """Return the fields that are drawn from the specification."""
    return {name: knob for name, knob in knobs(lab.spec).items() if name not in drawn}


def hint(knob: Knob) -> str | None:
    """Return what the field means, for its tooltip."""
    return on_hover(knob.title, knob.help[:1].upper() + knob.help[1:] if knob.help != knob.title else None)


def widget(lab: Lab, name: str) -> Any:
    """Draw one field, and return the value that the user chose."""
    knob = knobs(lab.spec)[name]
    title, default, key, help = knob.title, knob.default, f"{lab.path}-{name}", hint(knob)
    kept: dict[str, Any] = {"key": key, "help": help, "persist_state": "session"}
    if name == "model":
        return models.pick(title, key=key, lab=lab)
    if knob.names_models:
        if knob.several:
            return models.pick_many(title, knob.nobody, key=key, help=help or "", lab=lab)
        return models.pick_or_none(title, knob.nobody, key=key, lab=lab, help=help)
    if knob.choices:
        choices = list(knob.choices)
        if knob.several:
            return tuple(st.pills(title, choices, selection_mode="multi", default=list(default), wrap=True, **kept))
        if knob.optional:
            return st.selectbox(title, choices, index=None, placeholder="any", **kept)
        return st.segmented_control(title, choices, default=default, required=True, **kept)
    if knob.kind is bool:
        return st.toggle(title, value=bool(default), **kept)
    if knob.kind is int:
        if knob.low is not None and knob.high is not None and knob.high - knob.low <= FEW and default is not None:
            return st.slider(title, knob.low, knob.high, default, **kept)
        return st.number_input(title, knob.low, knob.high, default, step=1, **kept)
    if knob.kind is float:
        return st.number_input(title, knob.low, knob.high, default, step=STEP, **kept)
    if knob.pairs or knob.several:
        text = st.text_area(title, _lines(knob, default), placeholder=knob.pairs, height=80, **kept)
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return dict(_pair(knob, line) for line in lines) if knob.pairs else tuple(lines)
    draw = st.text_area if (knob.longest or 0) > LONG_TEXT else st.text_input
    return draw(title, value=str(default or ""), max_chars=knob.longest, **kept) or default


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


def filled(lab: Lab, drawn: frozenset[str], spec: Spec) -> dict[str, Any]:
    """Return the values, by key, that the widgets drawn from the specification have for `spec`."""
    return {
        f"{lab.path}-{name}": _held(spec, knob, getattr(spec, name)) for name, knob in drawn_fields(lab, drawn).items()
    }


def _held(spec: Spec, knob: Knob, value: Any) -> Any:
    if knob.names_models and knob.name != "model":
        # If nobody was chosen for a role, the model itself fills it.
        own = getattr(spec, "model", "")
        chosen = [one for one in (value if knob.several else [value]) if one and one != own]
        return chosen if knob.several else next(iter(chosen), None)
    if knob.several or knob.pairs:
        return list(value) if knob.choices else _lines(knob, value)
    if value is None and knob.kind is str and not knob.choices:
        return ""
    return float(value) if knob.kind is float and value is not None else value
