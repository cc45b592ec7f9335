"""Scenes of cases: what a lab's report says about a case, with the parts that every case has."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..events import Answered, Asked, Dropped, Event, Failed, Recorded, Scored
from ..labs.base.lab import Lab
from ..labs.base.report import Report
from ..models.ids import CONTROL, is_control
from ..scene import ENDING, MOST_SCREENS, Claim, Drop, FigureLine, Part, Scene, Who, screens
from ..text.display import count_noun, numbered, numbers
from ..transcript import CaseLog, Transcript
from .run_scene import in_run, with_caution

COMING = 4_000
"""How many characters of an unfinished answer are shown, the last ones."""

THINKING = 8_000
"""How many characters of a model's thinking a scene has, the first ones."""

MOST_THINKING = 4
"""For how many calls of an explanation a scene has the thinking."""

SMALL = 10.0
"""Billions of parameters below which a model is called small."""

_SIZE = re.compile(r"(?<![0-9.])([0-9]{1,4}(?:\.[0-9]{1,2})?)([bm])(?![a-z])", re.IGNORECASE)


def who(model: str, lab: Lab | None = None) -> Who:
    """A model as an audience sees it: its kind, and for the end its name, with its size if the id has one, and what a
    robot of `lab` does.
    """
    if is_control(model):
        does = getattr(lab.robots.by_id.get(model), "title", "") if lab else ""
        return Who(shown="a robot", name=model.removeprefix(CONTROL), does=does, is_robot=True)
    name = model.rpartition("/")[2].removesuffix(".gguf")
    family = re.match(r"[A-Za-z]+", name)
    size = _SIZE.search(name)
    if not model:
        return Who()
    if family is None or size is None:
        return Who(shown=f"a model ({name[:60]})", name=name)
    billions = float(size[1]) / (1 if size[2].lower() == "b" else 1_000)
    kind = "a small model" if billions < SMALL else "a model"
    count = f"{size[1]} {'billion' if size[2].lower() == 'b' else 'million'}"
    return Who(
        shown=f"{kind} ({_spelled(family[0][:20])}, {count})", name=_short(name[: size.start()], f"{count} parameters")
    )


def _short(before: str, count: str) -> str:
    """A short name for a model: the part of its name before its size, and the size. A file's name is longer than
    anybody reads.
    """
    return f"{'-'.join(_spelled(word) for word in re.split('[-_: ]', before) if word)[:60]}, {count}"


def _spelled(word: str) -> str:
    """A word of a model's id with its capitals: those of the model that ships as its makers write them."""
    if word.startswith("smollm"):
        return word.replace("smollm", "SmolLM")
    return word[:1].upper() + word[1:] if word.islower() else word


def of_case(lab: Lab, transcript: Transcript, case: str, active: bool = False, view: Report | None = None) -> Scene:
    """The scene of a case so far. `active`: whether its run is in progress; `view` is the case's view, if it is known.
    Never raises: what a damaged journal lacks is missing, and `unread` counts it.
    """
    log = transcript.case(case)
    view = view or lab.view(log)
    begun = transcript.cases.get(case)
    goes_on = active and not (begun and begun.is_over)
    scene = in_run(scene_of(lab, view), lab, transcript, view.outcome)
    if not goes_on:
        scene = _stopped(scene)
    elif scene.verdict is not None:
        # The verdict of a run in progress may still change.
        so_far = tuple(screen for screen in scene.screens if screen.shows not in ENDING)
        scene = scene.model_copy(update={"verdict": None, "screens": so_far})
    started, claim = transcript.started, scene.claim
    scene = scene.model_copy(
        update={
            "run": started.run if started else "",
            "case": case,
            "title": scene.title or (begun.title if begun else "") or view.title,
            "who": who(str(log.spec.get("model") or ""), lab),
            "status": _status(transcript, log, goes_on),
            "claim": claim and claim.model_copy(update={"thinking": tuple(_thinking(claim, log))}),
            "verdict": scene.verdict and with_caution(scene.verdict, lab, transcript),
            "coming": tuple(_coming(log)) if goes_on else (),
            "ledger": dropped(log, view.trials),
            "figures": (
                *scene.figures,
                *(figure(lab, score) for metric in lab.metrics if (score := log.score(metric.name, "repaired"))),
            ),
            # A run that is just beginning has no lines yet, and none is lost.
            "unread": view.unread if started or not active else 0,
            "failure": tuple(_failures(transcript, log)),
        }
    )
    return scene.model_copy(update={"screens": scene.screens or screens(scene)})


def dropped(log: CaseLog, trials: Iterable[str]) -> tuple[Drop, ...]:
    """What is excluded from a case, and why. `trials` are the ids of its trials, which are shown as numbers."""
    known = numbers(trials)
    return tuple(
        Drop(
            about=item_title(drop.item, log.case, known) or "the whole case",
            reason=drop.reason,
            rules=drop.rules or "",
            detail=numbered(drop.detail, known),
        )
        for drop in log.drops
    )


def item_title(item: str, case: str, known: Mapping[str, int]) -> str:
    """An item's name for a screen: the number of its trial, and the other parts of its name."""
    parts = [part for part in item.split("/") if part not in case.split("/")]
    return " · ".join(re.sub("[-_]", " ", numbered(part, known)) for part in parts)


def _stopped(scene: Scene) -> Scene:
    """The scene with what it was waiting for marked as stopped."""
    update = {"mark": "stopped"}
    cards = tuple(card.model_copy(update=update) if card.mark == "waiting" else card for card in scene.cards)
    panels = tuple(panel.model_copy(update=update) if panel.mark == "waiting" else panel for panel in scene.panels)
    return scene.model_copy(update={"cards": cards, "panels": panels})


def _status(transcript: Transcript, log: CaseLog, goes_on: bool) -> str:
    if goes_on:
        return "running" if log.calls or log.records else "waiting"
    if transcript.status is None:
        return "interrupted" if transcript.started else "empty"
    return {"completed": "done"}.get(transcript.status, transcript.status)


def _coming(log: CaseLog) -> Iterator[Part]:
    """The answers that are being written now."""
    for call in log.calls.values():
        if call.answered is None and call.failed is None and call.partial:
            yield Part(label=call.asked.role, text=call.partial[-COMING:])


def _thinking(claim: Claim, log: CaseLog) -> Iterator[Part]:
    """The explaining model's thinking in the claim's calls, shortened for a scene; the call itself has all of it."""
    calls = log.calls
    first = next((calls[id].asked.model for id in claim.calls if id in calls), "")
    answered = (calls[id].answered for id in claim.calls if id in calls and calls[id].asked.model == first)
    found = [answer.thinking for answer in answered if answer is not None and answer.thinking is not None]
    for thinking in found[:MOST_THINKING]:
        if thinking.text:
            end = "" if len(thinking.text) <= THINKING else " … (the call shows the rest)"
            label = f"Its thinking ({'summary' if thinking.kind == 'summary' else 'raw'})"
            yield Part(label=label, text=f"{thinking.text[:THINKING]}{end}")
        else:
            tokens = f": {count_noun(thinking.tokens, 'token')}" if thinking.tokens else ""
            yield Part(label=f"Its thinking is not shown{tokens}", text="")


def _failures(transcript: Transcript, log: CaseLog) -> Iterator[Part]:
    """Why the run stopped, or why this case could not be measured, and what to do."""
    for failure in transcript.failures:
        yield Part(label="The run stopped", text=" ".join(filter(None, (failure.message, failure.hint))))
    for drop in log.drops:
        if not drop.item and drop.reason == "error":
            yield Part(label="This case could not be measured", text=drop.detail)


def figure(lab: Lab, score: Scored) -> FigureLine:
    """A figure as it is printed, with its interval if it has one."""
    metric = lab.metric(score.metric)

    def shown(value: float) -> str:
        return f"{value:{metric.format}}{metric.unit}"

    value = "undefined" if score.value is None else shown(score.value)
    if score.low is not None and score.high is not None:
        value += f" ({shown(score.low)} to {shown(score.high)})"
    return FigureLine(title=metric.title_with(score.detail), value=value, help=metric.help, n=score.n, of=score.of)


def scene_of(lab: Lab, report: Report) -> Scene:
    """The scene that a report tells, without what its run adds."""
    scene = Scene(
        lab=lab.title,
        title=report.heading(),
        question=lab.question,
        method=report.method(),
        one=report.one,
        words=report.names_of_marks(),
        by_person=report.is_by_person,
        parts=tuple(report.asked()),
        claim=report.claim(),
        cards=tuple(report.cards()),
        panels=tuple(report.panels()),
        plot=report.plot(),
        verdict=report.verdict(),
        grid=tuple(report.grid()),
        figures=tuple(report.figures()),
        differs=report.differs(),
    )
    return scene.model_copy(update={"screens": tuple(report.screens(scene))[:MOST_SCREENS]})


def of_run(lab: Lab, transcript: Transcript, active: bool = False) -> Iterator[Scene]:
    """The scenes of a run's cases, by number."""
    return (of_case(lab, transcript, case, active) for case in transcript.in_order or [""])


# A run's events in the order of a story: one thing after another, each prediction before its outcome.
#
# A real run does many things at the same time, and waits for models and slow starts. The story shows none of that.


def story(events: Iterable[Event], order: Sequence[str]) -> list[list[Event]]:
    """The events of one case in steps, each ending with one finding or one exclusion.

    `order` names the types of records in the order in which a trial is told; a call belongs to the record that it led
    to. Trials follow one another in the order in which they began; events of no trial come before or after all trials.
    """
    before: list[Event] = []
    after: list[Event] = []
    trials: dict[str, list[Event]] = {}
    for event in events:
        trial = getattr(event, "trial", "")
        if trial:
            trials.setdefault(trial, []).append(event)
        else:
            (after if trials else before).append(event)
    parts = [before, *(_told(trial, order) for trial in trials.values()), after]
    return [step for part in parts for step in _steps(part, order)]


def _told(trial: Sequence[Event], order: Sequence[str]) -> list[Event]:
    """The events of one trial, in the order of its records."""
    places = {name: place for place, name in enumerate(order)}
    of_call: dict[str, int] = {}
    for event in trial:
        if isinstance(event, Recorded) and event.record in places:
            for call in (event.data.get("call"), *(event.data.get("calls") or ())):
                of_call[str(call)] = places[event.record]

    def place(event: Event) -> tuple[int, bool]:
        if isinstance(event, Asked | Answered | Failed):
            return of_call.get(str(event.call), -1), False
        return places.get(event.record, len(order)) if isinstance(event, Recorded) else len(order), True

    return sorted(trial, key=place)


def _steps(events: Sequence[Event], order: Sequence[str]) -> Iterator[list[Event]]:
    """`events` split after each record or exclusion; what follows the last one belongs to it."""
    ends = [
        number
        for number, event in enumerate(events, start=1)
        if isinstance(event, Dropped) or (isinstance(event, Recorded) and event.record in order)
    ]
    for begin, end in zip([0, *ends[:-1]], [*ends[:-1], len(events)], strict=True):
        if begin < end:
            yield list(events[begin:end])
