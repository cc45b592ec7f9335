"""A specification's field as a widget: title, help, bounds and choices stand with the field."""

from __future__ import annotations

from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import streamlit as st
from pydantic.fields import FieldInfo

from core.lab.lab import Lab
from core.lab.spec import Spec, bounds, is_offered
from core.text.glossary import on_hover
from pages.parts import models

LONG_TEXT = 1_000
"""A text that may have more characters gets an area of several lines."""

FEW = 50
"""A range of so many numbers gets a slider, a wider one a field."""

STEP = 0.1
"""What one click adds to a number with a fraction."""


def offered(lab: Lab, drawn: frozenset[str]) -> dict[str, FieldInfo]:
    """The fields that are drawn from the specification."""
    return {
        name: field for name, field in lab.spec.model_fields.items() if is_offered(name, field) and name not in drawn
    }


def widget(lab: Lab, name: str, field: FieldInfo) -> Any:
    """Draw one field; the value that the person chose."""
    key = f"{lab.path}-{name}"
    title = field.title or name.replace("_", " ").capitalize()
    help = on_hover(title, (field.description or "")[:1].upper() + (field.description or "")[1:] or None)
    kind, several = kind_of(field.annotation)
    extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    if name == "model":
        return models.pick(title, key=key, lab=lab)
    if extra.get("widget") == "model":
        if several:
            nobody = str(extra.get("nobody", "the model itself"))
            return models.pick_many(title, nobody, key=key, help=help or "", lab=lab)
        return models.pick_or_none(title, str(extra.get("nobody", "the model itself")), key=key, lab=lab, help=help)
    if get_origin(kind) is Literal:
        choices = list(get_args(kind))
        if several:
            return tuple(st.pills(title, choices, selection_mode="multi", default=list(field.default or ()), key=key,
                                  help=help, persist_state="session", wrap=True))  # fmt: skip
        if type(None) in get_args(field.annotation):
            return st.selectbox(title, choices, index=None, placeholder="any", key=key, help=help,
                                persist_state="session")  # fmt: skip
        return st.segmented_control(title, choices, default=field.default, required=True, key=key, help=help,
                                    persist_state="session")  # fmt: skip
    if kind is bool:
        return st.toggle(title, value=bool(field.default), key=key, help=help, persist_state="session")
    if kind is int:
        low, high = bounds(field, int)
        default = field.default if isinstance(field.default, int) else None
        if low is not None and high is not None and high - low <= FEW and default is not None:
            return st.slider(title, low, high, default, key=key, help=help, persist_state="session")
        return st.number_input(title, low, high, default, step=1, key=key, help=help, persist_state="session")
    if kind is float:
        least, most = bounds(field, float)
        value = float(field.default) if isinstance(field.default, int | float) else None
        return st.number_input(title, least, most, value, step=STEP, key=key, help=help, persist_state="session")
    if several:
        first = "\n".join(map(str, field.default or ()))
        lines = st.text_area(title, first, key=key, help=help, persist_state="session", height=80)
        return tuple(line.strip() for line in lines.splitlines() if line.strip())
    longest = next((rule.max_length for rule in field.metadata if hasattr(rule, "max_length")), None)
    draw = st.text_area if longest is not None and longest > LONG_TEXT else st.text_input
    text = draw(title, value=str(field.default or ""), key=key, help=help, max_chars=longest, persist_state="session")
    return text or field.default


def filled(lab: Lab, drawn: frozenset[str], spec: Spec) -> dict[str, Any]:
    """What the widgets that are drawn from the specification hold where it is `spec`, by their keys."""
    return {
        f"{lab.path}-{name}": _held(spec, field, getattr(spec, name)) for name, field in offered(lab, drawn).items()
    }


def _held(spec: Spec, field: FieldInfo, value: Any) -> Any:
    kind, several = kind_of(field.annotation)
    extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    if extra.get("widget") == "model":
        # The model itself is what stands there where nobody was chosen.
        own = getattr(spec, "model", "")
        chosen = [one for one in (value if several else [value]) if one and one != own]
        return chosen if several else next(iter(chosen), None)
    if several:
        return list(value) if get_origin(kind) is Literal else "\n".join(map(str, value or ()))
    if value is None and kind is str:
        return ""
    return float(value) if kind is float and value is not None else value


def kind_of(annotation: Any) -> tuple[Any, bool]:
    """The type of one value, and whether there may be several."""
    origin = get_origin(annotation)
    if origin in (Union, UnionType):
        return kind_of(next(one for one in get_args(annotation) if one is not type(None)))
    if origin is tuple:
        return kind_of(get_args(annotation)[0])[0], True
    return annotation, False
