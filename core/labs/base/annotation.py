"""What people annotate: a lab names its tasks, each with instructions, options and perhaps a qualification test."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from pydantic import Field

from ...events import Frozen, Rules
from ...package_data import table


class AnnotationTexts(Frozen):
    """The words of a task, from `data/annotation/NAME.toml`. `options`: what people choose from, the words by value.
    `values`: the number of each option, if its answers are averaged. `instructions` is Markdown.
    """

    title: str
    about: str
    instructions: str
    question: str
    options: dict[str, str]
    values: dict[str, float] = Field(default_factory=dict)
    noun: str = "page"


class AnnotationQuestion(Frozen):
    """One thing to judge: a trial of a case, or the whole case if `trial` is ''. Questions with the same `key` are on
    one page. `shown` is what the page shows above them, as pairs of a label and a text; `text` is what is judged.
    Nobody gets two pages of one `group` with different `arm`, because one would give the other away.
    """

    key: str
    shown: tuple[tuple[str, str], ...]
    text: str = ""
    trial: str = ""
    group: str = ""
    arm: str = ""


class QualificationQuestion(NamedTuple):
    """A question of a qualification test, with its right option."""

    id: str
    shown: tuple[tuple[str, str], ...]
    right: str


class ReferenceAnswers(NamedTuple):
    """What people's answers are compared with: the run's own predictor or evaluator, who it is, and the actual
    answer. `case` is the part of the case that was judged, if it has several.
    """

    machine: str | None
    actual: str | None
    who: str = ""
    part: str = ""


class AnnotationTask:
    """A task for people. A subclass defines its questions."""

    name: str
    """Its name in files and on the command line; its words are in `data/annotation/NAME.toml`."""
    metric: str
    """The metric of its rows in tables of studies."""

    def questions(self, view: Any) -> Iterable[AnnotationQuestion]:
        """Yield the questions about a case. They never show an outcome. Raises NotImplementedError here; every task
        defines its own.
        """
        raise NotImplementedError

    def compared(self, view: Any, trial: str, rules: Rules) -> ReferenceAnswers | None:
        """Return what an answer about the trial is compared with; None if that trial is in no figure."""
        return ReferenceAnswers(None, None)

    def careful(self, view: Any, trial: str) -> str:
        """Return the option that a careful simulated person chooses. Raises NotImplementedError here; every task
        defines its own.
        """
        raise NotImplementedError

    def test(self) -> Sequence[QualificationQuestion]:
        """Return the qualification test; empty if there is none."""
        return ()

    def needed(self) -> int:
        """Return how many right answers pass the test."""
        return 0

    @cached_property
    def texts(self) -> AnnotationTexts:
        """The words of the task."""
        return AnnotationTexts.model_validate(table(f"annotation/{self.name}"))

    @property
    def options(self) -> Mapping[str, str]:
        """What people choose from, the words by value."""
        return self.texts.options
