"""What pages draw, as lines that are kept: a line an element, set in as far as it stands within others, with its key
and all that is not as it usually is.
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
"""Code points of a text, of which there is the rest only in number."""

OF_A_MACHINE = {"ask-it-yourself"}
"""Keys of what hangs on the memory there is, or on what is installed."""

UNKEPT = {"id", "element_id", "form_id", "deferred_file_id", "page_script_hash", "url", "spec", "config"}
UNKEPT |= {"arrow_data", "data"}
"""Names and addresses that Streamlit makes up, and numbers that are kept elsewhere."""

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
"""What of a scene is looked at here; tests/data/scenes has all of it."""


def lines(app: AppTest, made: Mapping[str, str]) -> list[str]:
    """What stands on the page; `made` are names that differ from time to time, by what stands in their place."""
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
    """JSON, without what differs from time to time: names, times, seconds."""
    for shown, name in made.items():
        text = text.replace(name, shown).replace(json.dumps(plain(name))[1:-1], shown)
    text = re.sub(r"\d\d \w+ \d{4}, \d\d:\d\d UTC", "WHEN", text)
    # Cases of a run go on together: which call is the first, and which finds its answer kept, is not settled.
    text = re.sub(r"\bc\d{4}\b", "CALL", text)
    return re.sub(r"from the cache|\d+(?:\\\\)?\.\d(?: |\\u00a0|\u00a0)s\b", "SECONDS", text)


def _given(proto: Any) -> dict[str, Any]:
    """What of a message is said, by name."""
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
            # Which models are installed is no page's doing.
            return [_bare(one) for one in value if not str(one).startswith("local/")]
        case str() if len(value) > LONGEST:
            return f"{value[:LONGEST]} … {len(value)}"
    return value


def _stage(data: dict[str, Any]) -> Any:
    """What a stage was given: of scenes what tells them apart, of a game its name."""
    for scene in data.get("scenes", ()):
        for name in scene.keys() - TOLD:
            del scene[name]
    if "game" in data:
        data["game"]["pack"] = data["game"]["pack"]["name"]
    return _without(_bare(data))


def _without(value: Any) -> Any:
    """The same without what is empty or 0."""
    match value:
        case dict():
            return {name: _without(one) for name, one in value.items() if one}
        case list():
            return [_without(one) for one in value]
    return value
