"""What is told of recordings, as lines that are kept: a line a value, where it stands before it.

`python -m tests.core.report.kept` writes them anew; what changed is then there to be read in the difference.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from core import entry, home, journal
from core.events import Frozen
from core.report import evidence, run_scene, scenes
from core.report.redaction import sealed
from core.scene import in_short
from core.transcript import transcript

FOLDER = Path(__file__).resolve().parents[2] / "data" / "scenes"
RUNS = sorted(home.recordings().glob("*.jsonl"))

LONGEST, WIDE = 50, 116
"""Code points of a text, of which there is the rest only in number; and of a line that holds several values."""

CALLS = 3
"""Of a case, with all that stands behind each."""


def kept_in(run: Path) -> Path:
    """The file with what is kept of a recording, by its lab and fingerprint."""
    return FOLDER / f"{run.stem.split('-', 2)[2]}.txt"


def lines(run: Path) -> list[str]:
    """A recording's first case, what stands behind it, its cards of the game and its run; and what is otherwise
    half-way, or while all cards but one are sealed.
    """
    events = journal.read(run).events
    state, half = transcript(events), transcript(events[: len(events) // 2])
    lab = entry.labs()[state.started.lab if state.started else ""]
    scene, behind = scenes.of_case(lab, state, state.only), evidence.of_case(lab, state, state.only)
    view = lab.view(state.case(state.only))
    playable = [_values(one) for one in (lab.cards(view, scene, 0) if lab.cards else ())]
    found = [
        *_all("scene", whole := _values(scene)),
        *_all("half-way", _news(_values(scenes.of_case(lab, half, half.only, active=True)), whole)),
        *_all("stopped", _news(_values(scenes.of_case(lab, half, half.only)), whole)),
        *_all("sealed", _news(_values(sealed(scene, [card.id for card in scene.cards[:1]])), whole)),
        *_all("behind", _values(behind.model_copy(update={"calls": dict(list(behind.calls.items())[:CALLS])}))),
        *_all("read", {call: json.dumps(read) for call, read in lab.readings(view).items()}),
        *(line for number, one in enumerate(playable) for line in _all(f"playable.{number}", one)),
        *_all("run", _values(run_scene.of_run(lab, state))),
    ]
    return [*found, f"in short: {' '.join(f'{one.shows} {one.of}'.strip() for one in in_short(scene))}"]


def _all(what: str, values: Mapping[str, str]) -> list[str]:
    return [f"{what}.{where}: {value}" for where, value in values.items()]


def _news(now: Mapping[str, str], whole: Mapping[str, str]) -> dict[str, str]:
    """What is otherwise than in the whole, and how much is not there."""
    news = {where: value for where, value in now.items() if whole.get(where) != value}
    return {**news, "not there": str(len(whole.keys() - now.keys()))}


def _values(made: Frozen) -> dict[str, str]:
    return dict(_lines(_short(made.model_dump(mode="json")), ""))


def _short(value: Any) -> Any:
    """The same with what is empty or 0, long texts, many numbers and last digits left out."""
    match value:
        case {"start": start, "end": end, "mark": mark}:
            return f"{start} to {end} {mark}"
        case dict():
            return {name: _short(one) for name, one in value.items() if one}
        case [*all] if len(all) > 12 and not any(isinstance(one, dict | list | str) for one in all):
            return _of_many([one for one in all if one is not None], len(all))
        case [*all]:
            return [_short(one) for one in all]
        case str() if len(value) > LONGEST:
            return f"{value[:LONGEST]} … {len(value)}"
        case float():
            return _digits(value)
    return value


def _of_many(numbers: list[float], n: int) -> str:
    """How many there are, their ends and their mean."""
    mean = math.fsum(numbers) / max(1, len(numbers))
    return f"{len(numbers)} of {n}, {_digits(numbers[0])} to {_digits(numbers[-1])}, mean {_digits(mean)}"


def _digits(number: float) -> float:
    return float(f"{round(number, 6):.4g}") + 0.0


def _lines(value: Any, where: str) -> Iterator[tuple[str, str]]:
    """A line for what fits into one, else one for each of its parts."""
    line = json.dumps(value, ensure_ascii=False)
    if (where and len(line) <= WIDE) or not isinstance(value, dict | list):
        yield where, line
        return
    for name, one in value.items() if isinstance(value, dict) else enumerate(value):
        yield from _lines(one, f"{where}.{name}" if where else str(name))


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for run in RUNS:
        kept_in(run).write_text("\n".join(lines(run)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
