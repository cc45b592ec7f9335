"""The four small pictures of the front page: one a lab, each a link to its page."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from core.lab.lab import Lab
from pages import addresses
from pages.parts import rooms

DRAWN = Path(__file__).parent / "drawn"

_STYLE = """
.place { container-type: inline-size; }
.doors { display: grid; grid-template-columns: repeat(auto-fit, minmax(130px, 1fr)); gap: 12px; }
.doors a { display: block; padding: 10px 12px; border: 1px solid var(--st-border-color);
  border-radius: var(--st-base-radius); color: var(--st-text-color); font: 400 16px/1.4 var(--st-font);
  text-decoration: none; }
.doors a:is(:hover, :focus-visible) { border-color: var(--st-primary-color);
  outline: 2px solid var(--st-primary-color); }
.doors svg { display: block; width: 100%; height: 64px; fill: none; stroke: currentColor; stroke-width: 2.4;
  stroke-linecap: round; stroke-linejoin: round; }
.doors .said { stroke: light-dark(#3b2fa0, #b9aeff); }
.doors .full { fill: currentColor; }
.doors .said.full { fill: light-dark(#3b2fa0, #b9aeff); }
.doors b { display: block; font-weight: 600; }
@container (max-width: 320px) {
  .doors { grid-template-columns: minmax(0, 1fr); }
  .doors a { display: grid; grid-template-columns: 64px 1fr; column-gap: 12px; align-content: center; }
  .doors svg { grid-row: span 2; height: 52px; }
}
"""

_SCRIPT = """
export default ({ data, parentElement, setTriggerValue }) => {
  const place = parentElement.querySelector(".doors");
  place.replaceChildren(...data.doors.map(({ path, title, verb, picture }) => {
    const door = document.createElement("a"), name = document.createElement("b");
    door.href = `/${path}`;
    door.innerHTML = picture;
    name.textContent = title;
    door.append(name, verb);
    door.onclick = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      setTriggerValue("chosen", path);
    };
    return door;
  }));
};
"""
"""The pictures are files of ours. The page turns without being loaded anew; in a tab of its own it is a link."""


@cache
def _component() -> Any:
    place = '<div class="place"><nav class="doors"></nav></div>'
    return st.components.v2.component("doors", html=place, css=_STYLE, js=_SCRIPT)


def doors(labs: list[Lab]) -> None:
    """A picture for each lab, with one verb; a lab that has none is its name."""
    shown = [
        {"path": lab.path, "title": lab.title, "verb": rooms.of(lab).verb, "picture": _picture(lab)} for lab in labs
    ]
    chosen = _component()(data={"doors": shown}, key="doors", on_chosen_change=lambda: None).chosen
    for lab in labs:
        if lab.path == chosen:
            st.switch_page(addresses.of_lab(lab))


def _picture(lab: Lab) -> str:
    path = DRAWN / f"{lab.path}.svg"
    return path.read_text(encoding="utf-8") if path.is_file() else ""
