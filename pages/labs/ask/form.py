"""What to ask, which model, and how: the hand-written parts of Ask's form."""

from __future__ import annotations

import random
from typing import Any

import streamlit as st

from core import entry
from core.datasets import own
from core.labs.ask import qualification, tasks
from core.labs.ask.controls import AskRobot
from core.labs.ask.lab import LAB
from core.labs.ask.questions import pairs, questions
from core.labs.ask.records import Examined
from core.labs.ask.tasks import MOST, PERSON, AskSpec, calls, usual
from core.labs.ask.words import METHODS
from core.labs.base.lab import Prerequisite
from core.labs.base.qualification import QualificationSpec
from core.models.errors import OutsideWorld
from core.models.ids import is_control
from core.text.glossary import on_hover
from core.text.plurals import count_noun
from pages.components import models, session
from pages.components.datasets import from_dataset, of_dataset
from pages.components.lab_page import FormPlaces
from pages.components.text import plain
from pages.components.widgets import one_of

TASKS = {"strategyqa": "A yes-or-no question", "shp": "Which response is better?"}
SOURCES = {"one": "One question", "dataset": "A data set"}
ARMS = {
    "none": "From its answer alone",
    "swapped": "From a placebo: another question's reasons",
    "question_only": "From the new question alone",
}
"""Names of the control arms of the prediction on the screen."""
FIRST_QUESTION = "Can a penguin fly?"
SHOWN_EXAMPLES = 3
DEFAULT_ARMS: list[str] = list(AskSpec.model_fields["arms"].default[1:])

LOCAL_SECONDS = 3
"""About how many seconds a call of a local model takes (`benchmarks/local.py`)."""

SIMULATOR = "ask-simulator"
"""Key of the widget that chooses the predictor."""

DRAWN = frozenset(
    {
        *("task", "method", "question", "context", "response_1", "response_2", "gold", "model", "counterfactuals"),
        *("dataset", "path", "split", "limit", "columns", "extra", "arms", "exam", "simulator"),
    }
)
"""The fields that this form draws itself."""


def fields(places: FormPlaces) -> dict[str, Any]:
    """Draw the model and the question, the pair or the data set; folded, the task and the way to explain."""
    with places.more:
        task = one_of("Task", TASKS, "task")
        source = one_of("What it is asked", SOURCES, "ask-source")
        method = st.selectbox(
            "How it explains",
            list(METHODS),
            format_func=lambda one: METHODS[one],
            key="method",
            persist_state="session",
            help=on_hover("How it explains"),
        )
    with places.model:
        model = models.pick("Model", key="model", lab=LAB)
    if source == "dataset":
        asked = from_dataset(task, "Questions", "ask-", places.question, places.below)
    else:
        asked = _starter(task, model, places)
    return {"task": task, "model": model, "method": method, **asked}


def settings(given: dict[str, Any]) -> dict[str, Any]:
    """Draw the settings of the prediction and, for a yes-or-no question, a field for the user's own new questions."""
    task = given["task"]
    single = "dataset" not in given
    model = given["model"]
    number = st.slider(
        "New questions",
        1,
        MOST,
        usual(task, single, model),
        key=_number_key(task, single, model),
        persist_state="session",
        help=on_hover("New questions"),
    )
    if single:
        st.caption(" ".join((tasks.sample_size_note(number), _minutes(task, model, number))).strip())
    arms = st.pills(
        "Also predict each answer",
        list(ARMS),
        selection_mode="multi",
        default=DEFAULT_ARMS,
        format_func=ARMS.__getitem__,
        key="arms",
        persist_state="session",
        wrap=True,
        help=on_hover("Also predict each answer", "Each choice adds one prediction per answer."),
    )
    extra = ""
    if task == "strategyqa" and "question" in given:
        extra = st.text_area(
            "Your own questions, one per line",
            key="extra",
            persist_state="session",
            placeholder="Can an ostrich fly?",
            help="Predicted and asked like the others, but not counted, because they were not sampled.",
        )
    exam = task != "strategyqa" or st.checkbox(
        "The predictor takes the qualification test first",
        value=True,
        key="exam",
        persist_state="session",
        help="11 questions with known answers: a predictor that fails them cannot tell what an explanation says. Each "
        "predictor takes it once; the robots' scores are known.",
    )
    simulator = models.pick_or_none(
        "Predictor",
        "one that passed the qualification test, else the model itself",
        key=SIMULATOR,
        lab=LAB,
        help=on_hover(
            "Predictor",
            "Nobody: an available model that passed the qualification test, "
            "other than the one that explains; if there is none, and for robots, the model itself.",
        ),
    )
    lines = tuple(line.strip() for line in extra.splitlines() if line.strip())
    return {"counterfactuals": number, "extra": lines, "arms": tuple(arms), "exam": exam, "simulator": simulator}


def _number_key(task: str, single: bool, model: str) -> str:
    """Return the key of the slider for new questions, one per default value."""
    return f"number-{task}-{usual(task, single, model)}"


def minutes(spec: AskSpec) -> int:
    """Estimate how many minutes a local model takes."""
    return max(1, round(calls(spec, (spec.limit or 1) if spec.dataset else 1) * LOCAL_SECONDS / 60))


def _minutes(task: str, model: str, number: int) -> str:
    """Estimate how long a local model takes for that many questions; empty for any other model."""
    if not model.startswith("local/"):
        return ""
    spec = AskSpec.model_validate(
        {
            "task": task,
            "question": "?",
            "context": "?",
            "response_1": "?",
            "response_2": "?",
            "model": model,
            "counterfactuals": number,
        }
    )
    takes = count_noun(minutes(spec), "minute")
    longer = f" More than {number} questions take longer and show more." if number < tasks.fewest() else ""
    return f"On this computer that takes about {takes}.{longer}"


def line(spec: AskSpec) -> list[str]:
    """Return what was asked, the model, and how it explains."""
    return [
        spec.title if spec.dataset else spec.question or spec.context,
        models.short(spec.model),
        METHODS[spec.method].lower(),
    ]


def fill(spec: AskSpec) -> dict[str, Any]:
    """Return the widgets' values for a run that was started with `spec`."""
    held: dict[str, Any] = {
        "task": spec.task,
        "model": spec.model,
        "method": spec.method,
        "arms": DEFAULT_ARMS if spec.is_by_person else list(spec.control_arms),
        "exam": spec.exam,
        SIMULATOR: spec.simulator if spec.simulator not in (spec.model, PERSON) else None,
        _number_key(spec.task, not spec.dataset, spec.model): max(spec.counterfactuals, 1),
        "extra": "\n".join(spec.extra),
        "ask-source": "dataset" if spec.dataset else "one",
    }
    if spec.dataset:
        return {**held, **of_dataset(spec, "ask-")}
    if spec.task == "strategyqa":
        return {**held, "question": spec.question}
    return {**held, "context": spec.context, "response_1": spec.response_1, "response_2": spec.response_2}


def button(spec: AskSpec | None) -> str:
    """Return the primary button's label with the number of calls, including those of the qualification test if it is
    needed.
    """
    if spec is None:
        return "Ask"
    cases = (spec.limit or 1) if spec.dataset else 1
    made = calls(spec, cases)
    for exam in qualification.prerequisites(spec):
        if isinstance(exam, Prerequisite) and isinstance(exam.spec, QualificationSpec) and session.runs().lacks(exam):
            made += len(exam.spec.questions)
    # The number of rows in the user's own file is not known until it is read.
    return f"Ask · {'at most ' if own.is_own(spec.dataset) else ''}{made} calls"


def beside(spec: AskSpec | None) -> dict[str, str]:
    """Say who predicts, and let the reader choose to guess first; then return the name under which guesses are
    stored.
    """
    known = _known(spec) if spec is not None else None
    if spec is not None:
        named = ("simulator",) if st.session_state.get(SIMULATOR) else ()
        chosen = qualification.choose_predictor(spec, named, session.catalog().is_at_hand, session.runs().made)
        itself = " (the model itself)" if chosen.simulator == spec.model else ""
        st.caption(f"Predictor: {plain(models.short(chosen.simulator))}{itself}.")
    if known is not None and not known.passed:
        st.markdown(
            f":orange[:material/person_raised_hand:] **You predict**: {plain(models.short(known.simulator))} failed "
            f"the qualification test ({known.right} of {known.of}; guessing gets {round(known.of / 3)}), so its "
            "predictions get no verdict. Yours do."
        )
    guess = st.checkbox(
        "Let me guess first",
        key="guess",
        persist_state="session",
        help="Predict each answer before it is shown, and get your own precision.",
    )
    return {"reader": entry.new_reader()} if guess else {}


def _known(spec: AskSpec) -> Examined | None:
    """Return the predictor's result in the qualification test; None if it is not known yet."""
    first = qualification.prerequisites(spec)[0]
    found = session.runs().came_to(first) if isinstance(first, Prerequisite) else first
    return found if isinstance(found, Examined) else None


def _examples(model: str) -> None:
    """Draw example questions; for a control, only those of its own world."""
    known = [one.question for one in questions() if one.world or not is_control(model)]
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


def _outside(model: str, question: str) -> None:
    """Tell the user, while typing, that a question is outside a control's world."""
    control = LAB.robots.controls().get(model)
    if not isinstance(control, AskRobot) or not question.strip():
        return
    try:
        control.read(question)
    except OutsideWorld as error:

        def take(known: str) -> None:
            st.session_state["question"] = known

        models.outside(error.message, {one: one for one in error.questions}, take, "model", LAB)


def _starter(task: str, model: str, places: FormPlaces) -> dict[str, Any]:
    """Draw the question or pair, and return it."""
    if task == "strategyqa":
        st.session_state.setdefault("question", FIRST_QUESTION)
        question = places.question.text_input(
            "Your question",
            key="question",
            placeholder="Can a penguin fly?",
            persist_state="session",
            max_chars=2000,
            live=model in LAB.robots.controls(),
        )
        with places.below:
            _outside(model, question)
            _examples(model)
        gold = next((one.answer for one in questions() if one.question == question.strip()), None)
        return {"question": question, "gold": gold}

    def fill() -> None:
        if pair := next((pair for pair in pairs() if pair.id == st.session_state["pair"]), None):
            st.session_state.update(context=pair.context, response_1=pair.response_1, response_2=pair.response_2)

    if "context" not in st.session_state:
        first = pairs()[0]
        st.session_state.update(context=first.context, response_1=first.response_1, response_2=first.response_2)
    titles = {pair.id: f"{pair.topic}: {pair.context[:70]}…" for pair in pairs()}
    with places.question:
        st.selectbox("Examples", list(titles), format_func=lambda id: titles[id], key="pair", on_change=fill)
    context = places.below.text_area("The post", key="context", persist_state="session")
    left, right = places.below.columns(2)
    first_response = left.text_area("Response 1", key="response_1", height=150, persist_state="session")
    second_response = right.text_area("Response 2", key="response_2", height=150, persist_state="session")
    asked = [text.strip() for text in (context, first_response, second_response)]
    preferred = next((one.preferred for one in pairs() if [one.context, one.response_1, one.response_2] == asked), None)
    return {"context": context, "response_1": first_response, "response_2": second_response, "gold": preferred}
