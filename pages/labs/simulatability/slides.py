"""One explanation told to an audience: the question, the answer and its reason, each new question, and the verdict."""

from __future__ import annotations

from collections.abc import Iterator

from core.labs.simulatability.records import Counterfactual, Explanation
from core.labs.simulatability.scene import QUOTED, call_of
from core.labs.simulatability.tasks import AskSpec
from core.labs.simulatability.verdict import headline, notes
from core.labs.simulatability.view import MISLED, AskView, Row
from core.labs.simulatability.words import DEFENDED, REASONS, said
from core.text.quote import first_sentence
from pages.labs.simulatability.rows import state_of
from pages.parts.models import short
from pages.parts.slides import UNKNOWN, YES_OR_NO, Question, Slide, in_order, quoted
from pages.parts.text import plain
from pages.parts.tiles import LOOKS, State

_OPTIONS = {"1": "Response 1", "2": "Response 2", UNKNOWN: "Cannot tell"}
_CAME: dict[State, str] = {
    "kept": "as its explanation led us to expect",
    "broken": "not what its explanation led us to expect",
    "not settled": "not settled by its explanation",
    "in doubt": "no verdict: who predicts failed the exam, or the prediction is in doubt",
    "stopped": "not reached",
}


def slides(view: AskView, active: bool) -> list[Slide]:
    """The case as far as it has come."""
    return in_order(_slides(view, active))


def scene(view: AskView, row: str = "") -> list[Slide]:
    """The answer with its reason; then one new question, `row`, else one on which the explanation surely misled, else
    the first that counts.
    """
    counted = [one for one in view.counted() if one.counts("repaired")]
    sure = [one for one in counted if one.outcome("repaired") in MISLED and not one.reading("repaired").doubt]
    chosen = view.rows.get(row) or next(iter([*sure, *counted]), None)
    if chosen is None or view.starter is None:
        return []
    number = list(view.rows.values()).index(chosen) + 1
    answer, expected = _answer(view, view.starter), _expected(view, chosen, number)
    came = _came(view, chosen, number, False)
    return [
        Slide(_model(view), plain(view.title), (*_asked(view)[1:], f"{answer.heading}:", answer.body[0])),
        Slide(
            "From its explanation, can you predict what it will answer next?",
            plain(chosen.counterfactual.text if chosen.counterfactual else ""),
            (
                f"{expected.heading}.",
                f"{came.heading}.",
                f"Of all new questions: **{plain(headline(view))}**",
            ),
            mark=came.mark,
            words=came.words,
        ),
    ]


def _slides(view: AskView, active: bool) -> Iterator[Slide]:
    yield Slide(_model(view), plain(view.title), tuple(_asked(view)[1:]))
    if view.starter is None:
        if active:
            yield Slide(_model(view), plain(view.title), is_waiting=True)
    else:
        yield _answer(view, view.starter)
    for number, row in enumerate(view.rows.values(), start=1):
        yield from _row(view, row, number, active)
    yield Slide("What comes next", is_waiting=True) if active else _verdict(view)


def _model(view: AskView) -> str:
    return f"Asked of {plain(short(view.spec.model))}" if view.spec else ""


def _asked(view: AskView) -> list[str]:
    """What was asked, in Markdown; of two responses to a post these too."""
    asked: Explanation | AskSpec | None = view.starter or view.spec
    parts = [plain(view.title)]
    if asked is not None and asked.response_1:
        parts += [f"**1** {plain(asked.response_1)}", f"**2** {plain(asked.response_2)}"]
    return parts


def _answer(view: AskView, starter: Explanation) -> Slide:
    body = [quoted(view.explanation) if view.explanation else "No explanation could be read."]
    if starter.method == "forced":
        body.append(DEFENDED)
    if starter.gold:
        body.append(f":gray[Correct: {plain(said(starter.gold))}]")
    return Slide(plain(view.title), f"It answers *{plain(said(starter.answer[view.rules]))}* and says why", tuple(body))


def _row(view: AskView, row: Row, number: int, active: bool) -> Iterator[Slide]:
    state = state_of(row, active)
    lead = f"New question {number}"
    drop = row.dropped("repaired")
    # That it asks nearly the same as an earlier one is known once all are told: what was told of it stays.
    if state == "set aside" and not (row.answer and drop and drop.reason == "reworded"):
        why = REASONS.get(drop.reason, drop.reason) if drop else ""
        text = row.counterfactual.text if row.counterfactual else drop.detail if drop else ""
        yield Slide(lead, plain(first_sentence(text, QUOTED)), mark=state, words=f"set aside: {plain(why)}")
        return
    if row.counterfactual is None:
        yield Slide(lead, is_waiting=active, mark=None if active else state, words=_CAME.get(state, ""))
        return
    text, *parts = _text(row.counterfactual)
    is_pair = bool(row.counterfactual.response_1)
    reason = quoted(view.explanation) if view.explanation else ""
    if not row.by_hand:
        yield Slide(
            f"{lead}: what would you expect it to say?",
            text,
            (*parts, ":gray[Its explanation of the first answer:]", reason),
            question=Question(
                row.item, _OPTIONS if is_pair else YES_OR_NO, "the predictor",
                _readable(row.simulation.repaired if row.simulation else None),
                _readable(row.answer.repaired if row.answer and row.outcome("repaired") != "unread" else None),
            ),
        )  # fmt: skip
    if row.simulation is None:
        yield Slide(lead, text, tuple(parts), is_waiting=active, mark=None if active else state, words=_CAME["stopped"])
        return
    yield _expected(view, row, number)
    yield _came(view, row, number, active)


def _text(one: Counterfactual) -> list[str]:
    if not one.response_1:
        return [plain(one.text)]
    return [plain(one.context), f"**1** {plain(one.response_1)}", f"**2** {plain(one.response_2)}"]


def _expected(view: AskView, row: Row, number: int) -> Slide:
    """What the predictor took from the explanation."""
    assert row.simulation is not None and row.counterfactual is not None
    value = row.simulation.repaired
    expects = {
        "unknown": "The explanation leaves it open: the predictor cannot tell",
        "neither": "What the predictor wrote could not be read",
    }.get(value, f"Its explanation leads the predictor to expect *{plain(said(value))}*")
    return Slide(_lead(row, number), expects, _quote(view, call_of(row.simulation)))


def _came(view: AskView, row: Row, number: int, active: bool) -> Slide:
    """What the model said, and whether that was expected."""
    assert row.simulation is not None
    state = state_of(row, active)
    expects = f":gray[Expected: {plain(said(row.simulation.repaired))}]"
    if row.answer is None:
        words = "" if active else LOOKS[state].words
        return Slide(
            _lead(row, number), body=(expects,), is_waiting=active, mark=None if active else state, words=words
        )
    says = "What it said could not be read" if row.answer.repaired == "neither" else ""
    upto = [state_of(one, active) for one in view.rows.values()][:number]
    return Slide(
        _lead(row, number),
        says or f"It says *{plain(said(row.answer.repaired))}*",
        (*_quote(view, row.answer.call), expects, *(["Added by hand, not counted."] if row.by_hand else [])),
        mark=state,
        words=_CAME.get(state, ""),
        tiles=tuple(upto),
    )


def _lead(row: Row, number: int) -> str:
    text = row.counterfactual.text if row.counterfactual else ""
    return f"{number} · {plain(first_sentence(text, QUOTED))}"


def _quote(view: AskView, name: str) -> tuple[str, ...]:
    call = view.log.calls.get(name)
    sentence = first_sentence(call.text, QUOTED) if call else ""
    return (quoted(sentence),) if sentence else ()


def _readable(value: str | None) -> str | None:
    return None if value == "neither" else value


def _verdict(view: AskView) -> Slide:
    return Slide(
        "The verdict",
        plain(headline(view)),
        tuple(notes(view)),
        tiles=tuple(state_of(row, False) for row in view.rows.values()),
        is_verdict=True,
    )
