"""Golden files of pages: one line for each element, indented by its depth, with its key and everything that differs
from the defaults.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from pages.components.text import plain

FOLDER = Path(__file__).resolve().parents[1] / "data" / "pages"

LONGEST = 160
"""The longest text in code points, beyond which only the number of the rest is given."""

OF_A_MACHINE = {"ask-it-yourself"}
"""Keys of elements that depend on the machine's memory, or on what is installed."""

UNKEPT = {"id", "element_id", "form_id", "deferred_file_id", "page_script_hash", "url", "spec", "config"}
UNKEPT |= {"arrow_data", "data"}
"""Names and addresses that Streamlit makes up, and numbers that other golden files hold."""

USUAL = {
    "element_type": "NATIVE",
    "wrap": True,
    "gap_config": {"gap_size": "SMALL"},
    "direction": "VERTICAL",
    "justify": "JUSTIFY_START",
    "height_config": {"use_content": True},
    "width_config": {"use_stretch": True},
}

TOLD = {"lab", "run", "case", "status", "title", "claim", "actions", "screens", "tiles"}
"""The fields of a scene that are compared here; tests/data/scenes has all of them."""


def lines(app: AppTest, made: Mapping[str, str]) -> list[str]:
    """The page's lines; `made` maps names that differ between runs of the test to their replacements."""
    return [line for place in (app.main, app.sidebar) for line in _within(place, 0, made)]


def _within(block: Any, depth: int, made: Mapping[str, str]) -> Iterator[str]:
    for node in block.children.values():
        if node.key in OF_A_MACHINE:
            continue
        if node.type == "bidi_component":
            drawn = _stage(json.loads(_lasting(node.proto.json, made)))
        else:
            given = _given(node.proto) if node.proto is not None else {}
            drawn = _bare(json.loads(_lasting(json.dumps(given), made)))
        said = [json.dumps(drawn, ensure_ascii=False)] if drawn else []
        yield "  " * depth + " ".join(filter(None, (node.type, _lasting(node.key or "", made), *said)))
        if hasattr(node, "children"):
            yield from _within(node, depth + 1, made)


def _lasting(text: str, made: Mapping[str, str]) -> str:
    """The JSON without what differs from time to time: names, times, seconds."""
    for shown, name in made.items():
        text = text.replace(name, shown).replace(json.dumps(plain(name))[1:-1], shown)
    text = re.sub(r"\d\d \w+ \d{4}, \d\d:\d\d UTC", "WHEN", text)
    # Cases of a run proceed concurrently: which call is the first, and which finds its answer in the cache, is not
    # fixed.
    text = re.sub(r"\bc\d{4}\b", "CALL", text)
    return re.sub(r"from the cache|\d+(?:\\\\)?\.\d(?: |\\u00a0|\u00a0)s\b", "SECONDS", text)


def _given(proto: Any) -> dict[str, Any]:
    """The set fields of a message, by name."""
    return {field.name: _said(field, value) for field, value in proto.ListFields() if field.name not in UNKEPT}


def _said(field: Any, value: Any) -> Any:
    if hasattr(value, "ListFields"):
        return _given(value)
    if isinstance(value, bool | str | float):
        return value
    if isinstance(value, int):
        return field.enum_type.values_by_number[value].name if field.enum_type else value
    return [_said(field, one) for one in value]


def _bare(value: Any) -> Any:
    match value:
        case dict():
            bare = {name: _bare(one) for name, one in value.items() if name not in UNKEPT and USUAL.get(name) != one}
            return {name: one for name, one in bare.items() if one not in ("", {}, [])}
        case list():
            # The installed models do not depend on the page.
            return [_bare(one) for one in value if not str(one).startswith("local/")]
        case str() if len(value) > LONGEST:
            return f"{value[:LONGEST]} … {len(value)}"
    return value


def _stage(data: dict[str, Any]) -> Any:
    """The data of a viewer: of scenes what distinguishes them, of a game its name."""
    for scene in data.get("scenes", ()):
        for name in scene.keys() - TOLD:
            del scene[name]
    if "game" in data:
        data["game"]["pack"] = data["game"]["pack"]["name"]
    return _without(_bare(data))


def _without(value: Any) -> Any:
    """The value without empty parts and zeros."""
    match value:
        case dict():
            return {name: _without(one) for name, one in value.items() if one}
        case list():
            return [_without(one) for one in value]
    return value
