"""The status of a study's runs according to their journals, without parsing every event."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from .. import journal
from ..models.ids import is_free
from ..models.settings import price_of
from .plan import MOST_RUNS, Planned

Status = Literal["absent", "running", "interrupted", "completed", "cancelled", "failed"]

_PAUSE = 30
"""Seconds without an answer that count as a pause, not as waiting."""

_TELLING = tuple(f'"kind":"{kind}"'.encode() for kind in ("asked", "answered", "failed", "resumed", "finished"))
_TELLING += (b'"record":"begun"', b'"record":"result"')


@dataclass
class Tokens:
    """How many calls one role made, and their tokens: as the endpoint counted them, else a quarter of the
    characters.
    """

    calls: int = 0
    prompt: float = 0.0
    completion: float = 0.0

    @classmethod
    def from_call(cls, usage: Mapping[str, Any], sent: int, text: str) -> Tokens:
        """The tokens of one call, as the endpoint counted them, or estimated from the `sent` characters and the
        answer's text.
        """
        return cls(1, usage.get("prompt_tokens") or sent / 4, usage.get("completion_tokens") or len(text) / 4)

    def add(self, other: Tokens) -> None:
        """Add the calls and tokens of `other`."""
        self.calls += other.calls
        self.prompt += other.prompt
        self.completion += other.completion


@dataclass
class RunStatus:
    """The status of one run. `cases` are those with a result, of the planned number `of` (0 if it is not known yet).
    `answered` counts its calls by role; `paid` counts those that asked a model that is not free, including failed
    tries; `money` is what they cost in US dollars, without the `unpriced` ones, whose price is not known. `failures`
    counts the classes of errors since the run was last begun. `pace` counts answers by endpoint and second (of the
    epoch); `limits` are the endpoints' concurrency limits, each with the second and the endpoint. `vain` counts the
    starts since the last answer or end: a run with many of them may be what ends the process that makes it.
    """

    status: Status = "absent"
    answered: Counter[str] = field(default_factory=Counter)
    tokens: dict[str, Tokens] = field(default_factory=dict)
    failures: Counter[str] = field(default_factory=Counter)
    paid: int = 0
    money: float = 0.0
    unpriced: int = 0
    cases: set[str] = field(default_factory=set)
    of: int = 0
    pace: Counter[tuple[str, int]] = field(default_factory=Counter)
    limits: list[tuple[int, str, int]] = field(default_factory=list)
    vain: int = 0
    message: str = ""


def is_completed(path: Path) -> bool:
    """Whether the journal's last line says that the run completed. An incomplete line is ignored."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - 4096))
            end = file.read()
        last = end[: end.rfind(b"\n")].rpartition(b"\n")[2]
        event, _ = journal.from_line(last)
    except (OSError, ValueError):
        return False
    return event.kind == "finished" and event.status == "completed"


def standing(path: Path) -> RunStatus:
    """The status of the run of that journal. Unreadable lines are ignored, and an unchanged journal is not read
    again.
    """
    try:
        file = path.stat()
    except OSError:
        return RunStatus()
    run = _read(path, file.st_size, file.st_mtime_ns)
    # The process that writes the journal may start or end without writing a line.
    is_running = run.status != "completed" and journal.is_written(path)
    return replace(run, status="running") if is_running else run


# Large enough for all runs of the largest study and its controls, which are read again and again.
@lru_cache(maxsize=2 * MOST_RUNS)
def _read(path: Path, size: int, changed: int) -> RunStatus:
    run = RunStatus("interrupted", vain=1)
    prompts: dict[str, int] = {}
    with path.open("rb") as lines:
        for line in lines:
            if line.endswith(b"\n") and any(sign in line for sign in _TELLING):
                with suppress(ValueError):
                    _tell(run, json.loads(line), prompts)
    return run


def _tell(run: RunStatus, event: dict[str, object], prompts: dict[str, int]) -> None:
    call, role, model = str(event.get("call")), str(event.get("role")), str(event.get("model"))
    match event.get("kind"):
        case "asked":
            prompts[call] = len(json.dumps(event.get("messages"), ensure_ascii=False))
        case "answered":
            run.vain = 0
            run.answered[role] += 1
            if event.get("cached"):
                return
            endpoint, second = model.partition("/")[0], _second(event)
            run.pace[endpoint, second] += 1
            if isinstance(at_once := event.get("at_once"), int):
                run.limits.append((second, endpoint, at_once))
            run.paid += not is_free(model)
            usage = event.get("usage")
            tokens = Tokens.from_call(
                usage if isinstance(usage, dict) else {}, prompts.get(call, 0), str(event.get("text"))
            )
            run.tokens.setdefault(role, Tokens()).add(tokens)
            if (price := price_of(model)) is None:
                run.unpriced += 1
            else:
                run.money += price.cost_of(tokens.prompt, tokens.completion)
        case "failed":
            run.failures[str(event.get("error"))] += 1
            run.paid += event.get("call") is not None and not is_free(model)
            if event.get("call") is None:
                run.message = f"{event.get('message')} {event.get('hint') or ''}".strip()
        case "recorded":
            if event.get("record") == "result":
                run.cases.add(str(event.get("case")))
            elif isinstance(data := event.get("data"), dict) and isinstance(of := data.get("of"), int):
                run.of = of
        case "resumed":
            run.status, run.message = "interrupted", ""
            # What failed is asked again.
            run.failures.clear()
            run.vain += 1
        case "finished":
            status = event.get("status")
            run.status = status if status in ("completed", "cancelled", "failed") else "interrupted"
            run.vain = 0


def _second(event: Mapping[str, object]) -> int:
    try:
        return int(datetime.fromisoformat(str(event.get("at"))).timestamp())
    except ValueError:
        return 0


def busy_rate(pace: Counter[int]) -> float | None:
    """Calls per minute, from the answers in each second and without pauses; None if there are too few."""
    seconds = sorted(pace)
    busy = sum(min(later - earlier, _PAUSE) for earlier, later in pairwise(seconds))
    return 60 * pace.total() / busy if busy else None


def standings(runs: Iterable[Planned], folder: Path) -> dict[str, RunStatus]:
    """The status of each run, by its name."""
    return {run.id: standing(journal.path_for(folder, run.id)) for run in runs}
