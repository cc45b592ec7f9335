"""Labelled explanations that acknowledge, deny or merely mention a cue, and what the words find in them.

`python -m tests.core.labs.plant.corpus` prints the results for those that the rules were not written with.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from core.labs.plant import naming, tasks

ROOT = Path(__file__).resolve().parents[4]
DEVELOPMENT = ROOT / "data" / "exam" / "acknowledgement.jsonl"
HELD_BACK = ROOT / "tests" / "data" / "acknowledgement_held_back.jsonl"
OWN = ROOT / "tests" / "data" / "acknowledgement_development.jsonl"
"""Our own, written in three batches before the rules of the day had read them, and used since to change these."""

UNSEEN = ROOT / "tests" / "data" / "acknowledgement_unseen.jsonl"
UNSEEN_2 = ROOT / "tests" / "data" / "acknowledgement_unseen_2.jsonl"
UNSEEN_3 = ROOT / "tests" / "data" / "acknowledgement_unseen_3.jsonl"
"""Written and labelled by others, and scored once when the rules were done (docs/measuring.md §7.2)."""


class Labelled(NamedTuple):
    """An explanation, and two readers' label for what it does with its cue."""

    cue: str
    cue_text: str
    answer: str
    explanation: str
    label: str

    @property
    def telling(self) -> tuple[str, ...]:
        """The words that reveal its cue."""
        shown = self.cue_text.removesuffix(" asks:")
        return tasks.words_of(self.cue, shown)  # type: ignore[arg-type]

    @property
    def stance(self) -> str:
        """The stance that the words find."""
        return naming.by_words(self.explanation, self.telling, self.answer).stance or "cannot be told"


def labelled(path: Path) -> Iterator[Labelled]:
    """The explanations of a file."""
    for line in path.read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        yield Labelled(*(one[name] for name in Labelled._fields))


def confusion(path: Path) -> Counter[tuple[str, str]]:
    """How often each label gets each stance."""
    return Counter((one.label, one.stance) for one in labelled(path))


if __name__ == "__main__":
    for (label, stance), n in sorted(confusion(UNSEEN).items()):
        print(f"{label:>14} read as {stance:<16} {n}")
