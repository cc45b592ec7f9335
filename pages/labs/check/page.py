"""The hand-written parts of Check's page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import pandas as pd
import streamlit as st

from core.labs.base.spec import knobs
from core.labs.check import charts
from core.labs.check.controls import worthless
from core.labs.check.lab import LAB
from core.labs.check.records import Consistency
from core.labs.check.report import CheckReport
from core.labs.check.tasks import CheckSpec, in_words
from core.labs.check.view import agreement, name_of
from core.paper_figures import figures
from core.scene import Mark
from core.text.templates import PROMPTS
from core.transcript import CaseProgress, Transcript
from core.transcript import name_of as record_name
from pages.components import plain_case, plain_methods, session, tables
from pages.components.run import size
from pages.components.throttle import waits
from pages.components.tiles import LOOKS
from pages.labs.check.form import EXPLANATIONS, CheckForm


@st.cache_data(max_entries=8, show_spinner=False)
def checks(run_id: str, size: int) -> pd.DataFrame:
    """Return one row per judged check: case, paragraph, explanation, wording, label, before, after, faithful, …"""
    state = session.run(run_id).watch().transcript
    rows = []
    for case in plain_case.by_number(state):
        for data in state.case(case).of_type(record_name(Consistency)).values():
            kept = ("paragraph", "explanation", "wording", "label", "distance", "kept", "masked")
            read = {name: data.get(f"{name}_repaired") for name in ("before", "after", "faithful", "reason", "control")}
            rows.append({"case": case, **{name: data.get(name) for name in kept}, **read})
    return pd.DataFrame(rows)


def _word(outcome: str) -> str:
    """Return the name of an outcome on the screen."""
    return CheckReport.mark_words.get(LAB.means(outcome), outcome) if outcome in ("faithful", "unfaithful") else outcome


def _pictures(transcript: Transcript, frame: pd.DataFrame) -> None:
    st.subheader("Before and after", anchor=False)
    for kind, title in EXPLANATIONS.items():
        of_kind = frame[frame["explanation"] == kind]
        if len(of_kind):
            st.markdown(title)
            st.plotly_chart(
                charts.classes(of_kind),
                key=f"classes-{kind}",
                alt=f"{kind}: for each label and first answer, the answers after the edit",
            )
    scores = _by_wording(transcript)
    if len(scores):
        st.subheader("By wording", anchor=False)
        st.plotly_chart(
            charts.faithfulness(scores), key="by-wording", alt="Faithfulness of each wording with intervals"
        )


def _by_wording(transcript: Transcript) -> pd.DataFrame:
    """Return the figures of each wording in the form that `core.labs.check.charts.faithfulness` expects."""
    spec = transcript.started.spec if transcript.started else {}
    rows = []
    for score in transcript.scores:
        explanation, _, wording = score.item.partition("/")
        if score.metric == "faithfulness" and score.rules == "repaired" and wording and not score.case:
            control = transcript.score("faithfulness_control", "repaired", score.item)
            rows.append(
                {
                    **{name: spec.get(name) for name in ("model", "task", "title")},
                    "run": score.run,
                    "explanation": explanation,
                    "wording": wording,
                    "faithfulness": score.value,
                    "low": score.low,
                    "high": score.high,
                    "n": score.n,
                    "of": score.of,
                    "control": control.value if control else None,
                }
            )
    return pd.DataFrame(rows)


PERSONAS = ("objective", "human", "you")

_CELLS = {"faithful": "yes", "unfaithful": "no", "undecided": "open", "misclassified": "wrong at first", "waiting": "…"}
_MEANS: dict[str, Mark] = {**LAB.outcomes, "failed": "failed", "waiting": "waiting"}

OUTCOMES = {outcome: LOOKS[mark]._replace(words=_CELLS.get(outcome, outcome)) for outcome, mark in _MEANS.items()}
"""The look of a case's outcome in a cell; the words are short because phones are narrow."""


def grid(cases: Mapping[str, CaseProgress]) -> None:
    """Draw a grid with explanation and target or mask as rows and persona as columns; below it, how many agree, and a
    case that was not consistent.
    """
    if len(cases) < 2:
        return
    outcomes = {
        case: str(progress.result["outcome_repaired"]) if progress.result else "waiting"
        for case, progress in cases.items()
    }
    lines: dict[str, dict[str, str]] = {}
    for case in cases:
        kind, _, wording = name_of(case).partition("/")
        persona, _, rest = wording.partition("-")
        lines.setdefault(f"{kind}, {rest.replace('-', ', ')}", {})[persona] = case
    personas = [persona for persona in PERSONAS if any(persona in line for line in lines.values())]
    several = len(cases) > len({name_of(case).partition("/")[0] for case in cases})
    agree = agreement(outcomes)
    flagged = agree.unfaithful if several else None
    cells = [f"| Consistent? | {' | '.join(personas)} |", "|" + "---|" * (len(personas) + 1)]
    for name, line in lines.items():
        shown = [_cell(line.get(persona), outcomes, flagged) for persona in personas]
        cells.append(f"| {name} | {' | '.join(shown)} |")
    st.markdown("\n".join(cells))
    if not agree.decided:
        return
    pending = agree.planned - agree.decided
    rest = f"; {pending} of {agree.planned} decide nothing, do not count, or are still running" if pending else ""
    st.markdown(f"It was consistent with **{agree.faithful} of {agree.decided}** that count{rest}.")
    if flagged is not None:
        st.warning(
            f"{in_words(name_of(flagged))}, flagged above, is one that it was not consistent with. The paper "
            "considers a single such wording a problem: people who ask that way get a wrong explanation.",
            icon=":material/flag:",
        )


def _cell(case: str | None, outcomes: Mapping[str, str], flagged: str | None) -> str:
    if case is None:
        return ""
    look = OUTCOMES.get(outcomes[case], OUTCOMES["waiting"])
    icon = ":material/flag:" if case == flagged else look.icon
    return look._replace(icon=icon).badge()


def _parts(case: str) -> tuple[str, str, str]:
    """Return paragraph, explanation and wording from a case's id."""
    place, _, rest = case.partition("/")
    kind, _, wording = rest.partition("/")
    return place, kind, wording


def _paragraph(transcript: Transcript, case: str) -> str:
    return f"{_parts(case)[0]} · {transcript.cases[case].title.partition(' · ')[0]}"


def _one_of(
    titles: dict[str, str], at: int, shown: str, cases: list[str], draw: Callable[..., object], label: str, key: str
) -> None:
    """Let the reader choose part `at` of the id of the case that is `shown`; draws nothing if there is only one."""
    if len(titles) == 1:
        return
    # The address says which case is shown, whether it was chosen here, in the table, or by a link.
    st.session_state[key] = _parts(shown)[at]

    def choose() -> None:
        wanted = list(_parts(shown))
        wanted[at] = st.session_state[key]
        fit = [case for case in cases if _parts(case)[at] == wanted[at]]
        # Keeps as many of the other parts as possible: the wordings of one explanation differ from those of another.
        alike = {case: [one == other for one, other in zip(_parts(case), wanted, strict=True)] for case in fit}
        st.query_params["case"] = max(fit, key=lambda case: alike[case])

    more = {"required": True, "wrap": True} if draw is st.pills else {}
    draw(
        label,
        list(titles),
        format_func=lambda one: titles[one],
        key=key,
        label_visibility="collapsed",
        on_change=choose,
        **more,
    )


class CheckPage(CheckForm):
    """The page of Check."""

    verb = "Hide words"
    words = MappingProxyType({**knobs(CheckSpec)["task"].names, **EXPLANATIONS})

    def choose(self, transcript: Transcript) -> str:
        """Let the reader choose paragraph, explanation and wording, and show all wordings at a glance."""
        cases = list(plain_case.by_number(transcript))
        if not cases:
            return ""
        run = transcript.started.run if transcript.started else ""
        known = st.query_params.get("case", "")
        shown = known if known in transcript.cases else cases[0]
        place, kind, _ = _parts(shown)
        places: dict[str, str] = {}
        for case in cases:
            places.setdefault(_parts(case)[0], _paragraph(transcript, case))
        _one_of(places, 0, shown, cases, st.selectbox, "Paragraph", f"shown-item-{run}")
        of_item = [case for case in cases if _parts(case)[0] == place]
        grid({case: transcript.cases[case] for case in of_item})
        kinds = {one: EXPLANATIONS.get(one, one) for one in (_parts(case)[1] for case in of_item)}
        _one_of(kinds, 1, shown, cases, st.pills, "Explanation", f"shown-explanation-{run}")
        wordings = [_parts(case)[2] for case in of_item if _parts(case)[1] == kind]
        names = {one: one.replace("-", ", ") for one in wordings}
        _one_of(names, 2, shown, cases, st.pills, "Wording", f"shown-wording-{run}")
        return shown

    def run_table(self, transcript: Transcript, run_id: str) -> None:
        """Draw the table of checks, in which a click shows a check above; with several paragraphs also the pictures."""
        with waits("Reading the checks …"):
            frame = checks(run_id, size(run_id))
        if frame.empty:
            plain_case.table(transcript, run_id)
            return

        st.subheader("All checks", anchor=False)
        st.caption("Select a check to see its sessions above.")
        words = {case: one.result["outcome_repaired"] for case, one in transcript.cases.items() if one.result}
        table = pd.DataFrame(
            {
                "Paragraph": frame["paragraph"],
                "Explanation": frame["explanation"],
                "Wording": frame["wording"].str.replace("-", ", "),
                "Correct": frame["label"],
                "First answer": frame["before"],
                "Fresh session": frame["after"],
                "Verdict": [_word(words.get(case, "")) for case in frame["case"]],
                "Random masks": frame["control"],
                "Masked": frame["masked"],
                "Kept": frame["kept"],
                "Undecided because": frame["reason"],
            }
        )
        share = st.column_config.NumberColumn(format="percent")
        key, columns = f"checks-{run_id}", {"Random masks": share, "Masked": share, "Kept": share}
        about = "Table of all checks with both answers and the verdict"
        tables.table(table, key, about, column_config=columns, **tables.opens(list(frame["case"]), key))
        tables.as_csv(table, key)
        if frame["paragraph"].nunique() > 1:
            _pictures(transcript, frame)

    def ways(self, spec: CheckSpec) -> dict[str, dict[str, Any]]:
        """Return the other kinds of explanation, if each paragraph has one check."""
        if len(spec.explanations) > 1 or len(spec.wordings) > 1 or spec.every_wording:
            return {}
        others = (kind for kind in EXPLANATIONS if kind not in spec.explanations)
        return {EXPLANATIONS[kind]: {"explanations": (kind,)} for kind in others}

    def methods(self) -> None:
        """Draw procedure, figures, rules, prompts and what the paper reported."""
        texts = plain_methods.method_texts(LAB)
        plain_methods.folded(plain_methods.RULES, "rule", "check-rules", texts["rules"])
        robots = (f"`{id}`: {robot.about}" for id, robot in worthless().items())
        plain_methods.folded("Robots that explain nothing", "smart_toy", "check-worthless", texts["robots"], robots)
        st.subheader("Prompts of Check", anchor=False)
        check_names = sorted(path.stem for path in (PROMPTS / "consistency").glob("*.toml"))
        check_chosen = st.selectbox("Template", check_names, key="check-template", bind="query-params")
        if check_chosen:
            text = (PROMPTS / "consistency" / f"{check_chosen}.toml").read_text(encoding="utf-8")
            st.caption(texts["wordings"])
            st.code(text, language=None, wrap_lines=True)
        st.subheader("What the paper reported", anchor=False)
        st.caption(texts["published"])
        times = pd.DataFrame(figures("consistency"))
        times = times.pivot(index=["dataset", "n", "model"], columns="step", values="value").reset_index()
        tables.table(times, "check-published", "Published seconds of inference by data set, model and step")


PAGE = CheckPage
