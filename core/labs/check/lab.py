"""The Check lab: what it is, and what holds of its robots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, get_args

import click

from ...events import Recorded, Rules, Scored
from ...rulesets import RULES
from ...scene import Bar, FigureLine, Mark, Verdict, from_emphasis
from ...score import is_thin
from ...transcript import Transcript
from ..base.declared import READING, Judged, Judgement, Metric, declared
from ..base.lab import Command, DemoRun, Game, Lab, Listing, Robots, RunSummary, StudyTables
from . import prompts, tables, vacuity
from .cards import cards
from .controls import CheckDial, Decoy, Honest, NoisyCheck, controls, dials, noisy, unlisted
from .lexicon import Slots
from .measure import SESSION, measure
from .outcomes import OUTCOMES
from .pictures import PICTURES
from .records import RECORDS, Paragraph
from .scene import QUESTION, WORDS, scene
from .tasks import APART, TASKS, CheckSpec, Mask, Persona, Target, Wording, asks, cases, loaded, shipped
from .verdict import summary, verdict
from .view import CheckView, Sessions, agreement, scores, view

# The summary of a run of several checks: its sentence, how often it was consistent, and the random masks.


def verdict_of(run: Transcript) -> Verdict:
    """Return the run's sentence and the bars that decide it, with a doubt if too few of the checks could be decided."""
    score = run.score("faithfulness", "repaired")
    doubt = ""
    if score is not None and score.of and is_thin(score.n, score.of):
        doubt = f"Only {score.n} of {score.of} checks could be decided. Don't rely on the figures."
    bars = tuple(_bars(run, score)) if score else ()
    return Verdict(headline=from_emphasis(summary(run)), mark=_mark(run, bars), bars=bars, doubt=doubt)


def _mark(run: Transcript, bars: tuple[Bar, ...]) -> Mark | None:
    """Return "kept" if all decided checks are consistent and random masks are shown to do less; "broken" if none is
    consistent; else "not settled". None without bars.
    """
    if not bars or not bars[0].hits:
        return "broken" if bars else None
    gain = run.score("faithfulness_gain", "repaired")
    is_shown = gain is None or gain.value is None or (gain.low or 0.0) > 0
    return "kept" if is_shown and bars[0].hits == bars[0].n else "not settled"


def _bars(run: Transcript, score: Scored) -> Iterator[Bar]:
    """Yield how many of the counted checks are consistent; if words were hidden, also how often hiding the model's own
    words had the effect, and how often hiding as many random words did.
    """
    agree = agreement({case: str((one.result or {}).get("outcome_repaired")) for case, one in run.cases.items()})
    if not agree.decided:
        return
    known = score.n == agree.decided
    yield Bar(
        label="consistent with its explanation",
        hits=agree.faithful,
        n=agree.decided,
        own=True,
        low=score.low if known else None,
        high=score.high if known else None,
    )
    gain, control = (run.score(f"faithfulness_{name}", "repaired") for name in ("gain", "control"))
    if gain is None or control is None or gain.value is None or control.value is None:
        return
    did, masks = round((gain.value + control.value) * gain.n), int(control.detail.get("random_masks") or 0)
    if gain.n != agree.decided:
        yield Bar(label="its own words hidden", hits=did, n=gain.n)
    at_random = control.value * control.n * masks
    if masks and abs(at_random - round(at_random)) < 1e-6:
        # If some masked answers could not be read, the share is over fewer samples, so there is no such count.
        yield Bar(label="as many at random hidden", hits=round(at_random), n=control.n * masks, wins=gain.value <= 0)


def figures_of(run: Transcript) -> Iterator[FigureLine]:
    """Yield other ways to count how often the model was consistent with its explanations."""
    score, answerable = (run.score(name, "repaired") for name in ("faithfulness", "answerable"))
    if answerable and (always := answerable.detail.get("always_yes")) is not None:
        yield FigureLine(
            title="Knew what it can tell, by always saying yes", value=f"{always:.2f}", n=answerable.n, of=answerable.of
        )
    if score is None:
        return
    if (of_all := score.detail.get("of_all")) is not None:
        n = int(score.detail.get("of_all_n") or 0)
        yield FigureLine(title="Faithfulness, counting wrong first answers too", value=f"{of_all:.2f}", n=n, of=n)
    if paper := run.score("faithfulness", "paper"):
        value = "undefined" if paper.value is None else f"{paper.value:.2f}"
        results = [one.result for one in run.cases.values() if one.result]
        differing = sum(result["outcome_paper"] != result["outcome_repaired"] for result in results)
        yield FigureLine(
            title="Faithfulness with the original parser",
            value=value,
            n=paper.n,
            of=paper.of,
            help=f"{differing} of {len(run.cases)} outcomes depend on which parser reads the answers.",
        )


# The lab on the command line: the options that are not fields of the specification, and a check in lines.


MASKS: dict[str, Mask] = {"redacted": "[REDACTED]", "removed": "[REMOVED]"}

_ITEM = ("text", "question", "choice", "hypothesis", "label")
_WORDING = ("persona", "target", "mask", "mask_sentence", "short", "options")


def _about(name: str) -> str:
    return Wording.model_fields[name].description or ""


PARAMETERS: tuple[click.Parameter, ...] = (
    click.Argument(["task"], type=click.Choice(TASKS)),
    click.Option(["--text"], metavar="TEXT", help="a paragraph of your own; for entailment the premise"),
    click.Option(["--question"], metavar="TEXT", help="multi_choice: the question about the paragraph"),
    click.Option(["--choice"], metavar="TEXT", multiple=True, help="multi_choice: a possible answer; repeat it"),
    click.Option(["--hypothesis"], metavar="TEXT", help="entailment: does this follow?"),
    click.Option(["--label"], metavar="LABEL", help="the correct answer to --text, if there is one"),
    click.Option(["--persona"], type=click.Choice(get_args(Persona)), help=_about("persona")),
    click.Option(["--target"], type=click.Choice(get_args(Target)), help=_about("target")),
    click.Option(["--mask"], type=click.Choice(tuple(MASKS)), help=_about("mask")),
    click.Option(
        ["--no-mask-sentence", "mask_sentence"],
        is_flag=True,
        flag_value=False,
        default=None,
        type=bool,
        help=f"not: {_about('mask_sentence')}",
    ),
    click.Option(["--short"], is_flag=True, default=None, type=bool, help=_about("short")),
    click.Option(["--options"], is_flag=True, default=None, type=bool, help=_about("options")),
)


class CheckCommand(Command):
    parameters = PARAMETERS

    def from_options(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the specification's fields from the command line's options. Raises ValueError if they do not fit
        together.
        """
        given = dict(given)
        item = {name: given.pop(name) for name in _ITEM if name in given}
        wording = {name: given.pop(name) for name in _WORDING if name in given}
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
    if view.result is not None and view.result.reason.repaired == vacuity.TOO_MUCH:
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


# What each parser read in an answer, in words.


NOTHING = "nothing readable"


def readings(view: CheckView) -> Mapping[str, Mapping[str, str]]:
    """Return what each parser read in a call's answer: an answer, the words of an explanation, or that it is a
    paragraph.
    """
    found: dict[str, dict[str, str]] = {}
    for call, read in _read(view):
        # If the paragraph was not changed, the third session is the first one.
        if call and read:
            found.setdefault(call, {rules: value or NOTHING for rules, value in read.items()})
    return found


def _read(view: CheckView) -> Iterator[tuple[str | None, Mapping[Rules, str | None]]]:
    """Yield each parsed call with each parser's value; None if that parser could not read it."""
    session: Sessions
    for session in get_args(Sessions):
        if call := view.call(session):
            yield call.asked.call, view.read_as(session)
    if (again := view.again) is not None:
        # A separate call, if the original parser read another edit.
        yield again.call.paper, {"paper": again.paper, "repaired": again.crossed.repaired}
    if (ability := view.ability) is not None:
        yield ability.call, {rules: ability[rules] for rules in RULES}
    if (control := view.control) is not None:
        for call, *read in zip(control.calls, *(control[rules] for rules in RULES), strict=False):
            yield call, dict(zip(RULES, read, strict=True))
        yield control.all_call, {rules: control.all[rules] for rules in RULES}
    if (halves := view.halves) is not None:
        for call, *read in zip(halves.calls, *(halves[rules] for rules in RULES), strict=False):
            yield call, dict(zip(RULES, read, strict=True))
    if (other := view.elsewhere) is not None:
        yield other.call_bare, {"repaired": other.bare}
        yield other.call, {"repaired": other.answer}


class CheckRobots(Robots):
    def demo_run(self) -> DemoRun:
        """One shipped review, by the control that names the wrong words."""
        return DemoRun(
            "See a demo",
            "No key, no download: a robot, and we know how it decides.",
            CheckSpec(
                task="sentiment",
                items=shipped("sentiment")[:1],
                explanations=("attribution",),
                model="control/decoy-lexicon",
            ),
        )


class CheckLab(Lab):
    name = "consistency"
    title = "Check"
    question = QUESTION
    about = (
        "A model gives an explanation we can test: an edit that changes the answer, or the "
        "words that matter. **Then we test it in a fresh session that has not seen the explanation.**"
    )
    icon = ":material/fact_check:"
    spec = CheckSpec
    records = RECORDS
    metrics = declared(__file__, "metric", Metric)
    outcomes = OUTCOMES
    words = MappingProxyType({"unknown": "cannot tell", "faithful": "consistent", "unfaithful": "not consistent"})
    listing = Listing(
        gold=(Paragraph, "label"),
        main_trial=SESSION,
        method_field="explanations",
        judged=Judged("the model was consistent with its explanation", one="check", whole="paragraph", tail=APART),
        judgements=(READING._replace(raw="classifier"), Judgement("explanation", "The explanation", "good", "bad")),
        pictures=PICTURES,
    )
    run_summary = RunSummary(case_noun="check", words=WORDS, verdict=verdict_of, figures=figures_of)
    robots = CheckRobots(
        default_model="control/decoy-lexicon", controls=controls, dials=unlisted, truth=truth, calibration=calibration
    )
    studies = StudyTables(
        tables=tables.TABLES, for_tables=tables.METRICS, choices=tables.CHOICES, extra_figures=tables.more
    )
    command = CheckCommand()
    game = Game(cards=cards)

    cases = staticmethod(cases)
    measure = staticmethod(measure)
    view = staticmethod(view)
    verdict = staticmethod(verdict)
    summary = staticmethod(summary)
    scores = staticmethod(scores)
    scene = staticmethod(scene)
    readings = staticmethod(readings)
    prompts = staticmethod(prompts.hashes)
    count_calls = staticmethod(asks)
    dataset_record = staticmethod(loaded)

    def facets(self, spec: Mapping[str, Any], case: str) -> dict[str, str]:
        """Return the facets of a case. Its id is its place: the item, the kind of explanation, the wording."""
        _, how, wording, *_ = f"{case}//".split("/")
        return {
            "how": how,
            "wording": wording,
            "task": str(spec.get("task") or ""),
            "dataset": str(spec.get("dataset") or ""),
        }

    def is_input(self, record: Recorded) -> bool:
        """Whether it is a sample of masks: a later version may sample others, and only these have answers."""
        return record.record in ("maskcontrol", "halves")


LAB = CheckLab()
