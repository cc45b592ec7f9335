"""What people annotate in runs of Probe: the unit tests that an evaluator takes (FIND, appendix F2)."""

from collections.abc import Iterator

from ...events import Rules
from ..base.annotation import AnnotationQuestion, AnnotationTask, ReferenceAnswers
from .functions.triplets import TESTS
from .prompts import SHOWN
from .view import ProbeView

UNIT = "people: unit test"
"""The metric of people's answers to unit tests."""

PARTS = {"interpretation": "interpretation", "truth": "ground truth"}
"""The descriptions that people read, as in the paper's Table A4: the interpreter's, and the true one."""


class UnitTestTask(AnnotationTask):
    """Which of three examples fits a description? Of subjects and facts only, as in the paper: other functions may need
    tools.
    """

    name = "unit-test"
    metric = UNIT

    def questions(self, view: ProbeView) -> Iterator[AnnotationQuestion]:
        said = view.interpretation
        if view.spec is None or not view.spec.is_module or view.truth is None or said is None:
            return
        texts = {"interpretation": said.told.repaired, "truth": view.truth.description}
        taken = dict.fromkeys(PARTS, 0)
        for item, test in view.units.items():
            if test.about not in PARTS or taken[test.about] == TESTS or not texts[test.about].strip():
                continue
            taken[test.about] += 1
            what = "Example" if SHOWN in test.options[0] else "Input"
            options = ((f"{what} {number}", text) for number, text in enumerate(test.options, start=1))
            shown = (("Description of a function", texts[test.about]), *options)
            where = {"key": f"{view.log.case} {item}", "group": view.log.case, "arm": PARTS[test.about]}
            yield AnnotationQuestion(shown=shown, trial=item, **where)

    def compared(self, view: ProbeView, trial: str, rules: Rules) -> ReferenceAnswers | None:
        test = view.by(rules).units.get(trial)
        if test is None or test.about not in PARTS:
            return None
        picked = str(test.picked) if test.picked else None
        return ReferenceAnswers(picked, str(test.correct), test.evaluator, PARTS[test.about])

    def careful(self, view: ProbeView, trial: str) -> str:
        """A careful person picks what the evaluator picked; where it picked nothing, they see the right one."""
        test = view.units[trial]
        return str(test.picked or test.correct)


TASKS = (UnitTestTask(),)
