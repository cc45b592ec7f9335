"""Cases as one HTML file that needs nothing else: it opens anywhere, without a network, and is stepped through by keys.

What models and people wrote is text in it: Jinja escapes everything, and the file's own policy lets nothing load and
nothing run but its one script, which is known by its hash.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from core.events import LONGEST_ANSWER, Message, ToolCall
from core.lab.cases import Trial
from core.lab.lab import Lab
from core.text.counted import counted
from core.transcript import CaseLog, Transcript

if TYPE_CHECKING:
    from jinja2 import Template

MOST = 50
"""Cases in one file; a file of more would be slow to open."""

_PARTS = Path(__file__).resolve().parents[2] / "data" / "page"


class Chosen(NamedTuple):
    """A case to be shown: its lab, its run as far as the journal goes, and its id; and how many lines of that journal
    are damaged.
    """

    lab: Lab
    transcript: Transcript
    case: str
    damaged: int = 0


def of_run(lab: Lab, transcript: Transcript, damaged: int = 0) -> list[Chosen]:
    """All cases of a run, by number."""
    cases = sorted(transcript.cases, key=lambda case: transcript.cases[case].number)
    return [Chosen(lab, transcript, case, damaged) for case in cases or [""]]


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
        damaged=_damaged(shown),
        cases=[of_case(one, steps) for one in shown],
        style=style,
        script=script,
        hashes={"style": digest(style), "script": digest(script)},
    )
    # Half a character, which a model may write, has no UTF-8: a browser shows the sign for it.
    return page.encode("utf-8", "xmlcharrefreplace")


def _damaged(shown: Sequence[Chosen]) -> list[str]:
    """Which journals have damaged lines, a sentence each."""
    runs = {one.transcript.started.run: one.damaged for one in shown if one.transcript.started and one.damaged}
    return [f"Of the journal of {run} {damage(lines)}." for run, lines in runs.items()]


def damage(lines: int) -> str:
    """What so many damaged lines of a journal mean."""
    return f"{counted(lines, 'line')} cannot be read or {'is' if lines == 1 else 'are'} lost, and what stood there too"


def tool_calls(calls: Sequence[ToolCall]) -> str:
    """What a model asked to have called, a line each."""
    return "\n".join(f"[tool call {call.id}] {call.name}({call.arguments})" for call in calls)


def turn(message: Message) -> str:
    """A message of a prompt as text, with who speaks above it."""
    title = " ".join(filter(None, (message.role, message.tool_call_id)))
    return "\n".join(filter(None, (f"[{title}]", message.content, tool_calls(message.tool_calls))))


def of_case(one: Chosen, steps: Iterator[int], prompts: bool = True) -> dict[str, Any]:
    """What data/page/case.html needs of a case, with its `prompts` or without; `steps` numbers what a replay shows one
    after the other.
    """
    lab, run = one.lab, one.transcript
    log = run.case(one.case)
    view = lab.view(log)
    notes = list(lab.notes(view))
    in_trials = {name for trial in view.trials.values() for name in trial.calls}
    return {
        **{"id": one.case, "title": view.title or one.case, "model": str(log.spec.get("model") or "")},
        **{"lab": lab, "run": run, "begun": run.cases.get(one.case), "log": log, "view": view, "prompts": prompts},
        "step": next(steps),
        "beside": [(label, text) for label, text, late in notes if not late],
        "late": [(label, text) for label, text, late in notes if late],
        "explained": next(steps),
        "calls": [call for name, call in log.calls.items() if name not in in_trials],
        "trials": [_trial(one, log, trial, steps) for trial in view.trials.values()],
        "verdict": list(lab.verdict(view)),
        "last": next(steps),
        "scores": [(metric, score) for metric in lab.metrics if (score := log.score(metric.name, "repaired"))],
        "spec": json.dumps(log.spec, indent=1, ensure_ascii=False),
    }


def _trial(one: Chosen, log: CaseLog, trial: Trial, steps: Iterator[int]) -> dict[str, Any]:
    reading = trial.repaired
    means = one.lab.mark(reading.outcome, one.transcript)
    # Whether the explanation was kept or broken; empty where neither is known for sure.
    mark = means if reading.counts and not reading.doubt and means in ("kept", "broken") else ""
    calls = [log.calls[call] for call in trial.calls if call in log.calls]
    return {"trial": trial, "mark": mark, "calls": calls, "asks": next(steps), "shows": next(steps)}


def with_policy(page: str) -> bytes:
    """A page of Plotly's that needs nothing else, with a policy like that of the other files: nothing loads, and no
    script runs but those that stand in it now. Plotly sets styles one by one, which no hash could name.
    """
    scripts = " ".join(f"'{digest(script)}'" for script in re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL))
    policy = (
        f"default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    head = f'<meta http-equiv="Content-Security-Policy" content="{policy}"><meta name="referrer" content="no-referrer">'
    return page.replace("<head>", f"<head>{head}", 1).encode("utf-8", "xmlcharrefreplace")


def part(name: str) -> str:
    """The text of one of the files that pages are made of (`data/page`)."""
    return (_PARTS / name).read_text(encoding="utf-8")


def digest(text: str) -> str:
    """By which a policy knows a style or a script that stands in the page."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def template(name: str) -> Template:
    """One of the templates of `data/page`; all that is put into a page is escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

    made = Environment(
        loader=FileSystemLoader(_PARTS),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"turn": turn, "tool_calls": tool_calls, "repr": repr, "json": json.dumps}
    made.globals["longest_answer"] = LONGEST_ANSWER
    # A lab's sentence, cut so that every other part stood *between asterisks*.
    made.filters["parts"] = lambda text: re.split(r"\*([^*\n]+)\*", text)
    return made.get_template(name)
