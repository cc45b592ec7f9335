"""The page of Check: what only its form has, a run of several checks, and the method."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, get_args

import pandas as pd
import streamlit as st

from core.datasets.items import Item
from core.labs.base.spec import knobs
from core.labs.check import pictures
from core.labs.check.controls import LexiconControl, Slots, worthless
from core.labs.check.lab import LAB
from core.labs.check.records import Consistency
from core.labs.check.report import CheckReport
from core.labs.check.tasks import LABELS, LONGEST, CheckSpec, Persona, Task, Wording, in_words, shipped
from core.labs.check.view import agreement, check_name
from core.paper_figures import figures
from core.scene import Mark
from core.text.templates import PROMPTS
from core.transcript import CaseProgress, Transcript, name_of
from pages.components import lab_page, session, tables, widgets
from pages.components.lab_page import FormPlaces, LabPage
from pages.components.run import size
from pages.components.side_by_side import LOOKS
from pages.components.throttle import waits

SHOWN_EXAMPLES = 4
TWO_LINES = 84
"""Height in pixels of the field for a paragraph."""

SHOWN_KNOWN = 3

EXPLANATIONS = knobs(CheckSpec)["explanations"].names


def use_item(task: Task, id: str) -> None:
    """Fill the fields with an example."""
    st.session_state.update(of_item(task, next(item for item in shipped(task) if item.id == id)))


def of_item(task: Task, item: Item) -> dict[str, Any]:
    """Return the values of the fields for the user's own paragraph that make up `item`."""
    return {
        f"paragraph-{task}": item.paragraph,
        f"about-{task}": item.question or item.hypothesis,
        "choices": "\n".join(item.choices),
        f"label-{task}": item.label,
    }


def unlabel(task: Task) -> None:
    """Remove the correct answer after an edit, unless the text is a built-in item again."""
    now = st.session_state[f"paragraph-{task}"], st.session_state.get(f"about-{task}") or ""
    same = (item.label for item in shipped(task) if (item.paragraph, item.question or item.hypothesis) == now)
    st.session_state[f"label-{task}"] = next(same, None)


@st.cache_data(max_entries=8, show_spinner=False)
def checks(run_id: str, size: int) -> pd.DataFrame:
    """Return one row per judged check: case, paragraph, explanation, wording, label, before, after, faithful, …"""
    state = session.run(run_id).watch().transcript
    rows = []
    for case in state.in_order:
        for data in state.case(case).of_type(name_of(Consistency)).values():
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
                pictures.chart_classes(of_kind),
                key=f"classes-{kind}",
                alt=f"{kind}: for each label and first answer, the answers after the edit",
            )
    if (by_wording := pictures.chart_faithfulness(transcript.scores)) is not None:
        st.subheader("By wording", anchor=False)
        st.plotly_chart(by_wording, key="by-wording", alt="Faithfulness of each wording with intervals")


_CELLS = {"faithful": "yes", "unfaithful": "no", "undecided": "open", "misclassified": "wrong at first", "waiting": "…"}
_MEANS: dict[str, Mark] = {**CheckReport.outcomes, "failed": "failed", "waiting": "waiting"}

OUTCOMES = {outcome: LOOKS[mark]._replace(words=_CELLS.get(outcome, outcome)) for outcome, mark in _MEANS.items()}
"""The look of a case's outcome in a cell; the words are short because phones are narrow."""


def grid(cases: Mapping[str, CaseProgress]) -> None:
    """Draw a grid with explanation and target or mask as rows and persona as columns; below it, how many agree, and a
    case that was not consistent.
    """
    if len(cases) < 2:
        return
    outcomes = {case: progress.outcome for case, progress in cases.items()}
    lines: dict[str, dict[str, str]] = {}
    for case in cases:
        _, kind, wording = _parts(case)
        persona, _, rest = wording.partition("-")
        lines.setdefault(f"{kind}, {rest.replace('-', ', ')}", {})[persona] = case
    personas = [persona for persona in get_args(Persona) if any(persona in line for line in lines.values())]
    several = len(cases) > len({_parts(case)[1] for case in cases})
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
            f"{in_words(check_name(flagged))}, flagged above, is one that it was not consistent with. The paper "
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
    draw(label, list(titles), format_func=titles.get, key=key, label_visibility="collapsed", on_change=choose, **more)


class CheckPage(LabPage):
    """The page of Check, with its form."""

    verb = "Hide words"
    words = MappingProxyType({**knobs(CheckSpec)["task"].names, **EXPLANATIONS})
    sources = MappingProxyType({"own": "One paragraph", "shipped": "Built-in examples", "dataset": "A data set"})

    def more_settings(self, given: dict[str, Any]) -> None:
        """Draw the wording of the prompts."""
        wording: dict[str, Any] = {}
        for column, names in zip(st.columns(2), Wording.GROUPS.values(), strict=True):
            with column:
                wording |= {name: widgets.widget(LAB, knobs(Wording)[name]) for name in names}
        given["wordings"] = (Wording.model_validate(wording),)

    def subject(self, places: FormPlaces, given: Mapping[str, Any]) -> dict[str, Any]:
        """Draw what is classified. Raises ValueError if no way to explain is chosen."""
        subject = super().subject(places, given)
        if not given["explanations"]:
            raise ValueError("Choose at least one kind of explanation.")
        return subject

    def shipped(self, task: str) -> tuple[int, int]:
        """Return how many items ship for the task, and how many are chosen at first."""
        return len(shipped(task)), 10

    def line(self, spec: CheckSpec) -> list[str]:
        """Return what was checked, the model, and the kinds of explanation."""
        kinds = " and ".join(EXPLANATIONS[one].lower() for one in spec.explanations)
        return [spec.title, widgets.short(spec.model), f"{kinds}, every wording" if spec.every_wording else kinds]

    def fill(self, spec: CheckSpec) -> dict[str, Any]:
        """Return the widgets' values for a run that was started with `spec`."""
        held = super().fill(spec) | {self.key(name): value for name, value in spec.wordings[0]}
        return held | {self.key("source"): "own"} | of_item(spec.task, spec.items[0]) if spec.items else held

    def is_at_most(self, spec: CheckSpec) -> bool:
        """Whether a check may have fewer words to mask at random than asked for."""
        return bool(spec.controls)

    def own(self, places: FormPlaces, given: Mapping[str, Any]) -> dict[str, Any]:
        """Draw the user's own paragraph, with the question about it; folded, the correct answer, if known."""
        task, model = given["task"], given["model"]
        if f"paragraph-{task}" not in st.session_state:
            use_item(task, shipped(task)[0].id)
        paragraph = places.question.text_area(
            "Premise (only this is edited)" if task == "entailment" else "Paragraph",
            key=f"paragraph-{task}",
            height=TWO_LINES,
            max_chars=LONGEST,
            persist_state="session",
            on_change=unlabel,
            args=(task,),
        )
        about = ""
        choices: tuple[str, ...] = ()
        with places.below:
            self._examples(task)
            if task != "sentiment":
                words = "Question" if task == "multi_choice" else "Statement"
                about = st.text_input(
                    words, key=f"about-{task}", max_chars=2000, persist_state="session", on_change=unlabel, args=(task,)
                )
            if task == "multi_choice":
                lines = st.text_area("Choices, one per line", key="choices", height=110, persist_state="session")
                choices = tuple(dict.fromkeys(line.strip() for line in lines.splitlines() if line.strip()))
            self._outside(task, model, Slots(paragraph=paragraph, question=about, hypothesis=about, choices=choices))
        labels = choices or LABELS.get(task, ())
        if st.session_state.get(f"label-{task}") not in labels:
            st.session_state[f"label-{task}"] = None
        label = places.more.selectbox(
            "Correct answer",
            labels,
            index=None,
            key=f"label-{task}",
            placeholder="not known",
            persist_state="session",
            help="If given, the target of a counterfactual is chosen from it, as in the paper, and wrong first answers "
            "do not count. If not, the target is chosen from the model's first answer.",
        )
        item = {"id": "text", "task": task, "paragraph": paragraph, "choices": choices, "label": label}
        if task != "sentiment":
            item["question" if task == "multi_choice" else "hypothesis"] = about
        return {"items": (item,)}

    def _examples(self, task: Task) -> None:
        items = [item.id for item in shipped(task)]

        def shown(turn: int) -> list[str]:
            return [items[(turn * SHOWN_EXAMPLES + step) % len(items)] for step in range(SHOWN_EXAMPLES)]

        self.examples(shown, lambda id: use_item(task, id), lambda id: id.replace("-", " "))

    def _outside(self, task: Task, model: str, asked: Slots) -> None:
        """Tell the user, before the run, that a control finds nothing in the paragraph to base a decision on."""
        control = LAB.robots.controls().get(model)
        if not isinstance(control, LexiconControl) or not asked.paragraph.strip() or control.knows(task, asked):
            return
        said = f"{model} decides by single words and knows none of these: it would answer “unknown”."
        known = {item.id: item.id.replace("-", " ") for item in shipped(task)[:SHOWN_KNOWN]}
        widgets.outside(said, known, lambda id: use_item(task, id), self.key("model"), LAB)

    def choose(self, transcript: Transcript) -> str:
        """Let the reader choose paragraph, explanation and wording, and show all wordings at a glance."""
        cases = list(transcript.in_order)
        if not cases:
            return ""
        run = transcript.started.run if transcript.started else ""
        known = st.query_params.get("case", "")
        shown = known if known in transcript.cases else cases[0]
        place, kind, _ = _parts(shown)
        places = {
            (one := _parts(case)[0]): f"{one} · {transcript.cases[case].title.partition(' · ')[0]}" for case in cases
        }
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
            super().run_table(transcript, run_id)
            return

        st.subheader("All checks", anchor=False)
        st.caption("Select a check to see its sessions above.")
        words = {case: one.outcome for case, one in transcript.cases.items() if one.result}
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
        texts = lab_page.method_texts(LAB)
        lab_page.folded(lab_page.RULES, "rule", "check-rules", texts["rules"])
        robots = (f"`{id}`: {robot.about}" for id, robot in worthless().items())
        lab_page.folded("Robots that explain nothing", "smart_toy", "check-worthless", texts["robots"], robots)
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
