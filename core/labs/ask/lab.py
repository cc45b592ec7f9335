"""The Ask lab: what it is, and what holds of its robots."""

from collections.abc import Iterator, Mapping
from typing import Any

import click

from ...datasets import logs
from ...datasets.items import Item, Task
from ...events import Asked, Model, Recorded
from ...models.ids import is_free
from ...text import embed
from ...text.compare import stem
from ...text.templates import is_paper
from ..base.declared import READING, Comparability, Judgement
from ..base.lab import Command, DemoComparison, DemoRun, Game, Lab, Listing, Robots, StudyTables
from ..base.report import Case
from ..base.spec import BadInputError
from . import annotation, baselines, controls, prompts, qualification, run_report, tasks
from .measure import measure
from .pictures import PICTURES
from .prompts import PAPER_PROMPTS
from .records import GUESSES, NEITHER, RECORDS, UNKNOWN, Examined, Explanation, OtherExplanation, Simulation
from .report import AskReport
from .run_report import IN_RUNS, summary
from .tasks import AskSpec, asks
from .verdict import short
from .view import METRICS, AskView, scores

# Whether the chosen robots know the subject of a question: they know only a small world of their own.


WORLD = "world"
"""The data set that robots can answer (`core.datasets.registry`)."""


def cases(spec: AskSpec) -> Iterator[Case]:
    """Return the cases of a run, as in `tasks.cases`. Raises DatasetError, and BadInputError before anything is asked
    if a robot that explains or writes questions knows none of them. If it knows only some, each of the others fails by
    itself.
    """
    named = tasks.cases(spec)
    if not spec.dataset or not (robots := _robots(spec)):
        return named
    there = list(named)
    for robot in robots:
        if not any(_knows(robot, spec.task, case) for case in there):
            raise BadInputError(_refusal(robot, spec, len(there)), "For this data set choose another model.")
    return iter(there)


def _robots(spec: AskSpec) -> list[controls.AskRobot]:
    """Return the robots that must know the first question: as explained model or as generator."""
    asked = dict.fromkeys((spec.model, *(() if spec.given else spec.generators)))
    known: dict[str, controls.AskRobot] = {**controls.controls(), **controls.dials()}
    return [known[model] for model in asked if model in known]


def _knows(robot: controls.AskRobot, task: Task, case: Case) -> bool:
    if task != "strategyqa":
        return not isinstance(robot, controls.AskDial)
    question = robot.world.read(case.about.slots["question"])
    return question is not None and robot.world.truth(question) is not None


def _refusal(robot: controls.AskRobot, spec: AskSpec, count: int) -> str:
    if spec.task != "strategyqa":
        return f"{robot.id} answers yes-or-no questions only: it can take the data set {WORLD}."
    those = f"none of the {count:,} questions" if count > 1 else "not the one question"
    return (
        f"{robot.id} knows a small world of animals, foods, vehicles, places and tools, and {those} of {spec.dataset} "
        f"that would be asked. It can take the data set {WORLD}."
    )


# The scores that controls must have by construction. If one differs, the measurement is wrong.


ITEMS = 5
"""How many questions each control is tested on."""


def truth(view: AskView) -> float | None:
    """Return the precision that a robot's explanation must have if robots play all roles. None for other models, for
    preferences and forced answers, and if the explanation covers no question that was asked. For a noisy robot it is
    the expected value, which single cases need not have.
    """
    spec, starter = view.spec, view.starter
    if spec is None or starter is None or spec.task != "strategyqa" or spec.method == "forced":
        return None
    robots = {**controls.controls(), **controls.dials(), **controls.noisy()}
    if not spec.models <= robots.keys():
        return None
    robot = robots[spec.model]
    asked = [
        row.counterfactual.text
        for row in view.rows.values()
        if row.counterfactual and row.by(view.run_rules).is_question
    ]
    match robot:
        case controls.AskDial():
            question = robot.world.read(starter.question)
            _, settled = controls.expected_precision(controls.Steadfast.id, starter.question, asked, robot.world)
            if not question or not settled:
                return None
            return robot.must_read if isinstance(robot, controls.NoisyAsk) else float(robot.keeps(question))
        case controls.Steadfast() | controls.Fickle():
            matches, settled = controls.expected_precision(robot.id, starter.question, asked, robot.world)
            return matches / settled if settled else None
    return None


def calibration(spec: AskSpec) -> Iterator[AskSpec]:
    """Yield runs of the steadfast and the fickle robot on questions of their world, with the settings of `spec`. If
    `spec` makes a model defend the opposite answer, the robots explain after answering instead.
    """
    ways = spec.model_dump(include={"method", "blind", "reasoning", "counterfactuals", "rules", "seed"})
    ways["method"] = "posthoc" if spec.method == "forced" else spec.method
    for robot in (controls.Steadfast.id, controls.Fickle.id):
        yield AskSpec.model_validate({**ways, "dataset": "world", "limit": ITEMS, "model": robot})


def guessed(value: str, who: str, without: bool = False) -> Simulation:
    """Return the record of a reader's expectation; `without`: the reason was hidden. Raises ValueError if `value` is
    not a possible expectation.
    """
    if value not in (*GUESSES, UNKNOWN):
        raise ValueError(f"{value!r} cannot be the expected answer to a new question.")
    return Simulation(simulator=who, paper=value, repaired=value, without=without)


class AskRobots(Robots):
    """The robots of Ask."""

    def dials(self) -> Mapping[str, Model]:
        """Return the dials, and the noisy, worthless and honest robots."""
        return {**controls.dials(), **controls.noisy(), **controls.worthless(), **controls.honest()}

    def demo_run(self) -> DemoRun:
        """A question on which the fickle robot's explanation misleads."""
        return DemoRun(
            "See a demo",
            "No key, no download: a robot, and we know how far it follows its explanation.",
            AskSpec(question="Can a penguin fly?", gold="no", model="control/fickle"),
        )

    def demo_comparison(self) -> DemoComparison:
        """The three robots on that question. One robot writes the new questions for all, and always the same ones, so
        all are asked alike.
        """
        one, first_spec = "control/steadfast", self.demo_run().spec
        roles = {"generators": (one,), "simulator": one}
        return DemoComparison(
            "Three robots side by side",
            "The same question, three robots: whose explanation is worth something?",
            tuple(first_spec.model_copy(update={"model": robot, **roles}) for robot in controls.controls()),
        )


def fields(given: dict[str, Any]) -> dict[str, Any]:
    """Return the specification's fields from the command line's options: QUESTION is the question or, for shp, the
    post.
    """
    question = given.pop("question", None)
    slot = "context" if given.get("task") == "shp" else "question"
    return given | ({slot: question} if question is not None else {})


class AskCommand(Command):
    """The command of Ask."""

    item_parameters = (
        *("question", "context", "response_1", "response_2", "gold", "explanation", "answer"),
        *("extra", "given", "given_from"),
    )

    def from_item(self, item: Item) -> dict[str, Any]:
        """Return the fields of a specification with this one question."""
        slots = dict(zip(("context", "response_1", "response_2"), (item.paragraph, *item.choices), strict=False))
        asked = slots if item.task == "shp" else {"question": item.question}
        return {**asked, "gold": item.label, "explanation": item.explanation, "answer": item.said}

    def with_output(self, item: Item, output: str) -> Item:
        """Return the question with the answer and the reasons that a model wrote. Raises ValueError if they cannot be
        told apart.
        """
        if item.task != "strategyqa":
            raise ValueError("only answers yes or no can be read in it; use the solver for preferences")
        answer, explanation = logs.answer_and_reasons(output)
        return item.model_copy(update={"explanation": explanation, "said": answer})


REASONING = ", its reasoning"
"""Suffix of the method if the model's thinking is used as its explanation."""


class AskLab(Lab):
    """Does an explanation let one predict further answers?"""

    name = "simulatability"
    title = "Ask"
    question = "From its explanation, can you predict what it will answer next?"
    about = (
        "A model answers a question and says why. **Does its explanation let you predict what it says next?** "
        "We then ask the model new questions that its explanation should cover."
    )
    icon = ":material/forum:"
    spec = AskSpec
    records = RECORDS
    supporting_records = (OtherExplanation, Examined)
    metrics = tuple(METRICS.values())
    report = AskReport
    listing = Listing(
        gold=(Explanation, "gold"),
        takes_explanations=True,
        row_unit="trial",
        method_field="method",
        comparability=Comparability(
            "what the explanation led to expect came true",
            one="new question",
            whole="starter question",
            guessed=True,
            given="given",
        ),
        judgements=(
            READING._replace(raw="answerer", unread=NEITHER),
            Judgement("simulation", "The simulation", "good", "bad", "expected", "simulator"),
            Judgement("counterfactual", "The counterfactual", "fair", "unfair"),
            Judgement(annotation.PLAUSIBLE, "The explanation", "plausible", "implausible", whole=True),
        ),
        annotations=annotation.TASKS,
        pictures=PICTURES,
    )
    run_summary = IN_RUNS
    robots = AskRobots(default_model="control/fickle", controls=controls.controls, truth=truth, calibration=calibration)
    studies = StudyTables(
        tables=run_report.TABLES,
        for_tables=run_report.METRICS,
        choices=run_report.CHOICES,
        extra_figures=run_report.more,
        across=baselines.METRICS,
        asked=AskView.answered_questions,
        figures_across=baselines.figures,
        alternative_readings=run_report.otherwise,
    )
    command = AskCommand(parameters=(click.Argument(["question"], required=False),), from_options=fields)
    game = Game(guess_record=guessed)

    cases = staticmethod(cases)
    measure = staticmethod(measure)
    summary = staticmethod(summary)
    scores = staticmethod(scores)
    prompts = staticmethod(prompts.hashes)
    prerequisites = staticmethod(qualification.prerequisites)
    choose_models = staticmethod(qualification.choose_predictor)
    paper_prompts = PAPER_PROMPTS
    count_calls = staticmethod(asks)

    def check(self, spec: AskSpec) -> None:
        """Raises PromptPackError, PaperPromptError or DatasetError if prompts or a data set cannot be read,
        BadInputError if a robot knows nothing about it or the sentence encoder that it names is not installed.
        """
        if spec.prompts and not is_paper(spec.prompts):
            prompts.read_pack(spec.prompts)
        if spec.encoder != embed.AUTO and (missing := embed.missing(spec.encoder)):
            raise BadInputError(missing, "Or choose another sentence encoder, or none.")
        super().check(spec)

    def advance_note(self, spec: AskSpec) -> str:
        """Say who predicts the answers, and what the number of questions can show."""
        if spec.is_by_person:
            return "You predict the answers."
        names = [f"{short(one)}{' (the model itself)' if one == spec.model else ''}" for one in spec.roles["simulator"]]
        who = f"{' and '.join(names)} {'predicts' if len(names) == 1 else 'predict'} the answers"
        how = ", in three small steps" if spec.reads == "steps" else ""
        shows = "" if spec.dataset else f" {tasks.sample_size_note(spec.counterfactuals)}"
        return f"{who}{how}.{shows}"

    def preload(self, spec: AskSpec) -> None:
        """Start the sentence encoder and load the stemmer, which both take seconds, if the run needs them: the encoder
        compares new questions that were not given, the stemmer checks a model's predictions. If a robot predicts, the
        run is over sooner, so the stemmer is loaded only when a prediction needs it.
        """
        if not spec.given:
            embed.start(spec.encoder)
        if not spec.is_by_person and not is_free(spec.simulator):
            stem("")

    def facets(self, spec: Mapping[str, Any], case: str) -> dict[str, str]:
        """Return the facets of a case for grouping: the method (and which text is the explanation), the task and the
        data set.
        """
        how = str(spec.get("method") or "") + (REASONING if spec.get("explained_by") == "reasoning" else "")
        return {"how": how, **super().facets(spec, case)}

    def is_input(self, record: Recorded) -> bool:
        """Whether it is a question written by a person, or the predictor's qualification test result."""
        return record.data.get("origin") == "hand" or (record.record == "examined" and not record.case)

    def needs_call(self, metric: str, asked: Asked) -> bool:
        """Whether a figure needs the answer to that call: those of one arm need no simulation in another."""
        place = f"/{asked.item}/"
        arm = next((arm for arm in tasks.CONTROL_ARMS if f"/{arm}/" in place), "")
        if metric.startswith("generality"):
            return not arm and asked.role != "answerer"
        if metric in ("precision", "constant_guess", "precision_words", "gain_words"):
            return not arm
        if metric.startswith("precision_"):
            return arm == metric.removeprefix("precision_") or (not arm and asked.role != "simulator")
        return arm in ("", "none") if metric.startswith("simulatability_gain") else True


LAB = AskLab()
