"""A study's estimate and its progress, in lines for a person (`data/page/estimate.txt` and `progress.txt`)."""

from collections import Counter

from ..statistics import FEW
from ..studies.estimate import StudyEstimate
from ..studies.progress import StudyProgress
from ..studies.run_status import SHIFT
from ..text.display import count_noun
from .case_html import template


def of_estimate(plan: StudyEstimate) -> list[str]:
    """The estimate of what the study will use, in lines."""
    missing = Counter(plan.missing.values())
    return template("estimate.txt").render(plan=plan, missing=missing, shift=SHIFT, few=FEW).splitlines()


def of_progress(now: StudyProgress) -> list[str]:
    """The progress of the study, in lines."""
    cells = {f"{cell.lab}  {cell.cell}".rstrip(): cell for cell in now.cells}
    return template("progress.txt").render(now=now, cells=cells, counted=count_noun).splitlines()
