"""The Ask lab: what it is, and what holds of its robots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from ...datasets import logs
from ...datasets.items import Item, Task
from ...events import Asked, Model, Recorded
from ...models.ids import is_control, is_free
from ...rulesets import RULES, HasRulesets
from ...scene import Bar, Mark, Verdict, from_emphasis
from ...text import embed
from ...text.paper_prompts import is_paper
from ...text.shared_words import stem
from ...transcript import Transcript
from ..base.cases import Case
from ..base.declared import READING, Judged, Judgement
from ..base.lab import Command, DemoComparison, DemoRun, Game, Lab, Listing, Robots, RunSummary, StudyTables
from ..base.spec import BadInputError
from . import annotation, human, prompts, qualification, tables, tasks, words
from .baselines import CONSTANT, ORDER
from .cards import cards
from .controls import AskDial, AskRobot, Fickle, Steadfast, controls, dials, expected_precision
from .honest import honest
from .measure import measure
from .null_controls import NoisyAsk, noisy, worthless
from .parse_answers.values import GUESSES, NEITHER, UNKNOWN
from .pictures import PICTURES
from .prompts import PAPER_PROMPTS
from .records import RECORDS, Examined, Explanation, OtherExplanation, Simulation
from .scene import scene
from .tasks import AskSpec, asks, loaded
from .verdict import BASELINE, sentences, short, summary
from .view import METRICS, AskView, CounterfactualRow, scores, view
from .words import NAME, OUTCOMES, QUESTION, WORDS, value_words

# The summary of a run of several questions: a sentence, and the predictions that came true with and without
# explanations.


TITLES = {**BASELINE, CONSTANT: "the best fixed guess"}
"""The labels of the baselines' bars."""


def verdict_of(run: Transcript) -> Verdict:
    """Return the run's summary and, if its predictions count, the bars that decide."""
    detail = _against(run)
    return Verdict(
        headline=from_emphasis(summary(run)),
        mark=_mark(detail),
        bars=tuple(_bars(detail.get("by", {}))),
        meaning="\n".join((*words.MEANS, *words.MEANS_NOT)),
    )


def _against(run: Transcript) -> Mapping[str, Any]:
    """Return the gain over each baseline; empty if there is none or the predictor's predictions do not count."""
    over = run.score("gain_over_best", "repaired")
    judged = {str(one.result["outcome_repaired"]) for one in run.cases.values() if one.result} - {"not judged"}
    return {**over.detail, "value": over.value} if over and over.value is not None and judged else {}


def _mark(detail: Mapping[str, Any]) -> Mark | None:
    if not detail:
        return None
    return "kept" if detail.get("helped") else "in doubt"


def _bars(by: Mapping[str, Mapping[str, Any]]) -> Iterator[Bar]:
    """Yield bars over all new questions of the run: the predictions that came true, then each baseline over the
    questions that it shares with the explanations.
    """
    if not by:
        return
    most = max(by.values(), key=lambda one: int(one["n"]))
    yield Bar(label="with their reasons", hits=most["own"], n=most["n"], own=True)
    for name in ORDER:
        if one := by.get(name):
            label = TITLES[name].removeprefix("the ").replace("another question's", "other")
            # In a run of one question nothing is averaged.
            gain = one.get("gain", one["own"] - one["hits"])
            yield Bar(label=label, hits=one["hits"], n=one["n"], wins=gain <= 0)


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


def _robots(spec: AskSpec) -> list[AskRobot]:
    """Return the robots that must know the first question: as explained model or as generator."""
    asked = dict.fromkeys((spec.model, *(() if spec.given else spec.generators)))
    if not any(is_control(model) for model in asked):
        return []
    known: dict[str, AskRobot] = {**controls(), **dials()}
    return [known[model] for model in asked if model in known]


def _knows(robot: AskRobot, task: Task, case: Case) -> bool:
    if task != "strategyqa":
        return not isinstance(robot, AskDial)
    question = robot.world.read(case.about.slots["question"])
    return question is not None and robot.world.truth(question) is not None


def _refusal(robot: AskRobot, spec: AskSpec, count: int) -> str:
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
    robots = {**controls(), **dials(), **noisy()}
    if not spec.models <= robots.keys():
        return None
    robot = robots[spec.model]
    asked = [
        row.counterfactual.text
        for row in view.rows.values()
        if row.counterfactual and row.by(view.run_rules).is_question
    ]
    match robot:
        case AskDial():
            question = robot.world.read(starter.question)
            settled = expected_precision(Steadfast.id, starter.question, asked, robot.world).simulatable
            if not question or not settled:
                return None
            return robot.must_read if isinstance(robot, NoisyAsk) else float(robot.keeps(question))
        case Steadfast() | Fickle():
            expected = expected_precision(robot.id, starter.question, asked, robot.world)
            return expected.matches / expected.simulatable if expected.simulatable else None
    return None


def calibration(spec: AskSpec) -> Iterator[AskSpec]:
    """Yield runs of the steadfast and the fickle robot on questions of their world, with the settings of `spec`. If
    `spec` makes a model defend the opposite answer, the robots explain after answering instead.
    """
    ways = spec.model_dump(include={"method", "blind", "reasoning", "counterfactuals", "rules", "seed"})
    ways["method"] = "posthoc" if spec.method == "forced" else spec.method
    for robot in (Steadfast.id, Fickle.id):
        yield AskSpec.model_validate({**ways, "dataset": "world", "limit": ITEMS, "model": robot})


# How each parser read an answer, in words, as recorded when the answer arrived.


def readings(view: AskView) -> Mapping[str, Mapping[str, str]]:
    """Return how each parser read the answer of a call: the first answer, a new question, each vote, and the answer to
    it.
    """
    found = {one.call: _of(one.answer) for one in (view.starter, view.other) if one is not None}
    for row in view.rows.values():
        found.update(_of_row(view, row))
    return found


def _of_row(view: AskView, row: CounterfactualRow) -> Iterator[tuple[str, Mapping[str, str]]]:
    if row.answer:
        yield row.answer.call, _of(row.answer)
    for simulation in filter(None, (row.simulation, *row.controls.values(), *row.further)):
        yield from _of_votes(simulation)
    is_unread = any(drop.reason == "unparsed" for drop in row.drops)
    written = row.counterfactual
    for name in row.calls:
        call = view.log.calls[name]
        if call.asked.role == "generator" and call.answered and (written or is_unread):
            yield name, {rules: "a question" if written and written[rules] else "nothing usable" for rules in RULES}


def _of_votes(simulation: Simulation) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield the reading of each vote; a single vote is the simulation itself."""
    if len(simulation.calls) == 1:
        yield simulation.calls[0], _of(simulation)
        return
    votes = {"paper": simulation.votes_paper, "repaired": simulation.votes}
    for place, call in enumerate(simulation.calls):
        yield call, {rules: value_words(read[place]) for rules, read in votes.items() if place < len(read)}


def _of(read: HasRulesets[Any]) -> Mapping[str, str]:
    return {rules: value_words(read[rules]) for rules in RULES}


def guessed(value: str, who: str, without: bool = False) -> Simulation:
    """Return the record of a reader's expectation; `without`: the reason was hidden. Raises ValueError if `value` is
    not a possible expectation.
    """
    if value not in (*GUESSES, UNKNOWN):
        raise ValueError(f"{value!r} is nothing that can be expected of a new question.")
    return Simulation(simulator=who, paper=value, repaired=value, without=without)


class AskRobots(Robots):
    """The robots of Ask."""

    def dials(self) -> Mapping[str, Model]:
        """Return the dials, and the noisy, worthless and honest robots."""
        return {**dials(), **noisy(), **worthless(), **honest()}

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
            tuple(first_spec.model_copy(update={"model": robot, **roles}) for robot in controls()),
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

    name = NAME
    title = "Ask"
    question = QUESTION
    about = (
        "A model answers a question and says why. **Does its explanation let you predict what it says next?** "
        "New questions are written that the explanation should cover; then the model answers them."
    )
    icon = ":material/forum:"
    spec = AskSpec
    records = RECORDS
    supporting_records = (OtherExplanation, Examined)
    metrics = tuple(METRICS.values())
    outcomes = OUTCOMES
    words = WORDS
    listing = Listing(
        gold=(Explanation, "gold"),
        takes_explanations=True,
        row_unit="trial",
        method_field="method",
        judged=Judged(
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
            Judgement(human.PLAUSIBLE, "The explanation", "plausible", "implausible", whole=True),
        ),
        pictures=PICTURES,
    )
    run_summary = RunSummary(
        case_noun="question", last_step="Measuring how varied the questions are …", verdict=verdict_of
    )
    robots = AskRobots(default_model="control/fickle", controls=controls, truth=truth, calibration=calibration)
    studies = StudyTables(
        tables=tables.TABLES,
        for_tables=tables.METRICS,
        choices=tables.CHOICES,
        extra_figures=tables.more,
        alternative_readings=tables.otherwise,
    )
    command = AskCommand(parameters=(click.Argument(["question"], required=False),), from_options=fields)
    game = Game(cards=cards, guess_record=guessed)
    annotations = annotation.TASKS

    cases = staticmethod(cases)
    measure = staticmethod(measure)
    view = staticmethod(view)
    verdict = staticmethod(sentences)
    summary = staticmethod(summary)
    scores = staticmethod(scores)
    scene = staticmethod(scene)
    readings = staticmethod(readings)
    prompts = staticmethod(prompts.hashes)
    prerequisites = staticmethod(qualification.prerequisites)
    choose_models = staticmethod(qualification.choose_predictor)
    paper_prompts = PAPER_PROMPTS
    count_calls = staticmethod(asks)
    dataset_record = staticmethod(loaded)

    def check(self, spec: AskSpec) -> None:
        """Raises PromptPackError, PaperPromptError or DatasetError if prompts or a data set cannot be read,
        BadInputError if a robot knows nothing about it.
        """
        if spec.prompts and not is_paper(spec.prompts):
            prompts.read_pack(spec.prompts)
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
            embed.start()
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
        if metric in ("precision", "constant_guess"):
            return not arm
        if metric.startswith("precision_"):
            return arm == metric.removeprefix("precision_") or (not arm and asked.role != "simulator")
        return arm in ("", "none") if metric.startswith("simulatability_gain") else True


LAB = AskLab()
