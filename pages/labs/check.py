"""Check: a model explains its answer by an edit or by words; a fresh session shows whether it keeps to that."""

from __future__ import annotations

from typing import Any

import streamlit as st
from pydantic import ValidationError

from core import entry
from core.charts import consistency as charts
from core.datasets import registry
from core.datasets.items import DatasetError, Item
from core.events import CallFailed
from core.labs.consistency.case import Case, case
from core.labs.consistency.tasks import (
    LABELS,
    LONGEST,
    PAPER_SAMPLING,
    CheckSpec,
    Task,
    Wording,
    calls,
    items_of,
    shipped,
)
from core.runs.transcript import Transcript
from pages.parts import check_case, check_table, models, session
from pages.parts.live import answered, named_run, progress, watch
from pages.parts.run import actions, go_on, problems
from pages.parts.text import plain

TASKS: dict[Task, str] = {
    "sentiment": "Sentiment of a paragraph",
    "multi_choice": "A question with choices",
    "entailment": "Does a statement follow?",
}
SOURCES = {"own": "One paragraph", "shipped": "The items that ship", "dataset": "A data set"}
SHOWN_EXAMPLES = 4


def start(spec: CheckSpec) -> None:
    """Start a run; its id in the address brings a reload back to it."""
    st.query_params.clear()
    st.query_params["run"] = entry.jobs().start("consistency", spec, session.catalog().get)
    st.rerun()


def take(task: Task, id: str) -> None:
    """Put a ready-made item into the fields."""
    item = next(item for item in shipped(task) if item.id == id)
    st.session_state.update({
        f"paragraph-{task}": item.paragraph,
        f"about-{task}": item.question or item.hypothesis,
        "choices": "\n".join(item.choices),
        f"label-{task}": item.label,
    })  # fmt: skip


def examples(task: Task) -> None:
    """Ready-made paragraphs to click."""

    def chosen() -> None:
        if id := st.session_state["check-example"]:
            take(task, id)
            st.session_state["check-example"] = None

    def others() -> None:
        st.session_state["examples-from"] = st.session_state.get("examples-from", 0) + SHOWN_EXAMPLES

    items = shipped(task)
    first = st.session_state.get("examples-from", 0) % len(items)
    shown = [items[(first + step) % len(items)].id for step in range(SHOWN_EXAMPLES)]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.pills(
            "Examples",
            shown,
            format_func=lambda id: id.replace("-", " "),
            key="check-example",
            on_change=chosen,
            label_visibility="collapsed",
            wrap=True,
        )
        st.button("Others", icon=":material/casino:", type="tertiary", key="check-others", on_click=others)


def own_paragraph(task: Task) -> dict[str, Any]:
    """A paragraph of one's own, with what is asked about it and the correct answer, if known."""
    if f"paragraph-{task}" not in st.session_state:
        take(task, shipped(task)[0].id)
    paragraph = st.text_area(
        "Premise: only this is ever edited" if task == "entailment" else "Paragraph",
        key=f"paragraph-{task}",
        height=120,
        max_chars=LONGEST,
        persist_state="session",
    )
    examples(task)
    about, choices = "", ()
    if task != "sentiment":
        words = "Question" if task == "multi_choice" else "Statement"
        about = st.text_input(words, key=f"about-{task}", max_chars=2000, persist_state="session")
    if task == "multi_choice":
        lines = st.text_area("Choices, one a line", key="choices", height=110, persist_state="session")
        choices = tuple(dict.fromkeys(line.strip() for line in lines.splitlines() if line.strip()))
    labels = choices or LABELS.get(task, ())
    if st.session_state.get(f"label-{task}") not in labels:
        st.session_state[f"label-{task}"] = None
    label = st.selectbox(
        "Correct answer",
        labels,
        index=None,
        key=f"label-{task}",
        placeholder="not known",
        persist_state="session",
        help="With it, the target of a counterfactual is chosen from it, as in the paper, and wrong first answers do "
        "not count. Without it the target is chosen from the model's first answer.",
    )
    item = {
        "id": "text",
        "task": task,
        "paragraph": paragraph,
        "question": about if task == "multi_choice" else "",
        "hypothesis": about if task == "entailment" else "",
        "choices": choices,
        "label": label,
    }
    return {"items": (item,)}


def from_dataset(task: Task) -> dict[str, Any]:
    """Which data set, where it lies, and how many of its items."""
    fit = {dataset.name: dataset for dataset in registry.DATASETS if dataset.task == task}
    left, middle, right = st.columns([2, 3, 1])
    name = left.selectbox(
        "Data set", list(fit), format_func=lambda one: fit[one].title, key=f"dataset-{task}", persist_state="session"
    )
    path = middle.text_input(
        "File or folder",
        key=f"path-{name}",
        placeholder=f"$EXPLAIN_HOME/datasets/{name}",
        persist_state="session",
        help=f"To be had from {fit[name].source}. Expected there: {fit[name].layout}",
    )
    limit = right.number_input("Items", 1, 1000, 10, key="limit", persist_state="session")
    return {"dataset": name, "path": path.strip() or None, "limit": int(limit)}


def settings(task: Task) -> dict[str, Any]:
    """The finer settings, folded away."""
    with st.expander("Settings", icon=":material/tune:", key="check-settings"):
        left, right = st.columns(2)
        with left:
            persona = st.segmented_control(
                "Persona", ["objective", "human", "you"], default="objective", required=True, key="persona",
                persist_state="session", help="Whose view is asked for, in all three sessions.",
            )  # fmt: skip
            target = st.segmented_control(
                "Target of a counterfactual", ["explicit", "implicit"], default="explicit", required=True, key="target",
                persist_state="session", help="Whether the prompt names the answer that the edit shall lead to.",
            )  # fmt: skip
            mask = st.segmented_control(
                "Mask", ["[REDACTED]", "[REMOVED]"], default="[REDACTED]", required=True, key="mask",
                format_func=plain, persist_state="session",
            )  # fmt: skip
            mask_sentence = st.toggle(
                "Say that words can be masked", value=True, key="mask-sentence", persist_state="session",
                help="A sentence in the classification prompt, the same before and after the edit.",
            )  # fmt: skip
            short = st.toggle("Short redaction prompt", key="short", persist_state="session")
        with right:
            controls = st.slider(
                "Random masks for each check", 0, 10, 3, key="controls", persist_state="session",
                help="As many words of like length as the explanation masked, drawn at random.",
            )  # fmt: skip
            answerable = st.toggle(
                "Also ask whether it can tell at all", key="answerable", persist_state="session",
            )  # fmt: skip
            tokens = st.number_input(
                "Longest answer, in tokens", 16, 8192, PAPER_SAMPLING.max_tokens, key="max-tokens",
                persist_state="session",
                help="The paper allows 1024. A small model that does not stop by itself is quicker with less; a "
                "counterfactual needs as many as the paragraph has.",
            )  # fmt: skip
            seed = st.number_input("Seed", 0, 10**6, 0, key="check-seed", persist_state="session")
    return {
        "wordings": (Wording(persona=persona, target=target, mask=mask, mask_sentence=mask_sentence, short=short),),
        "controls": controls,
        "answerable": answerable,
        "max_tokens": int(tokens),
        "seed": int(seed),
    }


def form() -> None:
    """What to check, whose explanations, and how. Starts the run."""
    with st.container(border=True, key="check-form"):
        task: Task = st.segmented_control(
            "Task", list(TASKS), default="sentiment", format_func=TASKS.get, required=True, key="check-task",
            label_visibility="collapsed", persist_state="session",
        ) or "sentiment"  # fmt: skip
        left, right = st.columns(2)
        with left:
            model = models.pick("Model", key="check-model", lab="consistency")
        with right:
            explanations = st.pills(
                "It explains itself by",
                list(check_case.EXPLANATIONS),
                selection_mode="multi",
                default=["attribution"],
                format_func=check_case.EXPLANATIONS.get,
                key="explanations",
                persist_state="session",
                wrap=True,
            )
        source = st.segmented_control(
            "What it is asked about", list(SOURCES), default="own", format_func=SOURCES.get, required=True,
            key="source", label_visibility="collapsed", persist_state="session",
        )  # fmt: skip
        fields: dict[str, Any] = {}
        if source == "dataset":
            fields = from_dataset(task)
        elif source == "own":
            fields = own_paragraph(task)
        else:
            fields["limit"] = st.slider("Items", 1, len(shipped(task)), 10, key="shipped", persist_state="session")
        chosen = settings(task)
        spec, items = None, 0
        if not explanations:
            st.warning("Choose at least one way to explain.", icon=":material/edit:")
        else:
            every = st.session_state.get("every-wording", False)
            try:
                spec = CheckSpec(
                    task=task, model=model, explanations=tuple(explanations), every_wording=every, **fields, **chosen
                )
                items = len(known_items(spec))
            except (ValidationError, DatasetError) as error:
                problems(error)
                spec = None
        with st.container(horizontal=True, vertical_alignment="center"):
            number = calls(spec, items) if spec else 0
            words = f" · {'at most ' if chosen['controls'] else ''}{number} calls" if spec else ""
            pressed = st.button(
                f"Check{words}", type="primary", icon=":material/fact_check:", key="check", disabled=spec is None
            )
            st.checkbox(
                "Try every wording",
                key="every-wording",
                persist_state="session",
                help="All of the paper's: three personas, each with both targets or both masks.",
            )
        if pressed and spec is not None:
            try:
                session.catalog().get(spec.model)
            except CallFailed as error:
                problems(error)
                return
            start(spec)


@st.cache_data(max_entries=8, ttl=30, show_spinner="Reading the items …")
def known_items(spec: CheckSpec) -> dict[str, Item]:
    """The items a run would be about, so that it is known before how many there are. Raises DatasetError."""
    return items_of(spec)


def show(run_id: str) -> None:
    """The run, live while it goes on."""

    def draw(told: Transcript, active: bool) -> None:
        current = case(told)
        if active and current.spec:
            done = answered(told)
            most = max(calls(current.spec, len(current.items)), done, 1)
            judged = len(current.rows) - current.counts()["waiting"]
            text = f"{done} of at most {most} calls answered · {judged} of {len(current.rows)} checks judged"
            progress(run_id, done / most, text)
        check_case.draw(current, active)

    told = watch(run_id, "consistency", draw)
    current = case(told) if told else None
    if told is None or current is None or current.spec is None:
        return
    if len(current.rows) > 1:
        check_table.draw(run_id, current)
        if len(current.items) > 1:
            figures(run_id, current)
    go_on(run_id, told)
    actions(run_id, told, here="check")
    if current.spec.model.startswith("control/") and told.status == "completed":
        real = "local/smollm2-135m"
        if st.button("Now ask a real language model", icon=":material/smart_toy:", key="check-real"):
            start(current.spec.model_copy(update={"model": real}))


def figures(run_id: str, current: Case) -> None:
    """The paper's pictures for a run over several paragraphs."""
    st.subheader("Before and after", anchor=False)
    for kind in check_case.EXPLANATIONS:
        of_kind = check_table.frame(current, kind)
        if len(of_kind):
            st.markdown(check_case.EXPLANATIONS[kind])
            st.plotly_chart(
                charts.classes(of_kind),
                key=f"classes-{kind}",
                alt=f"{kind}: for each label and first answer, the answers after the edit",
            )
    scores = check_table.scores(current)
    if len(scores):
        st.subheader("By wording", anchor=False)
        st.plotly_chart(
            charts.faithfulness(scores, "wording"), key="by-wording", alt="Faithfulness of each wording with intervals"
        )


st.title("Check", anchor=False)
st.markdown(
    "A model answers and explains itself by something one can try out: an edit that changes the answer, or the words "
    "that matter. **A fresh session, which knows nothing of that, shows whether it keeps to its word.**"
)
form()
named_run(show)
