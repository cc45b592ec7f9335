"""Ask: put a question to a model and watch whether its explanation predicts what it says next."""

from __future__ import annotations

import random

import streamlit as st
from pydantic import ValidationError

from core import entry
from core.events import CallFailed
from core.labs.simulatability import prompts, world
from core.labs.simulatability.case import case
from core.labs.simulatability.parse import Pair, text_of
from core.labs.simulatability.questions import pairs, questions
from core.labs.simulatability.records import Counterfactual
from core.labs.simulatability.tasks import COUNTERFACTUALS, AskSpec
from core.runs.transcript import Transcript
from pages.parts import ask_case, models, session
from pages.parts.ask_case import METHODS
from pages.parts.live import answered, named_run, progress, watch
from pages.parts.run import actions, go_on, keep, problems, resume

TASKS = {"strategyqa": "A yes-or-no question", "shp": "Which response is better?"}
FIRST_QUESTION = "Can a penguin fly?"
SHOWN_EXAMPLES = 3


def ask(spec: AskSpec, guess: bool) -> None:
    """Start a run; its id in the address brings a reload back to it."""
    st.query_params.clear()
    st.query_params["run"] = entry.jobs().start("simulatability", spec, session.catalog().get)
    if guess:
        st.query_params["guess"] = "1"
    st.rerun()


def examples(model: str) -> None:
    """Ready-made questions to click; a control is offered those of its own world."""
    known = [one.question for one in questions() if one.world or not model.startswith("control/")]
    shown = random.Random(st.session_state.setdefault("shuffle", 0)).sample(known, min(SHOWN_EXAMPLES, len(known)))

    def take() -> None:
        if chosen := st.session_state["example"]:
            st.session_state["question"] = chosen
            st.session_state["example"] = None

    def shuffle() -> None:
        st.session_state["shuffle"] += 1

    with st.container(horizontal=True, vertical_alignment="center"):
        st.pills("Examples", shown, key="example", on_change=take, label_visibility="collapsed", wrap=True)
        st.button("Others", icon=":material/casino:", type="tertiary", key="others", on_click=shuffle)


def starter(task: str, model: str) -> dict[str, str | None]:
    """The question or pair that the person chose, as fields of the specification."""
    if task == "strategyqa":
        st.session_state.setdefault("question", FIRST_QUESTION)
        question = st.text_input(
            "Your question", key="question", placeholder="Can a penguin fly?", persist_state="session", max_chars=2000
        )
        examples(model)
        gold = next((one.answer for one in questions() if one.question == question.strip()), None)
        return {"question": question, "gold": gold}

    def fill() -> None:
        if pair := next((pair for pair in pairs() if pair.id == st.session_state["pair"]), None):
            st.session_state.update(context=pair.context, response_1=pair.response_1, response_2=pair.response_2)

    if "context" not in st.session_state:
        first = pairs()[0]
        st.session_state.update(context=first.context, response_1=first.response_1, response_2=first.response_2)
    titles = {pair.id: f"{pair.topic}: {pair.context[:70]}…" for pair in pairs()}
    st.selectbox("Examples", list(titles), format_func=lambda id: titles[id], key="pair", on_change=fill)
    context = st.text_area("The post", key="context", persist_state="session")
    left, right = st.columns(2)
    first_response = left.text_area("Response 1", key="response_1", height=150, persist_state="session")
    second_response = right.text_area("Response 2", key="response_2", height=150, persist_state="session")
    gold = next((pair.preferred for pair in pairs() if pair.context == context.strip()), None)
    return {"context": context, "response_1": first_response, "response_2": second_response, "gold": gold}


def settings(task: str, model: str) -> dict[str, object]:
    """The finer settings, folded away."""
    with st.expander("Settings", icon=":material/tune:", key="settings"):
        left, right = st.columns(2)
        with left:
            generators = models.pick_many(
                "Who writes the new questions",
                model,
                key="generators",
                lab="simulatability",
                help="With two, they take turns. Nobody chosen: the model itself.",
            )
            number = st.slider(
                "New questions", 1, 20, COUNTERFACTUALS[task], key=f"number-{task}", persist_state="session"
            )
            blind = st.toggle(
                "Blind to the explanation",
                key="blind",
                persist_state="session",
                help="The baseline: the first question is varied without looking at the explanation.",
            )
        with right:
            simulator = models.pick_or_same("Who predicts the answers", model, key="simulator", lab="simulatability")
            votes = st.slider(
                "Votes for each prediction",
                1,
                9,
                1,
                step=2,
                key="votes",
                persist_state="session",
                help="The majority holds.",
            )
            reasoning = st.toggle("The predictor reasons first", value=True, key="reasoning", persist_state="session")
        seed = st.number_input("Seed", 0, 10**6, 0, key="seed", persist_state="session")
        extra = ""
        if task == "strategyqa":
            extra = st.text_area(
                "Your own questions, one a line",
                key="extra",
                persist_state="session",
                placeholder="Can an ostrich fly?",
                help="Predicted and asked like the others, but not counted: they were not drawn by the rule.",
            )
        pack = st.text_input(
            "Prompt pack",
            key="pack",
            persist_state="session",
            placeholder="path of a prompts.json file",
            help="Use the prompts of a pack in the form of the paper's repository in place of the ones that ship.",
        )
    return {
        "generators": tuple(generators),
        "simulator": simulator,
        "counterfactuals": number,
        "votes": votes,
        "blind": blind,
        "reasoning": reasoning,
        "seed": int(seed),
        "extra": tuple(line.strip() for line in extra.splitlines() if line.strip()),
        "prompts": pack.strip() or None,
    }


def form() -> None:
    """What to ask, whom, and how. Starts the run."""
    with st.container(border=True, key="form"):
        task = st.segmented_control(
            "Task", list(TASKS), default="strategyqa", format_func=TASKS.get, required=True, key="task",
            label_visibility="collapsed", persist_state="session",
        ) or "strategyqa"  # fmt: skip
        model_column, method_column = st.columns(2)
        with model_column:
            model = models.pick("Model", key="model", lab="simulatability")
        with method_column:
            method = st.selectbox(
                "How it explains",
                list(METHODS),
                format_func=lambda one: METHODS[one],
                key="method",
                persist_state="session",
            )
        fields = starter(task, model)
        chosen = settings(task, model)
        try:
            spec = AskSpec(task=task, model=model, method=method, **fields, **chosen)
            if spec.prompts:
                prompts.read_pack(spec.prompts)
        except (ValidationError, prompts.PackError) as error:
            problems(error)
            spec = None
        with st.container(horizontal=True, vertical_alignment="center"):
            calls = f" · {spec.calls} calls" if spec else ""
            pressed = st.button(f"Ask{calls}", type="primary", icon=":material/send:", key="ask", disabled=spec is None)
            guess = st.checkbox(
                "Let me guess first",
                key="guess",
                persist_state="session",
                help="Say what you expect before the answer is shown, and get a precision of your own.",
            )
        if pressed and spec is not None:
            try:
                for asked in spec.models:
                    session.catalog().get(asked)
            except CallFailed as error:
                problems(error)
                return
            ask(spec, guess)


def suggest(spec: AskSpec) -> None:
    """Questions that a control knows, for one that it was asked in vain."""

    def take() -> None:
        st.session_state["question"] = st.session_state["suggestion"] or spec.question

    st.pills("It can answer these", world.load().suggestions(spec.question), key="suggestion", on_change=take)


def add_by_hand(run_id: str, task: str, rows: int) -> None:
    """A counterfactual of the reader's own: simulated and answered like the others, never counted."""
    with st.form("by-hand", border=False, clear_on_submit=True):
        st.markdown("**Ask something else** that you expect its explanation to settle")
        if task == "strategyqa":
            own = {"text": st.text_input("Your question", key="own", label_visibility="collapsed").strip()}
        else:
            parts = {"context": "The post", "response_1": "Response 1", "response_2": "Response 2"}
            own = {field: st.text_area(name, key=f"own-{field}").strip() for field, name in parts.items()}
            own["text"] = text_of(Pair(**own)) if all(own.values()) else ""
        if st.form_submit_button("Add", icon=":material/add:", key="add") and own["text"]:
            record = Counterfactual(origin="hand", **own)
            if keep(run_id, record, f"hand-{rows + 1:02}") and resume(run_id):
                st.rerun()


def show(run_id: str) -> None:
    """The run, live while it goes on."""

    def draw(told: Transcript, active: bool) -> None:
        current = case(told)
        if active and current.spec:
            done, calls = answered(told), current.spec.calls
            progress(run_id, done / max(calls, 1), f"{done} of about {calls} calls answered")
        guessing = bool(st.query_params.get("guess"))
        ask_case.draw(
            current,
            active,
            (lambda item, value: keep(run_id, ask_case.reader_says(value), item)) if guessing else None,
        )

    told = watch(run_id, "simulatability", draw)
    current = case(told) if told else None
    if told is None or current is None or current.spec is None:
        return
    if any(failure.error == "OutsideWorld" for failure in told.failures):
        suggest(current.spec)
    else:
        go_on(run_id, told)
    if told.status == "completed" and current.starter:
        add_by_hand(run_id, current.spec.task, sum(row.by_hand for row in current.rows.values()))
    actions(run_id, told, here="ask")
    if current.spec.model.startswith("control/") and told.status == "completed":
        real = "local/smollm2-135m"
        if st.button("Now ask a real language model", icon=":material/smart_toy:", key="real"):
            ask(
                current.spec.model_copy(update={"model": real, "generators": (real,), "simulator": real}),
                guess=bool(st.query_params.get("guess")),
            )


st.title("Ask", anchor=False)
st.markdown(
    "A model answers a question and says why. **Does its explanation let you predict what it says next?** "
    "New questions are written that the explanation should settle; then the model really answers them."
)
form()
named_run(show)
