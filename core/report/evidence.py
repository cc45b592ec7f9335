"""The evidence behind a scene: every call with its prompt, raw answer and how it was parsed; all figures, what was
excluded and why, and what the run was made with. It is a second JSON, for people who open it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..events import Answered, Asked, Frozen, Message, Scored, Thinking, ToolCall
from ..labs.base.lab import Lab
from ..rulesets import PARSER_NAMES
from ..runs.library import RunNotFoundError, RunSealedError
from ..scene import Card, Claim, Drop, FigureLine, Mark, Panel, Part, Plot, Scene, Who, screens
from ..text.display import count_noun, joined
from ..transcript import Call, CaseLog, Transcript, not_sent
from . import scenes
from .run_scene import in_words
from .scenes import dropped, figure

if TYPE_CHECKING:
    from ..server.access import RunAccess

THINKING = {"raw": "Thinking", "summary": "Thinking (the provider's summary)", "hidden": "Thinking"}
"""The titles of a model's thinking, by its kind."""


CASE, WHOLE = "this case", "the whole run"
"""What a figure is about."""


class CallEvidence(Frozen):
    """One call: who was asked in which role. `parts` are the raw answer, or why there is none; the model's thinking;
    how each parser parsed the answer; the exact prompt, one text per message; what was requested, what was sent, and
    which server answered.
    """

    title: str
    parts: tuple[Part, ...]
    role: str = ""
    about: str = ""


class FigureOf(FigureLine):
    """A figure of the case or of the run by one parser, or by both if `rules` is empty, with the details of its
    computation.
    """

    rules: str = ""
    about: str = ""
    made_with: str = ""


class Evidence(Frozen):
    """All the evidence behind a case; its calls by id, in order."""

    calls: Mapping[str, CallEvidence] = {}
    figures: tuple[FigureOf, ...] = ()
    drops: tuple[Drop, ...] = ()
    made_with: Mapping[str, Any] = {}


def tool_calls(calls: Sequence[ToolCall]) -> str:
    """The tool calls that a model requested, one per line."""
    return "\n".join(f"[tool call {call.id}] {call.name}({call.arguments})" for call in calls)


def turn(message: Message) -> str:
    """A message of a prompt as text, with its role above it."""
    title = " ".join(filter(None, (message.role, message.tool_call_id)))
    return "\n".join(filter(None, (f"[{title}]", message.content, tool_calls(message.tool_calls))))


def of_case(lab: Lab, transcript: Transcript, case: str, prompts: bool = True) -> Evidence:
    """The evidence behind a case, with its calls' prompts or without."""
    log = transcript.case(case)
    view = lab.view(log)
    readings = view.readings()
    several = transcript.planned > 1
    calls = log.calls if log.calls or several else transcript.calls
    return Evidence(
        calls={name: _behind(call, readings.get(name, {}), prompts) for name, call in calls.items()},
        figures=tuple(_each_once((_figure(lab, one) for one in scores_of(transcript, log)), not several)),
        drops=dropped(log, view.trials),
        made_with=made_with(transcript),
    )


def _behind(call: Call, readings: Mapping[str, str], prompts: bool) -> CallEvidence:
    asked = call.asked
    title = " · ".join(filter(None, (asked.role, asked.model, *notes(call), f"call {asked.call}")))
    parts = [Part(label=label, text=text) for label, text in _parts(call, readings, prompts) if text]
    return CallEvidence(title=title, parts=tuple(parts), role=asked.role, about=asked.item)


def _parts(call: Call, readings: Mapping[str, str], prompts: bool) -> Iterator[tuple[str, str]]:
    asked, answered, failed = call.asked, call.answered, call.failed
    if failed is not None:
        yield "It failed", " ".join(filter(None, (failed.error, failed.message, failed.hint)))
    else:
        asks = tool_calls(answered.tool_calls) if answered else ""
        yield "Raw answer", "\n".join(filter(None, (call.text, asks))) or "(nothing yet)"
    if answered and (thinking := answered.thinking):
        yield THINKING[thinking.kind], thinking.text or not_shown(thinking)
    yield "Read as", ", ".join(f"{value} ({PARSER_NAMES[rules]})" for rules, value in readings.items())
    yield "First token", likeliest(answered.logprobs) if answered and answered.logprobs else ""
    *before, question = (*map(turn, asked.messages),) or ("",)
    yield "Exact prompt", "\n\n".join(before)
    yield "The question itself" if before else "Exact prompt", question
    yield (
        "Tools it was offered",
        "\n\n".join(f"{tool.name}: {tool.description}\n{json.dumps(tool.parameters)}" for tool in asked.tools),
    )
    settings = asked.sampling.model_dump(exclude_none=True)
    shown = ", ".join(f"{name.replace('_', ' ')} {value!r}" for name, value in settings.items() if value != ())
    sent = answered.sent if answered else {}
    yield (
        "Asked for" if sent else "Made with",
        " · ".join(filter(None, (f"template {asked.prompt}" if asked.prompt else "", shown))),
    )
    yield "Sent", ", ".join(_settings(sent))
    yield "Not sent", _refused(asked, sent)
    yield "Served by", _served(answered, asked.model) if answered else ""


def not_shown(thinking: Thinking) -> str:
    """What is known about thinking that the provider does not show."""
    tokens = f": {count_noun(thinking.tokens, 'token')}" if thinking.tokens else ""
    return f"Thinking is not shown{tokens}"


def _settings(sent: Mapping[str, Any]) -> Iterator[str]:
    for name, value in sent.items():
        if name == "system_role":
            yield "the system text in the first user message"
        else:
            yield f"{name} {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"


def _refused(asked: Asked, sent: Mapping[str, Any]) -> str:
    """The settings that were not sent to the server."""
    missing = [f"{name} {value}" for name, value in not_sent(asked.sampling, sent).items()]
    if sent and asked.json_schema and "response_format" not in sent:
        missing.append("JSON schema")
    them = "it" if len(missing) == 1 else "them"
    return f"{', '.join(missing)} (the server refuses {them})" if missing else ""


def _served(answered: Answered, model: str) -> str:
    """The model that answered, if its name is not the requested one, and the server's configuration."""
    if answered.served is None:
        return ""
    served, fingerprint = answered.served.model, answered.served.fingerprint
    if not fingerprint and served == model.partition("/")[2]:
        return ""
    return ", ".join(filter(None, (served, f"configuration {fingerprint}" if fingerprint else "")))


def notes(call: Call) -> Iterator[str]:
    """Notes on how the answer was made: its time or the cache, tokens, edits, cuts."""
    if (answered := call.answered) is None:
        return
    yield "from the cache" if answered.cached else f"{answered.seconds:.1f}\u00a0s"
    if tokens := answered.usage.completion_tokens:
        yield count_noun(tokens, "token")
    if answered.thinking and (tokens := answered.thinking.tokens):
        yield f"{tokens:,} of them thinking"
    if answered.edited:
        yield "written by a person"
    if note := answered.cut_note or ("end of the answer not reported" if answered.ended == "unknown" else ""):
        yield note


def likeliest(logprobs: Sequence[Mapping[str, Any]]) -> str:
    """The first token that is not blank and its five likeliest alternatives, with their probabilities; the digits 0 and
    1 always.
    """
    first = next((one for one in logprobs if str(one.get("token", "")).strip()), logprobs[0])
    rivals = [
        (str(one.get("token", "")), math.exp(one["logprob"]))
        for one in first.get("top_logprobs") or [first]
        if isinstance(one.get("logprob"), int | float)
    ]
    rivals.sort(key=lambda one: -one[1])
    shown = [one for place, one in enumerate(rivals) if place < 5 or one[0].strip() in ("0", "1")]
    return ", ".join(f"{token!r} {probability:.3f}" for token, probability in shown)


def _each_once(figures: Iterable[FigureOf], is_alone: bool) -> Iterable[FigureOf]:
    """Return the figures, one line for what both parsers say, and for a case that is the whole run."""
    found: dict[tuple[str, ...], FigureOf] = {}
    for one in figures:
        key = one.title, WHOLE if is_alone and one.about == CASE else one.about, one.value, f"{one.n} of {one.of}"
        known = found.get(key, one)
        found[key] = known.model_copy(update={"rules": one.rules if known.rules == one.rules else ""})
    titles = list(dict.fromkeys(one.title for one in found.values()))
    return sorted(found.values(), key=lambda one: titles.index(one.title))


def _figure(lab: Lab, score: Scored) -> FigureOf:
    line = figure(lab, score)
    return FigureOf(
        **line.model_dump(),
        rules=score.rules,
        about=in_words(score.item) or (CASE if score.case else WHOLE),
        made_with=", ".join(f"{name.replace('_', ' ')} {readable(value)}" for name, value in score.detail.items()),
    )


def scores_of(transcript: Transcript, log: CaseLog) -> list[Scored]:
    """The scores of the whole run; if it has several cases, also those of this case."""
    if transcript.planned < 2:
        return transcript.scores
    return [*(score for score in transcript.scores if not score.case), *log.scores]


def readable(value: Any) -> str:
    """A detail of a figure, in words."""
    match value:
        case None:
            return "undefined"
        case bool():
            return "yes" if value else "no"
        case dict():
            parts = (f"{str(name).replace('_', ' ')} {readable(one)}" for name, one in value.items())
            return f"({', '.join(parts)})"
        case list() | tuple():
            return joined([*map(readable, value)]) or "none"
        case str():
            return value.replace("_", " ")
    return str(value)


def made_with(transcript: Transcript) -> dict[str, Any]:
    """What the run was made with: its specification, prompts and versions, and the run that it came from."""
    if (started := transcript.started) is None:
        return {}
    parts = {
        "spec": {name: value for name, value in started.spec.items() if value is not None},
        "prompts (hash)": started.prompts,
        "versions": started.versions,
        "app": " ".join(filter(None, (started.app, started.commit))),
        "read again from": started.reread_from,
        "answers of": started.predicted_from,
        "forked from": started.forked_from.model_dump() if started.forked_from else None,
    }
    return {name: value for name, value in parts.items() if value}


# A case as shown to people who may not see all of it: in a sealed run they see each card after they have predicted
# it, and the end after they have predicted all. What is left out appears in no scene, no evidence and nothing else
# that is sent to them.


Opened = Mapping[str, str] | None
"""A person's predictions for the cards that they may see, by card; None if they may see all (`RunAccess.guesses_on`).
"""


_OPEN = ("lab", "run", "case", "title", "question", "method", "status", "one", "words", "parts", "by_person")
"""The fields of a scene that do not depend on what has been predicted."""


def sealed(scene: Scene, opened: Collection[str]) -> Scene:
    """The parts of a scene that people may see who have predicted the cards `opened`: these cards whole, of the others
    the question, and of the rest what an audience knows before the first card. The whole scene once it has ended and
    every card that can be predicted is open. Anything not named here is left out.
    """
    if is_over(scene, opened):
        return scene
    claim = scene.claim
    shown = Scene(
        **{name: value for name, value in scene if name in _OPEN},
        # The model's name is part of the end.
        who=Who(shown=scene.who.shown, is_robot=scene.who.is_robot),
        claim=claim and Claim(answer=claim.answer, parts=claim.parts, domain=claim.domain, code=claim.code),
        cards=tuple(card if card.id in opened else _closed(card) for card in scene.cards),
        panels=tuple(_before(scene)),
        plot=scene.plot and _covered(scene.plot),
        is_sealed=True,
    )
    return shown.model_copy(update={"screens": screens(shown)})


def is_over(scene: Scene, opened: Collection[str]) -> bool:
    """Whether the case has ended and every card that can be predicted is open; False if no card can be predicted."""
    asked = [card.id for card in scene.cards if is_predictable(card)]
    return scene.status not in ("running", "waiting") and bool(asked) and set(asked) <= set(opened)


def is_predictable(card: Card) -> bool:
    """Whether there is something to predict: there is nothing on an excluded card or a person's own question, which are
    shown with the end.
    """
    return bool(card.options) and bool(card.said) and card.mark not in ("set aside", "waiting") and not card.by_hand


def _closed(card: Card) -> Card:
    mark: Mark = card.mark if card.mark in ("waiting", "stopped") else "sealed"
    options = card.options if card.mark == "waiting" or is_predictable(card) else {}
    return Card(
        id=card.id,
        number=card.number,
        mark=mark,
        parts=card.parts,
        options=options,
        by_hand=card.by_hand,
        guess=card.guess,
    )


def _before(scene: Scene) -> list[Panel]:
    """The panels shown before the first card, which give nothing away; empty if there is no card."""
    first = next((place for place, screen in enumerate(scene.screens) if screen.shows == "card"), 0)
    numbers = sorted({int(screen.of) for screen in scene.screens[:first] if screen.shows == "panel"})
    asked = (scene.panels[number] for number in numbers)
    return [Panel(title=one.title, parts=one.parts, answer=one.answer, note=one.note) for one in asked]


def _covered(plot: Plot) -> Plot:
    """The plot without the true function, and without intervals that follow from it."""
    return Plot(
        points=tuple(point for point in plot.points if point.number),
        curves=tuple(curve for curve in plot.curves if curve.kind == "claim"),
        intervals=tuple(one for one in plot.intervals if one.kind in ("unseen", "claimed")),
        x_label=plot.x_label,
        y_label=plot.y_label,
        x_ends=plot.x_ends,
    )


def redacted(scene: Scene, opened: Opened) -> Scene:
    """The scene for people who may see the cards `opened`."""
    if opened is None:
        return scene
    cards = tuple(card.model_copy(update={"guess": opened.get(card.id, "")}) for card in scene.cards)
    return sealed(scene.model_copy(update={"cards": cards}), opened)


def state_of(visit: RunAccess, labs: Mapping[str, Lab], run_id: str, case: str) -> tuple[Lab, Transcript, str]:
    """The run's lab, the run with that case whole, and the case; the run's first case if none is named. It may be shown
    only through `redacted`. Raises RunNotFoundError and AccessDeniedError.
    """
    run = visit.unredacted(run_id)
    state = run.case(case) if case else run.watch().transcript
    lab = labs.get(state.started.lab) if state.started else None
    if lab is None:
        raise RunNotFoundError(f"{run_id} contains no run of any lab in this app.")
    if case and case not in state.cases:
        raise RunNotFoundError(f"{run_id} has no case {case[:100]!r}.")
    return lab, state, case or state.only


def cases_of(visit: RunAccess, run_id: str) -> dict[str, str]:
    """The titles of the run's cases, by id, in order. Raises RunNotFoundError and AccessDeniedError."""
    return {case: one.title for case, one in visit.unredacted(run_id).case("").in_order.items()}


def scene_for(visit: RunAccess, labs: Mapping[str, Lab], run_id: str, case: str) -> Scene:
    """The case as the visitor may see it. Raises RunNotFoundError and AccessDeniedError."""
    # Asked before the run is read: if it ends in between, it is only read once more.
    active = visit.unredacted(run_id).active()
    lab, state, case = state_of(visit, labs, run_id, case)
    return redacted(scenes.of_case(lab, state, case, active), visit.guesses_on(run_id, case))


def evidence_for(visit: RunAccess, labs: Mapping[str, Lab], run_id: str, case: str) -> Evidence:
    """The evidence behind the case, as far as the visitor may see it. For a sealed case these are the raw answers of
    the cards that they opened, without the model's name and without prompts, which may reveal other cards. Raises
    RunNotFoundError, AccessDeniedError, and RunSealedError before any card is opened.
    """
    lab, state, case = state_of(visit, labs, run_id, case)
    opened = visit.guesses_on(run_id, case)
    found = of_case(lab, state, case)
    if opened is None:
        figures = [one for one in found.figures if one.about != WHOLE or not visit.unjudged(run_id)]
        return found.model_copy(update={"figures": tuple(figures)})
    scene = scenes.of_case(lab, state, case, visit.unredacted(run_id).active())
    if is_over(scene, opened):
        return found
    shown = [card for card in scene.cards if card.id in opened]
    known = {name for card in shown for name in (*card.calls, *(one.call for one in card.expects))}
    if not known:
        raise RunSealedError("The data behind a card appears with its answer: guess first.")
    return Evidence(calls={name: _raw(call) for name, call in found.calls.items() if name in known})


def _raw(call: CallEvidence) -> CallEvidence:
    parts = tuple(part for part in call.parts if part.label in ("Raw answer", "Read as"))
    return CallEvidence(title=call.role, parts=parts)
