"""The stage in a page of Streamlit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from typing import Any, Literal

import streamlit as st

from core.scene import Scene
from pages.stage.files import FILES

Mode = Literal["read", "tell", "guess", "play", "beside"]

_SCRIPT = """
let library, stage;
export default async (component) => {
  const from = (name) => new URL(`/stage/${name}?v=VERSION`, location.origin).href;
  [stage, library] = [await import(from("stage.js")), await import(from("preact.js"))];
  const place = component.parentElement.querySelector(".stage");
  const mounted = place.mounted;
  if (mounted) { mounted.update(component.data); return; }
  place.mounted = stage.mount(place, {
    ...component.data, library, went: (where) => component.setTriggerValue("went", where),
  });
  return () => { place.mounted?.unmount(); place.mounted = undefined; };
};
"""
"""Streamlit runs it with each drawing of the page: what is there already is given what is new."""


@cache
def _component() -> Any:
    read = {name: path.read_text(encoding="utf-8") for name, path in FILES.items()}
    version = sha256("".join(read.values()).encode()).hexdigest()[:16]
    return st.components.v2.component(
        "stage", html='<div class="stage"></div>', css=read["stage.css"], js=_SCRIPT.replace("VERSION", version)
    )


def stage(
    mode: Mode, scenes: Sequence[Scene], key: str, went: Callable[[], None] = lambda: None, **settings: Any
) -> Any:
    """Draw scenes. `settings` are further ones of the stage's own (`stage.js`); `went` is called when it wants the page
    to move, which stands then in the session's state under `key`.
    """
    data = {"mode": mode, "scenes": [scene.model_dump(mode="json") for scene in scenes], **settings}
    return _component()(data=data, key=key, on_went_change=went)
