"""A black box as a scene: what was asked, how the function was described, where that is right, and the function
itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...scene import (
    MOST_SCREENS,
    Card,
    Claim,
    Mark,
    Panel,
    Part,
    Scene,
    Screen,
    card_screens,
    ending,
    pick_cards,
    with_spans,
)
from ...text.diff import letters
from ...text.display import count_noun, visible
from ..base.declared import words_of
from . import fidelity
from .budget_text import budget, refusal
from .cards import cards
from .case_facts import CaseFacts
from .ending import differs, verdict_of
from .functions.numeric import interval
from .plot import plot_of
from .records import Exchange, Fidelity, Probe, item
from .tasks import NAMES
from .view import ProbeView

BOXES: Mapping[str, str] = words_of(__file__, "boxes")
"""What the category alone says about a black box."""

ONE = {"numeric": "test point", "strings": "test text"}
"""What a test is called if it is not a unit test."""

WORDS: dict[Mark, str] = words_of(__file__, "marks")

HIGHEST = 12
"""The most words with the highest values that are listed."""

_LONGEST = 160
"""The longest line about a round, in characters."""


def scene(view: ProbeView) -> Scene:
    """Return the scene of the case as far as it has run. Only the plot's truth, the cards and the verdict give the
    function away. Never raises.
    """
    spec = view.spec
    category = spec.category if spec else view.truth.category if view.truth else ""
    made = Scene(
        lab="Probe",
        method=NAMES[spec.interpreter] if spec else "",
        one=ONE.get(category, "unit test"),
        words=WORDS,
        parts=tuple(_asked(view, category)),
        claim=_claim(view),
        cards=cards(view),
        panels=tuple(_panels(view, category)),
        plot=plot_of(view),
        verdict=verdict_of(view),
        differs=differs(view),
    )
    return made.model_copy(update={"screens": tuple(_screens(made, view))[:MOST_SCREENS]})


# What was asked, and what was claimed


def _asked(view: ProbeView, category: str) -> Iterator[Part]:
    if category in BOXES:
        yield Part(label="The black box", text=BOXES[category])
    if view.spec is not None:
        yield Part(label="Budget", text=budget(view))
    if why := refusal(view):
        yield Part(label="Continued in plain text", text=why)


def _claim(view: ProbeView) -> Claim | None:
    said = view.interpretation
    if said is None:
        return None
    trouble = view.estimate.trouble.repaired if view.estimate else ""
    given = "" if said.interval is None else f"Exception, given as two numbers: {interval(*said.interval)}."
    return Claim(
        parts=(Part(text=said.description.repaired),) if said.description.repaired else (),
        note=" ".join(filter(None, (given, trouble))),
        domain=said.domain.repaired,
        code=said.code.repaired,
        calls=(said.call,) if said.call else (),
    )


# What was tried


def _panels(view: ProbeView, category: str) -> Iterator[Panel]:
    if view.fidelity is not None:
        yield _box(view.fidelity, is_out=view.truth is not None)
    numbers = sorted({*view.exchanges, *(probe.round for probe in view.probes)})
    for number in numbers:
        is_over = number != numbers[-1] or number in view.exchanges or view.interpretation is not None
        yield _round(view, number, category, is_over)
    if view.audit is not None:
        yield from _quoted(view)
    if category == "entities":
        yield from _highest(view)


def _box(found: Fidelity, is_out: bool) -> Panel:
    """Return a panel on how far the box agrees with its own truth. The inputs are shown only after the truth, because
    they would give it away.
    """
    rows = zip(found.inputs, found.inside, found.expected, found.outputs, found.readings, strict=False)
    parts = [
        Part(
            label=f"{text} ({'belongs to the function' if inside else 'does not belong'})",
            text=f"its truth: {expected}; the box: {output} ({reading})",
        )
        for text, inside, expected, output, reading in sorted(rows, key=lambda row: row[4] == "right")
    ]
    title = "How well the box computes its function"
    return Panel(title=title, parts=tuple(parts) if is_out else (), answer=" ".join(fidelity.sentences(found)))


def _round(view: ProbeView, number: int, category: str, is_over: bool) -> Panel:
    """Return one round: what the interpreter asked for, and what it was told. Its summary line comes when the round is
    over.
    """
    exchange, made = view.exchanges.get(number), view.of_round(number)
    behind = _behind(view, made) if view.truth is not None else ()
    return Panel(
        title=f"Round {number}" if number else "Exemplars shown to it",
        parts=(*_message(exchange, view.exchanges.get(number - 1)), *(_call(probe, category) for probe in made)),
        answer=_in_a_line(exchange, made) if is_over else "",
        note="It made up outputs before it had them." if exchange and exchange.invented else "",
        calls=(*((exchange.call,) if exchange else ()), *behind),
    )


def _message(exchange: Exchange | None, before: Exchange | None) -> Iterator[Part]:
    if exchange is not None and exchange.invented:
        yield Part(label="Made up in its message", text=exchange.invented)
    is_new = exchange is not None and (before is None or exchange.description != before.description)
    if exchange is not None and exchange.description and exchange.inputs and is_new:
        yield Part(label="Description so far", text=exchange.description)


def _behind(view: ProbeView, made: list[Probe]) -> tuple[str, ...]:
    """Return the calls of the model that carried the function out; their prompts name the answer."""
    if view.spec is None or not view.spec.is_module:
        return ()
    items = {item("input", probe.input) for probe in made}
    calls = view.log.calls.items()
    return tuple(name for name, call in calls if call.asked.role == "module" and call.asked.item in items)


def _call(probe: Probe, category: str) -> Part:
    """Return a call; for a text, with the box's changes marked."""
    given, output = visible(probe.input), visible(probe.output) or "(empty)"
    if probe.problem:
        return Part(label=f"f({given})", text=f"(no output: {probe.problem})")
    pieces = letters(probe.input, probe.output) if category == "strings" and probe.output else []
    if not pieces:
        return Part(label=f"f({given})", text=output)
    marks = {"removed": "struck", "added": "added", "same": None}
    seen = [(visible(one.text, every=one.op != "same"), marks[one.op]) for one in pieces]
    return with_spans(seen, f"{given} → {output}")  # type: ignore[arg-type]


def _in_a_line(exchange: Exchange | None, made: list[Probe]) -> str:
    if made:
        calls = ", ".join(f"f({probe.input}) = {probe.output or probe.problem}" for probe in made)
        line = f"{count_noun(len(made), 'call')}: {calls}"
    else:
        line = exchange.trouble if exchange and exchange.trouble else "Conclusion."
    line = " ".join(line.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def _quoted(view: ProbeView) -> Iterator[Panel]:
    """Yield a panel on whether the calls that its words quote were made."""
    audit = view.audit
    assert audit is not None
    kinds = {
        "as it was shown": audit.supported,
        "not what it was shown": audit.contradicted,
        "never tried": audit.unseen,
    }
    parts = [Part(label=f"f({one}) = {given}", text=how) for how, pairs in kinds.items() for one, given in pairs]
    if parts:
        held = f"{len(audit.supported)} of {count_noun(len(parts), 'quoted call')} correct."
        yield Panel(title="Calls that its description quotes", parts=tuple(parts), answer=held)


def _highest(view: ProbeView) -> Iterator[Panel]:
    """Yield the tried words with the highest values; a word tried twice has its last value."""
    values = {probe.input: probe for probe in view.probes if probe.value is not None}
    first = sorted(values.values(), key=lambda probe: (-(probe.value or 0.0), probe.number))[:HIGHEST]
    if first:
        parts = tuple(Part(label=probe.input, text=f"{probe.value:.2f}") for probe in first)
        yield Panel(title="The words with the highest values", parts=parts)


# The order of the screens


def _screens(made: Scene, view: ProbeView) -> Iterator[Screen]:
    """Yield the screens. For numbers: the calls, the claim, a guess at a point where code and function differ, then the
    truth. For all others: a round, the claim, three guesses, then all tests together. At the end the bars that
    decide, and the verdict.
    """
    yield Screen(shows="question")
    if made.plot is not None and made.plot.points:
        yield Screen(shows="plot")
    elif (number := _most_telling(made)) is not None:
        yield Screen(shows="panel", of=str(number))
    if made.claim is not None:
        yield Screen(shows="claim")
    yield from card_screens(_parted(made.cards, view) if made.plot is not None else pick_cards(made.cards))
    yield from ending(made)


def _most_telling(made: Scene) -> int | None:
    """Return the first round with invented outputs, else the first with calls; None without any."""
    rounds = [(number, panel) for number, panel in enumerate(made.panels) if panel.title.startswith(("Round", "Exem"))]
    told = [number for number, panel in rounds if panel.note] or [number for number, panel in rounds if panel.parts]
    return told[0] if told else None


def _parted(found: tuple[Card, ...], view: ProbeView) -> list[Card]:
    """Return a point where code and function agree, and the one where they are farthest apart."""
    worst = CaseFacts(view).worst
    about = "" if worst is None else f"x = {worst[0]:g}"
    kept = [card for card in found if card.mark == "kept"]
    apart = sorted(
        (card for card in found if card.mark in ("broken", "not settled")),
        key=lambda card: not card.parts or card.parts[0].text != about,
    )
    return sorted([*kept[:1], *apart[:1]], key=lambda card: card.number)
