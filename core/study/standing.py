"""How the runs of a study stand, as their journals say, without reading every event as one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from core import journal
from core.study.plan import Planned

Status = Literal["absent", "running", "interrupted", "completed", "cancelled", "failed"]

FREE = ("control/", "replay/")
"""Models whose answers cost nobody anything."""

_TELLING = tuple(f'"kind":"{kind}"'.encode() for kind in ("asked", "answered", "failed", "resumed", "finished"))


@dataclass
class Tokens:
    """What calls of one role took: how many calls, and their tokens, where the endpoint counts them, else a quarter of
    the characters.
    """

    calls: int = 0
    prompt: float = 0.0
    completion: float = 0.0

    def add(self, other: Tokens) -> None:
        """Count another's too."""
        self.calls += other.calls
        self.prompt += other.prompt
        self.completion += other.completion


@dataclass
class Standing:
    """How one run stands. `answered` counts its calls by role, `paid` those that a model was asked for, with tries that
    failed; `failures` the classes of errors. `vain` is how often it was begun, one time after another, without one
    answer coming of it or a word on how it ended: what ends the process that makes it looks like that.
    """

    status: Status = "absent"
    answered: Counter[str] = field(default_factory=Counter)
    tokens: dict[str, Tokens] = field(default_factory=dict)
    failures: Counter[str] = field(default_factory=Counter)
    paid: int = 0
    vain: int = 0
    message: str = ""


def is_completed(path: Path) -> bool:
    """Whether the journal's last line says that the run completed. A line that was never written to its end is none."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - 4096))
            end = file.read()
        last = end[: end.rfind(b"\n")].rpartition(b"\n")[2]
        event, _ = journal.from_line(last)
    except (OSError, ValueError):
        return False
    return event.kind == "finished" and event.status == "completed"


def standing(path: Path) -> Standing:
    """How the run of that journal stands; a line that cannot be read tells nothing."""
    found = Standing()
    prompts: dict[str, int] = {}
    if not path.exists():
        return found
    found.status, found.vain = "interrupted", 1
    with path.open("rb") as lines:
        for line in lines:
            if not line.endswith(b"\n") or not any(sign in line for sign in _TELLING):
                continue
            try:
                event = json.loads(line)
            except ValueError:
                continue
            _tell(found, event, prompts)
    if not is_completed(path) and journal.is_written(path):
        found.status = "running"
    return found


def _tell(found: Standing, event: dict[str, object], prompts: dict[str, int]) -> None:
    call, role, model = str(event.get("call")), str(event.get("role")), str(event.get("model"))
    match event.get("kind"):
        case "asked":
            prompts[call] = len(json.dumps(event.get("messages"), ensure_ascii=False))
        case "answered":
            found.vain = 0
            found.answered[role] += 1
            if event.get("cached"):
                return
            found.paid += not model.startswith(FREE)
            usage = event.get("usage")
            counted = usage if isinstance(usage, dict) else {}
            tokens = Tokens(
                1,
                counted.get("prompt_tokens") or prompts.get(call, 0) / 4,
                counted.get("completion_tokens") or len(str(event.get("text"))) / 4,
            )
            found.tokens.setdefault(role, Tokens()).add(tokens)
        case "failed":
            found.failures[str(event.get("error"))] += 1
            found.paid += event.get("call") is not None and not model.startswith(FREE)
            if event.get("call") is None:
                found.message = str(event.get("message"))
        case "resumed":
            found.status, found.message = "interrupted", ""
            found.vain += 1
        case "finished":
            status = event.get("status")
            found.status = status if status in ("completed", "cancelled", "failed") else "interrupted"
            found.vain = 0


def standings(runs: Iterable[Planned], folder: Path) -> dict[str, Standing]:
    """How each run stands, by its name."""
    return {run.id: standing(journal.at(folder, run.id)) for run in runs}
