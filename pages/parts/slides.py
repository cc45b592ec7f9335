"""What a run tells an audience: one idea a screen. A lab's room makes these of its view; the presenter draws them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from core import entry
from core.lab.cases import View
from pages.parts.text import plain
from pages.parts.tiles import LOOKS, State

UNKNOWN = "unknown"
"""What who guesses says where they cannot tell."""

YES_OR_NO = {"yes": "Yes", "no": "No", UNKNOWN: "Cannot tell"}


class Question(NamedTuple):
    """What the audience may say of a trial before it shows: one of `options`, which are in words by value. `expected`
    is what `who` predicts, `observed` what came; None where it is not there, or could not be read.
    """

    trial: str
    options: Mapping[str, str]
    who: str
    expected: str | None = None
    observed: str | None = None


class Link(NamedTuple):
    """A way on from a screen."""

    words: str
    icon: str
    page: Any
    query: dict[str, str]


class Slide(NamedTuple):
    """One screen: a small line above, a heading, and what stands below it, all of them Markdown, in which what a model
    or a person wrote is escaped. `mark` is what came of a test, in `words`; `tiles` are those of all tests up to here;
    `foot` stands below all else.
    """

    lead: str
    heading: str = ""
    body: tuple[str, ...] = ()
    mark: State | None = None
    words: str = ""
    tiles: tuple[State, ...] = ()
    question: Question | None = None
    links: tuple[Link, ...] = ()
    foot: str = ""
    is_waiting: bool = False
    is_verdict: bool = False


def in_order(slides: Iterator[Slide]) -> list[Slide]:
    """The slides up to the first that waits: what comes after it would give away what is to come."""
    so_far = []
    for slide in slides:
        so_far.append(slide)
        if slide.is_waiting:
            break
    return so_far


def quoted(text: str) -> str:
    """Markdown that quotes what a model or a person wrote."""
    return f"> {plain(text.strip())}".replace("\n", "\n> ")


def against(questions: Sequence[Question], guesses: Mapping[str, str]) -> str:
    """The audience and who predicted over the same trials, in a sentence; empty where nobody guessed. `guesses` are
    values by trial.
    """
    guessed = [one for one in questions if one.trial in guesses]
    if not guessed:
        return ""
    both = [
        one
        for one in guessed
        if one.observed is not None and one.expected not in (None, UNKNOWN) and guesses[one.trial] != UNKNOWN
    ]
    if not both:
        return f"There is nothing that you and {guessed[0].who} both predicted and that came to be known."
    mine = sum(guesses[one.trial] == one.observed for one in both)
    theirs = sum(one.expected == one.observed for one in both)
    sentence = f"You {mine} of {len(both)}, {both[0].who} {theirs} of {len(both)}."
    if left := len(guessed) - len(both):
        one_is = "1 guess is" if left == 1 else f"{left} guesses are"
        sentence += f" Only what both predicted, and what could be read, is compared: {one_is} left out."
    return sentence


def of_any(view: View, active: bool) -> list[Slide]:
    """A case told from its view alone, for a lab without a story of its own."""
    return in_order(_of_any(view, active))


def _of_any(view: View, active: bool) -> Iterator[Slide]:
    lab = entry.labs()[view.log.started.lab] if view.log.started else None
    yield Slide(lab.question if lab else "", plain(view.title))
    if view.explanation is not None:
        yield Slide("It says", body=(quoted(view.explanation),))
    elif active:
        yield Slide("It says", is_waiting=True)
    for number, trial in enumerate(view.trials.values(), start=1):
        reading = trial.repaired
        expected, observed = (plain(text) if text else "–" for text in (reading.expected, reading.observed))
        yield Slide(f"Test {number}: what is expected", plain(trial.about), (f"expected **{expected}**",))
        yield Slide(
            f"Test {number}: what came",
            f"**{observed}**",
            (f"expected **{expected}**",),
            mark="in doubt" if reading.doubt else lab.means(reading.outcome) if lab else "set aside",
            words=plain(reading.outcome),
            is_waiting=active and reading.outcome == "waiting",
        )
    if active:
        yield Slide("What comes next", is_waiting=True)
    elif lab is not None:
        headline, *more = lab.verdict(view) or [view.outcome("repaired")]
        yield Slide("The verdict", plain(headline), tuple(plain(one) for one in more), is_verdict=True)


def strip(tiles: Sequence[State]) -> str:
    """Markdown of the tiles, numbered."""
    return " ".join(LOOKS[state].badge(str(number)) for number, state in enumerate(tiles, start=1))
