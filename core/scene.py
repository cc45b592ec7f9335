"""A case ready to be shown: the question, the claim, the tests with their outcomes, and the verdict.

Each lab turns its view into a `Scene` with one pure function. Page, presenter, export file, command line and report all
draw a case from its scene only. A scene is plain JSON. Its texts are plain too: spans mark parts of them.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, Field

from .events import Frozen
from .text.display import directed

SCHEMA = 1
"""Version of a scene's JSON."""

Mark = Literal[
    "kept", "broken", "not settled", "in doubt", "set aside", "unread", "failed", "waiting", "stopped", "sealed"
]
"""What an outcome means for the explanation: `core.labs.base.declared.Means`; *stopped* for what the run did not reach;
*sealed* for an outcome shown only to visitors who have predicted it (`core.report.evidence`).
"""

Emphasis = Literal["strong", "named", "hidden", "struck", "added", "cue", "shared"]
"""What a span is: `strong`, emphasised; `named`, a word that the explanation names; `hidden`, a hidden word; `struck`
and `added`, removed or inserted by an edit; `cue`, the planted cue or words that acknowledge it; `shared`, words
that the explanation and a new question have in common.
"""


class Span(Frozen):
    """Code points `start` to `end` (exclusive) of a text, and what they are. Spans are in order and do not overlap."""

    start: int
    end: int
    mark: Emphasis


class Part(Frozen):
    """A text under a label, which may be empty."""

    text: Annotated[str, AfterValidator(directed)]
    label: str = ""
    spans: tuple[Span, ...] = ()


class Who(Frozen):
    """Whose explanation it is. `shown` does not give away how the story ends ("a robot", "a small model"). `name` does,
    and is shown only at the end, as is what a robot `does` by construction ("breaks its own rule").
    """

    shown: str = ""
    name: str = ""
    does: str = ""
    is_robot: bool = False


class Claim(Frozen):
    """The answer, with its explanation in `parts`, and the right answer if it is known. `domain` and `code` hold
    further parts of the description of a function.
    """

    answer: str = ""
    gold: str = ""
    parts: tuple[Part, ...] = ()
    note: str = ""
    domain: str = ""
    code: str = ""
    calls: tuple[str, ...] = ()
    thinking: tuple[Part, ...] = Field(default=(), exclude_if=lambda parts: not parts)
    """The model's thinking in these calls, each under a label that says whose words it is; a part has no text if the
    provider does not show it.
    """


class Expect(Frozen):
    """A prediction for a test. `who` made it; `arm` is "" if it was made from the explanation, else what replaced the
    explanation. `value` is one of the card's options, `quote` the words quoted in support, `votes` the single votes
    if there were several.
    """

    who: str
    value: str
    arm: str = ""
    quote: str = ""
    votes: tuple[str, ...] = ()
    call: str = ""


class Panel(Frozen):
    """One of several things that were asked in the same way: a session, an arm, a round. `answer` is the result; `run`
    names another run if the panel comes from there.
    """

    title: str
    parts: tuple[Part, ...] = ()
    answer: str = ""
    mark: Mark | None = None
    note: str = ""
    calls: tuple[str, ...] = ()
    run: str = ""


class Card(Frozen):
    """One test."""

    id: str
    """Its trial's id."""
    number: int
    """Its place among the cards, from 1."""
    mark: Mark
    """What the outcome means for the explanation."""
    parts: tuple[Part, ...] = ()
    """The text of the test."""
    options: Mapping[str, str] = {}
    """The answers that can be guessed: how each value is worded, by value."""
    expects: tuple[Expect, ...] = ()
    """The predictions; the verdict rests on the first."""
    said: str = ""
    """The model's answer, as one of the values."""
    text: str = ""
    """The answer as the model wrote it."""
    came: str = ""
    """The result, if it is not an answer of the model: for example whether a session can still tell."""
    is_reading: bool = Field(default=False, exclude_if=lambda is_so: not is_so)
    """Whether the card asks what an explanation says. Then nothing was predicted, and `expects` lists how each reader
    understood it.
    """
    outcome: str = ""
    """The lab's word for the outcome."""
    reason: str = ""
    """Why the card is excluded."""
    doubt: str = ""
    """Why the card gives no verdict although it counts."""
    origin: str = ""
    """Where the test comes from."""
    columns: tuple[Part, ...] = Field(default=(), exclude_if=lambda parts: not parts)
    """What a list shows instead of prediction and result."""
    by_hand: bool = False
    """Whether a person wrote the test."""
    by_paper: str = ""
    """The outcome under the original parser, if it differs."""
    guess: str = ""
    """The visitor's own guess."""
    panels: tuple[Panel, ...] = ()
    """The sessions, arms or rounds of this test."""
    calls: tuple[str, ...] = ()
    """The calls behind it, by id."""


class Point(Frozen):
    """A point of a plot; `number` is its place in the order of queries, 0 if it was not queried."""

    x: float
    y: float
    number: int = 0


class Curve(Frozen):
    """A line through points from left to right; None is a gap. `kind`: the function itself, or somebody's version of
    it.
    """

    label: str
    kind: Literal["truth", "claim", "reader", "baseline"]
    x: tuple[float, ...]
    y: tuple[float | None, ...]


class AxisInterval(Frozen):
    """An interval of the x axis, and what is said about it. `kind`: `stretch`, one of the parts into which the tested
    range is divided; `unseen`, a part that nobody queried; `claimed`, a part said to behave differently; `replaced`,
    a part whose values we replaced. The outcomes of stretches, and replaced parts, are hidden together with the
    truth.
    """

    low: float
    high: float
    label: str
    mark: Mark | None = None
    kind: Literal["stretch", "unseen", "claimed", "replaced"] = "stretch"


class Plot(Frozen):
    """A function of numbers: the queried points, the descriptions of it, and the truth, which may be hidden. `x_ends`
    and `y_ends` limit the axes so that outliers do not flatten the rest; None if they are not known. `left_out` says
    what lies outside, one sentence each.
    """

    points: tuple[Point, ...] = ()
    curves: tuple[Curve, ...] = ()
    intervals: tuple[AxisInterval, ...] = ()
    x_label: str = "x"
    y_label: str = "f(x)"
    x_ends: tuple[float, float] | None = None
    y_ends: tuple[float, float] | None = None
    left_out: tuple[str, ...] = ()


class Bar(Frozen):
    """A share that decides the verdict: `hits` of `n`, with its 95 % interval if it has one. `own`: with the
    explanation; `limit`: the highest possible; all others are baselines. `wins`: it does at least as well as the
    explanation. `faint`: too few for a rate, or no conclusion may be drawn from it. `mark`: it counts the outcomes of
    that kind.
    """

    label: str
    hits: int
    n: int
    own: bool = False
    wins: bool = False
    limit: bool = False
    low: float | None = None
    high: float | None = None
    faint: bool = False
    mark: Mark | None = Field(default=None, exclude_if=lambda mark: mark is None)


class Verdict(Frozen):
    """The main sentence, further sentences, and the bars that decide. `caution` is what the reader has to know before
    the headline. `words` tells the verdict to an audience, quoting what was said. `mark` is what it means, None if
    it means nothing; `meaning` explains what it does and does not say.
    """

    headline: Part
    caution: Part | None = Field(default=None, exclude_if=lambda part: part is None)
    more: tuple[Part, ...] = ()
    words: str = ""
    mark: Mark | None = None
    bars: tuple[Bar, ...] = ()
    doubt: str = ""
    meaning: str = ""


Step = Literal["predict", "real", "longer", "failures", "compare"]
"""The next step after a verdict: predict the answers oneself, ask a real model instead of a robot, run more tests, look
at those that failed, or compare with another model.
"""

STEPS: tuple[Step, ...] = get_args(Step)


class Action(Frozen):
    """Something a person can do: `name` it; *cancel* is `on` a run. `words` is the label of a step after the verdict
    (`STEPS`); the other actions have the same label everywhere.
    """

    name: Literal["fork", "question", "cancel"] | Step
    on: str = ""
    words: str = Field(default="", exclude_if=lambda words: not words)


class Drop(Frozen):
    """Something that is excluded: what it was about, and why."""

    about: str
    reason: str
    rules: str = ""
    detail: str = ""


class FigureLine(Frozen):
    """A figure with its name, as printed, and its sample size."""

    title: str
    value: str
    help: str = ""
    n: int = 0
    of: int = 0


class Screen(Frozen):
    """One screen of a presentation: the part of the scene it shows and, for cards and panels, which one, by id or
    number.
    """

    shows: Literal["question", "claim", "card", "turned", "tiles", "panel", "plot", "truth", "bars", "verdict"]
    of: str = ""


class Scene(Frozen):
    """A case."""

    schema_version: int = SCHEMA
    """The version of this format."""
    lab: str
    """The lab's name in journals."""
    run: str = ""
    """The run's id."""
    case: str = ""
    """The case's id within the run."""
    title: str = ""
    """The case's name in lists."""
    question: str = ""
    """The question that the lab answers."""
    who: Who = Who()
    """The model that explains."""
    method: str = ""
    """How the model was asked to explain itself."""
    status: Literal["empty", "waiting", "running", "failed", "cancelled", "interrupted", "done"] = "empty"
    """How far the case has come."""
    one: str = "test"
    """What a card is called ("question")."""
    words: Mapping[Mark, str] = {}
    """What the marks are called in this lab."""
    parts: tuple[Part, ...] = ()
    """What the model was asked."""
    claim: Claim | None = None
    """The model's answer and explanation."""
    cards: tuple[Card, ...] = ()
    """The tests."""
    panels: tuple[Panel, ...] = ()
    """Sessions, arms or rounds of the whole case."""
    plot: Plot | None = None
    """The function and its descriptions, for a function of numbers."""
    verdict: Verdict | None = None
    """The outcome of the case; None until there is one."""
    grid: tuple[Panel, ...] = ()
    """What the lab shows beside this case."""
    coming: tuple[Part, ...] = ()
    """What is being written now, each part with its writer as the label."""
    ledger: tuple[Drop, ...] = ()
    """What is excluded, and why."""
    figures: tuple[FigureLine, ...] = ()
    """The figures of the case."""
    actions: tuple[Action, ...] = ()
    """What the visitor can do."""
    unread: int = 0
    """How many records of the case cannot be read."""
    differs: str = ""
    """What depends on the choice of parser, in a sentence."""
    failure: tuple[Part, ...] = ()
    """Why the case failed."""
    screens: tuple[Screen, ...] = ()
    """The screens of a presentation, in order, as far as the case has come (from the function `screens` unless the lab
    has its own order).
    """
    is_sealed: bool = False
    """Whether parts of the case are withheld from this scene."""
    by_person: bool = Field(default=False, exclude_if=lambda is_so: not is_so)
    """Whether no model predicts, only visitors do: each card shows the reason and can be guessed before its answer
    comes.
    """


class Tile(Frozen):
    """One case of a run: its outcome in the lab's word, what that means, and its sentence."""

    case: str
    number: int
    title: str
    mark: Mark
    outcome: str = ""
    sentence: Part = Part(text="")


class Tally(Frozen):
    """How many cases had the same outcome, in words, and why they decide nothing."""

    n: int
    words: str
    mark: Mark
    reason: str = ""


class RunScene(Frozen):
    """A run of several cases: the verdict on all of them with the bars that decide, one tile per case, the number of
    cases per outcome, and every figure. `one` is what a tile stands for, `words` what the marks are called there.
    """

    schema_version: int = SCHEMA
    lab: str
    run: str = ""
    status: Literal["empty", "running", "failed", "cancelled", "interrupted", "done"] = "empty"
    planned: int = 0
    one: str = "case"
    words: Mapping[Mark, str] = {}
    verdict: Verdict
    tiles: tuple[Tile, ...] = ()
    ledger: tuple[Tally, ...] = ()
    figures: tuple[FigureLine, ...] = ()
    actions: tuple[Action, ...] = Field(default=(), exclude_if=lambda actions: not actions)


ENDING = ("truth", "tiles", "bars", "verdict")
"""Screens that belong to the verdict."""

MOST_SCREENS = 12
"""Most screens in a presentation. The rest is one key away."""


def as_json(made: Frozen) -> str:
    """Return a scene, or a part of one, as JSON. A lone surrogate, which a model may write, is escaped, since UTF-8
    cannot encode it.
    """
    return json.dumps(made.model_dump(), separators=(",", ":"))


def from_emphasis(text: str, label: str = "") -> Part:
    """Return a lab's sentence as a text with spans: what is written *between asterisks* is emphasised."""
    pieces = enumerate(re.split(r"\*([^*\n]+)\*", text))
    return with_spans(((piece, "strong" if place % 2 else None) for place, piece in pieces), label)


def with_spans(pieces: Iterable[tuple[str, Emphasis | None]], label: str = "") -> Part:
    """Join pieces to one text, each with its mark; None for a piece without one."""
    text, spans = "", []
    for piece, mark in pieces:
        if mark is not None and piece:
            spans.append(Span(start=len(text), end=len(text) + len(piece), mark=mark))
        text += piece
    return Part(text=text, label=label, spans=tuple(spans))


def trimmed(text: str, mark: Emphasis) -> tuple[tuple[str, Emphasis | None], ...]:
    """Return the pieces of a text that has that mark, with the white space around it unmarked."""
    inner = text.strip()
    before, _, after = text.partition(inner) if inner else (text, "", "")
    return (before, None), (inner, mark), (after, None)


def screens(scene: Scene) -> tuple[Screen, ...]:
    """Return the screens that present a scene, as far as it has come: the question; the claim; three tests, of which
    one came true, one is the clearest that did not, and one more is to bet on; then all tiles, what decides, and the
    verdict.
    """
    return tuple(_screens(scene))[:MOST_SCREENS]


def _screens(scene: Scene) -> Iterator[Screen]:
    yield Screen(shows="question")
    if scene.claim is not None:
        yield Screen(shows="claim")
    if scene.plot is not None:
        yield Screen(shows="plot")
    for number in range(min(len(scene.panels), 4)):
        yield Screen(shows="panel", of=str(number))
    yield from card_screens(pick_cards(scene.cards))
    yield from ending(scene)


def card_screens(cards: Iterable[Card]) -> Iterator[Screen]:
    """Yield each card before and after it is turned."""
    for card in cards:
        yield Screen(shows="card", of=card.id)
        yield Screen(shows="turned", of=card.id)


def ending(scene: Scene) -> Iterator[Screen]:
    """Yield the screens that belong to the verdict: the truth of a plot or else all tiles, what decides, and the
    verdict.
    """
    if scene.verdict is None:
        return
    if scene.plot is not None and any(curve.kind == "truth" for curve in scene.plot.curves):
        yield Screen(shows="truth")
    elif len(scene.cards) > 1:
        yield Screen(shows="tiles")
    if scene.verdict.bars:
        yield Screen(shows="bars")
    yield Screen(shows="verdict")


def in_short(scene: Scene, card: str = "") -> tuple[Screen, ...]:
    """Return the screens of a finished scene that is one of several in a presentation: its first two panels (three if
    it has no card), or else the claim; one card, `card` or the clearest miss, to vote on and then turned; the
    verdict.
    """
    cards = {one.id: one for one in scene.cards}
    asked = [one for one in scene.screens if one.shows == "card"]
    before = scene.screens[: scene.screens.index(asked[0])] if asked else scene.screens
    # Without a card to turn, the later panels tell the story.
    panels = [one for one in before if one.shows == "panel"][: 2 if asked else 3]
    opening = panels if len(panels) >= 2 else [one for one in scene.screens if one.shows == "claim"]
    misses = [one for one in asked if cards[one.of].mark == "broken"]
    named = [Screen(shows="card", of=card)] if card in cards else [*misses, *asked][:1]
    turned = [Screen(shows="turned", of=one.of) for one in named]
    return (*opening, *named, *turned, Screen(shows="verdict"))


def pick_cards(cards: Sequence[Card]) -> list[Card]:
    """Pick three cards to present, in their order: the first that came true, the first of the clearest misses, and the
    next that counts; fewer if there are not enough.
    """
    counted = [card for card in cards if not card.by_hand and not card.doubt]
    kept = [card for card in counted if card.mark == "kept"]
    broken = sorted((card for card in counted if card.mark == "broken"), key=lambda card: not card.text)
    rest = [*broken[1:], *kept[1:], *(card for card in counted if card.mark == "not settled")]
    chosen = [*kept[:1], *broken[:1], *rest][:3]
    return sorted(chosen, key=lambda card: card.number)


def steps(scene: Scene) -> Iterator[tuple[str, str]]:
    """Yield all of a scene in reading order, as (key, text). A text that was yielded does not change later, so the
    result of a run can be printed as it arrives: whatever may still change is held back.
    """
    if scene.title:
        yield "question", scene.title
    before = _panels_before_the_claim(scene)
    yield from _of_panels(scene.panels[:before])
    if scene.claim is not None:
        yield from _of_claim(scene.claim)
    yield from _of_panels(scene.panels[before:], before)
    for card in scene.cards:
        if card.mark not in ("waiting", "stopped") and (card.mark != "failed" or scene.verdict is not None):
            yield f"card-{card.id}", _of_card(card)
    if scene.verdict is not None:
        yield from _of_the_end(scene, scene.verdict)


def _panels_before_the_claim(scene: Scene) -> int:
    """Return the number of panels up to the one in which the claim was made; all of them if none made it."""
    calls = set(scene.claim.calls) if scene.claim else set()
    made = [number for number, panel in enumerate(scene.panels, start=1) if calls & set(panel.calls)]
    return made[-1] if made else len(scene.panels)


def _of_panels(panels: Iterable[Panel], start: int = 0) -> Iterator[tuple[str, str]]:
    for number, panel in enumerate(panels, start):
        if panel.answer or (panel.note and panel.mark == "unread"):
            yield f"panel-{number}", f"{panel.title}: {panel.answer or 'no answer that could be read'}"


def _of_claim(claim: Claim) -> Iterator[tuple[str, str]]:
    answer = f"It answers {claim.answer}. " if claim.answer else ""
    said = " ".join(_flat(part) for part in claim.parts)
    yield "claim", f"{answer}It says: {said}" if said else answer.strip() or "It gives no explanation."
    if claim.domain:
        yield "domain", f"Where it holds: {claim.domain}"


def _of_card(card: Card) -> str:
    """Describe a test, and below it the prediction, the result, and what that means or why it means nothing."""
    about = " / ".join(_labelled(part) for part in (card.parts[:1] if card.columns else card.parts))
    value = card.expects[0].value if card.expects and not card.is_reading else ""
    came = card.came or (f"it said {_word(card, card.said)}" if card.said else "")
    happened = ", ".join(filter(None, (f"expected {_word(card, value)}" if value else "", came)))
    if card.columns:
        happened = ", ".join(_labelled(part) for part in card.columns)
    why = card.doubt or card.reason
    outcome = "set aside" if card.mark == "set aside" and why else card.outcome
    return f"{about}\n  {': '.join(filter(None, (happened, outcome, why)))}"


def _of_the_end(scene: Scene, verdict: Verdict) -> Iterator[tuple[str, str]]:
    """Yield the remarks, which may change until the end, and the verdict. A doubt that the verdict mentions is not
    repeated.
    """
    for number, panel in enumerate(scene.panels):
        if panel.note:
            yield f"remark-{number}", f"{panel.title}: {panel.note}"
    if scene.claim is not None and scene.claim.note:
        yield "note", scene.claim.note
    if verdict.caution is not None:
        yield "caution", verdict.caution.text
    yield "headline", verdict.headline.text
    for number, part in enumerate(verdict.more):
        yield f"more-{number}", _labelled(part)
    if verdict.doubt and not any(verdict.doubt in part.text for part in (verdict.headline, *verdict.more)):
        yield "doubt", verdict.doubt
    if verdict.meaning:
        yield "meaning", f"What this says, and what it does not:\n{verdict.meaning}"


def _labelled(part: Part) -> str:
    return f"{part.label}: {_flat(part)}" if part.label else _flat(part)


def _flat(part: Part) -> str:
    return " ".join(part.text.split())


def _word(card: Card, value: str) -> str:
    return card.options.get(value, value).lower() if value in card.options else value
