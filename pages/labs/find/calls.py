"""The calls of a black box as a table: for texts with what changed, letter by letter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

import streamlit as st

from core.labs.find.records import Probe
from pages.parts.text import difference, plain, visible

_ALIKE = 0.4
"""Input and output that share less than this are not compared letter by letter."""

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
    matcher = SequenceMatcher(None, probe.input, probe.output, autojunk=False)
    if matcher.ratio() < _ALIKE:
        return ""
    pieces = _pieces(probe.input, probe.output, matcher)
    return difference((operation, visible(text, every=operation != "same")) for operation, text in pieces)


def _pieces(before: str, after: str, matcher: SequenceMatcher[str]) -> Iterator[tuple[str, str]]:
    for operation, low, high, first, last in matcher.get_opcodes():
        if operation == "equal":
            yield "same", before[low:high]
            continue
        if high > low:
            yield "removed", before[low:high]
        if last > first:
            yield "added", after[first:last]
