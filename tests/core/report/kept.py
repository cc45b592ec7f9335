"""Golden files of what recordings show: one line for each value, preceded by its place.

`python -m tests.core.report.kept` rewrites them; the diff then shows what changed.
"""

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from core import entry, home, journal
from core.events import Frozen
from core.report import evidence, run_scene, scenes
from core.report.evidence import sealed
from core.scene import in_short
from core.transcript import transcript

FOLDER = Path(__file__).resolve().parents[2] / "data" / "scenes"
RUNS = sorted(home.recordings().glob("*.jsonl"))

LONGEST, WIDE = 50, 116
"""The longest text in code points, beyond which only the number of the rest is given; and the widest line with several
values.
"""

CALLS = 3
"""The number of calls of a case that are given with all their evidence."""


def kept_in(run: Path) -> Path:
    """The golden file of a recording, by its lab and fingerprint."""
    return FOLDER / f"{run.stem.split('-', 2)[2]}.txt"


def lines(run: Path) -> list[str]:
    """A recording's first case, its evidence, its game cards and its run; and what differs halfway through, or while
    all cards but one are sealed.
    """
    events = journal.read(run).events
    state, half = transcript(events), transcript(events[: len(events) // 2])
    lab = entry.labs()[state.started.lab if state.started else ""]
    scene, behind = scenes.of_case(lab, state, state.only), evidence.of_case(lab, state, state.only)
    view = lab.view(state.case(state.only))
    playable = [_values(one) for one in (lab.game.cards(view, scene, 0) if lab.game else ())]
    found = [
        *_all("scene", whole := _values(scene)),
        *_all("half-way", _news(_values(scenes.of_case(lab, half, half.only, active=True)), whole)),
        *_all("stopped", _news(_values(scenes.of_case(lab, half, half.only)), whole)),
        *_all("sealed", _news(_values(sealed(scene, [card.id for card in scene.cards[:1]])), whole)),
        *_all("behind", _values(behind.model_copy(update={"calls": dict(list(behind.calls.items())[:CALLS])}))),
        *_all("read", {call: json.dumps(read) for call, read in view.readings().items()}),
        *(line for number, one in enumerate(playable) for line in _all(f"playable.{number}", one)),
        *_all("run", _values(run_scene.of_run(lab, state))),
    ]
    return [*found, f"in short: {' '.join(f'{one.shows} {one.of}'.strip() for one in in_short(scene))}"]


def _all(what: str, values: Mapping[str, str]) -> list[str]:
    return [f"{what}.{where}: {value}" for where, value in values.items()]


def _news(now: Mapping[str, str], whole: Mapping[str, str]) -> dict[str, str]:
    """What differs from the whole, and how much is missing."""
    news = {where: value for where, value in now.items() if whole.get(where) != value}
    return {**news, "not there": str(len(whole.keys() - now.keys()))}


def _values(made: Frozen) -> dict[str, str]:
    return dict(_lines(_short(made.model_dump(mode="json")), ""))


def _short(value: Any) -> Any:
    """The value without empty parts, zeros, long texts, long lists of numbers and last digits."""
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
    """Their number, ends and mean."""
    mean = math.fsum(numbers) / max(1, len(numbers))
    return f"{len(numbers)} of {n}, {_digits(numbers[0])} to {_digits(numbers[-1])}, mean {_digits(mean)}"


def _digits(number: float) -> float:
    return float(f"{round(number, 6):.4g}") + 0.0


def _lines(value: Any, where: str) -> Iterator[tuple[str, str]]:
    """One line for a value that fits into it, otherwise one for each of its parts."""
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
