"""How often do the readers find what a text says? The share read rightly of phrasings settled by hand.

python benchmarks/agreement.py

One line for each reader: phrasings read rightly under paper rules, under repaired rules, and how many there are. A
reader joins by a file of phrasings in tests/data/phrasings and a line in READERS.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from core.events import Rules
from core.lab import RULES
from core.labs.consistency import parse
from core.labs.simulatability import parse as ask
from core.labs.simulatability.tasks import Task

PHRASINGS = ROOT / "tests" / "data" / "phrasings"
NOT_READ = "not read"

Phrasing = dict[str, Any]


def task(phrasing: Phrasing) -> Task:
    """Ask's task that the phrasing belongs to."""
    named: Task = phrasing.get("task", "strategyqa")
    return named


def parts(counterfactual: str | ask.Pair | None) -> str | list[str]:
    """The question; of a pair its context and two responses."""
    return (
        list(counterfactual.model_dump().values())
        if isinstance(counterfactual, ask.Pair)
        else counterfactual or NOT_READ
    )


READERS: dict[str, Callable[[Phrasing, Rules], Any]] = {
    "paragraph": lambda phrasing, rules: parse.paragraph(phrasing["text"], rules) or NOT_READ,
    "word_list": lambda phrasing, rules: parse.word_list(phrasing["text"], rules) or [],
    "sentiment": lambda phrasing, rules: parse.sentiment(phrasing["text"], rules) or NOT_READ,
    "entailment": lambda phrasing, rules: parse.entailment(phrasing["text"], rules) or NOT_READ,
    "choice": lambda phrasing, rules: parse.choice(phrasing["text"], phrasing["choices"], rules) or NOT_READ,
    "answer": lambda phrasing, rules: ask.answer(
        phrasing["text"], phrasing.get("method", "cot"), task(phrasing), rules
    ),
    "explanation": lambda phrasing, rules: (
        ask.explanation(phrasing["text"], phrasing["method"], task(phrasing), rules) or NOT_READ
    ),
    "counterfactual": lambda phrasing, rules: parts(ask.counterfactual(phrasing["text"], task(phrasing), rules)),
    "simulation": lambda phrasing, rules: ask.simulation(phrasing["text"], task(phrasing), rules),
}
"""What a reader makes of a phrasing, in the words of its `expected`."""


def phrasings(reader: str) -> list[Phrasing]:
    """Each with `text`, `expected` and what else the reader is told (choices, task, method)."""
    entries: list[Phrasing] = tomllib.loads((PHRASINGS / f"{reader}.toml").read_text(encoding="utf-8"))["phrasing"]
    return entries


def misread(reader: str, rules: Rules) -> list[str]:
    """The texts that the reader gets wrong."""
    read = READERS[reader]
    return [entry["text"] for entry in phrasings(reader) if read(entry, rules) != entry["expected"]]


def table() -> str:
    """Rule set by reader: how many phrasings are read rightly, of n."""
    lines = [f"{'reader':16}" + "".join(f"{rules:>10}" for rules in RULES) + f"{'n':>6}"]
    for reader in READERS:
        n = len(phrasings(reader))
        right = "".join(f"{n - len(misread(reader, rules)):>10}" for rules in RULES)
        lines.append(f"{reader:16}{right}{n:>6}")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
