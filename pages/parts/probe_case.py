"""Draws one case of the Probe lab, while it runs and after: experiments, conclusion, and both against the truth."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.charts import PLAIN
from core.charts import find as charts
from core.events import Rules
from core.labs.find import parse
from core.labs.find.case import HEADLINE, WORDS, Case
from core.labs.find.functions.base import as_number
from core.labs.find.module_calls import item
from core.labs.find.records import Exchange, Probe, UnitTest
from core.labs.find.tasks import BY_MODEL, NAMES, ProbeSpec
from core.labs.find.verdict import missed, solved, verdict
from core.models.errors import NoToolCalls
from core.runs.transcript import Call
from pages.parts.calls import details, inspector
from pages.parts.probe_calls import calls_made
from pages.parts.run import stopped
from pages.parts.text import plain

_RULES: tuple[Rules, Rules] = ("paper", "repaired")
_MOST = {"numeric": ("nmse", "nmse_success", "noise_floor"), "strings": ("exact_match", "unit_test", "held_out_match")}
_MODULES = ("unit_test", "unit_test_ceiling")
_JUDGED = {
    "interpretation": "The description",
    "paper": "The description as paper rules read it",
    "truth": "The true description",
}
_WORDS = {True: "right", False: "wrong", None: "neither: it picks no example"}
_TAIL = 900
"""Characters shown of a message that is still being written."""


def draw(case: Case, active: bool, held: bool = False) -> None:
    """Draw `case`. While it is `held`, nothing is shown that gives the function away: the reader wants to try first."""
    stopped(case.told, case.unread)
    if case.spec is None:
        return
    with st.container(key="asked", gap="small"):
        st.caption(plain(" · ".join(part for part in (case.spec.model, case.spec.title) if part)))
    if held:
        _held(case, active)
        return
    _experiments(case, active)
    _conclusion(case, active)
    if case.truth is not None:
        _tests(case)
        _verdict(case)
        _figures(case)
        _meaning(case)


def _held(case: Case, active: bool) -> None:
    state = "It is at work" if active else "It is done"
    with st.container(border=True, key="held"):
        st.markdown(
            f"**{state}: {len(case.probes)} calls in {len(case.exchanges)} rounds.** What it found and what the "
            "function is stay hidden until you have tried yourself."
        )


def _verdict(case: Case) -> None:
    """The outcome, the picture, the truth, the leading figures, and what was missed."""
    truth = case.truth
    assert truth is not None and case.spec is not None
    st.markdown("#### Verdict", anchors=False)
    with st.container(border=True, key="verdict"):
        st.markdown(f"##### {plain(verdict(case))}", anchors=False)
        if truth.x:
            picture(case)
        st.markdown(f"**The function**  \n{plain(truth.description)}")
        if truth.note:
            st.caption(plain(truth.note))
        with st.container(horizontal=True, key="headline"):
            for metric in _MOST.get(case.spec.category, _MODULES):
                if metric == HEADLINE[case.spec.category] or case.value(metric) is not None:
                    _metric(case, metric)
        missed_title = "What you missed" if case.spec.interpreter == "you" else "What it missed"
        if sentences := missed(case):
            st.markdown(f"**{missed_title}**\n\n" + "\n".join(f"- {plain(sentence)}" for sentence in sentences))
        elif case.value(HEADLINE[case.spec.category]) is not None:
            nothing = "Nothing that our checks can see." if solved(case) else "Our checks cannot say: compare the two."
            st.markdown(f"**{missed_title}**  \n{nothing}")


def _metric(case: Case, metric: str) -> None:
    value = case.value(metric)
    label = WORDS[metric]
    reason = case.reason(metric)
    if metric == "nmse_success" and value is not None:
        shown = "yes" if value else "no"
    else:
        shown = "undefined" if value is None else number(value)
    st.metric(label[0].upper() + label[1:], shown, help=plain(reason) or None)


def number(value: float) -> str:
    """A figure as it is shown."""
    if 0 < abs(value) < 0.0005:
        return "< 0.001"
    if abs(value) < 1_000:
        return f"{value:.3f}".rstrip("0").rstrip(".") or "0"
    return f"{value:.2g}"


def picture(case: Case) -> None:
    """Truth, estimate and probes together; without the truth, the probes alone."""
    truth, estimate = case.truth, case.estimate
    points = pd.DataFrame([_point(probe) for probe in case.probes], columns=["x", "y", "round", "number"])
    figure = charts.curves(
        points.dropna(subset=["x"]),
        x=truth.x if truth else (),
        truth=truth.y if truth else (),
        estimate=estimate.repaired if truth and estimate else (),
        corrupted=truth.corrupted if truth else None,
        claimed=case.audit.claimed if truth and case.audit else (),
    )
    st.plotly_chart(
        figure, key="curves", config=PLAIN, alt="The function, the interpreter's code and its probes over x"
    )


def _point(probe: Probe) -> dict[str, float | int | None]:
    return {"x": as_number(probe.input), "y": probe.value, "round": probe.round, "number": probe.number}


# Experiments


def _experiments(case: Case, active: bool) -> None:
    spec = case.spec
    assert spec is not None
    who = {"you": "You experiment", "milan": "It is shown examples", "given": "Made elsewhere"}.get(
        spec.interpreter, "It experiments"
    )
    st.markdown(f"#### 1 · {who}", anchors=False)
    st.caption(_budget(case))
    if refusal := _refusal(case):
        st.caption(f":material/swap_horiz: It went on in plain text. {plain(refusal)}")
    if spec.category == "numeric" and case.truth is None and case.probes:
        picture(case)
    elif spec.category == "entities" and case.probes:
        bars(case)
    if spec.interpreter in BY_MODEL:
        _rounds(case, active)
    elif case.probes:
        shown = st.expander(f"{len(case.probes)} calls", icon=":material/list:", key="calls", on_change="rerun")
        with shown:
            if shown.open:
                calls_made(case.probes, spec.category)
            else:
                st.skeleton(120)
    elif spec.interpreter != "given":
        st.markdown(":shimmer[looking at the function …]" if active else ":gray[Nothing was called.]")
    if active and not case.probes and spec.is_module and spec.backbone == "embedding":
        st.caption("The sentence encoder is loaded on first use: this takes a few seconds, once.")


def _budget(case: Case) -> str:
    spec = case.spec
    assert spec is not None
    name = NAMES[spec.interpreter]
    told = f"{name[0].upper()}{name[1:]} · {len(case.probes)} of {spec.probes} calls of the function"
    if spec.interpreter in ("aia", "aia+milan"):
        told += f" · {min(len(case.exchanges), spec.rounds)} of {spec.rounds} rounds"
        told += " · it asks by tool calls" if spec.tools else ""
    told += carried_out(spec)
    if any(probe.how == "answer" and probe.value is not None for probe in case.probes) and spec.category == "entities":
        told += " · where the model gives no probabilities, values are 0 or 1"
    return told


def carried_out(spec: ProbeSpec) -> str:
    """What stands behind the function, where it is not a formula."""
    if not spec.is_module:
        return ""
    table = (
        "our word lists: a word that is not listed gives 0"
        if spec.category == "entities"
        else "our list of facts: an input that is not listed gives undefined"
    )
    by = {"table": table, "embedding": "sentence embeddings", "model": plain(spec.module)}
    return f" · the function is carried out by {by[spec.backbone]}"


def _refusal(case: Case) -> str:
    """Why an agent that was to ask by tool calls went on in text."""
    failures = (call.failed for call in case.told.calls.values() if call.failed)
    return next((failed.message for failed in failures if failed.error == NoToolCalls.__name__), "")


def bars(case: Case) -> None:
    """The words that were tried, highest value first."""
    words = pd.DataFrame([{"input": probe.input, "y": probe.value, "number": probe.number} for probe in case.probes])
    if words["y"].notna().any():
        most = 12
        if len(words.drop_duplicates("input")) > most:
            st.caption(f"The {most} words with the highest values; all of them are listed below.")
        picture_of_words = charts.bars(words, most)
        st.plotly_chart(picture_of_words, key="bars", config=PLAIN, alt="The value of each word, highest first")


def _rounds(case: Case, active: bool) -> None:
    """One step a round: what was asked, what came back, and behind a click the message itself."""
    given = case.of_round(0)
    if given:
        shown = st.expander(
            f"It is shown {len(given)} exemplars", icon=":material/list:", type="step", key="round-0", on_change="rerun"
        )
        with shown:
            if shown.open:
                calls_made(given, case.spec.category if case.spec else "")
            else:
                st.skeleton(60)
    messages = [call for call in case.told.calls.values() if call.asked.role == "interpreter"]
    known = {exchange.call for exchange in case.exchanges.values()}
    for exchange in sorted(case.exchanges.values(), key=lambda one: one.round):
        _round(case, exchange, active)
    waiting = [call for call in messages if call.asked.call not in known and call.failed is None]
    if active and waiting:
        text = waiting[-1].text
        with st.expander("…", icon="spinner", type="step", expanded=True, key="round-now"):
            st.markdown(plain(text[-_TAIL:]) if text else ":shimmer[thinking …]")


def _round(case: Case, exchange: Exchange, active: bool) -> None:
    made = case.of_round(exchange.round)
    call = case.told.calls.get(exchange.call)
    if made:
        first = ", ".join(f"f({probe.input}) = {probe.output}" for probe in made[:3])
        label = f"Round {exchange.round} · {len(made)} {'call' if len(made) == 1 else 'calls'}: {first}"
        label += " …" if len(made) > 3 else ""
        label = plain(label if len(label) < 160 else label[:159] + "…")
        icon = ":material/experiment:"
    elif exchange.trouble:
        label, icon = f"Round {exchange.round} · {plain(exchange.trouble[:160])}", ":material/warning:"
    else:
        label, icon = f"Round {exchange.round} · it concludes", ":material/flag:"
    if exchange.invented:
        label += "  \n:red-badge[:material/auto_fix_high: made up outputs before it had them]"
    shown = st.expander(label, icon=icon, type="step", key=f"round-{exchange.round}", on_change="rerun")
    with shown:
        if shown.open:
            _round_details(case, exchange, made, call, active)
        else:
            st.skeleton(120)


def _round_details(case: Case, exchange: Exchange, made: list[Probe], call: Call | None, active: bool) -> None:
    if exchange.invented:
        st.markdown("**Made up in its message**")
        st.code(exchange.invented, language=None, wrap_lines=True)
    if made:
        st.markdown("**What the function really gave**")
        calls_made(made, case.spec.category if case.spec else "")
    # The function's own prompts name the answer: they are shown once it is out.
    modules = [
        one
        for one in case.told.calls.values()
        if one.asked.role == "module" and one.asked.item in {item("input", probe.input) for probe in made}
    ]
    tabs = ["The interpreter's message"] + (["The calls behind the function"] if modules and case.truth else [])
    for tab, name in zip(st.tabs(tabs), tabs, strict=True):
        with tab:
            if name == tabs[0] and call is not None:
                inspector(call, _commands(call))
            elif name != tabs[0]:
                for one in modules[:20]:
                    inspector(one)


def _commands(call: Call) -> dict[str, str]:
    """How each set of rules reads a message. Tool calls need no reading but by repaired rules: the paper had none."""
    text = call.text
    if call.answered and call.answered.tool_calls:
        asked = [parse.tool_command(one) for one in call.answered.tool_calls]
        return {"repaired": "; ".join(one.error or _inputs(one) for one in asked)}
    read = {}
    for rules in _RULES:
        if parse.is_final(text, rules):
            read[rules] = "a conclusion"
            continue
        command = parse.command(text, rules)
        if command.name is None:
            read[rules] = "no command"
        else:
            read[rules] = command.error or _inputs(command)
    return read


def _inputs(command: parse.Command) -> str:
    return f"{len(command.inputs)} inputs: {', '.join(command.inputs[:6])}"


# Conclusion


def _conclusion(case: Case, active: bool) -> None:
    found = case.interpretation
    if found is None:
        return
    st.markdown("#### 2 · " + ("You conclude" if found.interpreter == "you" else "It concludes"), anchors=False)
    with st.container(border=True, key="conclusion"):
        st.markdown(plain(found.description_repaired) if found.description_repaired else ":gray[No description.]")
        if found.domain_repaired:
            st.markdown(f"**Domain**  \n{plain(found.domain_repaired)}")
        if found.code_repaired:
            st.code(found.code_repaired, language="python", wrap_lines=True)
            if case.estimate and case.estimate.trouble_repaired:
                st.warning(plain(case.estimate.trouble_repaired), icon=":material/code_off:")
        if found.call and found.call in case.told.calls:
            readings = {
                "paper": _parts(found.description_paper, found.domain_paper, found.code_paper),
                "repaired": _parts(found.description_repaired, found.domain_repaired, found.code_repaired),
            }
            details(case.told.calls[found.call], "conclusion", readings)
    if active and case.truth is None:
        st.markdown(":shimmer[held against the truth …]")


def _parts(description: str, domain: str, code: str) -> str:
    named = {"description": description, "domain": domain, "code": code}
    there = [f"{name} of {len(text)} characters" for name, text in named.items() if text]
    return " and ".join(there) or "nothing"


# Against the truth


def _tests(case: Case) -> None:
    """Exact-match texts and unit tests, one by one."""
    yours = case.spec is not None and case.spec.interpreter == "you"
    if case.predictions:
        st.markdown(f"#### 3 · {'Your' if yours else 'Its'} code on texts that were not shown", anchors=False)
        tests = sum(one.kind == "test" for one in case.predictions)
        label = f"{tests} test texts, and {len(case.predictions) - tests} where nobody looked"
        with st.expander(label, icon=":material/fact_check:", key="texts"):
            st.dataframe(
                [
                    {
                        "": "✓" if one.repaired == one.truth else "✗",
                        "Input": one.input,
                        "The function": one.truth,
                        "The code": one.error if one.repaired is None else one.repaired,
                        "Kind": one.kind,
                    }
                    for one in case.predictions
                ],
                hide_index=True,
                key="texts-table",
                alt="Texts with what the function and the code give",
            )
    if case.units:
        st.markdown(f"#### {4 if case.predictions else 3} · Unit tests of the description", anchors=False)
        st.caption(
            "An evaluator that sees only the description picks which of three examples is the function's. Guessing "
            "gives one third. The same on the true description shows what this evaluator can do at best."
        )
        for about, words in _JUDGED.items():
            units = {item: test for item, test in case.units.items() if test.about == about}
            if units:
                _units(case, words, about, units)


def _units(case: Case, words: str, about: str, units: dict[str, UnitTest]) -> None:
    marks = {True: "✓", False: "✗", None: "?"}
    names = {f"{number} {marks[test.repaired]}": item for number, (item, test) in enumerate(units.items(), start=1)}
    chosen = st.pills(words, list(names), key=f"units-{about}", wrap=True)
    if not chosen:
        return
    test = units[names[chosen]]
    lines = []
    for number, option in enumerate(test.options, start=1):
        badges = " :green-badge[the function's]" if number == test.correct else ""
        badges += " :blue-badge[picked]" if number == test.picked else ""
        lines.append(f"{number}. {plain(option)}{badges}")
    st.markdown("\n".join(lines))
    if test.call and test.call in case.told.calls:
        inspector(
            case.told.calls[test.call],
            {"paper": _WORDS[test.paper], "repaired": _WORDS[test.repaired]},
        )
    else:
        st.caption("No model was asked: the example whose sentence vector lies nearest to the description was taken.")


def _figures(case: Case) -> None:
    with st.expander("Every figure, by both sets of rules", icon=":material/table_chart:", key="figures"):
        rows = []
        for metric, words in WORDS.items():
            score = case.told.score(metric, "repaired")
            if score is None:
                continue
            both = {rules: case.value(metric, rules) for rules in _RULES}
            shown = {rules: "undefined" if value is None else number(value) for rules, value in both.items()}
            if score.low is not None and score.high is not None:
                shown["repaired"] += f" ({score.low:.2f} to {score.high:.2f})"
            rows.append(
                {
                    "Figure": words[0].upper() + words[1:],
                    "Repaired rules": shown["repaired"],
                    "Paper rules": shown["paper"],
                    "Counted": f"{score.n} of {score.of}",
                    "Note": case.reason(metric) or case.reason(metric, "paper"),
                }
            )
        st.dataframe(rows, hide_index=True, key="figures-table", alt="Every figure by both sets of rules")


def _meaning(case: Case) -> None:
    with st.expander("What this means", icon=":material/lightbulb:", key="meaning"):
        st.markdown(
            "The interpreter saw nothing but inputs and outputs. Since we know the function, we can tell how far its "
            "words and its code are right.\n\n"
            "- **NMSE** (numbers): the code's squared error on 256 points, as a share of the function's own size. "
            "Below 0.1 counts as success. The **noise floor** is what a perfect description would get.\n"
            "- **Exact match** (texts): the share of ten texts on which the code gives exactly the function's output.\n"
            "- **Unit test** (words and facts): whether someone who has only the description can tell the function's "
            "examples from others.\n"
            "- **What it missed** compares the words with the calls that were really made."
        )
    with st.expander("What it does not mean", icon=":material/block:", key="no-meaning"):
        st.markdown(
            "- A good fit is not understanding: code can be right where the words are not, or the other way round.\n"
            "- One function says little about an interpreter. Try several, or use the command line.\n"
            "- A language model that carries out a function (entities, relations) makes mistakes of its own; then even "
            "a perfect interpreter cannot be right. The unit test on the true description shows that limit.\n"
            "- These boxes are small and made by us; what is hard here need not be what is hard in a real network."
        )
