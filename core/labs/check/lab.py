"""The Check lab: what it is, and what holds of its robots."""

from collections.abc import Iterator, Mapping
from typing import Any, get_args

import click

from ...events import Recorded
from ..base.declared import READING, Comparability, Judgement, Metric, declared
from ..base.lab import Command, DemoRun, Game, Lab, Listing, Robots, StudyTables
from . import metrics, prompts, run_report
from .controls import CheckDial, Decoy, Honest, NoisyCheck, Slots, controls, dials, noisy, unlisted
from .measure import SESSION, measure
from .pictures import PICTURES
from .prompts import PAPER_PROMPTS
from .records import RECORDS, Paragraph
from .report import CheckReport
from .run_report import IN_RUNS, summary
from .tasks import APART, TASKS, CheckSpec, Mask, Persona, Target, Wording, asks, cases, loaded, shipped
from .view import CheckView, scores

# The lab on the command line: the options that are not fields of the specification, and a check in lines.


MASKS: dict[str, Mask] = {"redacted": "[REDACTED]", "removed": "[REMOVED]"}

_ITEM = ("text", "question", "choice", "hypothesis", "label")
_HELP = {name: field.description or "" for name, field in Wording.model_fields.items()}


PARAMETERS: tuple[click.Parameter, ...] = (
    click.Argument(["task"], type=click.Choice(TASKS)),
    click.Option(["--text"], metavar="TEXT", help="a paragraph of your own; for entailment the premise"),
    click.Option(["--question"], metavar="TEXT", help="multi_choice: the question about the paragraph"),
    click.Option(["--choice"], metavar="TEXT", multiple=True, help="multi_choice: a possible answer; repeat it"),
    click.Option(["--hypothesis"], metavar="TEXT", help="entailment: does this follow?"),
    click.Option(["--label"], metavar="LABEL", help="the correct answer to --text, if there is one"),
    click.Option(["--persona"], type=click.Choice(get_args(Persona)), help=_HELP["persona"]),
    click.Option(["--target"], type=click.Choice(get_args(Target)), help=_HELP["target"]),
    click.Option(["--mask"], type=click.Choice(tuple(MASKS)), help=_HELP["mask"]),
    click.Option(
        ["--no-mask-sentence", "mask_sentence"],
        is_flag=True,
        flag_value=False,
        default=None,
        type=bool,
        help=f"not: {_HELP['mask_sentence']}",
    ),
    click.Option(["--short"], is_flag=True, default=None, type=bool, help=_HELP["short"]),
    click.Option(["--options"], is_flag=True, default=None, type=bool, help=_HELP["options"]),
)


def fields(given: dict[str, Any]) -> dict[str, Any]:
    """Return the specification's fields from the command line's options. Raises ValueError if they do not fit
    together.
    """
    given = dict(given)
    item = {name: given.pop(name) for name in _ITEM if name in given}
    wording = {name: given.pop(name) for name in Wording.model_fields if name in given}
    if "mask" in wording:
        wording["mask"] = MASKS[wording["mask"]]
    if "text" not in item:
        if item:
            raise ValueError(f"--{next(iter(item))} goes with --text, a paragraph of your own.")
    elif given.get("dataset"):
        raise ValueError("Give --text or --dataset, not both.")
    else:
        choices = item.pop("choice", ())
        given["items"] = (
            {"id": "text", "task": given["task"], "paragraph": item.pop("text"), "choices": choices, **item},
        )
    return given | ({"wordings": (wording,)} if wording else {})


# The figures that controls must have by construction. If one differs, the measurement is wrong.


ITEMS = 5
"""How many shipped items of a task each control is tested on."""


def truth(view: CheckView) -> float | None:
    """Return 1 if a control's explanation is faithful and 0 if not; None for any other model, and if the control has to
    mask so much of a short paragraph that the check is undecided. For a noisy dial it is the expected value, which
    no single check need match.

    For a worthless control (`controls.worthless`) the share is 0 or undefined: what is known is that it gains nothing.
    """
    if view.spec is None or view.item is None:
        return None
    if view.result is not None and view.result.reason.repaired == metrics.TOO_MUCH:
        return None
    match {**controls(), **dials(), **noisy()}.get(view.spec.model):
        case Honest():
            return 1.0
        case Decoy():
            return 0.0
        case NoisyCheck() as dial if view.check is not None:  # it errs only on masked paragraphs
            return dial.share if view.check.explanation == "counterfactual" else dial.must_read
        case CheckDial() as dial:
            return float(dial.keeps(Slots.model_validate(view.item.model_dump(exclude={"id", "task", "label"}))))
        case _:
            return None


def calibration(spec: CheckSpec) -> Iterator[CheckSpec]:
    """Yield runs of the honest control and the decoy on shipped items of the task, with the settings of `spec`."""
    ways = spec.model_dump(exclude={"model", "items", "dataset", "path", "split", "title"})
    for control in controls():
        yield CheckSpec.model_validate({**ways, "limit": ITEMS, "controls": 0, "model": control})


def demo_run() -> DemoRun:
    """One shipped review, by the control that names the wrong words."""
    spec = CheckSpec(items=shipped("sentiment")[:1], explanations=("attribution",), model="control/decoy-lexicon")
    return DemoRun("See a demo", "No key, no download: a robot, and we know how it decides.", spec)


class CheckLab(Lab):
    """Is a model consistent with its own explanation in a fresh session?"""

    name = "consistency"
    title = "Check"
    question = "Is it consistent with its own explanation in a fresh session?"
    about = (
        "A model gives an explanation we can test: an edit that changes the answer, or the "
        "words that matter. **Then we test it in a fresh session that has not seen the explanation.**"
    )
    icon = ":material/fact_check:"
    spec = CheckSpec
    records = RECORDS
    metrics = declared(__file__, "metric", Metric)
    report = CheckReport
    listing = Listing(
        gold=(Paragraph, "label"),
        main_trial=SESSION,
        takes_explanations=True,
        method_field="explanations",
        comparability=Comparability(
            "the model was consistent with its explanation", one="check", whole="paragraph", tail=APART
        ),
        judgements=(READING._replace(raw="classifier"), Judgement("explanation", "The explanation", "good", "bad")),
        pictures=PICTURES,
    )
    run_summary = IN_RUNS
    robots = Robots(
        default_model="control/decoy-lexicon",
        controls=controls,
        dials=unlisted,
        truth=truth,
        calibration=calibration,
        demo_run=demo_run,
    )
    studies = StudyTables(
        tables=run_report.TABLES,
        for_tables=run_report.METRICS,
        choices=run_report.CHOICES,
        extra_figures=run_report.more,
    )
    command = Command(
        parameters=PARAMETERS,
        from_options=fields,
        item_parameters=(*_ITEM, "items"),
        from_item=lambda item: {"items": (item.model_dump(),)},
    )
    game = Game()

    cases = staticmethod(cases)
    measure = staticmethod(measure)
    summary = staticmethod(summary)
    scores = staticmethod(scores)
    prompts = staticmethod(prompts.hashes)
    paper_prompts = PAPER_PROMPTS
    count_calls = staticmethod(asks)
    dataset_record = staticmethod(loaded)

    def facets(self, spec: Mapping[str, Any], case: str) -> dict[str, str]:
        """Return the facets of a case. Its id is its place: the item, the kind of explanation, the wording."""
        _, how, wording, *_ = f"{case}//".split("/")
        return {"how": how, "wording": wording, **super().facets(spec, case)}

    def is_input(self, record: Recorded) -> bool:
        """Whether it is a sample of masks: a later version may sample others, and only these have answers."""
        return record.record in ("maskcontrol", "halves")


LAB = CheckLab()
