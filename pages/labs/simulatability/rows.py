"""The rows of an Ask case: each new question, what was expected of the model, what it said, and the calls behind it."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.by_rules import RULES
from core.labs.simulatability.records import Counterfactual
from core.labs.simulatability.scene import call_of
from core.labs.simulatability.tasks import ONE
from core.labs.simulatability.view import AskView, Row
from core.labs.simulatability.words import MARKS, REASONS, said
from core.text.overlap import mark, shared_words
from core.text.quote import first_sentence
from core.transcript import Call
from pages.parts.calls import inspector
from pages.parts.text import marked, numbered, plain
from pages.parts.tiles import LOOKS, State, Tile, anchor

_SAID_SO: dict[State, str] = {
    "kept": "as expected",
    "broken": "the explanation misled you",
    "not settled": "not settled by the explanation",
    "unread": "an answer could not be read",
}
_TABS = {"none": "From the answer alone", "swapped": "With other reasons", "question_only": "From the question alone"}
"""What a row's calls in the controls' arms are called."""

Guess = Callable[[str, str], None]


def state_of(row: Row, active: bool) -> State:
    """What came of a row. Kept or broken is said of predictions that are a verdict."""
    if row.reading("repaired").doubt:
        return "in doubt"
    state: State = MARKS[row.outcome("repaired")]
    return "stopped" if state == "waiting" and not active else state


def tiles(case: AskView, active: bool, sealed: bool) -> list[Tile]:
    """One tile a row; of a `sealed` case only whether it was guessed."""

    def state(row: Row) -> State:
        if not sealed or row.outcome("repaired") == "dropped":
            return state_of(row, active)
        return "guessed" if row.guess else "waiting"

    return [Tile(state(row), f"row-{number}") for number, row in enumerate(case.rows.values(), start=1)]


def draw(case: AskView, active: bool, sealed: bool, guess: Guess | None) -> None:
    """All rows. Of a `sealed` case nothing is shown but the questions, and what the reader expects."""
    # One that turns is enough to see that the run goes on.
    turning = next((row for row in case.rows.values() if row.outcome("repaired") == "waiting"), None)
    for number, row in enumerate(case.rows.values(), start=1):
        with st.container(gap=None, key=f"place-{_key(case, row)}"):
            anchor(f"row-{number}")
            _row(case, row, number, active, sealed, guess, row is turning)


def _row(case: AskView, row: Row, number: int, active: bool, sealed: bool, guess: Guess | None, turning: bool) -> None:
    state = state_of(row, active)
    lines = [f"**{number}** {_question(case, row)}"]
    key = f"row-{_key(case, row)}"
    if sealed and state != "set aside":
        if row.guess:
            lines.append(f"you said **{said(row.guess.repaired)}**")
        # A step without content has nothing to open.
        look = LOOKS["guessed" if row.guess else "waiting"]
        st.expander("  \n".join(lines), icon=look.icon, type="step", key=f"sealed-{key}")
        if guess is not None and row in case.to_guess(active):
            _ask_guess(case, row, guess)
        return
    lines += _told(case, row, state)
    icon = "spinner" if state == "waiting" and turning else LOOKS[state].icon
    shown = st.expander("  \n".join(lines), icon=icon, type="step", key=f"open-{key}", on_change="rerun")
    with shown:
        if shown.open:
            _row_details(case, row)
        else:
            # A step without content could not be opened.
            st.skeleton(120)


def _key(case: AskView, row: Row) -> str:
    """What tells the row's widgets from those of other rows and, where a run has several, of other cases."""
    return row.item if case.log.case == ONE else f"{row.item}-{case.log.case}"


def _question(case: AskView, row: Row) -> str:
    if row.counterfactual is not None:
        return _counterfactual(row.counterfactual, case.explanation or "")
    if drop := row.dropped("repaired"):
        its_own = drop.reason in ("duplicate", "not drawn")
        return f":gray[{plain(_text_of_call(case, row) if its_own else drop.detail) or '…'}]"
    return ":gray[a question is being written …]"


def _counterfactual(one: Counterfactual, explanation: str) -> str:
    """The new question, with the words that the explanation has too marked; labels of a pair's parts are not."""

    def part(text: str) -> str:
        return marked(mark(text, shared_words(explanation, text)))

    if not one.response_1:
        return part(one.text)
    return f"{part(one.context)}  \n**1** {part(one.response_1)}  \n**2** {part(one.response_2)}"


def _text_of_call(case: AskView, row: Row) -> str:
    return case.log.calls[row.calls[0]].text.split("\n")[0] if row.calls else ""


def _told(case: AskView, row: Row, state: State) -> list[str]:
    """What a row tells unopened: what the predictor took from the explanation, what the model then said."""
    if state == "set aside":
        drop = row.dropped("repaired")
        reason = drop.reason if drop else ""
        return [LOOKS[state].badge(f"set aside: {plain(REASONS.get(reason, reason))}")]
    lines, expected = [], []
    if row.simulation:
        expects = "" if row.simulation.repaired in ("unknown", "neither") else "expect "
        took = _quoted(case, call_of(row.simulation))
        expected.append(f"Predictor: {took}{expects}**{said(row.simulation.repaired)}**")
    if row.guess:
        expected.append(f"you said **{said(row.guess.repaired)}**")
    if expected:
        lines.append(" · ".join(expected))
    if row.answer:
        lines.append(f"Model: {_quoted(case, row.answer.call)}it said **{said(row.answer.repaired)}**")
    if state == "waiting" and row.counterfactual is None:
        return lines
    said_so = f"no verdict: {plain(row.reading('repaired').doubt)}" if state == "in doubt" else _SAID_SO.get(state, "")
    badges = [LOOKS[state].badge("misled every predictor" if row.outcome("repaired") == "misled all" else said_so)]
    if row.guess and row.answer and state in ("kept", "broken", "not settled", "in doubt"):
        badges = [f"predictor {badges[0]}", f"you {LOOKS[_mine(row)].badge(_MINE[_mine(row)])}"]
    if (drop := row.dropped("repaired")) and drop.reason == "error":
        badges.append(LOOKS["failed"].badge(REASONS["error"]))
    for arm, words in (("question_only", "from the question alone"), ("none", "from the answer alone")):
        if without := row.controls.get(arm):
            badges.append(f":gray[{words}: {said(without.repaired)}]")
            break
    if row.by_hand:
        badges.append(":violet-badge[added by hand, not counted]")
    return [*lines, " ".join(badges)]


_MINE: dict[State, str] = {"kept": "right", "broken": "wrong", "not settled": "cannot guess", "unread": ""}


def _mine(row: Row) -> State:
    """What came of the reader's own guess."""
    assert row.guess and row.answer
    if row.guess.repaired == "unknown":
        return "not settled"
    if row.answer.repaired == "neither":
        return "unread"
    return "kept" if row.guess.repaired == row.answer.repaired else "broken"


def _quoted(case: AskView, name: str) -> str:
    """The first sentence of a call's raw answer between quotation marks; empty where there is none."""
    call = case.log.calls.get(name)
    sentence = first_sentence(call.text) if call else ""
    return f"“{plain(sentence)}” → " if sentence else ""


def _ask_guess(case: AskView, row: Row, guess: Guess) -> None:
    options = ["yes", "no", "unknown"] if case.spec is None or case.spec.task == "strategyqa" else ["1", "2", "unknown"]
    key = f"guess-{_key(case, row)}"

    def chosen() -> None:
        if value := st.session_state[key]:
            guess(row.item, value)

    st.segmented_control(
        "Your guess",
        options,
        default=row.guess.repaired if row.guess and row.guess.repaired in options else None,
        format_func=said,
        key=key,
        label_visibility="collapsed",
        on_change=chosen,
    )


def _row_details(case: AskView, row: Row) -> None:
    """The calls behind one row: what it said, what was expected and by whom, and who wrote the question."""
    if drop := row.dropped("repaired") or row.dropped("paper"):
        which = f" (only under the {drop.rules} rules)" if drop.rules else ""
        st.caption(f"Not counted{which}: {plain(drop.reason)}. {plain(numbered(drop.detail, case.rows))}")
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
        unread = any(drop.reason == "unparsed" for drop in row.drops)
        if read is None and not unread:
            return {}
        return {rules: "a question" if read and read[rules] else "nothing usable" for rules in RULES}
    return {}
