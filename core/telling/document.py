"""Cases as one HTML file that needs nothing else: it opens anywhere, without a network, and is stepped through by keys.

What models and people wrote is text in it: Jinja escapes everything, and the file's own policy lets nothing load and
nothing run but its one script, which is known by its hash.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from core.events import LONGEST_ANSWER, Message, Scored, ToolCall
from core.lab.cases import Reading, Trial
from core.lab.lab import Lab
from core.transcript import Call, CaseLog, Transcript

if TYPE_CHECKING:
    from jinja2 import Template

MOST = 50
"""Cases in one file; a file of more would be slow to open."""

_PARTS = Path(__file__).resolve().parents[2] / "data" / "page"


class Chosen(NamedTuple):
    """A case to be shown: its lab, its run as far as the journal goes, and its id."""

    lab: Lab
    transcript: Transcript
    case: str


def of_run(lab: Lab, transcript: Transcript) -> list[Chosen]:
    """All cases of a run, by number."""
    cases = sorted(transcript.cases, key=lambda case: transcript.cases[case].number)
    return [Chosen(lab, transcript, case) for case in cases or [""]]


def html(title: str, chosen: Sequence[Chosen], of: int | None = None) -> bytes:
    """The first MOST of the cases as a file, which says so where there are more: `of` is how many there are, where not
    all of them are in `chosen`. What a damaged journal lacks is missing, and is said to be.
    """
    shown, of = chosen[:MOST], of if of is not None else len(chosen)
    steps = count()
    style, script = (part(name) for name in ("page.css", "page.js"))
    page = template("page.html").render(
        title=" ".join(title.split()),
        left=f"The first {len(shown)} of {of:,} cases." if len(shown) < of else "",
        cases=[of_case(one, steps) for one in shown],
        style=style,
        script=script,
        hashes={"style": digest(style), "script": digest(script)},
    )
    # Half a character, which a model may write, has no UTF-8: a browser shows the sign for it.
    return page.encode("utf-8", "xmlcharrefreplace")


def tool_calls(calls: Sequence[ToolCall]) -> str:
    """What a model asked to have called, a line each."""
    return "\n".join(f"[tool call {call.id}] {call.name}({call.arguments})" for call in calls)


def turn(message: Message) -> str:
    """A message of a prompt as text, with who speaks above it."""
    title = " ".join(filter(None, (message.role, message.tool_call_id)))
    return "\n".join(filter(None, (f"[{title}]", message.content, tool_calls(message.tool_calls))))


def of_case(one: Chosen, steps: Iterator[int]) -> dict[str, Any]:
    """What the template needs of a case; `steps` numbers what a replay shows one after the other."""
    lab, run = one.lab, one.transcript
    log = run.case(one.case)
    view = lab.view(log)
    begun = run.cases.get(one.case)
    said = list(lab.notes(view))
    started = run.started
    in_trials = {name for trial in view.trials.values() for name in trial.calls}
    return {
        "lab": lab,
        "id": one.case,
        "title": view.title or one.case,
        "number": f"Case {begun.number} of {begun.of}" if begun and begun.of > 1 else "",
        "model": str(log.spec.get("model") or ""),
        "run": started.run if started else "",
        "when": f"{started.at:%d %B %Y, %H:%M} UTC" if started else "",
        "status": run.status or "not finished",
        "step": next(steps),
        "beside": [_said(lab, label, text) for label, text, late in said if not late],
        "explanation": view.explanation,
        "explained": next(steps),
        "calls": [_call(call) for name, call in log.calls.items() if name not in in_trials],
        "trials": [_trial(lab, log, name, trial, steps) for name, trial in view.trials.items()],
        "late": [_said(lab, label, text) for label, text, late in said if late],
        "verdict": list(lab.verdict(view)),
        "last": next(steps),
        "figures": list(_figures(lab, log)),
        "drops": log.drops,
        "failures": run.failures,
        "unread": view.unread,
        "made": {
            "spec": json.dumps(log.spec, indent=1, ensure_ascii=False),
            "prompts": started.prompts if started else {},
            "versions": started.versions if started else {},
            "app": " ".join(filter(None, (started.app, started.commit))) if started else "",
        },
    }


def _said(lab: Lab, label: str, text: str) -> tuple[str, str]:
    return label, lab.words.get(text, text)


def _trial(lab: Lab, log: CaseLog, name: str, trial: Trial, steps: Iterator[int]) -> dict[str, Any]:
    reading, paper = trial.repaired, trial.paper
    expected, observed = (
        "–" if text is None else lab.words.get(text, text) for text in (reading.expected, reading.observed)
    )
    return {
        "name": name,
        "about": trial.about,
        "expected": expected,
        "observed": observed,
        "mark": _mark(lab, reading),
        "outcome": lab.words.get(reading.outcome, reading.outcome),
        "why": _why(reading),
        "paper": "" if paper.outcome == reading.outcome else lab.words.get(paper.outcome, paper.outcome),
        "calls": [_call(log.calls[call]) for call in trial.calls if call in log.calls],
        "asks": next(steps),
        "shows": next(steps),
    }


def _mark(lab: Lab, reading: Reading) -> str:
    """Whether the explanation was kept or broken; empty where neither is known for sure."""
    means = lab.means(reading.outcome)
    return means if reading.counts and not reading.doubt and means in ("kept", "broken") else ""


def _why(reading: Reading) -> str:
    """Why a trial does not count, or counts and is no verdict."""
    if reading.counts:
        return f"In doubt: {reading.doubt}" if reading.doubt else ""
    return f"Not counted: {reading.reason or reading.outcome}"


def _call(call: Call) -> dict[str, Any]:
    asked, answered = call.asked, call.answered
    notes = [asked.model, f"call {asked.call}", f"template {asked.prompt}" if asked.prompt else ""]
    if answered is not None:
        notes += ["from the cache" if answered.cached else f"{answered.seconds:.1f} s"]
        notes += [f"cut off after {LONGEST_ANSWER:,} characters"] if answered.cut else []
    sampling = asked.sampling.model_dump(exclude_none=True)
    return {
        "role": asked.role,
        "notes": " · ".join(filter(None, notes)),
        "sampling": ", ".join(f"{name.replace('_', ' ')} {value!r}" for name, value in sampling.items() if value != ()),
        "turns": [turn(message) for message in asked.messages],
        "tools": [f"{tool.name}: {tool.description}\n{json.dumps(tool.parameters)}" for tool in asked.tools],
        "answer": "\n".join(filter(None, (call.text, tool_calls(answered.tool_calls) if answered else ""))),
        "failed": call.failed,
    }


def _figures(lab: Lab, log: CaseLog) -> Iterable[tuple[str, str, str, str, str]]:
    """Title, what it means, value, interval and what it rests on, of each figure that the case has."""
    for metric in lab.metrics:
        if (score := log.score(metric.name, "repaired")) is not None:
            value = "undefined" if score.value is None else f"{score.value:{metric.format}}{metric.unit}"
            yield metric.title, metric.help, value, interval(score, metric.format), f"{score.n} of {score.of}"


def interval(score: Scored, format: str) -> str:
    """The score's limits in words; empty where it has none."""
    return f"{score.low:{format}} to {score.high:{format}}" if score.low is not None and score.high is not None else ""


def part(name: str) -> str:
    """The text of one of the files that pages are made of (`data/page`)."""
    return (_PARTS / name).read_text(encoding="utf-8")


def digest(text: str) -> str:
    """By which a policy knows a style or a script that stands in the page."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def template(name: str) -> Template:
    """One of the templates of `data/page`; all that is put into it is escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(_PARTS),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # A lab's sentence, cut so that every other part stood *between asterisks*.
    made.filters["parts"] = lambda text: re.split(r"\*([^*\n]+)\*", text)
    return made.get_template(name)
