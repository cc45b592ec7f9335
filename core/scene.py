"""A case as it is told: what was asked, what was claimed, what was put to the test, its outcome, and the verdict.

Each lab makes a `Scene` of its view with one pure function; page, presenter, file, command line and report draw no case
in any other way. It is JSON by itself. Texts are plain: what marks parts of them are spans.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from .events import Frozen
from .text.whitespace_marks import directed

SCHEMA = 1
"""Version of a scene's JSON."""

Mark = Literal[
    "kept", "broken", "not settled", "in doubt", "set aside", "unread", "failed", "waiting", "stopped", "sealed"
]
"""What came of something, for the explanation: `core.labs.base.declared.Means`, *stopped* for what was not reached, and
*sealed* for what came and is shown to anyone who has predicted it (`core.report.redaction`).
"""

Emphasis = Literal["strong", "named", "hidden", "struck", "added", "cue", "shared"]
"""What a span of a text is: read aloud; a word that the explanation names; one that is hidden; one that an edit took
away or put in; the planted cue or words that tell it; words that the explanation and a new question have in common.
"""


class Span(Frozen):
    """Code points `start` to `end` (not included) of a text, and what they are. They lie in order, none in another."""

    start: int
    end: int
    mark: Emphasis


class Part(Frozen):
    """A text under a label, which may be empty."""

    text: Annotated[str, AfterValidator(directed)]
    label: str = ""
    spans: tuple[Span, ...] = ()


class Who(Frozen):
    """Whose explanation it is. `shown` does not give away how the story ends ("a robot", "a small model"); `name` does,
    and is part of the end, as is what a robot `does` by construction ("breaks its own rule").
    """

    shown: str = ""
    name: str = ""
    does: str = ""
    is_robot: bool = False


class Claim(Frozen):
    """The answer and its explanation in `parts`; the right answer, where it is known; and in `domain` and `code` what a
    description of a function says besides.
    """

    answer: str = ""
    gold: str = ""
    parts: tuple[Part, ...] = ()
    note: str = ""
    domain: str = ""
    code: str = ""
    calls: tuple[str, ...] = ()
    thinking: tuple[Part, ...] = Field(default=(), exclude_if=lambda parts: not parts)
    """The model's thinking in these calls, each under a label that says whose words it is; a part without text where
    the provider does not show it.
    """


class Expect(Frozen):
    """What was expected of a test, by whom and from what: `arm` is "" from the explanation, else what stood in its
    place. `value` is a word of the card's options, `quote` what was said, `votes` each vote of several.
    """

    who: str
    value: str
    arm: str = ""
    quote: str = ""
    votes: tuple[str, ...] = ()
    call: str = ""


class Panel(Frozen):
    """One of several things that were asked alike: a session, an arm, a round. `answer` is what came; `run` is another
    run, where it is that one's.
    """

    title: str
    parts: tuple[Part, ...] = ()
    answer: str = ""
    mark: Mark | None = None
    note: str = ""
    calls: tuple[str, ...] = ()
    run: str = ""


class Card(Frozen):
    """One test. `options` are what may be guessed of it, in words by value; `expects` what was expected, the first of
    them what the verdict rests on; `said` what came, in a word, and `text` the same in the words in which it came;
    `came` says it where `said` is no word of the model's, as where it is asked whether a session can still tell.
    `is_reading`: the card asks what an explanation says, so nothing was expected and `expects` are who reads it how.
    `outcome` is the lab's word, `mark` what that means; `reason` why it does not count, `doubt` why it is no verdict
    all the same. `columns`: what a list shows in place of what was expected and what came. `by_paper` is the outcome by
    paper rules, where it is another. `guess` is the reader's own.
    """

    id: str
    number: int
    mark: Mark
    parts: tuple[Part, ...] = ()
    options: Mapping[str, str] = {}
    expects: tuple[Expect, ...] = ()
    said: str = ""
    text: str = ""
    came: str = ""
    is_reading: bool = Field(default=False, exclude_if=lambda is_so: not is_so)
    outcome: str = ""
    reason: str = ""
    doubt: str = ""
    origin: str = ""
    columns: tuple[Part, ...] = Field(default=(), exclude_if=lambda parts: not parts)
    by_hand: bool = False
    by_paper: str = ""
    guess: str = ""
    panels: tuple[Panel, ...] = ()
    calls: tuple[str, ...] = ()


class Point(Frozen):
    """A place of a plot; `number` is the order in which it was asked for, 0 where it was not."""

    x: float
    y: float
    number: int = 0


class Curve(Frozen):
    """A line through points, left to right; None is a gap. `kind`: the function itself, or what somebody says of it."""

    label: str
    kind: Literal["truth", "claim", "reader", "baseline"]
    x: tuple[float, ...]
    y: tuple[float | None, ...]


class AxisInterval(Frozen):
    """A stretch of the axis, and what is said of it. `kind`: one of the stretches that the tested range is cut into;
    one where nobody looked; one that is said to behave otherwise; one where the values are replaced. What came of the
    first, and the last, is covered with the truth.
    """

    low: float
    high: float
    label: str
    mark: Mark | None = None
    kind: Literal["stretch", "unseen", "claimed", "replaced"] = "stretch"


class Plot(Frozen):
    """A function of numbers: what was asked of it, what is said of it, and the truth, which may be covered. The ends of
    the axes leave out what would flatten all the rest; None where they are not known. `left_out` says what that is, a
    sentence each.
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
    """A share that decides: `hits` of `n`, as a name says, with its 95 % interval where it has one. `own`: with the
    explanation; `limit`: the most that can be had; any other is a baseline. `wins`: one that does as well as the
    explanation or better. `faint`: too little for a rate, or nothing may be said of it.
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


class Verdict(Frozen):
    """The sentence, those after it, and the bars that decide. `caution` is what has to be known before the sentence is
    read. `words` tells it in what was said, for an audience; `mark` is what it means, None where it has none; `meaning`
    is what it does not say.
    """

    headline: Part
    caution: Part | None = Field(default=None, exclude_if=lambda part: part is None)
    more: tuple[Part, ...] = ()
    words: str = ""
    mark: Mark | None = None
    bars: tuple[Bar, ...] = ()
    doubt: str = ""
    meaning: str = ""


class Action(Frozen):
    """What a person may do: `name` it, `on` a card, a call or the case."""

    name: Literal["fork", "question", "label", "guess", "input", "draw", "resume", "cancel"]
    on: str = ""


class Drop(Frozen):
    """What does not count: about what, and why."""

    about: str
    reason: str
    rules: str = ""
    detail: str = ""


class FigureLine(Frozen):
    """A figure with its name, as it is printed, and over how many."""

    title: str
    value: str
    help: str = ""
    n: int = 0
    of: int = 0


class Screen(Frozen):
    """One screen of a telling: which part of the scene it shows; of cards and panels which one, by id or number."""

    shows: Literal["question", "claim", "card", "turned", "tiles", "panel", "plot", "truth", "bars", "verdict"]
    of: str = ""


class Scene(Frozen):
    """A case. `parts` is what was asked; `one` what a card is called ("question"); `words` what its marks are; `grid`
    what the lab sets beside this case; `coming` what is being written now, by whom; `differs` says what depends on
    whose rules read the answers; `screens` tell it to an audience, in order, as far as it has come (`screens`, unless
    the lab has an order of its own). `is_sealed`: there is more of it than is told here.
    """

    schema_version: int = SCHEMA
    lab: str
    run: str = ""
    case: str = ""
    title: str = ""
    question: str = ""
    who: Who = Who()
    method: str = ""
    status: Literal["empty", "waiting", "running", "failed", "cancelled", "interrupted", "done"] = "empty"
    one: str = "test"
    words: Mapping[Mark, str] = {}
    parts: tuple[Part, ...] = ()
    claim: Claim | None = None
    cards: tuple[Card, ...] = ()
    panels: tuple[Panel, ...] = ()
    plot: Plot | None = None
    verdict: Verdict | None = None
    grid: tuple[Panel, ...] = ()
    coming: tuple[Part, ...] = ()
    ledger: tuple[Drop, ...] = ()
    figures: tuple[FigureLine, ...] = ()
    actions: tuple[Action, ...] = ()
    unread: int = 0
    differs: str = ""
    failure: tuple[Part, ...] = ()
    screens: tuple[Screen, ...] = ()
    is_sealed: bool = False


class Tile(Frozen):
    """A case of a run: its outcome in the lab's word, what that means there, and its sentence."""

    case: str
    number: int
    title: str
    mark: Mark
    outcome: str = ""
    sentence: Part = Part(text="")


class Tally(Frozen):
    """How many cases came to the same, in words, and why they decide nothing."""

    n: int
    words: str
    mark: Mark
    reason: str = ""


class RunScene(Frozen):
    """A run of several cases: the verdict on all of them with the bars that decide, a tile a case, how many came to
    what, and every figure. `one` is what a tile stands for, `words` what the marks are called there.
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


ENDING = ("truth", "tiles", "bars", "verdict")
"""Screens that come with the verdict."""

MOST_SCREENS = 12
"""Of a telling. The rest is one key away."""


def as_json(made: Frozen) -> str:
    """A scene, or what stands behind one, as JSON. Half a character, which a model may write, is escaped in it: UTF-8
    has no such thing.
    """
    return json.dumps(made.model_dump(), separators=(",", ":"))


def told(text: str, label: str = "") -> Part:
    """A sentence of a lab's, which emphasises *what stands between asterisks*, as a text with spans."""
    plain, spans = "", []
    for place, piece in enumerate(re.split(r"\*([^*\n]+)\*", text)):
        if place % 2:
            spans.append(Span(start=len(plain), end=len(plain) + len(piece), mark="strong"))
        plain += piece
    return Part(text=plain, label=label, spans=tuple(spans))


def marked(pieces: Iterable[tuple[str, Emphasis | None]], label: str = "") -> Part:
    """A text made of pieces, each with what it is; None for what is nothing particular."""
    text, spans = "", []
    for piece, mark in pieces:
        if mark is not None and piece:
            spans.append(Span(start=len(text), end=len(text) + len(piece), mark=mark))
        text += piece
    return Part(text=text, label=label, spans=tuple(spans))


def screens(scene: Scene) -> tuple[Screen, ...]:
    """How a scene is told to an audience, as far as it has come: the question, the claim; of its tests one that came
    true, the most telling that did not and one more to bet on; then all tiles, what decides, and the verdict.
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
    yield from turned(picked(scene.cards))
    yield from ending(scene)


def turned(cards: Iterable[Card]) -> Iterator[Screen]:
    """Each card before it is turned, and after."""
    for card in cards:
        yield Screen(shows="card", of=card.id)
        yield Screen(shows="turned", of=card.id)


def ending(scene: Scene) -> Iterator[Screen]:
    """What comes with the verdict: the truth of a plot or else all tiles, what decides, and the verdict itself."""
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
    """The screens of a finished scene in a telling of several: the two panels it begins with, three where it has no
    card, else the claim; one card, `card` or the surest miss, to vote on and then turned; the verdict.
    """
    cards = {one.id: one for one in scene.cards}
    asked = [one for one in scene.screens if one.shows == "card"]
    before = scene.screens[: scene.screens.index(asked[0])] if asked else scene.screens
    # Without a card to turn, what a later panel shows is the story.
    panels = [one for one in before if one.shows == "panel"][: 2 if asked else 3]
    opening = panels if len(panels) >= 2 else [one for one in scene.screens if one.shows == "claim"]
    misses = [one for one in asked if cards[one.of].mark == "broken"]
    named = [Screen(shows="card", of=card)] if card in cards else [*misses, *asked][:1]
    turned = [Screen(shows="turned", of=one.of) for one in named]
    return (*opening, *named, *turned, Screen(shows="verdict"))


def picked(cards: Sequence[Card]) -> list[Card]:
    """Three cards to tell, in their order: the first that came true, the first of the surest misses, and the next that
    counts; fewer where there are fewer.
    """
    counted = [card for card in cards if not card.by_hand and not card.doubt]
    kept = [card for card in counted if card.mark == "kept"]
    broken = sorted((card for card in counted if card.mark == "broken"), key=lambda card: not card.text)
    rest = [*broken[1:], *kept[1:], *(card for card in counted if card.mark == "not settled")]
    chosen = [*kept[:1], *broken[:1], *rest][:3]
    return sorted(chosen, key=lambda card: card.number)


def steps(scene: Scene) -> Iterator[tuple[str, str]]:
    """All of a scene in the one order in which it is told, as (key, text). A text that was told stays as it is, so that
    the result of a run can be printed as it comes: what may still change is held back.
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
    """Those up to the one in which it was claimed."""
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
    """A test, and below it what was expected, what came, and what that means or why it means nothing."""
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
    """The remarks, which may change until then, and the verdict. A doubt that it tells is not told again."""
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
