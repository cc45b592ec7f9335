"""Can a backbone be trusted with the entity functions? The paper's table A1 and figure A4, for any backbone, as a run
of its own: each mean leads to the words, and each word of a language model to the raw answer.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, Self, get_args

import click
import numpy as np
from pydantic import Field, model_validator

from ....events import Frozen, Scored
from ....parsers.fields import REASON as CUT
from ....runs.context import CaseContext
from ....scene import Card, Expect, Mark, Panel, Part, Scene, Screen, Verdict, screens
from ....score import Figure, Score, undefined
from ....text.templates import load
from ....transcript import CaseLog, RecordReader, Transcript
from ...base.declared import Means, Metric
from ...base.lab import Command, Lab, RunSummary
from ...base.report import Case, Reading, Report, Trial
from ...base.spec import Spec
from ..functions.base import Backbone
from ..functions.entities import EntityFunction, concepts
from ..prompts import MODULES
from ..records import item

# One entity function as it is told, and a run over several: the backbone's values, and whether they can be trusted.


Kind = Literal["same", "random"]
KINDS: tuple[Kind, ...] = ("same", "random")

PAPER: dict[Kind, float] = {"same": 0.846, "random": 0.079}
"""Means of the paper's module, Vicuna-13b, over its 140 concepts (table A1)."""

_PAPER = {kind: f"{mean} in the paper (Vicuna-13b, 140 subjects)." for kind, mean in PAPER.items()}

OPTIONS = {"1": "It belongs", "0": "It does not"}
"""The guesses on a word."""

CARRIED_OUT = {"table": "our word lists", "embedding": "sentence embeddings"}
"""What screens call a backbone that is not a model."""

HOW = {"logprobs": "from the probabilities of 0 and 1", "answer": "from the digit it wrote: no probabilities"}
"""Where a model's values come from."""


class ReliabilitySpec(Spec):
    """What is tested, and how widely.

    `concepts` of the 140 are chosen, evenly spaced in the list (sensitive ones only if all are), with `words` of each.
    `across` asks every function about all these words, as in figure A4; without it each function is asked about its own
    words and as many words of other concepts, sampled by `seed`, as in table A1.
    """

    seed: int = Field(default=0, ge=0)
    title: str = "Can the entity functions be trusted?"
    backbone: Backbone = "table"
    model: str = ""
    concepts: int = Field(default=16, ge=2, le=140)
    words: int = Field(default=5, ge=1, le=20)
    across: bool = True

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.backbone == "model") != bool(self.model):
            raise ValueError("`--model` and `--backbone model` go together: give both, or neither.")
        return self

    @property
    def roles(self) -> dict[str, tuple[str, ...]]:
        return {"module": (self.model,)} if self.model else {}

    @property
    def outputs(self) -> int:
        """How many outputs the run asks for; for a language model these are calls."""
        return self.concepts * self.words * (self.concepts if self.across else 2)


class Reliability(Frozen):
    """What one concept's function gave. For each word: the concept it belongs to, the value in 0…1 or None, and why it
    has none. `how` says what each value comes from: a table, an embedding, probabilities, or plain answers.
    """

    concept: str
    words: tuple[str, ...]
    of: tuple[str, ...]
    values: tuple[float | None, ...]
    how: tuple[str, ...]
    problems: tuple[str, ...]

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if len({len(one) for one in (self.words, self.of, self.values, self.how, self.problems)}) > 1:
            raise ValueError("there is not one value a word")
        return self

    def outputs(self, kind: Kind) -> list[float]:
        """Return the outputs for the concept's own words ("same") or for words of others, without missing values."""
        pairs = zip(self.of, self.values, strict=True)
        return [one for of, one in pairs if one is not None and (of == self.concept) == (kind == "same")]

    def asked(self, kind: Kind) -> int:
        """Return how many outputs were asked for."""
        own = self.of.count(self.concept)
        return own if kind == "same" else len(self.of) - own


@dataclass
class ReliabilityReport(Report):
    """One concept's function as it is told: its own words first, then the others, each with the highest values first.
    `reliability` is None until it was asked; `unread` counts the entries that could not be read.
    """

    one = "word"
    mark_words: ClassVar[Mapping[Mark, str]] = {"kept": "right", "broken": "wrong", "unread": "no value"}
    outcomes: ClassVar[Mapping[str, Means]] = {
        **dict.fromkeys(("selective", "right"), "kept"),
        "weak": "not settled",
        **dict.fromkeys(("not selective", "wrong"), "broken"),
    }

    spec: ReliabilitySpec | None
    reliability: Reliability | None

    @classmethod
    def of(cls, log: CaseLog) -> Self:
        """Return the case that a log of this lab holds. Never raises: what a damaged journal lacks is missing from
        it.
        """
        reader = RecordReader()
        spec = reader.read(ReliabilitySpec, log.spec) if log.started else None
        return cls(log, spec, reader.one_of(Reliability, log), unread=reader.unread)

    @property
    def title(self) -> str:
        """The case's name: the concept."""
        return self.log.case

    @cached_property
    def trials(self) -> dict[str, Trial]:
        """One trial per word; a word that is on two lists has its concept in the second id. Cached, because it is read
        again for every trial that is written.
        """
        one = self.reliability
        if one is None:
            return {}
        known = {call.asked.item: name for name, call in self.log.calls.items()}
        trials: dict[str, Trial] = {}
        for word, of, value, problem in zip(one.words, one.of, one.values, one.problems, strict=True):
            about = item(f"{one.concept}:", word)
            right = value is not None and (value >= 0.5) == (of == one.concept)
            reading = Reading(
                expected="1" if of == one.concept else "0",
                observed=None if value is None else f"{value:.4g}",
                outcome="unread" if value is None else "right" if right else "wrong",
                counts=value is not None,
                reason=problem,
            )
            id = f"{about} ({of})" if about in trials else about
            calls = (known[about],) if about in known else ()
            trials[id] = Trial(about=word, paper=reading, repaired=reading, calls=calls)
        return trials

    @property
    def outcome(self) -> str:
        """It is selective, weak, not selective, too few, no values, failed or waiting; the same for both rulesets."""
        if self.reliability is None:
            return "failed" if self.lost_to is not None or self.log.status == "failed" else "waiting"
        return _judge(*_means([self.reliability]), self.spec)[0]

    def sentences(self) -> list[str]:
        """Return in a sentence whether one concept's function can be trusted."""
        if self.reliability is None:
            return [f"It gave no values: {self.lost_to}" if self.lost_to else "Not judged yet."]
        return [_judge(*_means([self.reliability]), self.spec)[1]]

    def method(self) -> str:
        """Return what carries the function out."""
        return (self.spec.model or CARRIED_OUT.get(self.spec.backbone, self.spec.backbone)) if self.spec else ""

    def asked(self) -> Iterator[Part]:
        """Yield the function, how much it was asked, and where a model's values come from."""
        yield Part(label="The function", text=f"It gives 1 for a word that belongs to {self.title}, 0 for any other.")
        if self.spec is not None:
            yield Part(
                label="It was asked about", text=f"{self.spec.concepts} subjects, {self.spec.words} words of each"
            )
        ways = dict.fromkeys(self.reliability.how) if self.reliability else ()
        if said := [HOW[how] for how in ways if how in HOW]:
            yield Part(label="Values are read", text=", or ".join(said))

    def cards(self) -> Iterator[Card]:
        """Yield a card for each word."""
        origins = dict(zip(self.trials, self.reliability.of, strict=False)) if self.reliability else {}

        def order(name: str) -> tuple[bool, float]:
            reading = self.trials[name].repaired
            return reading.expected != "1", -float(reading.observed or 0)

        for number, name in enumerate(sorted(self.trials, key=order), start=1):
            reading = self.trials[name].repaired
            yield self.card_of(name, self.trials[name], number).model_copy(
                update={
                    "options": OPTIONS,
                    "expects": (Expect(who="our list", value=reading.expected or ""),),
                    "said": "" if reading.observed is None else "1" if float(reading.observed) >= 0.5 else "0",
                    "text": reading.observed or "",
                    "origin": f"a word of {origins[name]}" if name in origins else "",
                }
            )

    def panels(self) -> Iterator[Panel]:
        """Yield the two means beside the paper's."""
        if self.reliability is None:
            return
        titles = ("Own words", "Words of others")
        for kind, title, mean in zip(KINDS, titles, _means([self.reliability]), strict=True):
            answer = "no value" if mean.value is None else f"{mean.value:.2f} on average"
            yield Panel(title=title, answer=answer, note=_PAPER[kind])

    def verdict(self) -> Verdict | None:
        """Return the verdict, once the case is over."""
        is_over = self.outcome != "waiting" and bool(self.log.of_type("result") or self.log.status)
        return Verdict(headline=Part(text=self.sentences()[0])) if is_over else None

    def screens(self, scene: Scene) -> tuple[Screen, ...]:
        """Return the screens. The means come after the cards, because they would give away what is to be guessed."""
        *others, last = [screen for screen in screens(scene) if screen.shows != "panel"]
        means = [Screen(shows="panel", of=str(number)) for number in range(len(scene.panels))]
        return (*others, *means, last) if last.shows == "verdict" else (*others, last, *means)


def _means(concepts: Sequence[Reliability]) -> tuple[Score, Score]:
    """Return the mean outputs for own words and for words of others, over all outputs with a value."""

    def mean(kind: Kind) -> Score:
        values = [value for one in concepts for value in one.outputs(kind)]
        of = sum(one.asked(kind) for one in concepts)
        return Score(float(np.mean(values)), len(values), of) if values else undefined(of, "no output had a value")

    return mean("same"), mean("random")


def verdict(run: Transcript) -> str:
    """Return in a sentence whether the backbone can be trusted. The run's published means decide once they exist,
    because the transcript may hold only a few of many functions.
    """
    spec = RecordReader().read(ReliabilitySpec, run.started.spec) if run.started else None
    same, random = (run.score(f"{kind}_mean", "repaired") for kind in KINDS)
    if same is not None and random is not None:
        return _judge(same, random, spec)[1]
    known = (ReliabilityReport.of(run.case(case)).reliability for case in run.cases)
    return _judge(*_means([one for one in known if one]), spec)[1]


def _judge(same: Score | Scored, random: Score | Scored, spec: ReliabilitySpec | None) -> tuple[str, str]:
    """Return whether functions can be trusted, in a word and in a sentence, by the mean outputs for own words and for
    words of others.
    """
    counted, asked = same.n + random.n, same.of + random.of
    if not counted:
        return "no values", "It gave no values: this backbone cannot carry the functions out."
    if counted < asked / 2 or same.value is None or random.value is None:
        return "too few", f"Only {counted} of {asked} answers could be read: too few to tell."
    apart = same.value - random.value
    selective = "selective" if apart >= 0.5 else "weak" if apart >= 0.2 else "not selective"
    if spec and spec.backbone == "table":
        return selective, (
            f"Own words get {same.value:.2f}, words of other subjects {random.value:.2f}, by construction: the lists "
            "know their own words, and give 0 for any other, however fitting."
        )
    means = f"Own words get {same.value:.2f} on average, words of other subjects {random.value:.2f}"
    comes_to = {
        "selective": "It can tell what belongs to a subject.",
        "weak": "It tells a little: an interpreter will meet many wrong outputs.",
        "not selective": "It cannot tell: nobody could find these functions by calling them.",
    }
    paper = f"(the paper's module: {PAPER['same']:.2f} and {PAPER['random']:.2f})"
    return selective, f"{means} {paper}. {comes_to[selective]}"


def sample(spec: ReliabilitySpec) -> list[str]:
    """Return the names of the tested concepts."""
    names = [name for name, concept in concepts().items() if not concept.sensitive]
    if spec.concepts > len(names):
        names = list(concepts())
    places = np.linspace(0, len(names), spec.concepts, endpoint=False).astype(int)
    return [names[place] for place in places]


def _asked(spec: ReliabilitySpec, name: str, names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the words put to the function of `name`, each with the concept it belongs to."""
    if spec.across:
        return [(word, of) for of in names for word in concepts()[of].words[: spec.words]]
    others = [(word, other.name) for other in concepts().values() if other.name != name for word in other.words]
    rng = np.random.default_rng([spec.seed, list(concepts()).index(name)])
    drawn = rng.choice(len(others), spec.words, replace=False)
    return [(word, name) for word in concepts()[name].words[: spec.words]] + [others[place] for place in drawn]


def cases(spec: ReliabilitySpec) -> Iterator[Case]:
    """Yield one case per concept: its function."""
    for name in sample(spec):
        yield Case(name, name, name)


async def measure(spec: ReliabilitySpec, case: Case, run: CaseContext) -> None:
    """Ask one function. Raises CallError if the backbone gives nothing at all."""
    from ..box import ModuleCalls

    name: str = case.about
    asked = _asked(spec, name, sample(spec))
    asking = ModuleCalls(run, spec.model, about=f"{name}:", trials=True)
    function = EntityFunction(id=f"concept-{name}", concept1=name)
    outputs = await asking.outputs(function, spec.backbone, [word for word, _ in asked])
    if asking.failure is not None:
        run.drop(name, "error", asking.failure.message)
    for (word, _), output in zip(asked, outputs, strict=True):
        if output.value is None and not (asking.failure and output.problem == asking.failure.message):
            about = item(f"{name}:", word)
            run.drop(about, CUT if output.cut else "unparsed", output.problem, trial=about)
    record = Reliability(
        concept=name,
        words=tuple(word for word, _ in asked),
        of=tuple(of for _, of in asked),
        values=tuple(output.value if isinstance(output.value, float) else None for output in outputs),
        how=tuple(output.how for output in outputs),
        problems=tuple(output.problem for output in outputs),
    )
    run.record(record, name)


def scores(views: Sequence[ReliabilityReport]) -> Iterator[Figure]:
    """Yield the mean outputs for own words and for words of others, over all outputs with a value."""
    means = _means([view.reliability for view in views if view.reliability])
    yield from (Figure(f"{kind}_mean", "repaired", mean) for kind, mean in zip(KINDS, means, strict=True))


PARAMETERS: tuple[click.Parameter, ...] = (
    click.Option(["--backbone"], type=click.Choice(get_args(Backbone)), help="default: model where --model is given"),
    click.Option(
        ["--own-only", "across"],
        is_flag=True,
        flag_value=False,
        default=None,
        type=bool,
        help="own words and as many of others (table A1), not all words to all functions (figure A4)",
    ),
)


def fields(given: dict[str, Any]) -> dict[str, Any]:
    """Return the specification's fields from the command line's options."""
    return {"backbone": "model" if given.get("model") else "table"} | given


class ReliabilityLab(Lab):
    """Can the functions of words be trusted, whichever model computes them?"""

    name = "reliability"
    title = "Reliability"
    question = "Can the functions of words be trusted, whichever model computes them?"
    about = "Each function is asked about the words of its own subject and about those of others."
    icon = ":material/verified:"
    hidden = True
    spec = ReliabilitySpec
    records = (Reliability,)
    metrics = (
        Metric("same_mean", "Own words", f"Mean output for own words; {_PAPER['same']}", "share", leads=True),
        Metric(
            "random_mean", "Words of others", f"Mean output; {_PAPER['random']}", "share", better="lower", leads=True
        ),
    )
    report = ReliabilityReport
    run_summary = RunSummary(case_noun="function")
    command = Command(parameters=PARAMETERS, from_options=fields, group="find")

    cases = staticmethod(cases)
    measure = staticmethod(measure)
    scores = staticmethod(scores)

    def prompts(self, spec: ReliabilitySpec) -> dict[str, str]:
        """Return the hash of the template that a model is asked by."""
        template = load(f"find/{MODULES['entities'][0]}")
        return {template.id: template.hash} if spec.backbone == "model" else {}

    def count_calls(self, spec: ReliabilitySpec, cases: int) -> dict[str, int]:
        """Return the calls of the backbone."""
        return {"module": cases * spec.outputs // spec.concepts if spec.backbone == "model" else 0}

    def summary(self, run: Transcript) -> str:
        """Compare the two means."""
        return verdict(run)


LAB = ReliabilityLab()
