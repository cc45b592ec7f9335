"""The calls of a black box as a table: for texts with what changed, letter by letter."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.labs.find.records import Probe
from core.text.diff import letters
from pages.parts.text import difference, plain, visible

_SHOWN = 200


def calls_made(probes: Sequence[Probe], category: str) -> None:
    """One line a call. Markdown and no data grid, for it also stands where the page is redrawn every moment."""
    texts = category == "strings"
    rows = ["| | Input | Output |" + (" Change |" if texts else ""), "|---|---|---|" + ("---|" if texts else "")]
    for probe in probes[-_SHOWN:]:
        output = f":gray[{plain(probe.problem)}]" if probe.problem else _cell(probe.output)
        row = f"| :gray[{probe.number}] | {_cell(probe.input)} | {output} |"
        if texts:
            row += f" {'' if probe.problem else _change(probe)} |"
        rows.append(row)
    if len(probes) > _SHOWN:
        st.caption(f"The last {_SHOWN} of {len(probes)} calls.")
    with st.container(height=340 if len(probes) > 9 else "content"):
        st.markdown("\n".join(rows))


def _cell(text: str) -> str:
    return plain(visible(text)) if text else ":gray[(empty)]"


def _change(probe: Probe) -> str:
    if probe.input == probe.output:
        return ":gray[none]"
    return difference((one.op, visible(one.text, every=one.op != "same")) for one in letters(probe.input, probe.output))
