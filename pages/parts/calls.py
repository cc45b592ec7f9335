"""The call inspector: what was sent, what came back, and how it was read. Every number leads here."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import streamlit as st

from core.events import Message
from core.telling.evidence import likeliest, notes, tool_calls, turn
from core.transcript import Call
from pages import addresses
from pages.parts import reader_accuracy
from pages.parts.text import plain


def footnote(call: Call) -> str:
    """Who was asked, and how the answer came or why not, as a caption."""
    failed = [plain(call.failed.error)] if call.failed is not None and call.answered is None else []
    return " · ".join([plain(call.asked.model), *notes(call), *failed])


def inspector(call: Call, readings: Mapping[str, str] | None = None) -> None:
    """Draw one call. `readings` is how each set of rules read the answer, by the rules' name."""
    st.caption(f"{call.asked.role} · {footnote(call)} · call {call.asked.call}")
    if call.failed is not None:
        st.error(plain(call.failed.message), title=call.failed.error, icon=":material/error:")
        if call.failed.hint:
            st.caption(plain(call.failed.hint))
    else:
        st.markdown("**Raw answer**")
        asked = tool_calls(call.answered.tool_calls) if call.answered else ""
        st.code("\n".join(filter(None, (call.text, asked))) or "(nothing yet)", language=None, wrap_lines=True)
    # A link that leads to the page on which it stands changes no address.
    if st.button(
        "Edit this answer and go on from it",
        icon=":material/fork_right:",
        type="tertiary",
        key=f"fork-{call.asked.run}-{call.asked.call}-begin",
    ):
        named = {"run": call.asked.run, **_named_case(), "fork": call.asked.call}
        st.switch_page(addresses.CASE, query_params=named)
    if call.answered is not None and call.answered.logprobs:
        st.caption(f"First token: {plain(likeliest(call.answered.logprobs))}")
    if readings:
        st.markdown(
            "**Read as** " + ", ".join(f"{plain(value)} :gray[({name} rules)]" for name, value in readings.items())
        )
    reader_accuracy.beside(call.asked.run, call.asked.role, call.asked.model, bool(readings))
    st.markdown("**Exact prompt**")
    sampling = call.asked.sampling.model_dump(exclude_none=True)
    settings = ", ".join(f"{name.replace('_', ' ')} {value!r}" for name, value in sampling.items() if value != ())
    st.caption(plain(f"template {call.asked.prompt} · {settings}"))
    _prompt(call.asked.messages)
    if call.asked.tools:
        st.markdown("**Tools it was offered**")
        offered = [f"{tool.name}: {tool.description}\n{json.dumps(tool.parameters)}" for tool in call.asked.tools]
        st.code("\n\n".join(offered), language=None, wrap_lines=True)


def _named_case() -> dict[str, str]:
    return {"case": st.query_params["case"]} if st.query_params.get("case") else {}


def _prompt(messages: Sequence[Message]) -> None:
    """What the model read: the real question by itself, and folded what stands between it and the instructions."""
    if not messages:
        return
    *before, question = messages
    if before and before[0].role == "system":
        st.code(turn(before.pop(0)), language=None, wrap_lines=True)
    if before:
        with st.expander(f"What stands before the question: {len(before)} messages, such as worked examples",
                         type="compact"):  # fmt: skip
            st.code("\n\n".join(map(turn, before)), language=None, wrap_lines=True)
    st.markdown(":material/arrow_right: **The question itself**")
    st.code(turn(question), language=None, wrap_lines=True)
