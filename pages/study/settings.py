"""A specification's field as a widget that takes several values: what a study varies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args, get_origin

import streamlit as st
from pydantic.fields import FieldInfo

from core.datasets import registry
from core.lab.lab import Lab
from core.lab.shown import FACETS
from core.lab.spec import bounds
from core.text.glossary import on_hover
from pages.parts import models, rooms
from pages.parts.text import plain
from pages.parts.widgets import LONG_TEXT, kind_of

SWITCH = {False: "no", True: "yes"}


def leads(lab: Lab, name: str) -> bool:
    """Whether the setting stands at the top of the form: who is asked, what about, how many, and in which way."""
    return name in ("model", "limit", lab.how, *FACETS)


def is_choice(name: str, field: FieldInfo) -> bool:
    """Whether the field names models, or is one of few."""
    return is_model(name, field) or get_origin(_one(field)) is Literal


def is_model(name: str, field: FieldInfo) -> bool:
    """Whether the field names models."""
    return name == "model" or _extra(field).get("widget") == "model"


def _extra(field: FieldInfo) -> dict[str, Any]:
    return field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}


def values(lab: Lab, name: str, prefix: str) -> list[Any]:
    """Draw one field of the lab's specification; the values that were chosen, none where nothing was. Its widget's key
    begins with `prefix`. Raises ValueError in words.
    """
    field = lab.spec.model_fields[name]
    key = f"{prefix}-{lab.path}-{name}"
    title = field.title or name.replace("_", " ").capitalize()
    words = (field.description or "")[:1].upper() + (field.description or "")[1:]
    kind, several = kind_of(field.annotation)
    kept: dict[str, Any] = {"key": key, "help": on_hover(title, words or None), "persist_state": "session"}
    if is_model(name, field):
        known = models.offered(lab)
        first = [lab.robots.newcomer] if name == "model" and lab.robots.newcomer in known else []
        nobody = "Choose one or several" if name == "model" else str(_extra(field).get("nobody", "the model itself"))
        found = st.multiselect(title, known, first, accept_new_options=True, placeholder=nobody, **kept)
        return _whole(found, several)
    if get_origin(kind) is Literal:
        first = list(field.default or ()) if several else [one for one in (field.default,) if one in get_args(kind)]
        words_of = rooms.words()
        return _whole(
            st.pills(title, list(get_args(kind)), selection_mode="multi", default=first, wrap=True,
                     format_func=lambda one: plain(words_of.get(one, one)), **kept), several,
        )  # fmt: skip
    if kind is bool:
        chosen = st.pills(title, [False, True], selection_mode="multi", default=[bool(field.default)],
                          format_func=lambda one: SWITCH[one], **kept)  # fmt: skip
        return list(chosen)
    if kind in (int, float):
        low, high = bounds(field, kind)
        usual = "" if field.default is None else f"{field.default:g}"
        text = st.text_input(title, placeholder=usual or "as many as there are", max_chars=500, **kept)
        return [_number(title, part, kind, low, high) for part in text.split(",") if part.strip()]
    if name == "dataset":
        tasks = get_args(kind_of(lab.spec.model_fields["task"].annotation)[0])
        known = [one.name for one in registry.DATASETS if one.task in tasks]
        first = [one for one in known if registry.ships(one)]
        return st.multiselect(
            title, known, first, accept_new_options=True, placeholder="what ships with the app", **kept
        )
    if several:
        lines = st.text_area(title, height=80, **kept)
        return _whole([line.strip() for line in lines.splitlines() if line.strip()], True)
    longest = next((rule.max_length for rule in field.metadata if hasattr(rule, "max_length")), None)
    draw: Callable[..., str | None] = st.text_area if longest is not None and longest > LONG_TEXT else st.text_input
    return [text] if (text := (draw(title, max_chars=longest, **kept) or "").strip()) else []


def _one(field: FieldInfo) -> Any:
    return kind_of(field.annotation)[0]


def _whole(found: list[Any], several: bool) -> list[Any]:
    """What a field of several values holds is one value of the grid."""
    return ([found] if found else []) if several else list(found)


def _number(title: str, text: str, kind: type, low: float | None, high: float | None) -> int | float:
    try:
        number: int | float = kind(text.strip())
    except ValueError:
        whole = "a whole number" if kind is int else "a number"
        raise ValueError(f"{title}: {text.strip()[:40]} is not {whole}. Several are written 10, 20, 40.") from None
    if not (low is None or number >= low) or not (high is None or number <= high):
        ends = ([f"from {low:g}"] if low is not None else []) + ([f"to {high:g}"] if high is not None else [])
        raise ValueError(f"{title}: {text.strip()[:40]} cannot be. It may be {' '.join(ends)}.")
    return number
