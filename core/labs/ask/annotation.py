"""What people annotate in runs of Ask: what the model will answer to a new question, and whether its explanation is
plausible. Chen et al. 2023, sections 4.4 and 5.2.2, figures 3 and 5.
"""

from collections.abc import Iterator, Sequence

from ...events import Rules
from ..base.annotation import AnnotationQuestion, AnnotationTask, QualificationQuestion, ReferenceAnswers
from ..base.declared import GUESS, VERDICT
from .human import PLAUSIBLE
from .parse_answers.values import GUESSES, UNKNOWN
from .qualification import needed, questions
from .records import Counterfactual, Explanation
from .tasks import Task
from .view import AskView

_COUNTED = ("", "not simulatable")
"""Why a trial that does not count may have been predicted all the same: "cannot be predicted" is a prediction too."""


Shown = tuple[tuple[str, str], ...]


def _shown(question: str, explanation: str, answer: str, follow_up: str) -> Shown:
    pairs = (
        *(("Starter question", question), ("The robot's explanation", explanation)),
        *(("The robot's answer", answer), ("Follow-up question", follow_up)),
    )
    return tuple((label, text) for label, text in pairs if text)


class PredictTask(AnnotationTask):
    """What will the model answer to a new question, going by its explanation?"""

    name = "predict"
    metric = GUESS
    of: Task = "strategyqa"
    """The task of the runs that it is about."""

    def questions(self, view: AskView) -> Iterator[AnnotationQuestion]:
        starter = view.starter
        if starter is None or view.explanation is None or view.spec is None or view.spec.task != self.of:
            return
        for item, row in view.rows.items():
            if row.counterfactual is None or row.by_hand or row.reading.reason not in _COUNTED or row.answer is None:
                continue
            answer = starter.answer[view.run_rules]
            shown = self.shown(starter, view.explanation, answer if answer in GUESSES else "", row.counterfactual)
            yield AnnotationQuestion(key=f"{view.log.case} {item}", shown=shown, trial=item)

    def shown(self, starter: Explanation, explanation: str, answer: str, asked: Counterfactual) -> Shown:
        """Return what a page shows, as pairs of a label and a text."""
        return _shown(starter.question, explanation, answer, asked.text)

    def compared(self, view: AskView, trial: str, rules: Rules) -> ReferenceAnswers | None:
        row = view.by(rules).rows.get(trial)
        if row is None or row.reading.reason not in _COUNTED:
            return None
        who = row.simulation.simulator if row.simulation else ""
        return ReferenceAnswers(row.reading.expected, row.reading.observed, who)

    def careful(self, view: AskView, trial: str) -> str:
        """A careful person reads the explanation as the run's predictor did."""
        row = view.rows.get(trial)
        read = row.simulation.repaired if row and row.simulation else ""
        return read if read in GUESSES else UNKNOWN

    def test(self) -> Sequence[QualificationQuestion]:
        return [
            QualificationQuestion(one.id, _shown(one.question, one.said, one.answer, one.counterfactual), one.right)
            for one in questions()
        ]

    def needed(self) -> int:
        return needed(len(questions()))


class PreferenceTask(PredictTask):
    """Which response will the model prefer, going by its explanation? Figure 4; without a qualification test, as the
    paper has none for preferences.
    """

    name = "predict-preference"
    of: Task = "shp"

    def shown(self, starter: Explanation, explanation: str, answer: str, asked: Counterfactual) -> Shown:
        pairs = (
            *(("Starter post", starter.context), ("Response 1 to it", starter.response_1)),
            *(("Response 2 to it", starter.response_2), ("The robot's explanation", explanation)),
            ("The robot's choice", f"Response {answer}" if answer else ""),
            *(("Follow-up post", asked.context), ("Response 1", asked.response_1), ("Response 2", asked.response_2)),
        )
        return tuple((label, text) for label, text in pairs if text)

    def test(self) -> Sequence[QualificationQuestion]:
        return ()

    def needed(self) -> int:
        return 0


class PlausibilityTask(AnnotationTask):
    """Does each explanation of one question justify the correct answer?"""

    name = "plausibility"
    metric = f"{VERDICT}{PLAUSIBLE}"

    def questions(self, view: AskView) -> Iterator[AnnotationQuestion]:
        starter = view.starter
        if starter is None or not starter.gold or not view.explanation or not starter.question:
            return
        key = " ".join(starter.question.split()).casefold()
        shown = (("Question", starter.question), ("Correct answer", starter.gold))
        yield AnnotationQuestion(key=key, shown=shown, text=view.explanation)

    def careful(self, view: AskView, trial: str) -> str:
        """A careful person accepts an explanation if it argues for the correct answer."""
        starter = view.starter
        return "yes" if starter and starter.answer[view.run_rules] == starter.gold else "no"


TASKS = PredictTask(), PreferenceTask(), PlausibilityTask()
