"""What the lab declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...text import embed
from ..base.declared import READING, Judged, Judgement
from ..base.lab import Command, First, InRuns, InStudies, Lab, Robots
from . import commands, prompts, tables
from .calibration import calibration, truth
from .controls import controls
from .dial import dials, noisy
from .functions import source
from .measure import measure
from .metrics import METRICS
from .null_controls import worthless
from .pictures import PICTURES
from .readings import readings
from .records import (
    Audit,
    Checked,
    Claims,
    Estimate,
    Exchange,
    Fidelity,
    Interpretation,
    Observed,
    Prediction,
    Probe,
    Redrawn,
    Submission,
    Truth,
    UnitTest,
    Wish,
)
from .scene import scene
from .tasks import NAMELESS, ProbeSpec, asks, cases
from .verdict import OUTCOMES
from .view import scores, verdict, view

INPUTS = ("wish", "submission")
"""What a reader who interprets gives the run to go on with."""


def first() -> First:
    """The run of the first minute: a line, probed by the control that makes outputs up."""
    return First(
        "Watch a robot probe",
        "No key, no download: a robot of which we know how it works.",
        ProbeSpec(own="2 * x + 7", title="A first black box", model="control/inventor"),
    )


def warm(spec: ProbeSpec) -> None:
    """The encoder that will judge takes seconds to start, so it starts beside the run."""
    if spec.category in ("entities", "relations") and not spec.evaluator:
        embed.start()


def facets(spec: Mapping[str, Any], case: str) -> dict[str, str]:
    """The difficulty of a drawn function stands in its name, where no difficulty was chosen."""
    difficulty = str(spec.get("difficulty") or source.shape_of(case))
    how, category = (str(spec.get(field) or "") for field in ("interpreter", "category"))
    return {"difficulty": difficulty, "how": how, "category": category}


LAB = Lab(
    name="find",
    title="Probe",
    question="Can it explain a black box whose truth we know?",
    about="Here is a black box, and we know what is in it. **Can a model find out by experiment, and say what it "
    "does?** It may call the function and nothing else; then its words and its code are held against the truth.",
    longest={"interpreter": "tokens"},
    icon=":material/experiment:",
    spec=ProbeSpec,
    cases=cases,
    measure=measure,
    view=view,
    verdict=verdict,
    scores=scores,
    records=(
        Probe,
        Exchange,
        Interpretation,
        Wish,
        Submission,
        Estimate,
        Observed,
        Checked,
        Prediction,
        Redrawn,
        UnitTest,
        Claims,
        Audit,
        Fidelity,
        Truth,
    ),
    metrics=METRICS,
    pictures=PICTURES,
    prompts=prompts.hashes,
    how="interpreter",
    facets=facets,
    judged=Judged("the function was found", one="function", nameless=NAMELESS),
    asks=asks,
    warm=warm,
    judgements=(READING, Judgement("interpretation", "The interpretation", "good", "bad")),
    is_input=lambda record: record.record in INPUTS,
    check=commands.check,
    outcomes=OUTCOMES,
    scene=scene,
    in_runs=InRuns(one="function"),
    readings=readings,
    studies=InStudies(
        tables=tables.TABLES,
        for_tables=tables.METRICS,
        more=tables.more,
        traits=tables.traits,
        otherwise=tables.otherwise,
        choices=tables.CHOICES,
    ),
    robots=Robots(
        controls=lambda: controls() | worthless(),
        dials=lambda: dials() | noisy(),
        truth=truth,
        decides=lambda view: view.headline,
        calibration=calibration,
        newcomer="control/straight",
        first=first,
    ),
    command=Command(parameters=commands.PARAMETERS, from_options=commands.fields, tools=commands.TOOLS),
)
