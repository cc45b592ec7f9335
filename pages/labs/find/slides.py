"""One black box told to an audience: what it gave, how it was described, each test of that, the truth, the verdict."""

from __future__ import annotations

from collections.abc import Iterator

from core.lab.cases import Trial
from core.labs.find.agreement import absolute_bound, agrees
from core.labs.find.facts import Facts
from core.labs.find.missed import headline, missed
from core.labs.find.records import UnitTest
from core.labs.find.trials import GRID, MARKS
from core.labs.find.verdict import of_words
from core.labs.find.view import ProbeView
from pages.labs.find.pictures import number as figure
from pages.parts.models import short
from pages.parts.slides import UNKNOWN, YES_OR_NO, Question, Slide, in_order, quoted
from pages.parts.text import plain, visible
from pages.parts.tiles import State

CALLS = 6
"""So many of the calls are shown; all stand on the run's page."""

POINTS = 4
"""Of a function of numbers so many test points are shown one by one, evenly spread; the verdict is about all."""

REMARKS = 3


def slides(view: ProbeView, active: bool) -> list[Slide]:
    """The case as far as it has come."""
    return in_order(_slides(view, active))


def scene(view: ProbeView, row: str = "") -> list[Slide]:
    """What the box gave, how it was described, what it is, and the verdict."""
    if view.explanation is None or view.truth is None or not view.probes:
        return []
    calls = _box(view)
    return [
        Slide(
            "Can it explain a black box whose truth we know?",
            calls.heading,
            (
                calls.body[0].replace("  \n", " · "),
                f"A model describes it: {quoted_inline(view.explanation)}",
                f"**The truth:** {plain(view.truth.description)}",
                plain(headline(view)),
            ),
        )
    ]


def quoted_inline(text: str) -> str:
    """A text of a model's between quotation marks."""
    return f"“{plain(text)}”"


def _slides(view: ProbeView, active: bool) -> Iterator[Slide]:
    if view.probes or not active:
        yield _box(view)
    if view.interpretation is None:
        if active:
            yield Slide("The black box", is_waiting=True)
    else:
        yield _describes(view)
    # What the function is stands last in the journal: until then the tests are not all there.
    if view.interpretation is not None and (view.truth is not None or not active):
        yield from _tests(view)
    if active:
        yield Slide("What comes next", is_waiting=True)
        return
    if view.truth is not None:
        remarks = [one for one in missed(view) if one not in headline(view)]
        more = [f"- {plain(one)}" for one in remarks[:REMARKS]]
        left = [f"And {len(remarks) - REMARKS} more remarks, on the page of the run."] * (len(remarks) > REMARKS)
        yield Slide("The truth", plain(view.truth.description), tuple(filter(None, ("\n".join(more), *left))))
    words = of_words(view)
    states = tuple(MARKS.get(trial.repaired.outcome, "set aside") for name, trial in _each(view))
    yield Slide("The verdict", plain(headline(view)), (plain(words),) if words else (), tiles=states, is_verdict=True)


def _each(view: ProbeView) -> list[tuple[str, Trial]]:
    """The trials that are shown one by one."""
    return [(name, trial) for name, trial in view.trials.items() if name != GRID]


def _box(view: ProbeView) -> Slide:
    """The calls that were made first."""
    given = dict.fromkeys((probe.input, probe.output or probe.problem) for probe in view.probes)
    calls = [f"**{plain(visible(one))}** → **{plain(visible(out))}**" for one, out in list(given)[:CALLS]]
    who = plain(short(view.spec.model)) if view.spec and view.spec.model else ""
    more = f"{CALLS} of {len(given)} different calls are shown." if len(given) > CALLS else ""
    body = ("  \n".join(calls), f":gray[{more}]" if more else "")
    heading = "A black box gave this" if calls else "Nobody called the black box"
    return Slide(f"Probed by {who}" if who else "The black box", heading, tuple(filter(None, body)))


def _describes(view: ProbeView) -> Slide:
    found = view.interpretation
    assert found is not None
    you = found.interpreter == "you"
    body = quoted(found.description.repaired) if found.description.repaired else "There is no description."
    code = f"{'You' if you else 'It'} also wrote code, by which the description is tested." * bool(found.code.repaired)
    return Slide("The black box", "You describe it" if you else "It describes it", tuple(filter(None, (body, code))))


def _tests(view: ProbeView) -> Iterator[Slide]:
    yield from _points(view)
    states: list[State] = []
    for number, (name, trial) in enumerate(_each(view), start=1):
        states.append(MARKS.get(trial.repaired.outcome, "set aside"))
        if name in view.predictions:
            yield from _text(view, name, trial, number, tuple(states))
        elif name in view.units:
            yield from _unit(name, view.units[name], trial, number, tuple(states))
        else:
            reading = trial.repaired
            yield Slide(
                f"Test {number}", mark="failed", words=plain(reading.reason or "no record"), tiles=tuple(states)
            )


def _points(view: ProbeView) -> Iterator[Slide]:
    """A function of numbers at a few of its test points."""
    truth, estimate, whose = view.truth, view.estimate, Facts(view).whose
    if truth is None or estimate is None or not truth.x:
        return
    if len(estimate.repaired) != len(truth.x) or not any(guess is not None for guess in estimate.repaired):
        why = estimate.trouble.repaired or "It gives no values."
        yield Slide(f"{whose} code on the {len(truth.x)} test points", "It gives no number", (plain(why),))
        return
    points = [(x, y, g) for x, y, g in zip(truth.x, truth.y, estimate.repaired, strict=True) if y is not None]
    points.sort(key=lambda point: point[0])
    bound = absolute_bound(truth.y)
    for place in range(min(POINTS, len(points))):
        x, y, guess = points[len(points) * (2 * place + 1) // (2 * POINTS)]
        holds = agrees(y, guess, bound)
        gives = f"{whose} code gives **{'no number' if guess is None else figure(guess)}**"
        lead = f"Test point {place + 1} of the {POINTS} shown, of {len(truth.x)}"
        if guess is not None:
            yield _asks(f"point-{place}", lead, f"f({figure(x)})", gives, whose, holds)
        yield Slide(
            lead, f"The box gives {figure(y)}", (_for(f"f({figure(x)})", gives),), mark="kept" if holds else "broken",
            words="right" if holds else "wrong",
        )  # fmt: skip


def _for(given: str, gives: str) -> str:
    return f"For {given} {gives[0].lower()}{gives[1:]}"


def _asks(trial: str, lead: str, heading: str, gives: str, whose: str, holds: bool) -> Slide:
    return Slide(
        f"{lead}: what would you expect?", heading, (f"{gives}. Does the box?",),
        question=Question(trial, YES_OR_NO, f"{whose.lower()} code", "yes", "yes" if holds else "no"),
    )  # fmt: skip


def _text(view: ProbeView, name: str, trial: Trial, number: int, states: tuple[State, ...]) -> Iterator[Slide]:
    """A text: what the code gives, and what the function does."""
    one, whose = view.predictions[name], Facts(view).whose
    lead = f"Test {number}" + " (where nobody looked)" * (one.kind == "held out")
    heading = quoted_inline(visible(one.input))
    if one.repaired is None:
        gives = f"{whose} code gives nothing: {plain(one.error)}"
    else:
        gives = f"{whose} code gives **{quoted_inline(visible(one.repaired))}**"
        yield _asks(name, lead, heading, gives, whose, one.repaired == one.truth)
    yield Slide(
        lead, f"The box gives {quoted_inline(visible(one.truth))}", (_for(heading, gives),), mark=states[-1],
        words=_words(trial), tiles=states,
    )  # fmt: skip


def _unit(name: str, one: UnitTest, trial: Trial, number: int, states: tuple[State, ...]) -> Iterator[Slide]:
    """Three examples, of which one is the function's: which does the description tell?"""
    options = [f"{place}. {plain(option)}" for place, option in enumerate(one.options, start=1)]
    places = {str(place): f"Example {place}" for place in range(1, len(options) + 1)}
    lead = f"Test {number}"
    picked = str(one.picked) if one.picked and trial.repaired.outcome != "unread" else None
    yield Slide(
        f"{lead}: what would you expect?",
        "By the description, which example is the box's own?",
        ("\n".join(options),),
        question=Question(name, {**places, UNKNOWN: "Cannot tell"}, "the evaluator", picked, str(one.correct)),
    )
    took = f"From the description the evaluator picked example {picked}" if picked else "The evaluator picked none"
    yield Slide(
        lead, f"Example {one.correct} is the box's own", (plain(trial.repaired.observed or ""), took),
        mark=states[-1], words=_words(trial), tiles=states,
    )  # fmt: skip


def _words(trial: Trial) -> str:
    reading = trial.repaired
    return plain(reading.outcome if reading.counts else f"not counted: {reading.reason or reading.outcome}")
