"""A specification's field as a widget that takes several values: what a study varies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from core.datasets import registry
from core.labs.base.declared import FACETS
from core.labs.base.lab import Lab
from core.labs.base.spec import Knob, knobs
from pages.components import lab_page, models
from pages.components.text import plain
from pages.components.widgets import LONG_TEXT, hint

SWITCH = {False: "no", True: "yes"}


def leads(lab: Lab, name: str) -> bool:
    """Whether the setting stands at the top of the form: who is asked, what about, how many, and in which way."""
    return name in ("model", "limit", lab.how, *FACETS)


def is_choice(knob: Knob) -> bool:
    """Whether the field names models, or is one of few."""
    return knob.names_models or bool(knob.choices)


def values(lab: Lab, name: str, prefix: str) -> list[Any]:
    """Draw one field of the lab's specification; the values that were chosen, none where nothing was. Its widget's key
    begins with `prefix`. Raises ValueError in words.
    """
    knob = knobs(lab.spec)[name]
    title, default, several = knob.title, knob.default, knob.several
    kept: dict[str, Any] = {"key": f"{prefix}-{lab.path}-{name}", "help": hint(knob), "persist_state": "session"}
    if knob.names_models:
        known = models.offered(lab)
        first = [lab.robots.newcomer] if name == "model" and lab.robots.newcomer in known else []
        nobody = "Choose one or several" if name == "model" else knob.nobody
        chosen = st.multiselect(title, known, first, accept_new_options=True, placeholder=nobody, **kept)
        return _whole(chosen, several)
    if knob.choices:
        first = list(default or ()) if several else [one for one in (default,) if one in knob.choices]
        words_of = lab_page.words()
        return _whole(
            st.pills(title, list(knob.choices), selection_mode="multi", default=first, wrap=True,
                     format_func=lambda one: plain(words_of.get(one, one)), **kept), several,
        )  # fmt: skip
    if knob.kind is bool:
        return list(st.pills(title, [False, True], selection_mode="multi", default=[bool(default)],
                             format_func=lambda one: SWITCH[one], **kept))  # fmt: skip
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
    """What a field of several values holds is one value of the grid."""
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
