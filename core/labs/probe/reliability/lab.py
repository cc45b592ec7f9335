"""Can a backbone be trusted with the entity functions? The paper's table A1 and figure A4, for any backbone, as a run
of its own: each mean leads to the words, and each word of a language model to the raw answer.
"""

from collections.abc import Iterator, Sequence
from typing import Any, get_args

import click
import numpy as np

from ....events import CallError
from ....parsers.fields import REASON as CUT
from ....runs.context import CaseContext
from ....score import Figure, Score, undefined
from ....text.embed import NoEncoderError
from ....text.templates import load
from ....transcript import Transcript
from ...base.cases import Case
from ...base.declared import Metric
from ...base.lab import Command, Lab, RunSummary
from ..functions.base import Backbone
from ..functions.entities import EntityFunction, concepts
from ..functions.modules import outputs_of
from ..prompts import MODULES
from ..records import item
from .report import KINDS, PAPER, Reliability, ReliabilityReport, ReliabilityRun, ReliabilitySpec, values_of, verdict


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
    try:
        outputs = await outputs_of(function, spec.backbone, [word for word, _ in asked], asking.ask)
    except NoEncoderError as missing:
        raise CallError(str(missing), "Or choose another backbone.") from missing
    if asking.failure is not None and all(output.value is None for output in outputs):
        raise asking.failure
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
    known = [view.reliability for view in views if view.reliability]
    for kind in KINDS:
        values, of = values_of(known, kind), sum(one.asked(kind) for one in known)
        mean = Score(float(np.mean(values)), len(values), of) if values else undefined(of, "no output had a value")
        yield Figure(f"{kind}_mean", "repaired", mean)


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


_PAPER = {kind: f"{mean} in the paper (Vicuna-13b, 140 subjects)." for kind, mean in PAPER.items()}


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
        return verdict(ReliabilityRun(run))


LAB = ReliabilityLab()
