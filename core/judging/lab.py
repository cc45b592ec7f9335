"""The lab of judge models: one question about each of many explanations, with the labels of a person's scheme as the
answers. The explanations, and the person's labels of some, are recorded when the run begins, so that its journal is
complete by itself.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property, partial
from typing import ClassVar, Self

from pydantic import Field

from ..events import CallError, Frozen, Prompt, Recorded, Request, Sampling, Usage
from ..journal import NewerSchemaError
from ..labs.base.declared import Means, Metric, declared
from ..labs.base.lab import Lab, Robots
from ..labs.base.report import Case, Reading, Report, Trial
from ..labs.base.spec import BadInputError, Spec
from ..models.robot import Robot, by_id
from ..models.settings import cost
from ..parsers import fields
from ..report.scenes import of_case
from ..runs.context import CaseContext
from ..runs.engine import UserInput
from ..runs.labels import LONGEST_TAG, MOST_OF_SCHEME, JudgedCase, Scheme
from ..runs.library import RunNotFoundError
from ..scene import Mark
from ..score import Figure, Score, undefined
from ..statistics.agreement import kappa_interval
from ..statistics.groups import grouped
from ..store import audits
from ..store.listing import Selection
from ..text.templates import PROMPTS, load
from ..transcript import CaseLog, RecordReader, Transcript, name_of

NEEDED = 20
"""How many cases a person must have labelled to test a judge."""

OF_SECOND = 5
"""How many of these must have another label than the most frequent one; else one answer to all looks right."""

LEAST, LEAST_LOW = 0.6, 0.2
"""The kappa that passes, and the low end that its interval must reach."""

MOST = 2_000
"""The most cases of one run."""

CASE = "judgements"
"""The only case of a run; its trials are the judged cases."""

SAMPLING = Sampling(temperature=0, max_tokens=60)

METRIC = "judge_agreement"


class ToJudge(Frozen):
    """A case to be judged, as the judge sees it: a case of the run `target`. `gold` is the person's label, '' if they
    gave none.
    """

    target: str
    target_case: str
    asked: str
    answer: str
    explanation: str
    gold: str = ""


class JudgeSpec(Spec):
    """What is asked of which judge, about how many `cases`; `of` is a digest of these. `is_test`: only the cases that
    the person labelled.
    """

    seed: int = Field(default=0, title="", description="nothing is sampled")
    model: str
    question: str = Field(min_length=1, max_length=1_000)
    scheme: str = Field(max_length=LONGEST_TAG)
    labels: tuple[str, ...] = Field(min_length=2, max_length=MOST_OF_SCHEME)
    cases: int = Field(ge=1, le=MOST)
    of: str = ""
    is_test: bool = False

    @property
    def roles(self) -> dict[str, tuple[str, ...]]:
        return {"judge": (self.model,)}


def prompt(spec: JudgeSpec, about: ToJudge) -> Prompt:
    """Build the question about a case. The person's label is not in it."""
    slots = {
        "asked": about.asked,
        "answer": about.answer or "(no answer could be read)",
        "explanation": about.explanation,
        "question": spec.question,
        "labels": ", ".join(spec.labels),
    }
    rendered = load("judge", PROMPTS / "judge").render(**slots)
    return fields.with_schema(rendered, fields.schema(label=spec.labels))


@dataclass
class JudgeView(Report):
    """A judge's run. `given` are the cases, and `judged` the judgements so far, by item."""

    spec: JudgeSpec | None
    given: Mapping[str, ToJudge]
    judged: Mapping[str, JudgedCase]

    mark_words: ClassVar[Mapping[Mark, str]] = {"kept": "agrees", "broken": "differs", "not settled": "judged"}
    outcomes: ClassVar[Mapping[str, Means]] = {
        "agrees": "kept",
        "differs": "broken",
        "passed": "kept",
        "not passed": "broken",
        "not tested": "not settled",
        "judged": "not settled",
    }

    @classmethod
    def of(cls, log: CaseLog) -> Self:
        """Build the view of a run from its log. Never raises."""
        reader = RecordReader()
        spec = log.spec_as(JudgeSpec)
        given, judged = reader.all_of(ToJudge, log), reader.all_of(JudgedCase, log)
        return cls(log, spec, dict(sorted(given.items())), dict(sorted(judged.items())), unread=reader.unread)

    @property
    def title(self) -> str:
        return self.spec.question if self.spec else ""

    @cached_property
    def trials(self) -> dict[str, Trial]:
        """The judgements; those of cases that the person labelled count."""
        about = {item: one.asked for item, one in self.given.items()}
        return {
            item: Trial.from_reading(about.get(item, ""), partial(self._reading, item, one), one.call)
            for item, one in self.judged.items()
        }

    def _reading(self, item: str, one: JudgedCase, rules: object) -> Reading:
        readable = one.label or None
        if any(drop.item == item and drop.reason == fields.REASON for drop in self.log.drops):
            return Reading(expected=one.gold or None, outcome="unread", counts=False, reason=fields.REASON)
        if not one.gold:
            outcome = "judged" if readable else "unread"
            return Reading(observed=readable, outcome=outcome, counts=False, reason="not labelled by the person")
        outcome = "unread" if not readable else "agrees" if one.label == one.gold else "differs"
        return Reading(expected=one.gold, observed=readable, outcome=outcome, counts=True)

    @cached_property
    def score(self) -> Score:
        """The judge's agreement with the person."""
        golds = sum(bool(one.gold) for one in self.given.values())
        pairs = [
            (one.repaired.expected, one.repaired.observed or "unreadable")
            for one in self.trials.values()
            if one.repaired.counts and one.repaired.expected
        ]
        return agreement(pairs, golds)

    @property
    def outcome(self) -> str:
        """It is "passed", "not passed", "not tested" (too few labels), "waiting" or "failed"."""
        lost = {drop.item for drop in self.log.drops if drop.reason == "error"}
        if self.log.status is None and len(self.judged) + len(lost) < len(self.given):
            return "waiting"
        if not self.judged:
            return "failed" if lost or self.log.status else "waiting"
        return {True: "passed", False: "not passed", None: "not tested"}[self.score.detail.get("passed")]

    def sentences(self) -> list[str]:
        """Say whether the judge agrees with the person, and what its labels are worth."""
        score, detail = self.score, self.score.detail
        if self.outcome == "waiting":
            return ["Not judged yet."]
        if self.outcome == "failed":
            why = next((f": {drop.detail}" for drop in self.log.drops if drop.detail), ".")
            return [f"No case was judged{why}"]
        if score.value is None:
            return [f"The judge could not be tested: {score.reason}."]
        bounds = "" if score.low is None else f" (95% interval {score.low:.2f} to {score.high:.2f})"
        said = f"kappa {score.value:.2f}{bounds}; it gives the person's label in {detail['agreed']} of {score.n} cases"
        words = {
            True: f"The judge agrees with the person: {said}.",
            False: f"The judge failed its test: {said}. A kappa of {LEAST:.2f} is needed.",
            None: f"The judge is not tested: {said}. A test takes {NEEDED} labelled cases, {OF_SECOND} of them with "
            "another label than the most frequent one.",
        }
        unread = sum(not one.label for one in self.judged.values())
        lines = [words[detail["passed"]], f"{len(self.judged):,} of {len(self.given):,} cases are judged."]
        return [*lines, f"{unread} answers could not be parsed and give no label."] if unread else lines


def agreement(pairs: Sequence[tuple[str, str]], of: int) -> Score:
    """Return Cohen's kappa of the person's label and the judge's (each pair), of `of` labelled cases, with its
    interval. A judge that always gives the same label gets 0.

    `detail`: `agreed` and `passed`, which is None if there are fewer than NEEDED pairs or fewer than OF_SECOND with
    another label than the most frequent one.
    """
    golds = Counter(gold for gold, _ in pairs)
    others = len(pairs) - max(golds.values(), default=0)
    agreed = sum(gold == label for gold, label in pairs)
    if not pairs:
        return undefined(of, "no case is labelled by the person")
    found = kappa_interval([gold for gold, _ in pairs], [label for _, label in pairs])
    detail = {"agreed": agreed, "others": others, "passed": None, "interval": found.how}
    if found.value is None:
        return Score(None, 0, of, detail={**detail, "reason": found.how})
    if len(pairs) >= NEEDED and others >= OF_SECOND:
        detail["passed"] = found.value >= LEAST and (found.value == 1 or (found.low or 0) >= LEAST_LOW)
    return Score(found.value, len(pairs), of, found.low, found.high, detail=detail)


class JudgeRobot(Robot, named="judge-first-label"):
    """Always gives the first label."""

    listed = False

    def _reply(self, request: Request) -> str:
        if request.role != "judge" or "labels" not in request.slots:
            raise self.refused(request, LAB.title, ": it labels explanations")
        return json.dumps({"label": self.chosen(request.slots["labels"].split(", "), request.slots["explanation"])})

    def chosen(self, labels: Sequence[str], explanation: str) -> str:
        """Return the label of an explanation."""
        return labels[0]


class NamedLabel(JudgeRobot, named="judge-named-label"):
    """Gives the label whose name occurs in the explanation, or else the last one."""

    def chosen(self, labels: Sequence[str], explanation: str) -> str:
        return next((label for label in labels if label.lower() in explanation.lower()), labels[-1])


class JudgeLab(Lab):
    """The lab of judge models: one case, whose trials are the judged explanations."""

    name = "judging"
    title = "Judge"
    question = "Does a judge model label explanations as a person does?"
    about = (
        "A model answers one question about each of many explanations, with the labels of your own scheme. **First it "
        "is tested on your labels.**"
    )
    icon = ":material/gavel:"
    hidden = True
    spec = JudgeSpec
    records = (ToJudge, JudgedCase)
    metrics = declared(__file__, "metric", Metric)
    report = JudgeView
    robots = Robots(controls=lambda: by_id((JudgeRobot(), NamedLabel())))

    def cases(self, spec: JudgeSpec) -> list[Case]:
        """Return the only case."""
        return [Case(CASE, None, spec.question)]

    async def measure(self, spec: JudgeSpec, case: Case, run: CaseContext) -> None:
        """Ask the question about every case. An answer that cannot be read is no label; one that was cut is excluded.
        Raises BadInputError if the journal lacks cases.
        """
        given = run.recorded(ToJudge)
        if len(given) < spec.cases:
            raise BadInputError(f"{spec.cases - len(given)} of {spec.cases} cases were not recorded. Start a new run.")

        async def one(item: str, about: ToJudge) -> None:
            asked = prompt(spec, about)
            answered = await run.ask("judge", asked, spec.model, sampling=SAMPLING, item=item, trial=item)
            found = fields.read(answered.text, asked.json_schema or {})
            if found is None and answered.cut_note:
                run.drop(item, fields.REASON, answered.cut_note, trial=item)
            target = about.model_dump(include={"target", "target_case", "gold"})
            label = found["label"] if found else ""
            run.record(
                JudgedCase(call=answered.call, scheme=spec.scheme, label=label, is_test=spec.is_test, **target),
                item,
                trial=item,
            )

        await run.map_items(given, one)

    def scores(self, views: Sequence[JudgeView]) -> Iterator[Figure]:
        """Yield the agreement, by the updated parser: the original one reads no JSON."""
        for one in views:
            yield Figure(METRIC, "repaired", one.score)

    def prompts(self, spec: JudgeSpec) -> dict[str, str]:
        """Return the hashes of the template and of the request for JSON."""
        template = load("judge", PROMPTS / "judge")
        return {template.id: template.hash, **fields.hashes()}

    def count_calls(self, spec: JudgeSpec, cases: int) -> dict[str, int]:
        """Return one call per judged explanation."""
        return {"judge": spec.cases}

    def is_input(self, record: Recorded) -> bool:
        """Whether it is a case to be judged."""
        return record.record == name_of(ToJudge)


LAB = JudgeLab()


# What a judge model is asked: the filtered cases as it sees them, with one person's labels of some as its test, and
# what that will cost.


LONGEST = 8_000
"""The most characters of a question or an explanation that a judge sees; the end is cut."""

CHARACTERS = 3.5
"""Characters of a token, roughly."""

ANSWER = 20
"""Tokens of a judge's answer, roughly."""

ReadRun = Callable[[str], Transcript]
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
    selected: Selection, read: ReadRun, scheme: Scheme, who: str, model: str, question: str, is_test: bool
) -> ToAsk:
    """What the judge will be asked: the cases that `who` labelled under the scheme and, unless it `is_test`, the
    selected ones after them, at most MOST in all. Raises ValueError, which says what to do, if there are too few
    labels, or if the scheme allows several labels.
    """
    if scheme.several:
        raise ValueError(f"{scheme.shown}: a case may have several of these labels, and a judge gives only one.")
    said = audits.own_labels(selected.store, scheme.name, selected.viewer)
    golds = {place: next(iter(by[who])) for place, by in said.items() if len(by.get(who, ())) == 1}
    golds = {place: label for place, label in golds.items() if label in scheme.labels}
    places = list(golds)
    left_out = Counter[str]()
    if not is_test:
        chosen, of = selected.cases(MOST)
        places += [(place.run, place.case) for place in chosen if (place.run, place.case) not in golds]
        left_out[f"a run judges at most {MOST:,} cases"] = max(0, of - len(chosen)) + max(0, len(places) - MOST)
    cases: list[ToJudge] = []
    for run, names in grouped(places[:MOST]).items():
        for found in _of_run(selected.store.labs, read, run, names):
            if isinstance(found, str):
                left_out[found] += 1
            else:
                gold = golds.get((found.target, found.target_case), "")
                cases.append(found.model_copy(update={"gold": gold}))
    labelled = sum(bool(case.gold) for case in cases)
    if labelled < NEEDED:
        raise ValueError(
            f"First label at least {NEEDED} cases that have an explanation, under “{scheme.shown}”. The judge is "
            f"tested on these. You have labelled {labelled} so far."
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


def _of_run(labs: Mapping[str, Lab], read: ReadRun, run: str, names: list[str]) -> list[ToJudge | str]:
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
