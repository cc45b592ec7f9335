"""The evidence behind a scene: every call with its prompt, raw answer and how it was parsed; all figures, what was
excluded and why, and what the run was made with. It is a second JSON, for people who open it.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..events import Answered, Asked, Frozen, Message, Scored, Thinking, ToolCall
from ..labs.base.lab import Lab
from ..rulesets import PARSER_NAMES
from ..scene import Drop, FigureLine, Part
from ..text.display import count_noun
from ..transcript import Call, CaseLog, Transcript, not_sent
from .run_scene import in_words
from .scenes import dropped, figure

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
    return (
        f"Thinking is not shown: {count_noun(thinking.tokens, 'token')}" if thinking.tokens else "Thinking is not shown"
    )


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


def likeliest(logprobs: Sequence[Mapping[str, Any]], most: int = 5) -> str:
    """The first token that is not blank and its likeliest alternatives, with their probabilities; the digits 0 and 1
    always.
    """
    first = next((one for one in logprobs if str(one.get("token", "")).strip()), logprobs[0])
    rivals = [
        (str(one.get("token", "")), math.exp(one["logprob"]))
        for one in first.get("top_logprobs") or [first]
        if isinstance(one.get("logprob"), int | float)
    ]
    rivals.sort(key=lambda one: -one[1])
    shown = [one for place, one in enumerate(rivals) if place < most or one[0].strip() in ("0", "1")]
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
