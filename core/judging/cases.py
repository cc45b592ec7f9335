"""What a judge model is asked: the filtered cases as it sees them, with one person's labels of some as its test, and
what that will cost.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date

from ..events import CallError, Usage
from ..journal import NewerSchemaError
from ..labs.base.lab import Lab
from ..models.settings import cost
from ..report.scenes import of_case
from ..runs.engine import UserInput
from ..runs.labels import Scheme
from ..runs.library import RunNotFoundError
from ..store import label_agreement
from ..store.listing import Selection
from ..transcript import Transcript
from .lab import CASE, MOST, NEEDED, JudgeSpec, ToJudge, prompt

LONGEST = 8_000
"""The most characters of a question or an explanation that a judge sees; the end is cut."""

CHARACTERS = 3.5
"""Characters of a token, roughly."""

ANSWER = 20
"""Tokens of a judge's answer, roughly."""

Reads = Callable[[str], Transcript]
"""Reads a run. Raises RunNotFoundError."""


@dataclass(frozen=True)
class ToAsk:
    """The specification of a judge's run and its cases. `left_out` counts cases that cannot be judged, by reason;
    `labelled` have the person's label.
    """

    spec: JudgeSpec
    cases: tuple[ToJudge, ...]
    left_out: Mapping[str, int]
    labelled: int

    @property
    def inputs(self) -> list[UserInput]:
        """The cases as records of the run."""
        return [UserInput(CASE, case, f"j{number:04}") for number, case in enumerate(self.cases, start=1)]

    @property
    def price(self) -> tuple[float, date | None] | None:
        """The price of all calls in US dollars by their length, and the day of the price; None if it is unknown."""
        texts = (prompt(self.spec, case).messages for case in self.cases)
        lengths = (sum(len(turn.content) for turn in turns) for turns in texts)
        tokens = (Usage(prompt_tokens=round(n / CHARACTERS), completion_tokens=ANSWER) for n in lengths)
        return cost((self.spec.model, usage) for usage in tokens)


def to_ask(
    selected: Selection,
    read: Reads,
    scheme: Scheme,
    who: str,
    model: str,
    question: str,
    is_test: bool,
) -> ToAsk:
    """What the judge will be asked: the cases that `who` labelled under the scheme and, unless it `is_test`, the
    selected ones after them, at most MOST in all. Raises ValueError, which says what to do, if there are too few
    labels, or if the scheme allows several labels.
    """
    if scheme.several:
        raise ValueError(f"{scheme.shown}: a case may have several of these labels, and a judge gives one.")
    said = label_agreement.own_labels(selected.store, scheme.name, selected.viewer)
    golds = {place: next(iter(by[who])) for place, by in said.items() if len(by.get(who, ())) == 1}
    golds = {place: label for place, label in golds.items() if label in scheme.labels}
    places = list(golds)
    left_out = Counter[str]()
    if not is_test:
        chosen, of = selected.cases(MOST)
        places += [(place.run, place.case) for place in chosen if (place.run, place.case) not in golds]
        left_out[f"a run judges at most {MOST:,} cases"] = max(0, of - len(chosen)) + max(0, len(places) - MOST)
    cases: list[ToJudge] = []
    by_run: dict[str, list[str]] = {}
    for run, case in places[:MOST]:
        by_run.setdefault(run, []).append(case)
    for run, names in by_run.items():
        for found in _of_run(selected.store.labs, read, run, names):
            if isinstance(found, str):
                left_out[found] += 1
            else:
                gold = golds.get((found.target, found.target_case), "")
                cases.append(found.model_copy(update={"gold": gold}))
    labelled = sum(bool(case.gold) for case in cases)
    if labelled < NEEDED:
        raise ValueError(
            f"Label at least {NEEDED} cases with an explanation under {scheme.shown} first: they are the judge's test. "
            f"You have {labelled}."
        )
    digest = hashlib.sha256("\n".join(case.model_dump_json() for case in cases).encode()).hexdigest()[:16]
    spec = JudgeSpec(
        model=model,
        question=question,
        scheme=scheme.name,
        labels=tuple(scheme.labels),
        cases=len(cases),
        of=digest,
        is_test=is_test,
    )
    return ToAsk(spec, tuple(cases), {why: n for why, n in left_out.items() if n}, labelled)


def _of_run(labs: Mapping[str, Lab], read: Reads, run: str, names: list[str]) -> list[ToJudge | str]:
    """The cases of a run as the judge sees them, or why one cannot be judged."""
    try:
        state = read(run)
    except (RunNotFoundError, NewerSchemaError, OSError, CallError):
        return ["the run cannot be read"] * len(names)
    lab = labs.get(state.started.lab) if state.started else None
    if lab is None:
        return ["no lab of this app made the run"] * len(names)
    return [_as_seen(lab, state, run, name) if name in state.cases else "the run has no such case" for name in names]


def _as_seen(lab: Lab, state: Transcript, run: str, name: str) -> ToJudge | str:
    scene = of_case(lab, state, name)
    claim = scene.claim
    parts = [*(part.text for part in claim.parts), claim.domain, claim.code] if claim else []
    explanation = "\n".join(filter(None, parts)).strip()
    if claim is None or not explanation:
        return "no explanation"
    asked = "\n".join(filter(None, (scene.title, *(part.text for part in scene.parts if part.text != scene.title))))
    return ToJudge(
        target=run,
        target_case=name,
        asked=asked[:LONGEST],
        answer=claim.answer[:LONGEST],
        explanation=explanation[:LONGEST],
    )
