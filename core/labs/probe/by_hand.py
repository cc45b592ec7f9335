"""What a visitor does without a model: draw a curve of a function of numbers, or pick the outputs of one of texts."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date
from difflib import SequenceMatcher
from math import isfinite
from typing import Literal

import numpy as np

from ...events import Frozen
from ...scene import Curve, Plot, Point
from .box import real
from .charts import divided, upright
from .exemplars import observed, pairs_for_testing
from .functions.base import FindFunction
from .functions.numeric import GRID, PROBED, NumericFunction
from .records import Interpretation, Submission
from .tasks import ProbeSpec
from .view import ProbeView

POINTS = 65
"""How many values a drawn curve has, evenly over the tested range."""

CALLS = 10
"""Queries that a person may make of the function of the day."""

SHOWN = 5
"""Values of the function of the day that a class sees, which cannot query it."""

NEAR = 0.1
"""A drawn value is near if it is within this share of the function's height, because hand drawing is not exact."""

MOSTLY, PARTLY = 0.8, 0.3
"""The shares of a stretch's test points that must be near for it to count as found, and as partly found."""

WORDS = "A curve drawn by hand."
"""The description that a drawn curve is submitted with; the curve itself is its code."""

Tile = Literal["near", "partly", "far"]

SIGNS: dict[Tile, str] = {"near": "■", "partly": "◧", "far": "□"}


def code(ys: Sequence[float]) -> str:
    """Return code for a function of x whose line goes through these values, constant beyond the tested range. Raises
    ValueError unless they are POINTS finite numbers.
    """
    if len(ys) != POINTS or not all(isinstance(y, int | float) and isfinite(y) for y in ys):
        raise ValueError(f"A drawn curve has {POINTS} values, each a number.")
    low, high = PROBED
    step = (high - low) / (POINTS - 1)
    return (
        "def f(x):\n"
        f"    ys = [{', '.join(f'{y:.5g}' for y in ys)}]\n"
        f"    place = min(max((x - {low:g}) / {step:g}, 0), {POINTS - 1})\n"
        f"    at = min(int(place), {POINTS - 2})\n"
        "    return ys[at] + (place - at) * (ys[at + 1] - ys[at])"
    )


def submission(ys: Sequence[float]) -> Submission:
    """Return the conclusion of a person who drew this curve. Raises ValueError as `code` does."""
    return Submission(description=WORDS, domain="", code=code(ys), interval=None)


def is_drawn(said: Interpretation | None) -> bool:
    """Whether the conclusion is a drawn curve."""
    return said is not None and said.interpreter == "you" and said.description.repaired == WORDS


def tiles(view: ProbeView) -> list[Tile]:
    """Return how close the conclusion is, drawn or as code, by the same standard. Empty before the truth is
    recorded.
    """
    truth, given = view.truth, view.estimate.repaired if view.estimate else ()
    return nearness(truth.x, truth.y, given) if truth else []


def nearness(xs: Sequence[float], true: Sequence[float | None], given: Sequence[float | None]) -> list[Tile]:
    """Return for each stretch of the tested range, from the lowest on, how much of `given` is within NEAR of the
    function's height, at the test points `xs`. All stretches are far if nothing is given; empty if the function has
    no values.
    """
    known = [y for y in true if y is not None and isfinite(y)]
    if not known:
        return []
    within = NEAR * (max(known) - min(known)) or NEAR * abs(known[0]) or NEAR
    rows = sorted(zip(xs, true, given or [None] * len(xs), strict=True), key=lambda row: row[0])
    return [_tile(part, within) for part in divided(rows)]


def _tile(rows: Sequence[tuple[float, float | None, float | None]], within: float) -> Tile:
    counted = [(y, given) for _, y, given in rows if y is not None]
    hits = sum(given is not None and isfinite(given) and abs(given - y) <= within for y, given in counted)
    share = hits / len(counted) if counted else 0.0
    return "near" if share >= MOSTLY else "partly" if share >= PARTLY else "far"


def hits(xs: Sequence[float], true: Sequence[float | None], given: Sequence[float | None]) -> int:
    """Return the number of stretches in which `given` is close to the function."""
    return nearness(xs, true, given).count("near")


def spec_of_day(day: date) -> ProbeSpec:
    """Return the specification for everybody who draws on that day; its seed is the date."""
    seed = int(f"{day:%Y%m%d}")
    title = f"Function of {day:%-d %B %Y}"
    return ProbeSpec(category="numeric", seed=seed, interpreter="you", rounds=CALLS, probes=CALLS, title=title)


def of_day(day: date) -> tuple[str, Plot]:
    """Return the title and the plot of the function of that day, for a class that cannot query it: with SHOWN values,
    evenly spaced over the tested range.
    """
    from .functions.source import load

    spec = spec_of_day(day)
    function = load(spec)
    assert isinstance(function, NumericFunction)

    def at(xs: Sequence[float]) -> list[float | None]:
        return [real(y) for y in function.expected(np.asarray(xs)).tolist()]

    xs, shown = GRID.tolist(), np.linspace(*PROBED, SHOWN).tolist()
    points = ((x, y) for x, y in zip(shown, at(shown), strict=True) if y is not None)
    true = at(xs)
    return spec.title, Plot(
        points=tuple(Point(x=x, y=y, number=number) for number, (x, y) in enumerate(points, start=1)),
        curves=(Curve(label="The function", kind="truth", x=tuple(xs), y=tuple(true)),),
        x_ends=PROBED,
        y_ends=upright(true, []),
    )


def row(found: Sequence[Tile]) -> str:
    """Return the tiles in a line, and how many are near."""
    return f"{''.join(SIGNS[one] for one in found)} {found.count('near')} of {len(found)}"


# A quiz on a function of texts: pick, of three outputs for a new text, the one that the function gives.


TEXTS = 5
OTHERS = 24
"""How many other functions are generated; their two closest outputs become the wrong options."""

_POOL = 30
"""How many texts are generated to find some that were not tried yet."""

_STREAM, _FIRST = 22, 20_000
"""Separates these random numbers, and the seeds of the other functions, from the other streams of a seed."""

QUIZ_WORDS = "Told by picking outputs: "
"""How the description of such a conclusion begins; the picks follow as JSON."""


class QuizItem(Frozen):
    """A new text, and three outputs in random order; one of them is the function's."""

    text: str
    outputs: tuple[str, ...]


def quiz_items(function: FindFunction, seed: int, tried: Collection[str]) -> tuple[QuizItem, ...]:
    """Return at most TEXTS quiz items on texts that were not tried, the same for the same seed."""
    rng = np.random.default_rng([seed, _STREAM])
    from .functions.source import generate

    others = [generate("strings", _FIRST + 97 * seed + number) for number in range(OTHERS)]
    found = []
    for text, output in pairs_for_testing(function, seed, _POOL):
        wrong = dict.fromkeys(given for one in others for _, given in observed(one, [text], rng) if given != output)
        near = sorted(wrong, key=lambda given: -SequenceMatcher(None, given, output, autojunk=False).ratio())[:2]
        if text not in tried and len(near) == 2:
            mixed = [output, *near]
            found.append(QuizItem(text=text, outputs=tuple(mixed[place] for place in rng.permutation(3))))
    return tuple(found[:TEXTS])


def quiz_submission(picks: Mapping[str, str]) -> Submission:
    """Return the conclusion of a person who picked these outputs, by text."""
    return Submission(description=QUIZ_WORDS + json.dumps(dict(picks), ensure_ascii=False))


def picks(said: Interpretation | None) -> dict[str, str]:
    """Return the picks by text; empty if the conclusion does not come from the quiz."""
    words = said.description.repaired if said is not None and said.interpreter == "you" else ""
    if not words.startswith(QUIZ_WORDS):
        return {}
    try:
        found = json.loads(words.removeprefix(QUIZ_WORDS))
    except ValueError:
        return {}
    return {text: given for text, given in found.items() if isinstance(given, str)} if isinstance(found, dict) else {}


def picked_outputs(function: FindFunction, picked: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield for each text the picked output and the function's; an empty string if the function gives nothing."""
    given = dict(observed(function, list(picked), np.random.default_rng([0, _STREAM])))
    for text, one in picked.items():
        yield text, one, given.get(text, "")
