"""What the lab declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..base.declared import READING, Judged, Judgement, Metric, declared
from ..base.lab import Command, First, InStudies, Lab, Robots
from . import prompts, tables
from .calibration import calibration, truth
from .cards import cards
from .commands import PARAMETERS, check, fields
from .controls import controls, unlisted
from .measure import SESSION, measure
from .noisy import noisy
from .outcomes import OUTCOMES
from .pictures import PICTURES
from .readings import readings
from .records import RECORDS
from .runs import IN_RUNS
from .scene import QUESTION, scene
from .tasks import APART, CheckSpec, asks, cases, loaded, shipped
from .verdict import summary, verdict
from .view import scores, view


def first() -> First:
    """The run of the first minute: one shipped review, by the control that names the wrong words."""
    return First(
        "Watch a robot be checked",
        "No key, no download: a robot of which we know how it decides.",
        CheckSpec(
            task="sentiment",
            items=shipped("sentiment")[:1],
            explanations=("attribution",),
            model="control/decoy-lexicon",
        ),
    )


def facets(spec: Mapping[str, Any], case: str) -> dict[str, str]:
    """A case's id is its place: the item, the explanation's kind, the wording."""
    _, how, wording, *_ = f"{case}//".split("/")
    return {
        "how": how,
        "wording": wording,
        "task": str(spec.get("task") or ""),
        "dataset": str(spec.get("dataset") or ""),
    }


LAB = Lab(
    name="consistency",
    title="Check",
    question=QUESTION,
    about="A model answers and explains itself by something one can try out: an edit that changes the answer, or the "
    "words that matter. **A fresh session, which knows nothing of that, shows whether it keeps to its word.**",
    longest={"classifier": "max_tokens", "explainer": "max_tokens"},
    icon=":material/fact_check:",
    spec=CheckSpec,
    cases=cases,
    measure=measure,
    view=view,
    verdict=verdict,
    summary=summary,
    scores=scores,
    records=RECORDS,
    metrics=declared(__file__, "metric", Metric),
    pictures=PICTURES,
    prompts=prompts.hashes,
    judgements=(READING._replace(raw="classifier"), Judgement("explanation", "The explanation", "good", "bad")),
    # Masks may be drawn otherwise one day, and only those that were asked about have answers.
    is_input=lambda record: record.record in ("maskcontrol", "halves"),
    asks=asks,
    loaded=loaded,
    how="explanations",
    principal=SESSION,
    facets=facets,
    judged=Judged(
        "the model kept to its explanation",
        one="check",
        whole="paragraph",
        tail=APART,
    ),
    check=check,
    scene=scene,
    cards=cards,
    readings=readings,
    words={"unknown": "cannot tell", "faithful": "kept to it", "unfaithful": "did not keep to it"},
    outcomes=OUTCOMES,
    in_runs=IN_RUNS,
    studies=InStudies(tables=tables.TABLES, for_tables=tables.METRICS, more=tables.more, choices=tables.CHOICES),
    robots=Robots(
        controls=controls,
        dials=lambda: {**unlisted(), **noisy()},
        truth=truth,
        calibration=calibration,
        first=first,
        newcomer="control/decoy-lexicon",
    ),
    command=Command(parameters=PARAMETERS, from_options=fields),
)
