"""Draws one case of the Ask lab, while it runs and after: three steps, the verdict, the figures."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.events import Scored
from core.labs.simulatability.lab import LAB
from core.labs.simulatability.records import Counterfactual, Simulation
from core.labs.simulatability.tasks import ONE
from core.labs.simulatability.view import AskView, Row, controls, doubt, verdict
from core.runs.transcript import Call
from core.text.overlap import mark, shared_words
from pages.parts.calls import details, inspector
from pages.parts.text import marked, plain
from pages.shell import PAGES

WORDS = {"unknown": "cannot guess", "neither": "unreadable", "1": "response 1", "2": "response 2"}
"""What the lab's values are called on the screen."""
METHODS = {"cot": "Reason, then answer", "posthoc": "Answer, then justify", "forced": "Defend the opposite"}
"""What the ways to explain are called on the screen."""

_OUTCOMES = {
    "as expected": (":green-badge[:material/check: as expected]", ":material/check_circle:"),
    "misled": (":red-badge[:material/close: the explanation misled you]", ":material/cancel:"),
    "cannot guess": (":gray-badge[not settled by the explanation]", ":material/help:"),
    "unread": (":orange-badge[an answer could not be read]", ":material/visibility_off:"),
    "waiting": (":gray-badge[under way]", "spinner"),
}
_BESIDE = {
    "precision_none": "without the explanation",
    "precision_swapped": "with another question's explanation",
    "precision_question_only": "from the new question alone",
    "constant_guess": "by always guessing the same",
}
"""What stands beside precision, in small."""
_REASONS = {
    "duplicate": "a repeat of an earlier question",
    "copy of the starter": "the question we started from",
    "reworded": "nearly the same as an earlier question",
    "unparsed": "no question could be read",
    "error": "the call failed",
}

_TABS = {"none": "Without the explanation", "swapped": "With another one", "question_only": "From the question alone"}
"""What a row's calls in the controls' arms are called."""

Guess = Callable[[str, str], None]


def said(value: str) -> str:
    return WORDS.get(value, value)


def draw(case: AskView, active: bool, guess: Guess | None = None) -> None:
    """Draw `case`. With `guess`, the reader says first what they expect; `guess(item, value)` keeps it."""
    _asked(case)
    _step_answer(case, active)
    if case.starter is not None or case.rows:
        _step_questions(case, active)
        _step_outcomes(case, active, guess)
    if guess is None or all(row.guess or row.outcome("repaired") == "dropped" for row in case.counted()):
        _verdict(case, active)


def _asked(case: AskView) -> None:
    """What was asked, and whom: the form above may have moved on, and a link opens without it."""
    spec = case.spec
    if spec is None:
        return
    with st.container(key="asked", gap="small"):
        st.caption(f"Asked of {plain(spec.model)} · {METHODS[spec.method].lower()}")
        # Of a data set the specification does not hold what is asked; the first record of the case does.
        asked = case.starter or spec
        if spec.task == "strategyqa" or not asked.response_1:
            st.markdown(f"**{plain(case.title)}**")
            return
        st.markdown(plain(asked.context))
        for column, name, response in zip(
            st.columns(2), ("Response 1", "Response 2"), (asked.response_1, asked.response_2), strict=True
        ):
            with column.container(border=True):
                st.markdown(f"**{name}**\n\n{plain(response)}")


def _step_answer(case: AskView, active: bool) -> None:
    st.markdown("#### 1 · It answers, and says why", anchors=False)
    starter = case.starter
    calls = [call for call in case.log.calls.values() if call.asked.role == "explainer"]
    with st.container(border=True, key="step-answer"):
        if starter is None:
            if calls and calls[-1].text:
                st.markdown(plain(calls[-1].text))
            elif active:
                st.skeleton(60)
            else:
                st.caption("No answer.")
            return
        if starter.method == "forced":
            st.caption("Its own answer was the opposite. It was then told to defend this one.")
        gold = f" :gray[(correct: {said(starter.gold)})]" if starter.gold else ""
        st.markdown(f"It answers **{said(starter.answer(case.rules))}**{gold}")
        st.markdown(f"> {plain(case.explanation or '(no explanation could be read)')}".replace("\n", "\n> "))
        if call := case.log.calls.get(starter.call):
            details(call, "starter", {"paper": starter.answer_paper, "repaired": starter.answer_repaired})


def _step_questions(case: AskView, active: bool) -> None:
    rows = case.counted()
    written = [row for row in rows if row.counterfactual]
    dropped = [row for row in rows if not row.counterfactual and row.dropped("repaired")]
    reasons: dict[str, int] = {}
    for row in dropped:
        drop = row.dropped("repaired")
        if drop is not None:
            reasons[drop.reason] = reasons.get(drop.reason, 0) + 1
    st.markdown("#### 2 · New questions", anchors=False)
    how = (
        "varied from the first question without looking at the explanation"
        if case.spec and case.spec.blind
        else f"written so that the explanation should settle {'it' if len(written) == 1 else 'them'}"
    )
    line = f"{len(written)} {'question' if len(written) == 1 else 'questions'}, {how}."
    if reasons:
        line += (
            " Set aside: " + ", ".join(f"{n} × {_REASONS.get(reason, reason)}" for reason, n in reasons.items()) + "."
        )
    st.markdown(line if written or reasons or not active else ":shimmer[writing questions …]")


def _step_outcomes(case: AskView, active: bool, guess: Guess | None) -> None:
    st.markdown("#### 3 · What we were led to expect, and what it said", anchors=False)
    if guess is not None:
        st.caption(
            "Your guess first: from the explanation alone, what will the model say? Its answer shows after that."
        )
    words = _explanation_words(case)
    for row in case.rows.values():
        if row.counterfactual is None and row.outcome("repaired") == "waiting" and not active:
            continue
        _row(case, row, words, active, guess)


def _explanation_words(case: AskView) -> str:
    return case.explanation or ""


def _row(case: AskView, row: Row, explanation: str, active: bool, guess: Guess | None) -> None:
    if row.counterfactual is None:
        text = ":gray[a question is being written …]"
        if drop := row.dropped("repaired"):
            its_own = drop.reason in ("duplicate", "not drawn")
            text = f":gray[{plain(_text_of_call(case, row) if its_own else drop.detail) or '…'}]"
    else:
        text = _counterfactual(row.counterfactual, explanation)
    hidden = guess is not None and row.guess is None and row.counterfactual is not None
    outcome = row.outcome("repaired")
    if hidden:
        label, icon = text, ":material/help_center:"
    else:
        label, icon = f"{text}  \n{_summary(row, active)}", _OUTCOMES.get(outcome, ("", ":material/block:"))[1]
        if outcome == "waiting" and not active:
            icon = ":material/pause_circle:"
    key = f"row-{_key(case, row)}"
    shown = st.expander(label, icon=icon, type="step", key=f"open-{key}", on_change="rerun")
    if hidden and guess is not None:
        _ask_guess(case, row, guess)
    if not hidden:
        with shown:
            if shown.open:
                _row_details(case, row)
            else:
                # A step without content could not be opened.
                st.skeleton(120)


def _key(case: AskView, row: Row) -> str:
    """What tells the row's widgets from those of other rows and, where a run has several, of other cases."""
    return row.item if case.log.case == ONE else f"{row.item}-{case.log.case}"


def _counterfactual(one: Counterfactual, explanation: str) -> str:
    """The new question, with the words that the explanation has too marked; labels of a pair's parts are not."""

    def part(text: str) -> str:
        return marked(mark(text, shared_words(explanation, text)))

    if not one.response_1:
        return part(one.text)
    return f"{part(one.context)}  \n**1** {part(one.response_1)}  \n**2** {part(one.response_2)}"


def _text_of_call(case: AskView, row: Row) -> str:
    return case.log.calls[row.calls[0]].text.split("\n")[0] if row.calls else ""


def _summary(row: Row, active: bool) -> str:
    """The second line of a row: expected, said, outcome."""
    outcome = row.outcome("repaired")
    if outcome == "dropped":
        drop = row.dropped("repaired")
        reason = drop.reason if drop else ""
        return f":gray-badge[set aside: {plain(_REASONS.get(reason, reason))}]"
    parts = []
    if row.simulation:
        parts.append(f"expect **{said(row.simulation.repaired)}**")
    if without := row.controls.get("none"):
        parts.append(f":gray[without the explanation {said(without.repaired)}]")
    if row.guess:
        parts.append(f"you said **{said(row.guess.repaired)}**")
    if row.answer:
        parts.append(f"it said **{said(row.answer.repaired)}**")
    if drop := row.dropped("repaired"):
        parts.append(
            f":orange-badge[{plain(_REASONS.get(drop.reason, drop.reason))}]"
        ) if drop.reason == "error" else None
    stopped = outcome == "waiting" and not active
    parts.append(":gray-badge[not reached]" if stopped else _OUTCOMES[outcome][0])
    if row.by_hand:
        parts.append(":violet-badge[added by hand, not counted]")
    return " · ".join(part for part in parts if part)


def _ask_guess(case: AskView, row: Row, guess: Guess) -> None:
    options = ["yes", "no", "unknown"] if case.spec is None or case.spec.task == "strategyqa" else ["1", "2", "unknown"]
    key = f"guess-{_key(case, row)}"
    st.segmented_control(
        "Your guess",
        options,
        format_func=said,
        key=key,
        label_visibility="collapsed",
        on_change=lambda: guess(row.item, st.session_state[key]),
    )


def _row_details(case: AskView, row: Row) -> None:
    """The calls behind one row: what it said, what was expected and by whom, and who wrote the question."""
    if drop := row.dropped("repaired") or row.dropped("paper"):
        which = f" (only under the {drop.rules} rules)" if drop.rules else ""
        st.caption(f"Not counted{which}: {plain(drop.reason)}. {plain(drop.detail)}")
    calls = [case.log.calls[name] for name in row.calls]
    names = {
        "answerer": "What it said",
        "simulator": "What was expected",
        **_TABS,
        "generator": "Who wrote the question",
    }
    of_kind: dict[str, list[Call]] = {}
    for call in calls:
        arm = call.asked.item.partition("/")[2]
        of_kind.setdefault(arm or call.asked.role, []).append(call)
    present = [kind for kind in names if kind in of_kind]
    if not present:
        return
    for tab, kind in zip(st.tabs([names[kind] for kind in present]), present, strict=True):
        with tab:
            for call in of_kind[kind]:
                inspector(call, _readings(row, call))


def _readings(row: Row, call: Call) -> dict[str, str]:
    """How each set of rules read one call's raw answer, as it was written down when the answer came."""
    if call.answered is None:
        return {}
    name = call.asked.call
    if call.asked.role == "answerer" and row.answer:
        return {"paper": said(row.answer.paper), "repaired": said(row.answer.repaired)}
    for simulation in (row.simulation, *row.controls.values()):
        if simulation and name in simulation.calls:
            if len(simulation.calls) == 1:
                return {"paper": said(simulation.paper), "repaired": said(simulation.repaired)}
            vote = simulation.calls.index(name)
            votes = {"paper": simulation.votes_paper, "repaired": simulation.votes}
            return {rules: said(read[vote]) for rules, read in votes.items() if vote < len(read)}
    if call.asked.role == "generator":
        read = row.counterfactual
        usable = {"paper": bool(read and read.paper), "repaired": bool(read and read.repaired)}
        unread = any(drop.reason == "unparsed" for drop in row.drops)
        if read is None and not unread:
            return {}
        return {rules: "a question" if value else "nothing usable" for rules, value in usable.items()}
    return {}


def _verdict(case: AskView, active: bool) -> None:
    score = case.log.score("precision", "repaired")
    if score is None:
        return
    st.markdown("#### Verdict", anchors=False)
    with st.container(border=True, key="verdict"):
        if doubted := doubt(case):
            st.markdown(f"**{plain(doubted)}**")
            st.markdown(f"##### :gray[{verdict(case)}]", anchors=False)
        else:
            st.markdown(f"##### {verdict(case)}", anchors=False)
        for sentence in controls(case):
            st.markdown(sentence)
        _figures(case)
        _valid_share(case, score)
        _exam(case)
    _meaning(case)


def _exam(case: AskView) -> None:
    """What the run says of who predicted, and the way to that exam."""
    if case.exam is None:
        return
    known = f"{case.exam.right} of {case.exam.of} right in the exam"
    if not case.exam.run:
        st.caption(f"Who predicted: {plain(case.exam.simulator)}, by its rules {known}.")
        return
    with st.container(horizontal=True, vertical_alignment="center", key="that-exam"):
        st.caption(f"Who predicted: {plain(case.exam.simulator)}, {known}.")
        st.page_link(
            PAGES / "results/case.py", label="That exam", icon=":material/school:", query_params={"run": case.exam.run}
        )


def _figures(case: AskView) -> None:
    log = case.log
    left, right = st.columns(2)
    with left:
        _figure(log.score("precision", "repaired"), "Precision", "How often it did what its explanation led to expect.")
        for name, words in _BESIDE.items():
            if score := log.score(name, "repaired"):
                value = "undefined" if score.value is None else f"**{score.value:.2f}**"
                st.markdown(f":small[{value} :gray[{words}, {score.n} of {score.of}]]", help=LAB.metric(name).help)
        if any(row.guess for row in case.rows.values()):
            mine = case.reader_precision()
            value = "undefined" if mine.value is None else f"{mine.value:.2f}"
            st.markdown(f"**Your precision {value}** :gray[({mine.n} of your guesses were yes or no)]")
    with right:
        similarities = {"cosine": "by meaning", "bleu": "BLEU", "jaccard": "shared words, Jaccard"}
        scores = {name: log.score(f"generality_{name}", "repaired") for name in similarities}
        # Not one similarity now and another in a second: the headline waits for the encoder, unless there is none.
        headline = next((name for name in similarities if _defined(scores[name])), "cosine")
        if scores["cosine"] is not None:
            _figure(scores[headline], "Generality", f"How different the questions are that it settles ({headline}).")
        for name, words in similarities.items():
            _generality(words, scores[name])
    paper = log.score("precision", "paper")
    if paper is not None:
        differing = case.differing()
        value = "undefined" if paper.value is None else f"{paper.value:.2f} ({paper.n} of {paper.of})"
        which = f": {', '.join(row.item for row in differing)}." if differing else "."
        if case.rules == "paper":
            st.caption(
                "This run follows the paper's own pipeline: its prompts hold what the paper's rules read. The figures "
                "above read the same raw answers by repaired rules, which would have asked other questions."
            )
        st.caption(
            f"Read by the paper's own rules: precision {value}. "
            f"{len(differing)} of {len(case.rows)} outcomes depend on which rules read the answers{which}"
        )


def _defined(score: Scored | None) -> bool:
    return score is not None and score.value is not None


def _figure(score: Scored | None, name: str, help: str) -> None:
    """A headline figure with its count and interval."""
    if score is None:
        return
    value = "undefined" if score.value is None else f"{score.value:.2f}"
    st.metric(name, value, help=help)
    known = score.low is not None and score.high is not None
    interval = f" · 95 % interval {score.low:.2f} to {score.high:.2f}" if known else ""
    st.caption(f"{score.n} of {score.of} questions {'counts' if score.n == 1 else 'count'}{interval}")


def _generality(words: str, score: Scored | None) -> None:
    if score is None:
        st.markdown(f":small[:gray[{words}] :shimmer[loading the sentence encoder …]]")
        return
    value = "undefined" if score.value is None else f"**{score.value:.2f}**"
    encoder = f", {plain(str(score.detail['encoder']))}" if "encoder" in score.detail else ""
    made_with = "; ".join(f"{key}: {what}" for key, what in score.detail.items())
    st.markdown(f":small[{value} :gray[{words}{encoder}]]", help=plain(made_with) or None)


def _valid_share(case: AskView, score: Scored) -> None:
    rows = case.counted()
    unread = sum(row.outcome("repaired") == "unread" or row.failed("repaired") for row in rows)
    if rows and unread / len(rows) > 0.3:
        st.warning(
            f"{unread} of {len(rows)} questions could not be written, asked or read. Do not lean on these figures.",
            icon=":material/warning:",
        )


def _meaning(case: AskView) -> None:
    with st.expander("What this means", icon=":material/lightbulb:", key="meaning"):
        st.markdown(
            "An explanation is useful if it lets you predict what the model does elsewhere. A simulator read only the "
            "explanation and said what it expects of the model on new questions. Then the model answered.\n\n"
            "- **Precision** is the share of those expectations that came true. Low precision: the explanation sounds "
            "fine and still gives you a wrong picture of the model.\n"
            "- **Generality** tells how different the questions are that the explanation settles: near 0 they are all "
            "alike, near 1 they have little in common.\n"
            "- **Without the explanation** the same predictor saw only the first answer. What comes true then too, the "
            "explanation did not bring about.\n"
            "- Questions that the explanation does not settle (*cannot guess*) are not held against it."
        )
    with st.expander("What it does not mean", icon=":material/block:", key="no-meaning"):
        st.markdown(
            "- Not whether the answer is *right*: a model can be wrong and entirely predictable.\n"
            "- Not what went on inside the model; only whether its words fit its behaviour.\n"
            "- One explanation and a handful of questions: look at the interval before you say more than that.\n"
            "- The simulator is a model too and can misread an explanation. Open a row and judge for yourself, "
            "or guess first."
        )


def reader_says(value: str, who: str) -> Simulation:
    """The record of a reader's guess."""
    return Simulation(simulator=who, paper=value, repaired=value)
