"""The scene of one entity function: each word that it was asked about, and the value it gave."""

from __future__ import annotations

from collections.abc import Iterator

from ....scene import Card, Expect, Mark, Panel, Part, Scene, Screen, Verdict, screens
from ..trials import MARKS
from .view import PAPER, Kind, Reliability, ReliabilityView, sentences

OPTIONS = {"1": "It belongs", "0": "It does not"}
"""The guesses on a word."""

WORDS: dict[Mark, str] = {"kept": "right", "broken": "wrong", "unread": "no value"}

CARRIED_OUT = {"table": "our word lists", "embedding": "sentence embeddings"}
"""What screens call a backbone that is not a model."""

HOW = {"logprobs": "from the probabilities of 0 and 1", "answer": "from the digit it wrote: no probabilities"}
"""Where a model's values come from."""


def scene(view: ReliabilityView) -> Scene:
    """Return the scene of one concept's function: its own words first, then the others, each with the highest values
    first. Never raises.
    """
    one, spec = view.reliability, view.spec
    by = (spec.model or CARRIED_OUT.get(spec.backbone, spec.backbone)) if spec else ""
    is_over = view.outcome != "waiting" and bool(view.log.of_type("result") or view.log.status)
    made = Scene(
        lab="Reliability",
        title=view.title,
        method=by,
        one="word",
        words=WORDS,
        parts=tuple(_asked(view)),
        cards=tuple(_cards(view, by)),
        panels=tuple(_means(one)) if one else (),
        verdict=Verdict(headline=Part(text=sentences(view)[0])) if is_over else None,
    )
    # The means would give away what the viewer is to guess.
    *others, last = [screen for screen in screens(made) if screen.shows != "panel"]
    means = [Screen(shows="panel", of=str(number)) for number in range(len(made.panels))]
    order = (*others, *means, last) if last.shows == "verdict" else (*others, last, *means)
    return made.model_copy(update={"screens": order})


def _asked(view: ReliabilityView) -> Iterator[Part]:
    subject = view.title
    yield Part(label="The function", text=f"It gives 1 for a word that belongs to {subject}, 0 for any other.")
    if view.spec is not None:
        yield Part(label="It was asked about", text=f"{view.spec.concepts} subjects, {view.spec.words} words of each")
    ways = dict.fromkeys(view.reliability.how) if view.reliability else ()
    if said := [HOW[how] for how in ways if how in HOW]:
        yield Part(label="Values are read", text=", or ".join(said))


def _cards(view: ReliabilityView, by: str) -> Iterator[Card]:
    one = view.reliability
    origins = dict(zip(view.trials, one.of, strict=False)) if one else {}

    def order(name: str) -> tuple[bool, float]:
        reading = view.trials[name].repaired
        return reading.expected != "1", -float(reading.observed or 0)

    for number, name in enumerate(sorted(view.trials, key=order), start=1):
        trial = view.trials[name]
        reading = trial.repaired
        value = None if reading.observed is None else float(reading.observed)
        yield Card(
            id=name,
            number=number,
            mark=MARKS.get(reading.outcome, "set aside"),
            parts=(Part(text=trial.about),),
            options=OPTIONS,
            expects=(Expect(who="our list", value=reading.expected or ""),),
            said="" if value is None else "1" if value >= 0.5 else "0",
            text=reading.observed or "",
            outcome=reading.outcome,
            reason=reading.reason,
            origin=f"a word of {origins[name]}" if name in origins else "",
            calls=trial.calls,
        )


def _means(one: Reliability) -> Iterator[Panel]:
    named: dict[Kind, tuple[str, list[float]]] = {
        "same": ("Own words", one.same),
        "random": ("Words of others", one.random),
    }
    for kind, (title, values) in named.items():
        mean = f"{sum(values) / len(values):.2f} on average" if values else "no value"
        yield Panel(title=title, answer=mean, note=f"{PAPER[kind]} in the paper (Vicuna-13b, 140 subjects).")
